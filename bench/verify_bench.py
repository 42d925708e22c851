#!/usr/bin/env python3
"""From candidate text to verdict: kerf verify beside torch.utils.cpp_extension.load_inline with torch.allclose.

verify_bench.py KERF [--backend cpu|cuda] [--repeats N] [--python PYTHON]

Both sides get the same kernel (a row-wise softmax, with a comment that makes it new to every cache) and three seeds; both
run as a fresh process, kerf with the task's reference cached, the peer with torch's own caches of everything but this
source. Prints medians and their ratio.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
TASK = ROOT / "examples/tasks/softmax_torch.py"

CPU_BODY = """
static void softmax_rows(const float* in, float* out, long rows, long cols) {
  for (long r = 0; r < rows; ++r) {
    const float* a = in + r * cols;
    float* b = out + r * cols;
    float m = a[0], s = 0;
    for (long i = 1; i < cols; ++i) m = a[i] > m ? a[i] : m;
    for (long i = 0; i < cols; ++i) s += b[i] = std::exp(a[i] - m);
    for (long i = 0; i < cols; ++i) b[i] /= s;
  }
}
"""
CPU_KERF = """#include <cmath>
#include <kerf/kernel.h>
{body}
KERF_KERNEL(call) {{
  const DLTensor& x = call->inputs[0];
  const int64_t cols = x.shape[1];
  softmax_rows(kerf_data<float>(x), kerf_data<float>(call->outputs[0]), kerf_numel(x) / cols, cols);
  return 0;
}}
// {tag}
"""
CPU_PEER = """#include <cmath>
{body}
torch::Tensor run(torch::Tensor x) {{
  auto y = torch::empty_like(x);
  softmax_rows(x.data_ptr<float>(), y.data_ptr<float>(), x.size(0), x.size(1));
  return y;
}}
// {tag}
"""
CUDA_BODY = """
__global__ void softmax_rows(const float* in, float* out, int cols) {
  __shared__ float red[256];
  const float* a = in + blockIdx.x * cols;
  float* b = out + blockIdx.x * cols;
  float m = -1e30f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) m = fmaxf(m, a[i]);
  red[threadIdx.x] = m;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) red[threadIdx.x] = fmaxf(red[threadIdx.x], red[threadIdx.x + s]);
    __syncthreads();
  }
  m = red[0];
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += b[i] = expf(a[i] - m);
  red[threadIdx.x] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) red[threadIdx.x] += red[threadIdx.x + s];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < cols; i += blockDim.x) b[i] /= red[0];
}
"""
CUDA_KERF = """#include <cuda_runtime.h>
#include <kerf/kernel.h>
{body}
KERF_KERNEL(call) {{
  const DLTensor& x = call->inputs[0];
  const int cols = x.shape[1];
  softmax_rows<<<kerf_numel(x) / cols, 256>>>(kerf_data<float>(x), kerf_data<float>(call->outputs[0]), cols);
  return cudaGetLastError();
}}
// {tag}
"""
CUDA_PEER = """#include <torch/extension.h>
{body}
torch::Tensor run(torch::Tensor x) {{
  auto y = torch::empty_like(x);
  softmax_rows<<<x.size(0), 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}}
// {tag}
"""
PEER_SCRIPT = """
import sys, torch
from torch.utils.cpp_extension import load_inline
source = open(sys.argv[1]).read()
cuda = sys.argv[2] == "cuda"
name = sys.argv[3]
if cuda:
    module = load_inline(name, cpp_sources="torch::Tensor run(torch::Tensor x);", cuda_sources=source, functions=["run"])
else:
    module = load_inline(name, cpp_sources=source, functions=["run"], extra_cflags=["-O3", "-march=native"])
for seed in range(3):
    torch.manual_seed(seed)
    x = torch.randn(64, 512, device="cuda" if cuda else "cpu")
    assert torch.allclose(module.run(x), torch.softmax(x, -1), atol=1e-5)
print("passed")
"""


def timed(command, env, expect):
    begin = time.perf_counter()
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    if expect not in done.stdout:
        sys.exit(f"{command[0]} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return seconds


def machine():
    model = ""
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
    return f"{model}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {time.strftime('%Y-%m-%d')}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kerf")
    parser.add_argument("--backend", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--python", default=os.environ.get("KERF_PYTHON") or str(ROOT / ".venv/bin/python"))
    args = parser.parse_args()
    cuda = args.backend == "cuda"
    body = CUDA_BODY if cuda else CPU_BODY
    env = dict(os.environ, KERF_PYTHON=args.python)
    env["PATH"] = str(pathlib.Path(args.python).parent) + ":" + env["PATH"]  # ninja of the environment
    kerf_times, peer_times = [], []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        peer_script = folder / "peer.py"
        peer_script.write_text(PEER_SCRIPT)
        env["TORCH_EXTENSIONS_DIR"] = str(folder / "extensions")
        for i in range(args.repeats + 1):
            tag = f"{os.getpid()} {i} {time.time_ns()}"
            candidate = folder / ("softmax.cu" if cuda else "softmax.cc")
            candidate.write_text((CUDA_KERF if cuda else CPU_KERF).format(body=body, tag=tag))
            command = [args.kerf, "verify", str(TASK), str(candidate), "--backend", args.backend, "--seeds", "3"]
            seconds = timed(command, env, "passed")
            if i == 0:
                continue  # makes the reference and whatever is made once for a machine
            kerf_times.append(seconds)
            source = folder / "peer_source.txt"
            source.write_text((CUDA_PEER if cuda else CPU_PEER).format(body=body, tag=tag))
            name = f"kerf_peer_{os.getpid()}_{i}"
            peer_times.append(timed([args.python, str(peer_script), str(source), args.backend, name], env, "passed"))
    kerf, peer = statistics.median(kerf_times), statistics.median(peer_times)
    print(f"machine: {machine()}")
    print(
        f"text to verdict, {args.backend}: kerf {kerf:.2f} s ({min(kerf_times):.2f} to {max(kerf_times):.2f}), "
        f"load_inline + allclose {peer:.1f} s ({min(peer_times):.1f} to {max(peer_times):.1f}), "
        f"{peer / kerf:.1f} times sooner; medians of {args.repeats}"
    )


if __name__ == "__main__":
    main()
