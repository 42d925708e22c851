#error "simt: cub is not there; write the reduction or scan in the kernel"
