"""Which line of the task asked for what happens now."""

import linecache
import sys


class SourceLines:
    """Finds the innermost frame of the task's file."""

    def __init__(self, path):
        self.path = path

    def here(self):
        """(line, text) of the task, (0, "") when no frame of it is on the stack."""
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == self.path:
                return frame.f_lineno, self.text(frame.f_lineno)
            frame = frame.f_back
        return 0, ""

    def text(self, line):
        return linecache.getline(self.path, line).strip()[:200] if line else ""
