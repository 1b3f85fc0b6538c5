package inspect

// linux inspects a Linux host.
func (in *inspection) linux() {}
