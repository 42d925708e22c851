"""Runs candidates that Python calls: Triton kernels, ModelNew classes, torch extensions and SWFT.

candidate_server.py        talks with the judge over stdin (a socket); see src/loop/verify/wire.h

The server imports the framework once and then forks a child for each candidate: the child starts warm and dies
with whatever the candidate did to it. A child has a socket of its own. Nothing here decides anything: the child
copies what the candidate returned into the judge's output file, and the judge compares.

Messages to the server are one JSON object each, with descriptors:
  {"op": "fork", "candidate": {…}}   with a socket and a file that holds the source: fork a child that serves the
                                     candidate on that socket; when it has ended, answer {"ended": wait status}
  {"op": "quit"}
"""

import array
import contextlib
import ctypes
import functools
import gc
import hashlib
import json
import os
import select
import signal
import socket
import struct
import sys
import tempfile
import time
import traceback

if __package__:
    from . import candidate_scan, test_result
    from .candidate_call import Call, MindsporeSide, NumpySide, TorchSide
    from .candidate_entry import Marked, entry_for
else:
    import candidate_scan
    import test_result
    from candidate_call import Call, MindsporeSide, NumpySide, TorchSide
    from candidate_entry import Marked, entry_for

COMMAND = struct.Struct("<iiQ16s")
REPLY = struct.Struct("<iiQ16sQ4048s")
LOAD, CALL, QUIT, MAP, GO, PING, FETCH, RESULT = range(8)
LOADED, LOAD_FAILED, DONE, RAISED, FAULT, BAD_CALL, HELLO, READY = range(8)

PR_SET_DUMPABLE = 4
PR_SET_PDEATHSIG = 1


MADV_COLLAPSE = 25  # Linux 6.1
LARGE_PAGE = 2 << 20


def prctl(option, value):
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def use_large_pages():
    """A fork copies an entry for every page that was written, and the child's end takes each back: with large pages that is
    half of the time. What the kernel does not join stays as it is."""
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    with open("/proc/self/maps", "rb") as file:
        lines = [line.split() for line in file]
    for bounds, mode, *_, name in ([*line, b""] if len(line) == 5 else line for line in lines):
        if mode != b"rw-p" or name not in (b"", b"[heap]"):
            continue
        begin, end = (int(bound, 16) for bound in bounds.split(b"-"))
        first = -(-begin // LARGE_PAGE) * LARGE_PAGE
        for at in range(first, end - LARGE_PAGE + 1, LARGE_PAGE):
            madvise(at, LARGE_PAGE, MADV_COLLAPSE)


class LaunchCounter:
    """Counts kernels launched through Triton; a candidate of impl triton that launches none is something else.

    While it is muted, kernels do nothing: a result that stays the same does not come from them."""

    def __init__(self, muted=False):
        self.count = 0
        self.muted = muted
        self.seen = []  # specs of the tensors that kernels were given

    def note(self, values):
        for value in values:
            if type(value).__name__ in ("Tensor", "Parameter") and len(self.seen) < 1000:
                spec = test_result.spec_of(value)
                if spec not in self.seen:
                    self.seen.append(spec)

    def install(self):
        import triton.runtime.interpreter as interpreter
        import triton.runtime.jit as jit

        counter = self
        for owner, name in ((interpreter.GridExecutor, "__call__"), (jit.JITFunction, "run")):
            original = getattr(owner, name)

            def counted(self, *args, __original=original, **kwargs):
                if counter.muted:
                    return None
                counter.count += 1
                counter.note([*args, *kwargs.values()])
                return __original(self, *args, **kwargs)

            setattr(owner, name, counted)


def flatten(value):
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in flatten(item)]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flatten(item)]
    return [value]


# Operations of ATen that compute nothing, or that a launcher needs around its kernels.
HARMLESS = set(
    """empty empty_like empty_strided new_empty new_empty_strided zeros zeros_like new_zeros ones ones_like new_ones
    full full_like new_full fill_ zero_ view _unsafe_view reshape _reshape_alias as_strided expand permute transpose t
    squeeze unsqueeze slice select narrow split split_with_sizes chunk unbind alias detach clone copy_ _to_copy
    contiguous flatten unflatten view_as resize_ lift lift_fresh _local_scalar_dense item numel arange scalar_tensor is_pinned
    constant_pad_nd pad cat stack set_ is_same_size eq any all isnan""".split()
)


# Numbers that leave torch this way are computed with elsewhere. Few of them may be sizes.
EXITS = ("numpy", "tolist", "__array__", "__dlpack__")
FEW = 16


@functools.cache
def operation_mode():
    """A mode of torch's dispatcher that notes the operations it sees. Made once: making a class takes long."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __init__(self, found, own):
            super().__init__()
            self.found = found
            self.own = own

        @classmethod
        def _should_skip_dynamo(cls):
            """Else the first operation imports torch._dynamo: a second more at the start, and more memory to fork."""
            return False

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            name = func.__name__.split(".")[0]
            if name not in HARMLESS and name not in self.found and getattr(func, "namespace", "aten") != self.own:
                self.found.append(name)
            return func(*args, **(kwargs or {}))

    return Mode


class OperationLog:
    """Which ATen operations ran that compute something, and whether values left torch to be computed with. Those of the
    candidate's own namespace are its work."""

    def __init__(self, own=None):
        self.own = own

    def __enter__(self):
        import torch

        found = self.found = []
        self.originals = {name: torch.Tensor.__dict__.get(name) for name in EXITS}
        for name in EXITS:

            def leaving(tensor, *args, __name=name, __original=getattr(torch.Tensor, name), **kwargs):
                if tensor.numel() > FEW and __name not in found:
                    found.append(__name)
                return __original(tensor, *args, **kwargs)

            setattr(torch.Tensor, name, leaving)
        self.mode = operation_mode()(found, self.own)
        self.mode.__enter__()
        return self

    def __exit__(self, *error):
        import torch

        self.mode.__exit__(*error)
        for name, original in self.originals.items():
            if original is None:
                delattr(torch.Tensor, name)
            else:
                setattr(torch.Tensor, name, original)


def ask_a_copy(work, seconds):
    """What work() returns, a text, in a copy of this process; None when it raises or takes too long.

    Whatever it does to the state of the candidate is gone with the copy."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        try:
            os.write(writer, work().encode()[:4096])
        finally:
            os._exit(0)
    os.close(writer)
    ready, _, _ = select.select([reader], [], [], seconds)
    text = os.read(reader, 4096).decode() if ready else ""
    os.close(reader)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return text or None


class Child:
    """One candidate, from load to the end."""

    def __init__(self, channel, candidate):
        self.channel = channel
        self.candidate = candidate
        sides = {"numpy": NumpySide, "mindspore": MindsporeSide}
        make = sides.get(candidate["framework"], lambda: TorchSide(candidate.get("device", "cpu")))
        self.side = make()
        self.entry = entry_for(candidate, self.side, lambda: OperationLog(candidate.get("operators")))
        self.launches = None
        self.prepared = None
        self.result = None
        self.calls = 0

    def reply(self, kind, command, text="", code=0, region_ns=0):
        _, _, call, nonce = command
        data = REPLY.pack(kind, code, call, nonce, region_ns, text.encode("utf-8", "replace")[:4000])
        self.channel.send(data)

    def serve(self):
        self.reply(HELLO, (0, 0, 0, bytes(16)))
        while True:
            data, fds = receive(self.channel, COMMAND.size)
            if len(data) != COMMAND.size:
                return
            command = COMMAND.unpack(data)
            try:
                if command[0] == QUIT:
                    return
                self.answer(command, fds)
            finally:
                for fd in fds:
                    os.close(fd)

    def answer(self, command, fds):
        kind = command[0]
        if kind == LOAD:
            self.load(command, fds)
        elif kind == PING:
            self.reply(READY, command)
        elif kind in (CALL, MAP):
            self.prepared = None
            try:
                call = Call(*fds)
                arguments = self.entry.arguments(call)
                self.prepared = (call, arguments, self.entry(call, arguments))
                self.side.flush_cache(timed=kind == MAP)
            except BaseException as error:  # noqa: BLE001
                self.reply(RAISED, command, self.explain(error))
                return
            if kind == MAP:
                self.reply(READY, command)
            else:
                self.go(command, fetch=True)
        elif kind == GO and self.prepared is not None:
            self.go(command, fetch=False)
        elif kind == FETCH and self.result is not None:
            self.fetch(command)
        elif kind == GO and getattr(self.entry, "again", None) is not None:
            self.test_again(command)
        elif kind == RESULT and fds:
            self.write_result(command, fds[0])
        else:
            self.reply(BAD_CALL, command)

    def load(self, command, fds):
        try:
            self.report_findings(fds)
            if self.candidate["impl"] in ("triton", "script"):
                self.refuse_forbidden()
                self.launches = LaunchCounter(self.candidate.get("muted", False))
                self.launches.install()
            self.entry.load()
        except BaseException as error:  # noqa: BLE001: SystemExit and the like are answers too
            self.reply(LOAD_FAILED, command, self.explain(error))
            return
        self.reply(LOADED, command)

    def refuse_forbidden(self):
        """Of a script only what the candidate wrote: the test behind it is the user's, and so is a label."""
        size = self.candidate.get("code_bytes", -1)
        with open(self.candidate["path"], "rb") as file:
            found = candidate_scan.find_forbidden(file.read(size))
        if found is not None:
            line, reason, text = found
            raise Marked(reason, f"{text} (line {line})")

    def test_again(self, command):
        try:
            self.entry.again()
        except BaseException as error:  # noqa: BLE001
            self.reply(RAISED, command, self.explain(error))
            return
        self.reply(DONE, command)

    def write_result(self, command, fd):
        try:
            test_result.write(fd, self.entry.result, self.launches)
        except BaseException as error:  # noqa: BLE001
            self.reply(RAISED, command, self.explain(error))
            return
        self.reply(READY, command)

    def report_findings(self, fds):
        """Emulated kernels (docs/simt.md) write what they are caught at into the judge's file."""
        if self.candidate["impl"] == "torch_ext" and fds:
            library = ctypes.CDLL(self.candidate["library"])
            if hasattr(library, "kerf_simt_report_fd"):
                library.kerf_simt_report_fd(os.dup(fds[0]))

    def explain(self, error):
        if isinstance(error, Marked):
            return str(error)
        lines = traceback.extract_tb(error.__traceback__)
        own = [line for line in lines if line.filename == self.candidate["path"]]
        where = f" (line {own[-1].lineno}: {own[-1].line})" if own else ""
        if isinstance(error, SyntaxError) and error.filename == self.candidate["path"]:
            where = f" (line {error.lineno}: {(error.text or '').strip()})"
        return f"{type(error).__name__}: {error}{where}"

    def go(self, command, fetch):
        call, arguments, run = self.prepared
        self.prepared = None
        self.result = None
        self.calls += 1
        # Calls on the clock are left alone. Which ones that are, the candidate is not told.
        watched = command[0] == CALL and self.computes_itself()
        muted = self.run_muted(call) if watched and self.launches is not None and self.calls == 1 else None
        log = OperationLog(self.candidate.get("operators")) if watched else None
        try:
            ran = time.perf_counter_ns()
            with self.side.no_grad(), log or contextlib.nullcontext():
                result = run()
                self.side.synchronize(result)
            region_ns = time.perf_counter_ns() - ran
            if not fetch:
                self.result = (call, result)
                self.reply(DONE, command, region_ns=region_ns)
                return
            changed = self.changed_input(call, arguments)
        except BaseException as error:  # noqa: BLE001
            self.reply(RAISED, command, self.explain(error))
            return
        if changed is not None:
            self.reply(RAISED, command, f"kerf:input_write {changed}")
            return
        if self.launches is not None and self.launches.count == 0:
            self.reply(RAISED, command, "kerf:library_fallback no Triton kernel was launched")
            return
        if log is not None and log.found:
            self.reply(
                RAISED, command, "kerf:library_fallback it computes outside its kernels: " + ", ".join(log.found[:8])
            )
            return
        if muted is not None and muted == self.digest(result):
            self.reply(RAISED, command, "kerf:library_fallback the result is the same when its kernels do nothing")
            return
        try:
            text = self.store(call, result)
        except BaseException as error:  # noqa: BLE001
            self.reply(RAISED, command, self.explain(error))
            return
        call.close()
        self.reply(DONE, command, text, region_ns=region_ns)

    def digest(self, result):
        """Of the values of a result; empty when there is nothing in it that a kernel could have written."""
        leaves = flatten(result)
        if not all(self.side.is_plain(leaf) for leaf in leaves) or not any(bool(leaf.any()) for leaf in leaves):
            return ""
        digest = hashlib.sha256()
        for leaf in leaves:
            digest.update(f"{self.side.spec(leaf)};".encode())
            digest.update(self.side.raw(leaf))
        return digest.hexdigest()

    def run_muted(self, call):
        """The digest of what comes out when kernels do nothing; None when that cannot be told.

        Before the first call that counts, so that no right result lies about in memory. A launcher may rely on what
        its kernels write, and never return."""

        def work():
            self.launches.muted = True
            with self.side.no_grad():
                return self.digest(self.entry(call, self.entry.arguments(call))())

        return ask_a_copy(work, seconds=2)

    def computes_itself(self):
        """Whether it must not compute with torch's own operations."""
        return self.candidate["impl"] in ("triton", "torch_ext") and isinstance(self.side, TorchSide)

    def fetch(self, command):
        call, result = self.result
        self.result = None
        try:
            self.store(call, result)
        except BaseException as error:  # noqa: BLE001
            self.reply(RAISED, command, self.explain(error))
            return
        call.close()
        self.reply(READY, command)

    def changed_input(self, call, arguments):
        for i, (wire, kind, value) in enumerate(zip(call.inputs, self.candidate["inputs"], arguments)):
            if kind["kind"] != "tensor" or wire.bytes == 0:
                continue
            if memoryview(self.side.raw(value)).cast("B") != call.raw(wire):
                return f"input{i}"
        return None

    def store(self, call, result):
        """Copies the outputs, and returns what they are; a leaf that is no plain tensor is marked with '!'."""
        leaves = flatten(result)
        specs = []
        for leaf in leaves:
            if isinstance(leaf, (bool, int, float)) and len(call.outputs) == len(leaves):
                leaf = self.scalar(leaf)
            if not self.side.is_tensor(leaf):
                specs.append(f"!{type(leaf).__name__}")
            elif not self.side.is_plain(leaf):
                specs.append(f"!{type(leaf).__name__} {self.side.spec(leaf)}")
            else:
                specs.append(self.side.spec(leaf))
        text = "".join(spec + ";" for spec in specs)
        if text == "".join(wire.spec + ";" for wire in call.outputs):
            for wire, leaf in zip(call.outputs, leaves):
                if wire.bytes:
                    call.output[wire.at : wire.at + wire.bytes] = memoryview(self.side.raw(leaf)).cast("B")
        return text

    def scalar(self, value):
        import numpy

        return self.side.of_array(numpy.asarray(value))


def receive(channel, size):
    fds = array.array("i")
    data, control, _, _ = channel.recvmsg(size, socket.CMSG_SPACE(2 * fds.itemsize))
    for level, kind, part in control:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(part[: len(part) - len(part) % fds.itemsize])
    return data, list(fds)


def save_source(candidate, fd):
    """A file of its own: Triton reads the source of its kernels again."""
    path = os.path.join(tempfile.mkdtemp(prefix="kerf_"), candidate["file_name"])
    with open(fd, "rb") as source, open(path, "wb") as file:
        source.seek(0)
        file.write(source.read())
    return path


def remove_files(folder):
    import shutil

    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            os.unlink(path)


def own_namespace():
    """Whether this is kerf's sandbox by all we can see: its host name, its work folder, no home of root."""
    return os.uname().nodename == "kerf" and os.path.isdir("/w") and not os.path.exists("/root")


def warm_triton():
    """By path: our own folder is not among those that candidates import from."""
    import importlib.util

    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "triton_warmup.py")
    spec = importlib.util.spec_from_file_location("triton_warmup", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.run()


class Server:
    def __init__(self, channel, frameworks):
        self.channel = channel
        self.frameworks = frameworks
        # In a pid namespace of our own there is nobody but kerf's init, us and the candidates. Anywhere else, killing
        # "all" would kill the user's programs, and /tmp is the user's: so both the caller's word and the kernel's count.
        self.contained = "--contained" in sys.argv and os.getppid() == 1 and os.getpid() < 10 and own_namespace()

    def warm_up(self):
        # What is imported stays. A collector that looks at all of it, here or in a child, finds nothing and
        # takes a copy of every page it looks at.
        gc.disable()
        self.import_all()
        gc.freeze()
        gc.enable()
        with contextlib.suppress(OSError):
            use_large_pages()

    def import_all(self):
        for name in self.frameworks:
            __import__(name)
        if "triton" in self.frameworks:
            import triton.compiler.code_generator  # noqa: F401
            import triton.language  # noqa: F401
            import triton.runtime.interpreter  # noqa: F401
        if "triton" in self.frameworks and "torch" in self.frameworks:
            import torch

            # The first operation that is logged makes torch import modules; a child would do so each time.
            with OperationLog():
                torch.empty(1)
            if os.environ.get("TRITON_INTERPRET") == "1":
                warm_triton()

    def serve(self):
        while True:
            data, fds = receive(self.channel, 1 << 20)
            request = json.loads(data) if data else {"op": "quit"}
            if request["op"] == "quit":
                return
            self.run_child(request["candidate"], fds)

    def kill_rest(self, child):
        try:
            if self.contained:
                os.kill(-1, signal.SIGKILL)
            else:
                os.killpg(child, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass

    def run_child(self, candidate, fds):
        pid = os.fork()
        if pid == 0:
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            os.setpgid(0, 0)
            own = socket.socket(fileno=fds[0])
            candidate["path"] = save_source(candidate, fds[1])
            # The candidate must not be able to speak as the server.
            self.channel.close()
            try:
                Child(own, candidate).serve()
            finally:
                os._exit(0)
        for fd in fds:
            os.close(fd)
        _, status = os.waitpid(pid, 0)
        # Whatever it left running, and whatever it left lying about.
        self.kill_rest(pid)
        while True:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    break
            except ChildProcessError:
                break
        if self.contained:
            for folder in ("/tmp", "/dev/shm"):
                remove_files(folder)
        self.channel.send(json.dumps({"ended": status}).encode())


def main():
    # The names in this folder are not for candidates.
    sys.path.pop(0)
    # The children's memory holds the server's; nobody inside may look at it.
    prctl(PR_SET_DUMPABLE, 0)
    channel = socket.socket(fileno=os.dup(0))
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    server = Server(channel, [word for word in sys.argv[1:] if not word.startswith("--")])
    try:
        server.warm_up()
    except BaseException as error:  # noqa: BLE001
        channel.send(json.dumps({"failed": f"{type(error).__name__}: {error}"}).encode())
        return 1
    channel.send(json.dumps({"ready": True}).encode())
    server.serve()
    # Taking a framework apart takes longer than a verdict.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
