#error "simt: matrix cores (rocwmma) are not emulated; write the product with fmaf"
