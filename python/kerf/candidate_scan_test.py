import unittest

from kerf.candidate_scan import find_forbidden

HONEST = """
import functools, math, os, sys, time
import numpy as np
import torch
import triton
import triton.language as tl
from torch.utils import checkpoint

torch.backends.cuda.matmul.allow_tf32 = True
os.environ["TRITON_DEBUG"] = "0"


class ModelNew(torch.nn.Module):
    def forward(self, x):
        vars(self)["gone"] = self.__dict__
        self.took = time.perf_counter()
        compiled = torch.compile(self.other)
        return getattr(self, "gc", None) or getattr(torch, str(x.dtype))
"""


class FindForbidden(unittest.TestCase):
    def test_leaves_ordinary_code_alone(self):
        self.assertIsNone(find_forbidden(HONEST))

    def test_leaves_what_is_no_python_to_the_compiler(self):
        self.assertIsNone(find_forbidden("class :"))

    def test_names_what_no_kernel_needs(self):
        for source, words in (
            ("import gc", "gc"),
            ("import torch\nimport __main__ as m", "__main__"),
            ("from ctypes import memset", "ctypes.memset"),
            ("import sys\nsys.modules['x']", "sys.modules"),
            ("from sys import modules", "sys.modules"),
            ("import sys as s\ns._getframe()", "sys._getframe"),
            ("import sys\ngetattr(sys, 'modules')", "sys.modules"),
            ("import sys\ngetattr(sys, 'mod' + 'ules')", "does not write out"),
            ("import os\nvars(os)['ki' + 'll']", "vars(os)"),
            ("import os as o\no.__dict__['ki' + 'll']", "os.__dict__"),
            ("try:\n  pass\nexcept Exception as e:\n  e.__traceback__", "__traceback__"),
            ("import os\nos.execv('x', [])", "os.execv"),
            ("eval('1')", "eval"),
            ("import torch\ntorch._C._len_torch_dispatch_stack()", "torch._C"),
            ("import torch\ntorch.allclose = print", "replaces torch.allclose"),
            ("import torch\nsetattr(torch, 'allclose', print)", "replaces torch.allclose"),
        ):
            with self.subTest(source):
                found = find_forbidden(source)
                self.assertIsNotNone(found)
                self.assertEqual(found[1], "forbidden_call")
                self.assertIn(words, found[2])

    def test_tells_patched_clocks_from_other_patches(self):
        self.assertEqual(find_forbidden("import time\ntime.perf_counter_ns = print")[:2], (2, "timer_patch"))


if __name__ == "__main__":
    unittest.main()
