package appliance

import (
	"fmt"
	"strconv"
	"strings"

	"linerate/internal/fact"
)

// readPfSense parses pfSense's config.xml. Its tunables are for sysctl(8) only: loader tunables
// belong in /boot/loader.conf.local.
func readPfSense(p *Product, files []File) Config {
	return readSense(p, files, "pfsense", func(s *sense) {
		system := s.root.first("system")
		if r, near, ok := p.ReleaseByConfig(s.root.first("version").value()); ok && near {
			s.c.As = r.Release
		} else if ok {
			s.c.Version = r.Release
		}
		s.switchOffloads(func(tag string, nic *fact.NIC) bool {
			virtual := strings.HasPrefix(nic.Name, "vtnet") || strings.HasPrefix(nic.Name, "ena")
			return system.has(tag) || virtual && tag == "disablechecksumoffloading"
		})
		s.timeouts(system)
		s.c.Services = s.services()
		s.pfsenseLimiters()
		s.pfsenseALTQ()
	})
}

// pfSenseTimeouts maps prefixes of its fields <tcpfirsttimeout> and so on to the states of each
// protocol.
var pfSenseTimeouts = map[string]string{
	"tcp": "first opening established closing finwait closed tsdiff", "sctp": "first opening established closing closed",
	"udp": "first single multiple", "icmp": "first error", "other": "first single multiple",
}

func (s *sense) timeouts(system *node) {
	for _, protocol := range []string{"tcp", "sctp", "udp", "icmp", "other"} {
		for _, state := range strings.Fields(pfSenseTimeouts[protocol]) {
			n := system.first(protocol + state + "timeout")
			v, err := strconv.ParseUint(n.value(), 10, 64)
			if err != nil {
				continue
			}
			s.c.PF.Timeouts = append(s.c.PF.Timeouts, fact.Limit{Name: protocol + "." + state, Value: v, File: s.file, Line: n.line, Text: fmt.Sprintf("system/%s: %d", n.name, v)})
		}
	}
}
