#error "simt: 8-bit floats are not emulated"
