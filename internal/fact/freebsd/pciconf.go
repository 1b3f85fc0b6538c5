package freebsd

import (
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/lazy"
)

var (
	pciHead = lazy.Regexp(`^([a-z0-9_]+)@pci\d+:\d+:\d+:\d+:`)
	pciLink = lazy.Regexp(`link x(\d+)\(x(\d+)\) speed ([\d.]+)\(([\d.]+)\)`)
)

// ParsePciconf parses `pciconf -lv` (with -bc also links): devices by driver and unit.
func ParsePciconf(text string) map[string]fact.PCI {
	devices := map[string]fact.PCI{}
	name := ""
	var p fact.PCI
	for _, line := range fact.Lines(text) {
		if m := pciHead().FindStringSubmatch(line); m != nil {
			if name != "" {
				devices[name] = p
			}
			name, p = m[1], fact.PCI{}
			continue
		}
		pciDetail(&p, strings.TrimSpace(line))
	}
	if name != "" {
		devices[name] = p
	}
	return devices
}

func pciDetail(p *fact.PCI, line string) {
	if key, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(key) == "device" {
		p.Device = strings.Trim(strings.TrimSpace(value), "'")
	}
	if m := pciLink().FindStringSubmatch(line); m != nil {
		p.LinkWidth, p.MaxLinkWidth = fact.Int(m[1]), fact.Int(m[2])
		p.LinkSpeed, _ = strconv.ParseFloat(m[3], 64)
		p.MaxLinkSpeed, _ = strconv.ParseFloat(m[4], 64)
	}
}

// AddPCI assigns PCI devices to interfaces. A virtio NIC is below a bus device, which only the
// order of both can match.
func AddPCI(f *fact.Facts, devices map[string]fact.PCI, v Values) {
	for i := range f.NICs {
		n := &f.NICs[i]
		name := n.Name
		if unit := strings.TrimPrefix(n.Name, n.Driver); n.Driver != "" {
			if parent := v.Get("dev." + n.Driver + "." + unit + ".%parent"); strings.HasPrefix(parent, "virtio_pci") {
				name = parent
			}
		}
		if p, ok := devices[name]; ok {
			n.PCI = &p
		}
	}
}
