#error "simt: a candidate computes its result itself; library kernels are not there"
