#error "simt: curand is not there"
