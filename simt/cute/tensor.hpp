#error "simt: cute is not there: it needs tensor cores, which are not emulated"
