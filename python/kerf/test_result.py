"""What a test computed (`result_gold`), as bytes for the judge: src/loop/verify/test_result.h reads them.

The word "kerftst1", the length of the table as 8 bytes, the table (JSON), then raw tensors at multiples of 64 from the
start. The table lists containers, values and tensors by their path, dictionaries by the order of their keys' names, so that two
results are alike when their lists are. A Python float is a float32 without dimensions: it comes from a tensor of at most that, and a
float64 would be judged by digits it never had.
"""

import json
import os
import struct

MAGIC = b"kerftst1"
ALIGNMENT = 64
MOST_ENTRIES = 10000
MOST_TEXT = 200
DTYPES = set(
    """bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float8_e4m3fn float8_e5m2 float16 bfloat16 float32 float64
    complex64 complex128""".split()
)


def spec_of(tensor):
    return str(tensor.dtype).removeprefix("torch."), list(tensor.shape)


class Writer:
    def __init__(self):
        import torch

        self.torch = torch
        self.entries = []
        self.parts = []
        self.size = 0

    def add(self, value, name):
        if len(self.entries) >= MOST_ENTRIES:
            raise ValueError(f"the result has more than {MOST_ENTRIES} parts")
        if isinstance(value, dict):
            self.text(name, f"dict of {len(value)}")
            for key in sorted(value, key=repr):
                self.add(value[key], f"{name}[{key!r}]"[:MOST_TEXT])
        elif isinstance(value, (list, tuple)):
            self.text(name, f"list of {len(value)}")
            for i, item in enumerate(value):
                self.add(item, f"{name}[{i}]")
        else:
            self.leaf(value, name)

    def leaf(self, value, name):
        tensor = self.as_tensor(value)
        if tensor is not None:
            self.tensor(tensor, name)
        elif value is None or isinstance(value, (bool, int, str)):
            self.text(name, f"{type(value).__name__} {value!r}"[:MOST_TEXT])
        else:
            self.text(name, f"a {type(value).__name__}")

    def as_tensor(self, value):
        torch = self.torch
        if isinstance(value, float):
            return torch.tensor(value, dtype=torch.float32)
        if type(value).__module__ == "numpy" and hasattr(value, "dtype"):
            import numpy

            try:
                return torch.from_numpy(numpy.array(value))
            except TypeError:
                return None
        return value if isinstance(value, torch.Tensor) else None

    def text(self, name, text):
        self.entries.append({"name": name, "text": text})

    def tensor(self, tensor, name):
        torch = self.torch
        tensor = tensor.detach()
        dtype, shape = spec_of(tensor)
        if dtype not in DTYPES or tensor.layout != torch.strided:
            self.text(name, f"a tensor of {dtype}, {tensor.layout}")
            return
        tensor = tensor.cpu().resolve_conj().resolve_neg().contiguous()
        raw = tensor.reshape(-1).view(torch.uint8).numpy() if tensor.numel() else b""
        self.entries.append({"name": name, "dtype": dtype, "shape": shape, "offset": self.size})
        self.parts.append(raw)
        self.size += -(-len(raw) // ALIGNMENT) * ALIGNMENT


def write(fd, value, launches):
    """`launches` counts those of Triton kernels and knows what tensors they were given; None for an extension."""
    writer = Writer()
    writer.add(value, "result_gold")
    # Offsets in the table count from the first tensor; where that is, its length decides.
    count, launched = (launches.count, launches.seen) if launches is not None else (0, [])
    table = json.dumps({"launches": count, "launched": launched, "entries": writer.entries}).encode()
    start = len(MAGIC) + 8 + len(table)
    padding = -start % ALIGNMENT
    put(fd, MAGIC + struct.pack("<Q", len(table)) + table + bytes(padding))
    for raw in writer.parts:
        put(fd, raw)
        put(fd, bytes(-len(raw) % ALIGNMENT))


def put(fd, raw):
    view = memoryview(raw).cast("B")
    while view:
        view = view[os.write(fd, view) :]
