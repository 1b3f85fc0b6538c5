package appliance

// readProxmox parses nothing: Proxmox VE is Debian, so its settings are in Debian's files, some of
// which its packages install (see the record's sets). /etc/network/interfaces is ifupdown2's; the
// web interface writes the same file.
func readProxmox(*Product, []File) Config { return Config{} }
