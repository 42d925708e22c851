# Sourced by every script in tools/ and .ci/: where the repository is, and how to speak and stop.
# shellcheck shell=bash
set -euo pipefail
# shellcheck disable=SC2034 # the scripts that source this use it
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"

# Exit codes are those of kerf itself (CONTRIBUTING.md): 1 negative result, 2 usage, 3 the machine lacks something.
say() { printf '%s: %s\n' "${0##*/}" "$*"; }
warn() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() {
  local code="$1"
  shift
  warn "$*"
  exit "$code"
}

# The help of a script is the comment that follows its first line.
show_help() {
  sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"
  exit 0
}

# How many compilers or tests run at once.
jobs_count() { printf '%s' "${KERF_JOBS:-$(nproc)}"; }
