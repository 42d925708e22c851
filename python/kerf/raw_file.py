"""Raw tensors in a file: contiguous, each at a multiple of 64 (docs/formats/reference.md)."""

import mmap
import os

ALIGNMENT = 64
CHUNK = 1 << 20


class RawWriter:
    """Writes straight from the tensors' memory."""

    def __init__(self, path):
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        self._end = 0

    def add(self, buffer):
        """Appends the bytes; returns their offset."""
        offset = -(-self._end // ALIGNMENT) * ALIGNMENT
        done = 0
        while done < len(buffer):
            # One call writes 2 GiB at most.
            done += os.pwrite(self._fd, buffer[done:done + (1 << 30)], offset + done)
        self._end = offset + len(buffer)
        return offset

    def close(self):
        # Empty tensors at the end need no byte, but their offset must lie in the file.
        os.ftruncate(self._fd, self._end)
        os.close(self._fd)


class RawReader:
    """A private mapping of such a file: nothing is read until it is used."""

    def __init__(self, path_or_fd):
        own = not isinstance(path_or_fd, int)
        fd = os.open(path_or_fd, os.O_RDONLY) if own else path_or_fd
        try:
            size = os.fstat(fd).st_size
            self._map = mmap.mmap(fd, size, access=mmap.ACCESS_READ) if size else None
        finally:
            if own:
                os.close(fd)

    def view(self, offset, length):
        if length == 0:
            return memoryview(b"")
        view = memoryview(self._map)[offset:offset + length]
        if len(view) != length:
            raise ValueError(f"the file ends before {offset + length}")
        return view


def same_bytes(left, right):
    """Whether two buffers hold the same bytes; copies one chunk at a time."""
    if len(left) != len(right):
        return False
    for begin in range(0, len(left), CHUNK):
        if bytes(left[begin:begin + CHUNK]) != bytes(right[begin:begin + CHUNK]):
            return False
    return True
