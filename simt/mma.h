#error "simt: tensor cores (wmma, mma) are not emulated; write the product with fmaf"
