"""One call as the judge lays it out in its two files (src/loop/verify/wire.h), and its tensors in torch and NumPy."""

import contextlib
import os
import struct

TABLE = struct.Struct("<8s6iQQ")
TENSOR = struct.Struct("<iBBHiiQQQQ16q")
NOWHERE, INPUT_FILE, OUTPUT_FILE = 0, 1, 2

# The order of kerf's DType.
DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float8_e4m3fn float8_e5m2 float16 bfloat16 float32 "
    "float64 complex64 complex128"
).split()


class WireTensor:
    def __init__(self, fields):
        self.place = fields[0]
        self.dtype = DTYPES[fields[5]]
        self.segment_offset, _, self.data_offset, self.bytes = fields[6:10]
        self.shape = list(fields[10 : 10 + fields[4]])
        self.code = fields[1]

    @property
    def at(self):
        return self.segment_offset + self.data_offset

    @property
    def spec(self):
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


class Call:
    """The table of one call, and its bytes."""

    def __init__(self, input_fd, output_fd):
        import mmap

        self.memory = mmap.mmap(input_fd, 0, mmap.MAP_SHARED, mmap.PROT_READ)
        size = os.fstat(output_fd).st_size
        self.output = mmap.mmap(output_fd, size) if size else None
        head = TABLE.unpack_from(self.memory, 0)
        counts = head[1:5]
        tensors = [
            WireTensor(TENSOR.unpack_from(self.memory, TABLE.size + i * TENSOR.size)) for i in range(sum(counts))
        ]
        ends = [sum(counts[: i + 1]) for i in range(4)]
        self.inputs = tensors[: ends[0]]
        self.params = tensors[ends[0] : ends[1]]
        self.outputs = tensors[ends[2] : ends[3]]
        self.threads = head[5]
        names = bytes(self.memory[head[7] : head[7] + head[8]])
        self.param_names = names.decode().split("\0")[:-1]

    def raw(self, tensor):
        return memoryview(self.memory)[tensor.at : tensor.at + tensor.bytes]

    def close(self):
        # A view the candidate kept would make close() fail; the mapping then lives until the child ends.
        self.memory = None
        self.output = None


class TorchSide:
    """How arguments and results look in torch."""

    def __init__(self, device="cpu"):
        import torch

        self.torch = torch
        self.device = device
        self.flush = None

    def synchronize(self):
        if self.device != "cpu":
            self.torch.cuda.synchronize()

    def flush_cache(self, timed):
        """So that a call does not find its inputs in the device's cache, as in the native runner."""
        if self.device != "cpu":
            if self.flush is None:
                self.flush = self.torch.empty(256 << 20, dtype=self.torch.uint8, device=self.device)
            # On the clock more than once, so that the device's clocks are up: cuda_runner.cc says why.
            for _ in range(400 if timed else 1):
                self.flush.zero_()
            self.torch.cuda.synchronize()

    def tensor(self, call, wire):
        torch = self.torch
        dtype = getattr(torch, wire.dtype)
        if wire.bytes == 0:
            return torch.empty(wire.shape, dtype=dtype, device=self.device)
        # A copy: the candidate gets memory of its own, at a new address each time.
        raw = torch.frombuffer(bytearray(call.raw(wire)), dtype=torch.uint8)
        value = raw.view(dtype).reshape(wire.shape)
        return value if self.device == "cpu" else value.to(self.device)

    def from_raw(self, raw, wire):
        value = self.torch.frombuffer(bytearray(raw), dtype=self.torch.uint8) if raw else self.torch.empty(0)
        return value.view(getattr(self.torch, wire.dtype)).reshape(wire.shape) if len(raw) == wire.bytes else value

    def is_plain(self, value):
        return type(value) in (self.torch.Tensor, self.torch.nn.Parameter)

    def is_tensor(self, value):
        return isinstance(value, self.torch.Tensor)

    def spec(self, value):
        return f"{str(value.dtype).removeprefix('torch.')}[{', '.join(map(str, value.shape))}]"

    def raw(self, value):
        torch = self.torch
        value = value.detach().cpu().contiguous()
        if value.numel() == 0:
            return b""
        return value.reshape(-1).view(torch.uint8).numpy()

    def load_state(self, model, state):
        own = model.state_dict()
        if list(own) != list(state) and [list(v.shape) for v in own.values()] == [list(v.shape) for v in state.values()]:
            # Renamed, but the same tensors in the same order.
            state = dict(zip(own, state.values()))
        model.load_state_dict(state, strict=True)
        return model.eval()

    def place(self, model):
        return model if self.device == "cpu" or not hasattr(model, "to") else model.to(self.device)

    def no_grad(self):
        return self.torch.no_grad()


class NumpySide:
    def __init__(self):
        import numpy

        self.numpy = numpy

    def tensor(self, call, wire):
        np = self.numpy
        return np.frombuffer(bytearray(call.raw(wire)), dtype=np.dtype(wire.dtype)).reshape(wire.shape)

    def from_raw(self, raw, wire):
        value = self.numpy.frombuffer(bytearray(raw), dtype=self.numpy.uint8)
        return value.view(wire.dtype).reshape(wire.shape) if len(raw) == wire.bytes else value

    def is_plain(self, value):
        return type(value) is self.numpy.ndarray or isinstance(value, self.numpy.generic)

    def is_tensor(self, value):
        return isinstance(value, (self.numpy.ndarray, self.numpy.generic))

    def spec(self, value):
        return f"{value.dtype}[{', '.join(map(str, value.shape))}]"

    def raw(self, value):
        return self.numpy.ascontiguousarray(value).tobytes()

    def load_state(self, model, state):
        for name, value in state.items():
            setattr(model, name, value)
        return model

    def place(self, model):
        return model

    def synchronize(self):
        pass

    def flush_cache(self, timed):
        pass

    def no_grad(self):
        return contextlib.nullcontext()
