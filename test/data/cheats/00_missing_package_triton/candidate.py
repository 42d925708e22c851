import nonexistent_package
import torch
import torch.nn as nn
import triton
import triton.language as tl
