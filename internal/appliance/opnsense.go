package appliance

import (
	"slices"

	"linerate/internal/fact"
	"linerate/internal/list"
)

// readOPNsense parses OPNsense's config.xml. Its tunables go to both loader.conf and sysctl(8). An
// interface's own offload settings apply if it says so. If the configuration does not mention
// offloads, they are off in a new one and on in one from before 26.1 (the settings' model has a
// default that the old pages lacked).
func readOPNsense(p *Product, files []File) Config {
	return readSense(p, files, "opnsense", func(s *sense) {
		settings := s.root.first("OPNsense", "Interfaces", "settings")
		s.switchOffloads(func(tag string, nic *fact.NIC) bool {
			if n := s.assigned(nic.Name); n.first("hw_settings_overwrite").value() == "1" {
				return ticked(n, tag)
			}
			if settings.has(tag) {
				return ticked(settings, tag)
			}
			return ticked(s.root.first("system"), tag)
		})
		s.c.Services = s.services()
		s.opnsensePipes()
	})
}

// assigned returns the element of the interface assigned to a device.
func (s *sense) assigned(device string) *node {
	for _, all := range s.root.at("interfaces") {
		if n, ok := list.Find(all.children, func(n *node) bool { return n.first("if").value() == device }); ok {
			return n
		}
	}
	return nil
}

// ticked reports whether a box is ticked: its element exists and is not 0.
func ticked(n *node, tag string) bool { return n.has(tag) && n.first(tag).value() != "0" }

// senseServices lists the elements of daemons that audits know, and whether their presence means
// enabled.
var senseServices = []struct {
	name string
	path []string
	tag  string
}{
	{"unbound", []string{"unbound"}, "enable"}, {"unbound", []string{"OPNsense", "unboundplus", "general"}, "enabled"},
	{"openvpn", []string{"openvpn", "openvpn-server"}, "vpnid"}, {"openvpn", []string{"OPNsense", "OpenVPN", "Instances", "Instance"}, "enabled"},
	{"wireguard", []string{"OPNsense", "wireguard", "general"}, "enabled"},
	{"haproxy", []string{"OPNsense", "HAProxy", "general"}, "enabled"},
}

func (s *sense) services() []fact.Service {
	var all []fact.Service
	for _, d := range senseServices {
		if yes := slices.ContainsFunc(s.root.at(d.path...), func(n *node) bool { return ticked(n, d.tag) }); yes {
			all = append(all, fact.Service{Name: d.name, Enabled: &yes})
		}
	}
	return all
}
