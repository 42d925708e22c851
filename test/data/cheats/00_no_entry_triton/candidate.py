import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model2(nn.Module):
    pass
