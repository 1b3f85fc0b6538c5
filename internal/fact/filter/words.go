package filter

import (
	"slices"
	"strings"
)

// protocols normalises the names of protocols, types those of ICMP's types.
var (
	protocols = map[string]string{"ipv6-icmp": "icmp6", "icmpv6": "icmp6", "58": "icmp6", "1": "icmp", "6": "tcp", "17": "udp", "112": "carp", "vrrp": "carp", "89": "ospf", "ospfigp": "ospf", "OSPFIGP": "ospf", "all": "any", "ip": "any"}
	types     = map[string]string{
		"echo-request": "echo", "echoreq": "echo", "nd-neighbor-solicit": "135", "nd-neighbor-advert": "136", "nd-router-advert": "134", "nd-router-solicit": "133", //nolint:misspell // words of nft
		"neighbour-solicitation": "135", "neighbor-solicitation": "135", "neighbour-advertisement": "136", "neighbor-advertisement": "136", //nolint:misspell // words of ip6tables
		"router-advertisement": "134", "router-solicitation": "133", "neighbrsol": "135", "neighbradv": "136", "routeradv": "134", "routersol": "133", "packet-too-big": "2", "toobig": "2", "destination-unreachable": "3", "unreach": "3",
	}
)

// Add adds a condition; not negates it. Words are normalised.
func (r *Rule) Add(f Field, not bool, any ...string) {
	c := Condition{Field: f, Not: not}
	for _, w := range any {
		w = strings.Trim(w, `"'`)
		switch f {
		case Proto:
			if n, ok := protocols[w]; ok {
				w = n
			}
		case Type:
			base, code, coded := strings.Cut(w, "/")
			w, r.Vague = base, r.Vague || coded && code != "0"
			if n, ok := types[w]; ok {
				w = n
			}
		case From, To:
			if w == "0.0.0.0/0" || w == "::/0" {
				w = "any"
			}
		}
		if w == "any" && !not {
			return
		}
		c.Any = append(c.Any, w)
	}
	if len(c.Any) == 0 {
		r.Vague = true
		return
	}
	r.Conditions = append(r.Conditions, c)
}

// One returns the value that conditions leave for a field, if it is one.
func One(conditions []Condition, f Field) (string, bool) {
	for _, c := range conditions {
		if c.Field == f && !c.Not && len(c.Any) > 0 && !strings.ContainsAny(c.Any[0], "@<*+$(") {
			return c.Any[0], true
		}
	}
	return "", false
}

// All reports whether a rule matches every packet, of new connections too.
func (r *Rule) All() bool {
	for _, c := range r.Conditions {
		if c.Field != Family && (c.Field != State || c.Not || !slices.Contains(c.Any, "new")) {
			return false
		}
	}
	return !r.Vague
}

// Refuses6 reports whether a ruleset drops all of IPv6 on purpose: in a rule about nothing else, going out too, or all but replies.
func (s *Ruleset) Refuses6() bool {
	for i := range s.Chains {
		c := &s.Chains[i]
		admits := func(r Rule) bool {
			in, _ := One(r.Conditions, In)
			replies := func(c Condition) bool { return c.Field == State && !c.Not && !slices.Contains(c.Any, "new") }
			return r.Action != Drop && (r.Action != Accept || in != "lo" && !slices.ContainsFunc(r.Conditions, replies))
		}
		if c.Family == "6" && c.Policy == Drop && (c.Hook == "output" || c.Hook == "input" && !slices.ContainsFunc(c.Rules, admits)) {
			return true
		}
		for _, r := range c.Rules {
			six, _ := One(r.Conditions, Family)
			if r.Action == Drop && !r.Vague && six == "6" && r.isDefault() && !slices.ContainsFunc(r.Conditions, func(c Condition) bool { return c.Field == Proto }) {
				return true
			}
		}
	}
	return false
}

// Neighbours are the packets by which an IPv6 host finds its neighbours.
func Neighbours() []Packet {
	base := Packet{Family: "6", Proto: "icmp6", From: "fe80::2", Way: "in", In: Outside, State: "untracked"}
	solicit, advert := Packet{Type: "135", To: "ff02::1:ff00:1"}, Packet{Type: "136"}
	for f, v := range base {
		solicit[f], advert[f] = v, v
	}
	return []Packet{solicit, advert}
}

// Redirected is a packet of a new connection after a redirection.
func (r *Redirect) Redirected() (p Packet, hook string) {
	p, hook = Packet{State: "new", Way: "in", In: Outside, Status: "dnat"}, "input"
	for _, f := range []Field{In, Family, Proto, DPort} {
		if v, ok := One(r.Before, f); ok {
			p[f] = v
		}
	}
	if r.Port != "" {
		p[DPort] = r.Port
	}
	if r.To.IsValid() && !r.To.IsLoopback() {
		p[To], hook = r.To.String(), "forward"
		p[Family] = map[bool]string{true: "4", false: "6"}[r.To.Is4()]
	}
	return p, hook
}
