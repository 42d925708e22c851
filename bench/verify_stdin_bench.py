#!/usr/bin/env python3
"""Many Triton candidates of one small task on the CPU: kerf verify --stdin beside a fresh Python for each.

verify_stdin_bench.py KERF [--candidates N] [--peers M] [--python PYTHON]

kerf judges N candidates (default 50) that differ in a constant nobody uses, in one process, start included. The peer is a fresh
interpreter that imports torch and triton, runs the same kernel in Triton's interpreter on three seeds and compares with
torch.allclose; M of them (default 8) are timed, one after the other. Prints the time per candidate and the ratio.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from verify_bench import ROOT, machine

TASK = ROOT / "bench/tasks/row_softmax_torch.py"
KERNEL = '''import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + i, mask=i < cols, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * cols + i, e / tl.sum(e, axis=0), mask=i < cols)


def row_softmax_triton_torch(x):
    y = torch.empty_like(x)
    softmax_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y


UNUSED = {tag}
'''
PEER = '''
import sys
sys.path.insert(0, sys.argv[1])
import torch
from candidate import row_softmax_triton_torch
for seed in range(3):
    torch.manual_seed(seed)
    x = torch.randn(4, 128)
    assert torch.allclose(row_softmax_triton_torch(x), torch.softmax(x, -1), atol=1e-5)
print("passed")
'''


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kerf")
    parser.add_argument("--candidates", type=int, default=50)
    parser.add_argument("--peers", type=int, default=8)
    parser.add_argument("--python", default=os.environ.get("KERF_PYTHON") or str(ROOT / ".venv/bin/python"))
    args = parser.parse_args()
    env = dict(os.environ, KERF_PYTHON=args.python, TRITON_INTERPRET="1")
    command = [args.kerf, "verify", str(TASK), "--stdin", "--impl", "triton", "--seeds", "3"]
    subprocess.run(command, env=env, input="", text=True, check=True, capture_output=True)  # the reference, once
    lines = "".join(
        json.dumps({"id": i, "source": KERNEL.format(tag=i)}) + "\n" for i in range(args.candidates)
    )
    begin = time.perf_counter()
    done = subprocess.run(command, env=env, input=lines, capture_output=True, text=True)
    kerf = (time.perf_counter() - begin) / args.candidates
    verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    passed = sum(one["ok"] and one["verdict"]["passed"] for one in verdicts)
    if passed != args.candidates:
        sys.exit(f"only {passed} of {args.candidates} passed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    peers = []
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "peer.py")
        script.write_text(PEER)
        for i in range(args.peers):
            pathlib.Path(folder, "candidate.py").write_text(KERNEL.format(tag=i))
            begin = time.perf_counter()
            subprocess.run([args.python, str(script), folder], env=env, check=True, capture_output=True)
            peers.append(time.perf_counter() - begin)
    peer = statistics.median(peers)
    print(f"machine: {machine()}")
    print(
        f"{args.candidates} Triton candidates on the CPU: kerf --stdin {kerf * 1000:.0f} ms each, start included; a fresh Python "
        f"{peer * 1000:.0f} ms each (median of {args.peers}); {peer / kerf:.1f} times"
    )


if __name__ == "__main__":
    main()
