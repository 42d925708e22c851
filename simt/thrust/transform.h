#error "simt: thrust is not there; write a kernel"
