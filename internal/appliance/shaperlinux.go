package appliance

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
)

// sqm reads an option of an SQM instance; options of one section are consecutive.
func (u *openwrt) sqm(o option) {
	name := strings.Replace(strings.TrimPrefix(o.part(), "uci "), "sqm.", "sqm/", 1)
	if n := len(u.c.Shapers); n == 0 || u.c.Shapers[n-1].Name != name {
		page, _, _ := strings.Cut(u.p.Fields["sqm/queue/enabled"], ":")
		u.c.shape(fact.Shaper{Kind: fact.ShaperSQM, Name: name, Line: fact.Line{File: o.file, Number: o.line, Text: "config " + o.kind, Name: name, Place: page + ": " + o.part()}})
	}
	s := &u.c.Shapers[len(u.c.Shapers)-1]
	if s.Name != name {
		return // beyond the limit
	}
	switch o.name {
	case "interface":
		s.Device = o.value
	case "enabled":
		s.Enabled = o.value == "1"
	case "upload":
		s.Bandwidth = rate(o.value, "kbit")
	case "download":
		s.Download = rate(o.value, "kbit")
	case "qdisc":
		s.Scheduler = o.value
	case "script":
		s.Script = o.value
	case "linklayer":
		s.LinkLayer = o.value
	case "overhead":
		if v, err := strconv.ParseInt(o.value, 10, 32); err == nil {
			s.Overhead = &v
		}
	}
}

// vyosShapers holds policies, the interfaces bound to one, and the configured flow tables. Names of
// policies and tables are chosen by the user, and not read: if there are tables of both kinds, it
// is unknown which ports each has.
type vyosShapers struct {
	policies           []fact.Shaper
	bound              []fact.Shaper
	ports              []string
	hardware, software bool
}

// note reads a leaf if it is about shaping.
func (v *vyosShapers) note(l leaf, file string) {
	if rest, ok := l.at("qos", "interface"); ok && len(rest) == 3 && rest[1] == "egress" {
		v.bind(l, rest[0], file)
	}
	if rest, ok := l.at("interfaces", "*"); ok && len(rest) > 3 && rest[len(rest)-3] == "traffic-policy" && rest[len(rest)-2] == "out" { // up to 1.3
		v.bind(l, rest[0], file)
	}
	if rest, ok := l.at("firewall", "flowtable"); ok && len(rest) == 3 && len(v.ports) < maxShapers {
		switch rest[1] {
		case "interface":
			v.ports = append(v.ports, rest[2])
		case "offload":
			v.hardware, v.software = v.hardware || rest[2] == "hardware", v.software || rest[2] == "software"
		}
	}
	rest, ok := l.at("qos", "policy")
	if !ok {
		rest, ok = l.at("traffic-policy")
	}
	if ok && len(rest) == 4 && rest[2] == "bandwidth" && len(v.policies) < maxShapers {
		v.policies = append(v.policies, v.policy(l, rest[0], "qos/policy/"+rest[0], file))
	}
}

// bind records an interface with a policy for transmission.
func (v *vyosShapers) bind(l leaf, device, file string) {
	if len(v.bound) < maxShapers {
		s := v.policy(l, "", "qos/interface/"+device, file)
		s.Device = device
		v.bound = append(v.bound, s)
	}
}

// policy returns a new shaper defined at a leaf.
func (v *vyosShapers) policy(l leaf, scheduler, name, file string) fact.Shaper {
	value := l.path[len(l.path)-1]
	place := "set " + strings.Join(l.path[:len(l.path)-1], " ")
	s := fact.Shaper{Kind: fact.ShaperPolicy, Name: name, Enabled: true, Scheduler: scheduler, Line: fact.Line{File: file, Number: l.line, Text: place + " " + value, Name: name, Value: value, Place: place}}
	if digits := strings.TrimRight(value, "abcdefghijklmnopqrstuvwxyz/"); scheduler != "" {
		s.Bandwidth = rate(digits, value[len(digits):])
	}
	return s
}

// all adds the interfaces that have a policy, or the policies if no interface has one.
func (v *vyosShapers) all(c *Config) {
	for _, s := range v.bound {
		s.Offloaded = v.hardware && !v.software && slices.Contains(v.ports, s.Device)
		c.shape(s)
	}
	for _, s := range v.policies {
		if unused := false; len(v.bound) == 0 {
			s.Used = &unused
			c.shape(s)
		}
	}
}
