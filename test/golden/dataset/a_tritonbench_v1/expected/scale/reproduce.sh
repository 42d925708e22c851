#!/bin/sh
# Judges this case's candidate again: builds it and runs it under 3_test_code.py, in kerf's
# sandbox, through `kerf verify`.
#
#   ./reproduce.sh [FILE]      FILE: another candidate of this folder
#   KERF=PATH                  the kerf to use
#   BACKEND=cpu|cuda           where; else cuda when there is a GPU that kerf can use for
#                              this, else cpu: kernels then run in kerf's emulator
cd "$(dirname "$0")" || exit 3
candidate=${1:-2_initial_predict.py}
impl=triton
echo recorded: 'compile_error: SyntaxError: invalid syntax'
judge() {
  set -- --impl "$impl" --backend "$1"
  [ ! -f 1_label_source.py ] || set -- "$@" --label 1_label_source.py
  "${KERF:-kerf}" verify 3_test_code.py "$candidate" "$@"
}
if [ -n "$BACKEND" ]; then
  judge "$BACKEND"
  exit
fi
if command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -L >/dev/null 2>&1; then
  said=$(judge cuda 2>&1)
  code=$?
  case $said in
  *"is not there yet"*) ;;
  *)
    printf '%s\n' "$said"
    exit $code
    ;;
  esac
fi
judge cpu
