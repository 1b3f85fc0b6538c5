package appliance

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/freebsd"
	"linerate/internal/list"
)

// sense is the state of parsing a config.xml of a descendant of m0n0wall.
type sense struct {
	p    *Product
	file string
	root *node // <opnsense> or <pfsense>
	c    Config
	// stage is that of the list of tunables.
	stage fact.Stage
}

// readSense parses what OPNsense and pfSense have in common; more, if not nil, parses the rest.
func readSense(p *Product, files []File, tag string, more func(s *sense)) Config {
	if len(files) == 0 {
		return Config{}
	}
	s := &sense{p: p, file: files[0].Path, stage: p.stage()}
	top, err := parseXML(files[0].Text)
	if err != nil {
		s.c.Problems = append(s.c.Problems, fact.Problem{File: s.file, Line: 1, Kind: fact.ProblemSyntax, Message: fmt.Sprintf("read up to here only: %v", err)})
	}
	if s.root = top.first(tag); s.root == nil {
		s.root = &node{}
	}
	s.c.Hostname = s.root.first("system", "hostname").value()
	s.tunables()
	s.firewall()
	s.interfaces()
	s.fields()
	more(s)
	return s.c
}

// add adds a line at an element.
func (s *sense) add(n *node, stage fact.Stage, name, value, place string) {
	if len(s.c.Lines) < maxItems {
		s.c.Lines = append(s.c.Lines, fact.Line{File: s.file, Number: n.line, Text: name + ": " + value, Name: name, Value: value, Stage: stage, Effective: true, Place: place})
	}
}

// tunables reads the list of tunables. An empty value and "default" mean the product's own.
func (s *sense) tunables() {
	for _, item := range s.root.at("sysctl", "item") {
		name, value := item.first("tunable").value(), item.first("value").value()
		if name == "" || value == "" || value == "default" {
			continue
		}
		n := item.first("tunable")
		s.add(n, s.stage, name, value, s.p.Tunables+": "+name)
	}
}

// fields collects the settings for which the product's record has a place.
func (s *sense) fields() {
	for _, path := range slices.Sorted(maps.Keys(s.p.Fields)) {
		place := s.p.Fields[path]
		if n := s.root.first(strings.Split(path, "/")...); n != nil {
			value := n.value()
			if value == "" && len(n.children) == 0 {
				value = "yes" // an element without content is a ticked box
			}
			s.add(n, fact.Field, path, value, place)
		}
	}
}

// pfNumber is a field that becomes a limit or a timeout of pf.
type pfNumber struct{ path, limit, timeout string }

var pfNumbers = []pfNumber{
	{"system/maximumstates", "states", ""}, {"system/maximumtableentries", "table-entries", ""}, {"system/maximumfrags", "frags", ""},
	{"system/adaptivestart", "", "adaptive.start"}, {"system/adaptiveend", "", "adaptive.end"}, {"system/srctrack", "", "src.track"},
}

// firewall reads the fields that become pf's options.
func (s *sense) firewall() {
	system := s.root.first("system")
	pf := &fact.PF{Configured: !system.has("disablefilter"), File: s.file}
	for _, n := range pfNumbers {
		e := s.root.first(strings.Split(n.path, "/")...)
		v, err := strconv.ParseUint(e.value(), 10, 64)
		if err != nil || v == 0 {
			continue
		}
		l := fact.Limit{Name: n.limit + n.timeout, Value: v, File: s.file, Line: e.line, Text: n.path + ": " + e.value(), Place: s.p.Fields[n.path]}
		if n.limit != "" {
			pf.FileLimits = append(pf.FileLimits, l)
		} else {
			pf.Timeouts = append(pf.Timeouts, l)
		}
	}
	// The product writes both adaptive timeouts or none.
	if s.root.first("system", "adaptivestart").value() == "" || s.root.first("system", "adaptiveend").value() == "" {
		pf.Timeouts = slices.DeleteFunc(pf.Timeouts, func(t fact.Limit) bool { return strings.HasPrefix(t.Name, "adaptive.") })
	}
	if o := s.root.first("system", "optimization"); o.value() != "" {
		pf.Options = []fact.Line{{File: s.file, Number: o.line, Text: "optimization: " + o.value(), Name: "optimization", Value: o.value(), Stage: fact.Field, Order: 1, Effective: true, Place: s.p.Fields["system/optimization"]}}
	}
	s.rules(pf)
	s.c.PF = pf
}

// rules counts rules and translations as written.
func (s *sense) rules(pf *fact.PF) {
	pf.Rules = len(s.root.at("filter", "rule")) + len(s.root.at("OPNsense", "Firewall", "Filter", "rules", "rule"))
	if nat := s.root.first("nat"); nat != nil && nat.first("outbound", "mode").value() != "disabled" { // its own rules of outbound NAT
		pf.Translations++
	}
	pf.Translations += len(s.root.at("nat", "rule")) + len(s.root.at("nat", "outbound", "rule")) + len(s.root.at("nat", "onetoone"))
}

// offloads lists the product's switches, with the parameters of ifconfig(8) that it applies to
// every interface.
var offloads = []struct {
	tag   string
	words []string
}{
	{"disablechecksumoffloading", []string{"rxcsum", "txcsum", "rxcsum6", "txcsum6"}},
	{"disablesegmentationoffloading", []string{"tso"}},
	{lroTag, []string{"lro"}},
}

// lroTag is the switch that should be off on a router: if on, the product enables lro on every
// capable interface.
const lroTag = "disablelargereceiveoffloading"

// interfaces reads the assigned interfaces.
func (s *sense) interfaces() {
	for _, list := range s.root.at("interfaces") {
		for _, n := range list.children {
			name := n.first("if").value()
			if name == "" || len(s.c.NICs) >= maxItems {
				continue
			}
			nic := fact.NIC{Name: name}
			nic.Driver, nic.Kind = freebsd.Driver(name)
			if strings.Contains(name, "_vlan") { // pfSense's and OPNsense's own names
				nic.Driver, nic.Kind = "vlan", fact.KindVLAN
			}
			nic.MTU, _ = strconv.Atoi(n.first("mtu").value())
			if a := n.first("ipaddr").value(); a != "" && a != "none" {
				nic.IPv4 = 1
				if a == "pppoe" {
					nic.Kind = fact.KindTunnel
				}
			}
			if a := n.first("ipaddrv6").value(); a != "" && a != "none" {
				nic.IPv6 = 1
			}
			nic.Configured = []fact.Line{{File: s.file, Number: n.line, Text: n.name + ": " + name, Name: "interfaces/" + n.name, Value: name, Stage: fact.Field, Effective: true, Place: "Interfaces ▸ " + strings.ToUpper(n.name)}}
			s.c.NICs = append(s.c.NICs, nic)
			if mss := n.first("mss"); mss.value() != "" {
				s.add(mss, fact.Field, "interfaces/mss", mss.value(), "Interfaces ▸ "+strings.ToUpper(n.name)+": MSS")
			}
		}
	}
}

// switchOffloads gives every hardware interface the flags that the product sets on it; off reports
// which switches are off.
func (s *sense) switchOffloads(off func(tag string, nic *fact.NIC) bool) {
	for i := range s.c.NICs {
		nic := &s.c.NICs[i]
		if nic.Kind != fact.KindEthernet {
			continue
		}
		for _, o := range offloads {
			sign := ""
			switch {
			case off(o.tag, nic):
				sign = "-"
			case o.tag != lroTag:
				continue // the driver's default, not the user's choice
			}
			for _, w := range o.words {
				nic.ConfigFlags = append(nic.ConfigFlags, sign+w)
			}
		}
	}
}

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
