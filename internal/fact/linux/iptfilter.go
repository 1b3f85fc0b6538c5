package linux

import (
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/filter"
)

// iptablesFilter models the tables filter and nat of iptables-save, of family "4" or "6".
func iptablesFilter(text, family string) *filter.Ruleset {
	s := &filter.Ruleset{}
	table, at := "", map[string]int{}
	for i, line := range fact.Lines(text) {
		line = strings.TrimSpace(line)
		if t, ok := strings.CutPrefix(line, "*"); ok {
			table = t
			continue
		}
		if strings.HasPrefix(line, ":POSTROUTING") && table == "nat" {
			at["POSTROUTING"] = len(s.Chains)
			s.Chains = append(s.Chains, filter.Chain{Name: "nat", Line: i + 1})
		}
		if name, ok := strings.CutPrefix(line, ":"); ok && table == "filter" {
			w := append(strings.Fields(name), "", "")
			c := filter.Chain{Name: w[0], Line: i + 1, Family: family, Policy: filter.Continue}
			if w[1] != "-" {
				c.Hook, c.Policy = strings.ToLower(w[0]), map[bool]filter.Action{true: filter.Drop, false: filter.Accept}[w[1] == "DROP"]
			}
			at[w[0]] = len(s.Chains)
			s.Chains = append(s.Chains, c)
		}
		words := quotedFields(line)
		if len(words) < 3 || words[0] != "-A" && words[0] != "-I" {
			continue
		}
		s.Partial = s.Partial || words[0] == "-I"
		p := iptablesRule{words: words[2:], rule: filter.Rule{Line: i + 1, Vague: strings.Contains(line, hidden), Limited: limited().MatchString(line)}}
		p.rule.Add(filter.Family, false, family)
		p.read(func(name string) bool { _, ok := at[name]; return ok })
		if table == "raw" && words[1] == "PREROUTING" && (slices.Contains(words, "NOTRACK") || slices.Contains(words, "--notrack")) {
			s.Untracked = append(s.Untracked, filter.Redirect{Line: i + 1, Before: p.rule.Conditions})
		}
		if table == "nat" && words[1] != "OUTPUT" && p.redirects {
			p.redirect.Vague = p.rule.Vague
			s.Redirect = append(s.Redirect, p.redirect)
		}
		p.rule.Translates = table == "nat" && (slices.Contains(words, "MASQUERADE") || slices.Contains(words, "SNAT"))
		if p.rule.Translates {
			s.Masquerades = true
			s.Wan, _ = filter.One(p.rule.Conditions, filter.Out)
			from := p.redirect
			if from.Line, from.Before, from.Vague = i+1, p.rule.Conditions, p.rule.Vague; words[1] != "POSTROUTING" { // it depends on what calls the chain
				from = filter.Redirect{Vague: true}
			}
			s.Sources = append(s.Sources, from)
		}
		if n, ok := at[words[1]]; ok && (table == "filter" || words[1] == "POSTROUTING" && table == "nat") && len(s.Chains[n].Rules) < 4096 {
			s.Chains[n].Rules = append(s.Chains[n].Rules, p.rule)
		}
	}
	return s
}

// quotedFields splits a line into words; a quoted text is one.
func quotedFields(line string) (words []string) {
	for _, part := range strings.SplitAfter(line, `" `) {
		before, quoted, ok := strings.Cut(part, `"`)
		if words = append(words, strings.Fields(before)...); ok {
			words = append(words, strings.TrimRight(quoted, `" `))
		}
	}
	return words
}

// iptablesRule reads a rule's options in order.
type iptablesRule struct {
	words     []string
	rule      filter.Rule
	redirects bool
	redirect  filter.Redirect
}

// iptablesFields are the options that compare a field.
var iptablesFields = map[string]filter.Field{
	"-i": filter.In, "--in-interface": filter.In, "-o": filter.Out, "--out-interface": filter.Out, "-s": filter.From, "--source": filter.From,
	"-d": filter.To, "--destination": filter.To, "-p": filter.Proto, "--protocol": filter.Proto, "--dport": filter.DPort, "--destination-port": filter.DPort,
	"--sport": filter.SPort, "--source-port": filter.SPort, "--dports": filter.DPort, "--destination-ports": filter.DPort, "--sports": filter.SPort, "--source-ports": filter.SPort,
	"--state": filter.State, "--ctstate": filter.State, "--icmp-type": filter.Type, "--icmpv6-type": filter.Type,
	"--ctstatus": filter.Status,
}

// watching are the targets after which evaluation goes on.
var watching = strings.Fields("LOG NFLOG ULOG MARK CONNMARK TCPMSS DSCP TOS CLASSIFY NOTRACK CT SET AUDIT TRACE TTL HL CHECKSUM")

func (p *iptablesRule) read(chain func(string) bool) {
	not := false
	for len(p.words) > 0 {
		w, v := p.words[0], ""
		if p.words = p.words[1:]; len(p.words) > 0 && w != "!" {
			v = p.words[0]
		}
		switch f, known := iptablesFields[w]; {
		case w == "!":
			not = true
			continue
		case known:
			p.words = p.words[min(1, len(p.words)):]
			if f == filter.State || f == filter.Status {
				v = strings.ToLower(v)
			}
			p.rule.Add(f, not, strings.Split(v, ",")...)
		case w == "-m" || w == "--match":
			p.words = p.words[min(1, len(p.words)):]
			p.rule.Vague = p.rule.Vague || !slices.Contains(strings.Fields("tcp udp multiport state conntrack comment icmp icmp6 icmpv6"), v) // modelled, or without effect
		case w == "--comment":
			p.words = p.words[min(1, len(p.words)):]
		case w == "-j" || w == "-g" || w == "--jump" || w == "--goto":
			p.target(v, w == "-g" || w == "--goto", chain)
			return
		default:
			p.rule.Vague = true
		}
		not = false
	}
}

// target sets what the rule does; the remaining words are the target's options.
func (p *iptablesRule) target(name string, goes bool, chain func(string) bool) {
	r := &p.rule
	switch {
	case name == "ACCEPT":
		r.Action = filter.Accept
	case name == "DROP" || name == "REJECT":
		r.Action = filter.Drop
	case name == "RETURN":
		r.Action = filter.Return
	case slices.Contains(watching, name):
	case chain(name):
		r.Action, r.Target = filter.Jump, name
		if goes {
			r.Action = filter.Goto
		}
	default:
		r.Action = filter.Divert
	}
	for i, w := range p.words {
		if w == "--to-source" && i+1 < len(p.words) {
			p.redirect.To, _, _ = target(p.words[i+1])
		} else if (w == "--to-destination" || w == "--to-ports" || w == "--to-port") && i+1 < len(p.words) {
			to := p.words[i+1]
			if w != "--to-destination" {
				to = ":" + to
			}
			p.redirect = filter.Redirect{Line: r.Line, Before: r.Conditions}
			p.redirect.To, p.redirect.Port, p.redirects = target(to)
		}
	}
}
