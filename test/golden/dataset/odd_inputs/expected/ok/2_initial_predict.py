import triton
# second 😀 �
