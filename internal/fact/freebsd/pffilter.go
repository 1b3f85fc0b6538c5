package freebsd

import (
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/fact/filter"
	"linerate/internal/fact/network"
	"linerate/internal/lazy"
)

// pfModel is a pf.conf as far as it is modelled: its filter rules are one chain, in which the last
// match decides.
type pfModel struct {
	set        filter.Ruleset
	translates []pfNAT
	negated    []int // lines with a list of negations
	late       []int // lines that block a table, below the quick rule that fills it
	fills      []string
	excepts    bool // rules except packets from translation
	gates      []network.Route
}

// pfNAT is a nat rule: what it translates on which interface.
type pfNAT struct {
	on   string
	from filter.Condition
}

// anchored matches an anchor with rules in braces, which are evaluated only where it matches.
var anchored = lazy.Regexp(`(?m)^[ \t]*anchor\b[^\n#]*\{`)

// pfFilter models a pf.conf; one with rules in anchors is not modelled.
func pfFilter(text string) *pfModel {
	m := &pfModel{}
	if anchored().MatchString(text) {
		m.set.Partial, m.set.Chains = true, make([]filter.Chain, 1)
		return m
	}
	c := filter.Chain{Hook: "input", Line: 1, Last: true, Policy: filter.Accept}
	lexer := pfLexer{text: text, line: 1, macros: map[string]string{}}
	for range 8192 {
		s, ok := lexer.next()
		if !ok {
			break
		}
		w := separateBraces(s.words)
		if len(w) >= 3 && w[1] == "=" {
			lexer.macros[w[0]] = strings.Join(w[2:], " ")
			continue
		}
		p := pfRule{model: m, words: w, rule: filter.Rule{Line: s.line, Vague: hasAny(w, hidden) || strings.Contains(s.text, hidden)}}
		switch w[0] {
		case "pass", "block", "set", "antispoof", "anchor", "include", "load", "match":
			if p.filters() {
				c.Rules = append(c.Rules, p.rule)
			}
		case "rdr", "nat", "binat":
			p.translation()
		case "no":
			m.excepts = true
		case "nat-anchor", "binat-anchor":
			m.set.Sources = append(m.set.Sources, filter.Redirect{Vague: true})
		}
	}
	m.set.Chains = []filter.Chain{c}
	return m
}

// separateBraces makes braces words, which macros may join with others.
func separateBraces(words []string) (out []string) {
	for _, w := range words {
		if strings.HasPrefix(w, "<") {
			out = append(out, w)
			continue
		}
		out = append(out, strings.Fields(strings.NewReplacer("{", " { ", "}", " } ", "!", " ! ").Replace(w))...)
	}
	return append(out, "")[:len(out)]
}

// pfRule reads a rule's words in order.
type pfRule struct {
	model *pfModel
	words []string
	rule  filter.Rule
	fills string // table that it adds sources to
}

func (p *pfRule) peek() string {
	if len(p.words) == 0 {
		return ""
	}
	return p.words[0]
}

func (p *pfRule) next() string {
	w := p.peek()
	p.words = p.words[min(1, len(p.words)):]
	return w
}

// list reads a word or a list in braces; "!" before a word negates, and a list of several negations
// matches everything.
func (p *pfRule) list() (any []string, not bool) {
	if p.peek() != "{" {
		if not = p.peek() == "!"; not {
			p.next()
		}
		return []string{p.paren()}, not
	}
	p.next()
	negations := 0
	for p.peek() != "}" && len(p.words) > 0 {
		if p.peek() == "!" {
			p.next()
			negations++
		}
		if w := p.paren(); w != "" {
			any = append(any, w)
		}
	}
	p.next()
	if negations > 0 {
		p.rule.Vague = true
		if negations > 1 && negations == len(any) {
			p.model.negated = append(p.model.negated, p.rule.Line)
		}
	}
	return any, false
}

// paren reads a word, or one in parentheses: "(igb0)", which is a name of what changes.
func (p *pfRule) paren() string {
	w := p.next()
	if w != "(" {
		return w
	}
	for len(p.words) > 0 {
		n := p.next()
		if w += n; n == ")" {
			break
		}
	}
	return w
}

// interfaces reads names of interfaces, or of their groups: a driver's, or others that are not known.
func (p *pfRule) interfaces() {
	names, not := p.list()
	for _, n := range names {
		if !strings.ContainsAny(n, "0123456789$") {
			names = append(names, n+"*")
			if n != "lo" && n != "any" {
				names = append(names, "@"+n)
			}
		}
	}
	p.rule.Add(filter.In, not, names...)
}

// filters reads a rule of the filter, or what acts like one; false means that it does nothing.
func (p *pfRule) filters() bool {
	r := &p.rule
	switch p.next() {
	case "set":
		if p.next() != "skip" || p.next() != "on" {
			return false
		}
		r.Action, r.Quick = filter.Accept, true
		p.interfaces()
		return true
	case "match":
		return false
	case "pass":
		r.Action = filter.Accept
	case "block":
		r.Action = filter.Drop
	case "antispoof":
		r.Action, r.Vague, r.Quick = filter.Drop, true, hasAny(p.words, "quick")
		return true
	default:
		r.Action, r.Vague, r.Quick = filter.Divert, true, true
		return true
	}
	r.Tracks = r.Action == filter.Accept
	for len(p.words) > 0 {
		p.word(p.next())
	}
	p.tables()
	return true
}

// word reads a part of a rule.
func (p *pfRule) word(w string) {
	r := &p.rule
	switch w {
	case "in", "out":
		r.Add(filter.Way, false, w)
	case "quick":
		r.Quick = true
	case "on":
		p.interfaces()
	case "inet":
		r.Add(filter.Family, false, "4")
	case "inet6":
		r.Add(filter.Family, false, "6")
	case "proto":
		any, not := p.list()
		r.Add(filter.Proto, not, any...)
	case "from":
		p.host(filter.From, filter.SPort)
	case "to":
		p.host(filter.To, filter.DPort)
	case "icmp-type", "icmp6-type":
		any, _ := p.list()
		r.Add(filter.Type, false, any...)
		if w == "icmp6-type" {
			r.Add(filter.Family, false, "6")
		}
	case "flags":
		if f := p.next(); f != "S/SA" && f != "any" {
			r.Vague = true
		}
	case "label", "tag", "queue", "fib", "ridentifier":
		p.list()
	case "route-to", "reply-to", "dup-to":
		if len(p.words) > 3 && p.words[0] == "(" && p.words[3] == ")" { // (INTERFACE GATEWAY)
			gate, _ := netip.ParseAddr(p.words[2])
			p.model.gates = append(p.model.gates, network.Route{Place: network.Place{Line: r.Line}, Dev: p.words[1], Via: gate})
			p.words = p.words[4:]
		}
	case "no":
		r.Tracks = p.next() != "state"
	case "log":
		if p.peek() == "(" {
			p.paren()
		}
	case "(":
		p.words = append([]string{"("}, p.words...)
		p.options()
	case "all", "drop", "return", "return-rst", "return-icmp", "return-icmp6", "keep", "modulate", "state", "allow-opts", "route", "set", "prio", "":
	default:
		r.Vague = true
	}
}

// options reads a rule's options in parentheses.
func (p *pfRule) options() {
	at := slices.Index(p.words, ")")
	in := p.words[:max(at, 0)]
	if p.words = p.words[at+1:]; at < 0 {
		p.words = nil
	}
	if i := slices.Index(in, "overload"); i >= 0 && i+1 < len(in) {
		p.fills = in[i+1]
	}
}

// host reads the addresses and ports of a side.
func (p *pfRule) host(address, port filter.Field) {
	if p.peek() != "port" {
		any, not := p.list()
		if hasAny(any, "urpf-failed", "no-route", "-") {
			p.rule.Vague = true
		}
		p.rule.Add(address, not, any...)
	}
	if p.peek() != "port" {
		return
	}
	p.next()
	if p.peek() == "=" {
		p.next()
	}
	any, not := p.list()
	if hasAny(any, "<", ">", "<=", ">=", "<>", "><", "=") || not && p.peek() == "=" {
		p.rule.Vague = true
		return
	}
	p.rule.Add(port, not, any...)
}

// tables records a quick rule that fills a table, and a rule below that blocks what is in it.
func (p *pfRule) tables() {
	if p.fills != "" && p.rule.Quick {
		p.model.fills = append(p.model.fills, p.fills)
	}
	from, _ := filter.One(p.rule.Conditions, filter.From)
	for _, c := range p.rule.Conditions {
		if c.Field == filter.From && len(c.Any) == 1 {
			from = c.Any[0]
		}
	}
	if p.rule.Action == filter.Drop && slices.Contains(p.model.fills, from) {
		p.model.late = append(p.model.late, p.rule.Line)
	}
}

// translation reads a rule of nat or rdr.
func (p *pfRule) translation() {
	kind := p.next()
	at := slices.Index(p.words, "->")
	if at < 0 {
		return
	}
	to, passes := p.words[at+1:], p.peek() == "pass"
	if p.words = p.words[:at]; passes {
		p.next()
	}
	for len(p.words) > 0 {
		p.word(p.next())
	}
	d := filter.Redirect{Line: p.rule.Line, Before: p.rule.Conditions, Vague: p.rule.Vague || p.model.excepts, Passes: passes}
	if len(to) > 0 {
		d.To, _ = netip.ParseAddr(to[0])
	}
	if kind != "rdr" {
		d.Before = slices.Clone(d.Before)
		for i := range d.Before {
			if d.Before[i].Field == filter.In {
				d.Before[i].Field = filter.Out
			}
		}
		p.model.set.Sources = append(p.model.set.Sources, d)
		n := pfNAT{}
		n.on, _ = filter.One(p.rule.Conditions, filter.In)
		for _, c := range p.rule.Conditions {
			if c.Field == filter.From && !c.Not {
				n.from = c
			}
			if c.Field == filter.To || c.Field == filter.DPort || c.Field == filter.Proto {
				return // of a part
			}
		}
		if n.on != "" && len(n.from.Any) > 0 && !p.rule.Vague && !passes && kind == "nat" {
			p.model.translates = append(p.model.translates, n)
		}
		return
	}
	if i := slices.Index(to, "port"); i >= 0 && i+1 < len(to) {
		d.Port = to[i+1]
	}
	if !p.rule.Vague && len(to) > 0 {
		p.model.set.Redirect = append(p.model.set.Redirect, d)
	}
}
