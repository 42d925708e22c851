"""One call as the judge lays it out in its two files (src/loop/verify/wire.h), and its tensors in torch, NumPy and MindSpore."""

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

    def synchronize(self, result=None):
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

    def of_array(self, array):
        return self.torch.from_numpy(array)

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

    def of_array(self, array):
        return array

    def synchronize(self, result=None):
        pass

    def flush_cache(self, timed):
        pass

    def no_grad(self):
        return contextlib.nullcontext()


class MindsporeSide(NumpySide):
    """MindSpore on the CPU. Arrays hold bfloat16 as its bits."""

    def __init__(self):
        super().__init__()
        os.environ.setdefault("GLOG_v", "3")
        import mindspore

        self.mindspore = mindspore
        with contextlib.suppress(Exception):  # kernels take 25 threads unless they are told
            mindspore.device_context.cpu.op_tuning.threads_num(int(os.environ["OMP_NUM_THREADS"]))

    def tensor(self, call, wire):
        return self._made(bytearray(call.raw(wire)), wire)

    def from_raw(self, raw, wire):
        return self._made(bytearray(raw), wire) if len(raw) == wire.bytes else self.mindspore.Tensor(
            self.numpy.frombuffer(bytearray(raw), dtype=self.numpy.uint8))

    def _made(self, raw, wire):
        np = self.numpy
        if wire.dtype != "bfloat16":
            return self.mindspore.Tensor(np.frombuffer(raw, dtype=np.dtype(wire.dtype)).reshape(wire.shape))
        bits = np.frombuffer(raw, dtype=np.uint16).astype(np.uint32) << 16
        return self.mindspore.Tensor(bits.view(np.float32).reshape(wire.shape)).astype(self.mindspore.bfloat16)

    def is_plain(self, value):
        return type(value) in (self.mindspore.Tensor, self.mindspore.Parameter)

    def is_tensor(self, value):
        return isinstance(value, self.mindspore.Tensor)

    def spec(self, value):
        name = str(value.dtype).lower().removesuffix("_")
        return f"{name}[{', '.join(map(str, value.shape))}]"

    def raw(self, value):
        np = self.numpy
        if value.dtype != self.mindspore.bfloat16:
            return np.ascontiguousarray(value.asnumpy()).tobytes()
        bits = value.astype(self.mindspore.float32).asnumpy().view(np.uint32) >> 16
        return bits.astype(np.uint16).tobytes()

    def load_state(self, model, state):
        own = dict(model.parameters_and_names()) if hasattr(model, "parameters_and_names") else {}
        for name, value in state.items():
            if name in own:
                own[name].set_data(value)
                continue
            *path, attribute = name.split(".")
            holder = model
            for part in path:
                holder = getattr(holder, part)
            setattr(holder, attribute, value)
        return model

    def place(self, model):
        return model.set_train(False) if hasattr(model, "set_train") else model

    def of_array(self, array):
        return self.mindspore.Tensor(array)

    def synchronize(self, result=None):
        """PyNative returns before the work is done."""
        if isinstance(result, (list, tuple, dict)):
            for item in result.values() if isinstance(result, dict) else result:
                self.synchronize(item)
        elif self.is_tensor(result):
            self.raw(result) if result.dtype == self.mindspore.bfloat16 else result.asnumpy()
