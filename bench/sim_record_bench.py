#!/usr/bin/env python3
"""Claim: recording instructions with their call stacks slows a simulated kernel by less than half.

sim_record_bench.py KERF [--turns N] [--calls N]

Runs a loop of vector instructions, flags and barriers in a function of a function on kerf's own cores, with the log and with
--no-log in turn, for two sizes of tiles. Prints the medians of the time within the run, the ratio, and the cost of an
instruction. The smaller the tiles, the less work there is to hide the recording behind.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from verify_bench import machine

KERNEL = """#include <pto/pto-inst.hpp>
using namespace pto;
using Data = Tile<TileType::Vec, float, @ROWS@, 64>;
static __attribute__((noinline)) void Step(Data &a, Data &b) {
  set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TADD(b, a, b);
  pipe_barrier(PIPE_V);
  TMULS(b, b, 0.5f);
  pipe_barrier(PIPE_V);
}
static inline void Loop(Data &a, Data &b, int64_t calls) {
  for (int64_t i = 0; i < calls; ++i) Step(a, b);
}
extern "C" void kernel_entry(__gm__ int64_t *args) {
  Data a, b;
  TASSIGN(a, 0x0);
  TASSIGN(b, 0x8000);
  TEXPANDS(a, 1.0f);
  TEXPANDS(b, 2.0f);
  pipe_barrier(PIPE_V);
  Loop(a, b, args[0]);
}
"""


def seconds(kerf, folder, flags):
    done = subprocess.run([kerf, "sim", "kernel.cpp", "--core", "aiv", "--arg-spec", "spec.json", "--json", *flags], cwd=folder,
                          capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    return report["run_seconds"], report["instructions"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kerf")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--calls", type=int, default=100_000)
    options = parser.parse_args()
    kerf = str(pathlib.Path(options.kerf).resolve())
    print(machine())
    for rows in (8, 32):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "kernel.cpp").write_text(KERNEL.replace("@ROWS@", str(rows)), encoding="utf-8")
            (pathlib.Path(folder) / "spec.json").write_text(
                json.dumps([{"index": 0, "name": "calls", "dtype": "UINT64", "value": options.calls}]), encoding="utf-8")
            times = {"log": [], "none": []}
            instructions = 0
            for _ in range(options.turns):
                for kind, flags in (("log", []), ("none", ["--no-log"])):
                    taken, instructions = seconds(kerf, folder, flags)
                    times[kind].append(taken)
            logged, plain = statistics.median(times["log"]), statistics.median(times["none"])
            print(f"tiles of {rows}x64, {instructions} instructions: {plain:.3f} s without, {logged:.3f} s with the log, "
                  f"{logged / plain:.2f}x, {(logged - plain) / instructions * 1e9:.0f} ns each (medians of {options.turns})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
