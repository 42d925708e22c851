#!/usr/bin/env bash
# run_collect.sh [build|collect|export|all]
#
# Builds the replay, runs it under `msprof op simulator` and exports the directory that MindStudio Insight opens:
# insight_export/OPPROF_*/simulator. Written by kerf; safe to edit.
#
#   CANN_HOME       the CANN toolkit, with bisheng, msprof and the simulator of SOC_VERSION
#   REPO_ROOT       a checkout of the runtime the kernel includes
#   PTO_ISA_ROOT    a checkout of pto-isa
#   SOC_VERSION     default dav_3510
#   TIMEOUT_MINUTES how long msprof lets the replay run, default 120
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
step="${1:-all}"

for variable in CANN_HOME REPO_ROOT PTO_ISA_ROOT; do
  if [[ -z "${!variable:-}" ]]; then
    echo "run_collect.sh: $variable is not set; the head of this file says what it is" >&2
    exit 3
  fi
done
export ASCEND_HOME_PATH="$CANN_HOME"
export SOC_VERSION="${SOC_VERSION:-dav_3510}"
export ACL_DEVICE_ID="${TARGET_DEVICE_ID:-${NPU_LOCKED_DEVICE:-0}}"
export REPLAY_PAYLOAD_DIR="$here/payload"
timeout_minutes="${TIMEOUT_MINUTES:-120}"
arch="$(uname -m)-linux"

for set_env in "$CANN_HOME/set_env.sh" "$CANN_HOME/../cann/set_env.sh"; do
  if [[ -f "$set_env" ]]; then
    set +u
    # shellcheck source=/dev/null
    source "$set_env"
    set -u
    break
  fi
done
libraries="$here/build:$CANN_HOME/$arch/simulator/$SOC_VERSION/lib:$CANN_HOME/lib64"
export LD_LIBRARY_PATH="$libraries:$CANN_HOME/$arch/devlib:$CANN_HOME/devlib:${LD_LIBRARY_PATH:-}"

# msprof refuses folders that others can write to.
umask 077

# The newest OPPROF folder below $1, by time: names do not sort.
newest_opprof() {
  local newest="" candidate
  for candidate in "$1"/OPPROF_*; do
    if [[ -d "$candidate" && ( -z "$newest" || "$candidate" -nt "$newest" ) ]]; then newest="$candidate"; fi
  done
  printf '%s' "$newest"
}

build() {
  cmake -S "$here" -B "$here/build" -DSOC_VERSION="$SOC_VERSION"
  cmake --build "$here/build"
  for symbol in replay_entry launch_replay; do
    if ! nm -D --defined-only "$here/build/libreplay_kernel.so" | grep -qw "$symbol"; then
      echo "run_collect.sh: libreplay_kernel.so does not define $symbol" >&2
      exit 1
    fi
  done
}

collect() {
  rm -rf -- "$here/msprof_collect" "$here/insight_export"
  mkdir -p "$here/msprof_collect/out" "$here/insight_export"
  # Without --kernel-name msprof succeeds and writes nothing.
  msprof op simulator --application="$here/build/replay_host" --kernel-name=replay_entry \
    --launch-count=1 --soc-version="$SOC_VERSION" --timeout="$timeout_minutes" \
    --output="$here/msprof_collect/out" 2>&1 | tee "$here/msprof_collect/collect.log"
}

export_trace() {
  local opprof dump
  opprof="$(newest_opprof "$here/msprof_collect/out")"
  if [[ -z "$opprof" ]]; then
    echo "run_collect.sh: msprof wrote no OPPROF folder below $here/msprof_collect/out" >&2
    exit 4
  fi
  dump="$opprof/device0/tmp_dump"
  if [[ ! -d "$dump" ]]; then dump="$opprof/dump"; fi
  if [[ ! -d "$dump" ]]; then
    echo "run_collect.sh: $opprof holds neither device0/tmp_dump nor dump" >&2
    exit 4
  fi
  msprof op simulator --export="$dump" --output="$here/insight_export" 2>&1 | tee "$here/msprof_collect/export.log"
}

case "$step" in
  build) build ;;
  collect) collect ;;
  export) export_trace ;;
  all)
    build
    collect
    export_trace
    ;;
  *)
    echo "run_collect.sh: unknown step '$step': build, collect, export or all" >&2
    exit 2
    ;;
esac
