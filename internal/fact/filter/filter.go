// Package filter models packet filters: what a ruleset does to a packet, and which of its rules can
// never decide anything. What the model does not know (sets, limits, marks) may match or not; only
// what is certain in spite of that is reported.
package filter

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Field is a part of a packet that rules compare.
type Field string

// The fields.
const (
	In     Field = "in"     // interface that it arrives on
	Out    Field = "out"    // interface that it leaves by
	Way    Field = "way"    // direction at the interface, for filters that run there: "in" or "out"
	Family Field = "family" // "4" or "6"
	Proto  Field = "proto"
	From   Field = "from"
	To     Field = "to"
	SPort  Field = "sport"
	DPort  Field = "dport"
	Type   Field = "type"   // of ICMP
	State  Field = "state"  // of connection tracking
	Status Field = "status" // dnat: the destination was translated
)

// Outside is an interface that the rules may name or not, but no loopback.
const Outside = "(outside)"

// Condition compares a field with alternatives: names, addresses and prefixes, ports and their ranges.
type Condition struct {
	Field Field
	Any   []string
	Not   bool
}

// Action is what a rule does to a packet that it matches.
type Action int

// The actions.
const (
	Continue Action = iota // nothing that ends the evaluation
	Accept
	Drop
	Jump   // to Target, and back if that decides nothing
	Goto   // to Target
	Return // from a chain
	Skip   // to the rule that Target numbers, and no further back
	Divert // out of the model: a queue, an unknown statement
)

// Rule is a rule of a chain.
type Rule struct {
	Line       int
	Conditions []Condition
	Vague      bool // it has conditions that are not modelled
	Limited    bool // one of them is a rate, a number or a time
	Action     Action
	Target     string
	Quick      bool // decides at once, where otherwise the last match does
	Tracks     bool // replies to what it accepts are accepted too
	Translates bool // the source: the packet is decided
	Number     int  // in filters that number their rules
}

// Chain is a list of rules; a base chain has a hook.
type Chain struct {
	Name   string
	Hook   string // input, forward, output; "" for what only jumps reach
	Line   int
	Policy Action // where no rule decides; Continue in chains without a hook
	Family string // "4", "6", or "" for both
	Last   bool   // the last match decides (pf)
	Rules  []Rule
}

// Ruleset holds the chains of a host's filter.
type Ruleset struct {
	Chains   []Chain
	Redirect []Redirect
	// Sources are rules that translate the sender: To is zero for the address of the interface.
	Sources []Redirect
	// Untracked are rules that exempt packets from connection tracking.
	Untracked []Redirect
	// Blind are rules that compare an interface which their hook does not have: the field is Before's.
	Blind []Redirect
	// Partial means that other files or commands may add rules.
	Partial bool
	// Masquerades means that a rule translates what is forwarded.
	Masquerades bool
	Wan         string // the interface where they leave; "" if not known

	steps int
}

// Redirect is a rule that sends packets to another address or port (DNAT, rdr).
type Redirect struct {
	Line int
	// Before are the rule's conditions, To and Port where packets go: zero if unchanged.
	Before []Condition
	To     netip.Addr
	Port   string
	Vague  bool // it has conditions that are not modelled
	Passes bool // the filter does not see what it redirects
}

// Only returns the one value that a rule compares a field with, "" if there are several or none.
func (r *Redirect) Only(f Field) (value string) {
	for _, c := range r.Before {
		if c.Field == f && (value != "" || c.Not || len(c.Any) != 1) {
			return ""
		} else if c.Field == f {
			value = c.Any[0]
		}
	}
	return value
}

// May reports whether a rule may match packets with a value of a field.
func (r *Redirect) May(f Field, value string) bool {
	return !slices.ContainsFunc(r.Before, func(c Condition) bool { return c.Field == f && c.matches(Packet{f: value}) == no })
}

// Packet gives fields their values. Fields without a value may have any.
type Packet map[Field]string

// match is the answer to whether a rule matches.
type match int

const (
	no match = iota
	maybe
	yes
)

// matches compares a rule with a packet.
func (r *Rule) matches(p Packet) match {
	all := yes
	if r.Vague {
		all = maybe
	}
	for _, c := range r.Conditions {
		all = min(all, c.matches(p))
	}
	return all
}

func (c Condition) matches(p Packet) match {
	v, known := p[c.Field]
	if !known {
		return maybe
	}
	is := no
	for _, a := range c.Any {
		is = max(is, among(c.Field, v, a))
	}
	if c.Not {
		return yes - is
	}
	return is
}

// among returns whether a value is what an alternative names.
func among(f Field, v, a string) match {
	switch {
	case v == a || a == "any":
		return yes
	case v == Outside && strings.Trim(a, "*+0123456789") != "lo":
		return maybe
	case (f == From || f == To) && ofHost(a):
		switch other, known := prefix(v); {
		case known && !other.Addr().IsLoopback():
			return no
		case known && other.IsSingleIP(): // the host has one address of 127.0.0.0/8
			return yes
		}
		return maybe
	case strings.ContainsAny(a, "@<$("): // a set
		return maybe
	case f == From || f == To:
		wide, ok := prefix(a)
		narrow, known := prefix(v)
		switch {
		case !ok || !known:
			return maybe
		case wide.Bits() <= narrow.Bits() && wide.Contains(narrow.Addr()):
			return yes
		case wide.Overlaps(narrow):
			return maybe
		}
		return no
	case f == SPort || f == DPort || f == Type:
		wide, ok := ports(a)
		narrow, known := ports(v)
		switch {
		case (!ok || !known) && f == Type: // another name
			return no
		case !ok || !known:
			return maybe
		case wide[0] <= narrow[0] && narrow[1] <= wide[1]:
			return yes
		case wide[0] <= narrow[1] && narrow[0] <= wide[1]:
			return maybe
		}
		return no
	case strings.ContainsAny(a, "*+") && strings.HasPrefix(v, a[:strings.IndexAny(a, "*+")]):
		return yes
	}
	return no
}

// ofHost reports whether a word stands for the host's own addresses; packets in question here have others.
func ofHost(a string) bool {
	return a == "me" || a == "me6" || a == "self" || strings.HasPrefix(a, "(") && !strings.Contains(a, ":")
}

// prefix parses an address or a prefix.
func prefix(s string) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(s); err == nil {
		return p.Masked(), true
	}
	a, err := netip.ParseAddr(s)
	return netip.PrefixFrom(a, a.BitLen()), err == nil
}

// services are the ports that rules usually name.
var services = map[string]string{"ssh": "22", "domain": "53", "http": "80", "https": "443", "www": "80", "ntp": "123", "smtp": "25", "dhcpv6-client": "546", "dhcpv6-server": "547", "bootps": "67", "bootpc": "68", "snmp": "161", "imaps": "993", "submission": "587"}

// ports parses a port or a range.
func ports(s string) (of [2]int, ok bool) {
	low, high, both := strings.Cut(strings.ReplaceAll(s, ":", "-"), "-")
	if !both {
		high = low
	}
	for i, p := range []string{low, high} {
		if name := services[p]; name != "" {
			p = name
		}
		n, err := strconv.Atoi(p)
		if err != nil {
			return of, false
		}
		of[i] = n
	}
	return of, true
}

// outcome is what may happen to a packet.
type outcome struct{ accept, drop, on bool } // on: no rule decides

// chain returns the chain with a name.
func (s *Ruleset) chain(name string) *Chain {
	for i := range s.Chains {
		if s.Chains[i].Name == name {
			return &s.Chains[i]
		}
	}
	return nil
}

// Limits of an evaluation, beyond which anything may happen: depth of jumps, as nft's, and rules.
const (
	deepest  = 16
	mostStep = 200_000
)

// walk returns what a chain may do to a packet.
func (s *Ruleset) walk(c *Chain, p Packet, depth int) (may outcome) {
	if c.Last {
		return c.last(p)
	}
	return s.from(c, 0, p, depth)
}

// from returns what a chain may do from a rule on.
func (s *Ruleset) from(c *Chain, first int, p Packet, depth int) (may outcome) {
	for i := first; i < len(c.Rules); i++ {
		r := &c.Rules[i]
		if s.steps++; s.steps > mostStep {
			return outcome{true, true, true}
		}
		m := r.matches(p)
		if m == no || r.Action == Continue {
			continue
		}
		var of outcome
		switch r.Action {
		case Accept:
			of.accept = true
		case Drop:
			of.drop = true
		case Return:
			of.on, may.on = true, true
		case Jump, Goto:
			target := s.chain(r.Target)
			if target == nil || depth >= deepest {
				return outcome{true, true, true}
			}
			of = s.walk(target, p, depth+1)
			if r.Action == Goto && of.on {
				may.on = true
			}
		case Skip:
			to := c.number(r.Target)
			if to <= i || depth >= deepest {
				return outcome{true, true, true}
			}
			of = s.from(c, to, p, depth+1)
			if may.on = may.on || of.on; m == yes {
				return outcome{may.accept || of.accept, may.drop || of.drop, may.on}
			}
		default:
			of = outcome{true, true, true}
		}
		may.accept, may.drop = may.accept || of.accept, may.drop || of.drop
		if m == yes && (!of.on || r.Action == Goto || r.Action == Return) {
			return may
		}
	}
	may.on = true
	return may
}

// number returns the index of the first rule with at least a number.
func (c *Chain) number(n string) int {
	at, err := strconv.Atoi(n)
	if err != nil {
		return -1
	}
	i := slices.IndexFunc(c.Rules, func(r Rule) bool { return r.Number >= at })
	if i < 0 {
		return len(c.Rules)
	}
	return i
}

// last returns what a chain may do in which the last match decides, or the first quick one.
func (c *Chain) last(p Packet) (may outcome) {
	now := outcome{accept: c.Policy == Accept, drop: c.Policy == Drop}
	for i := range c.Rules {
		r := &c.Rules[i]
		m := r.matches(p)
		if m == no || r.Action == Continue {
			continue
		}
		of := outcome{accept: r.Action != Drop, drop: r.Action == Drop || r.Action == Divert}
		switch {
		case r.Quick && m == yes:
			return outcome{accept: may.accept || of.accept, drop: may.drop || of.drop}
		case r.Quick:
			may.accept, may.drop = may.accept || of.accept, may.drop || of.drop
		case m == yes && r.Action != Divert:
			now = of
		default:
			now.accept, now.drop = now.accept || of.accept, now.drop || of.drop
		}
	}
	return outcome{accept: may.accept || now.accept, drop: may.drop || now.drop}
}

// Drops reports whether a packet is certainly dropped at a hook, and in which chain.
func (s *Ruleset) Drops(hook string, p Packet) (*Chain, bool) {
	if s.Partial {
		return nil, false
	}
	s.steps = 0
	for i := range s.Chains {
		c := &s.Chains[i]
		if c.Hook != hook || c.Family != "" && p[Family] != "" && p[Family] != c.Family {
			continue
		}
		may := s.walk(c, p, 0)
		if may.on {
			may.accept, may.drop = may.accept || c.Policy != Drop, may.drop || c.Policy == Drop
		}
		if !may.accept {
			return c, true
		}
	}
	return nil, false
}
