package linux

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/fact/filter"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

// nftFilter models the filter chains of nftables.conf.
func nftFilter(text string) *filter.Ruleset {
	r := nftReader{defines: map[string]string{}}
	for _, s := range nftStatements(text) {
		r.statement(s)
	}
	r.chain(nil)
	return &r.set
}

type nftReader struct {
	set     filter.Ruleset
	family  string
	table   string
	now     *filter.Chain // the chain that is read
	nat     bool
	hooked  string
	defines map[string]string
}

// chain ends a chain and begins another.
func (r *nftReader) chain(next *filter.Chain) {
	if r.now != nil {
		r.set.Chains = append(r.set.Chains, *r.now)
	}
	r.now, r.nat, r.hooked = next, false, ""
}

func (r *nftReader) statement(s nftStatement) {
	w := nftWords(s.text)
	switch first := w[0].word; {
	case first == "table" && len(w) > 2:
		r.family, r.table = w[1].word, w[2].word
		if len(w) == 3 || w[2].word == "{" { // without a family
			r.family, r.table = "ip", w[1].word
		}
	case first == "chain" && len(w) > 1:
		r.chain(&filter.Chain{Name: r.table + "/" + w[1].word, Line: s.line, Policy: filter.Continue,
			Family: map[string]string{"ip": "4", "ip6": "6"}[r.family]})
	case first == "define" || first == "redefine":
		if _, value, ok := strings.Cut(r.filled(s.text), "="); ok && len(w) > 1 && len(value) < 1<<12 {
			r.defines["$"+w[1].word] = strings.TrimSpace(value)
		}
	case first == "}":
		r.chain(nil)
	case r.now == nil:
		r.set.Partial = r.set.Partial || first == "include" || first == "add" || first == "insert"
	case first == "type":
		r.hook(s.text)
	case first == "policy" && len(w) > 1:
		r.now.Policy = map[bool]filter.Action{true: filter.Drop, false: filter.Accept}[w[1].word == "drop"]
	case first == "include":
		r.set.Partial = true
	case first != "comment" && len(r.now.Rules) < 4096:
		r.rule(s)
	}
}

// hook reads "type filter hook input priority 0".
func (r *nftReader) hook(text string) {
	if m := nftHook().FindStringSubmatch(text); m != nil {
		r.nat, r.hooked, r.now.Policy = m[1] == "nat", m[2], filter.Accept
		if ip := r.family == "ip" || r.family == "ip6" || r.family == "inet"; ip && m[1] == "filter" {
			r.now.Hook = m[2]
		}
	}
}

var nftVariable = lazy.Regexp(`\$\w+`)

// filled puts variables' values in their place, unless they are very many.
func (r *nftReader) filled(text string) string {
	if strings.Count(text, "$") > 256 {
		return text
	}
	return nftVariable().ReplaceAllStringFunc(text, func(name string) string { return cmp.Or(r.defines[name], name) })
}

// rule adds a rule, or one for each element of a verdict map.
func (r *nftReader) rule(s nftStatement) {
	text := r.filled(s.text)
	p := nftRule{words: nftWords(text), rule: filter.Rule{Line: s.line, Vague: strings.Contains(text, hidden), Limited: limited().MatchString(text)}, table: r.table}
	p.read()
	if _, is := filter.One(p.rule.Conditions, noInterface[r.hooked]); is && r.family != "netdev" && r.family != "bridge" {
		r.set.Blind = append(r.set.Blind, filter.Redirect{Line: s.line, Before: []filter.Condition{{Field: noInterface[r.hooked]}}})
	}
	if p.rule.Action == filter.Continue && strings.Contains(text, hidden) {
		p.rule.Action = filter.Divert
	}
	if p.masquerades {
		r.set.Masquerades = true
		r.set.Wan, _ = filter.One(p.rule.Conditions, filter.Out)
		r.set.Sources = append(r.set.Sources, p.source(r.hooked == "postrouting"))
	}
	if p.untracks && (r.hooked == "prerouting" || r.hooked == "input") {
		r.set.Untracked = append(r.set.Untracked, filter.Redirect{Line: s.line, Before: p.rule.Conditions})
	}
	if p.redirects && r.nat && r.hooked != "output" {
		r.set.Redirect = append(r.set.Redirect, filter.Redirect{Line: s.line, Before: p.rule.Conditions, To: p.to, Port: p.port, Vague: p.rule.Vague})
	}
	r.now.Rules = append(r.now.Rules, append(p.mapped, p.rule)...)
}

// limited matches conditions of nft and iptables that hold for a part of the packets only: a rate, a number, a time.
var limited = lazy.Regexp(`\b(?:limit[ \t]+rate|ct[ \t]+count)[ \t]+[0-9]|\bmeta[ \t]+(?:hour|day)\b|--(?:limit|hashlimit|hashlimit-upto|connlimit-upto|rcheck|timestart|weekdays)[ \t]`)

// noInterface is the interface that packets do not have at a hook; nft_meta.c.
var noInterface = map[string]filter.Field{"prerouting": filter.Out, "input": filter.Out, "output": filter.In}

// hidden replaces a redacted word.
const hidden = "REDACTED"

// nftWord is a word, or a set in braces with its elements.
type nftWord struct {
	word string
	set  []string
}

// nftPart matches a set in braces, a quoted text, or a word, to which those behind commas belong.
var nftPart = lazy.Regexp(`\{(?:[^{}]|\{[^{}]*\})*\}|"[^"]*"?|\{|[^\s{"](?:,[ \t]*[^\s,]|[^\s,])*,?`)

// nftWords splits a statement; alternatives with commas are a set too.
func nftWords(text string) (all []nftWord) {
	for _, w := range nftPart().FindAllString(text, -1) {
		n := nftWord{word: strings.Trim(w, `"`)}
		if len(w) > 1 && w[0] == '{' {
			n.word = "{}"
		}
		if n.word == "{}" || w[0] != '"' && strings.Contains(w, ",") {
			n.set = list.Filter(list.Map(strings.Split(strings.Trim(w, "{}"), ","), strings.TrimSpace), func(e string) bool { return e != "" })
		}
		all = append(all, n)
	}
	return append(all, nftWord{})[:max(1, len(all))]
}

// nftRule reads a rule's words in order.
type nftRule struct {
	words                            []nftWord
	rule                             filter.Rule
	mapped                           []filter.Rule // of a verdict map
	table                            string
	redirects, masquerades, untracks bool

	to   netip.Addr
	port string
}

func (p *nftRule) next() (w nftWord) {
	if len(p.words) > 0 {
		w, p.words = p.words[0], p.words[1:]
	}
	return w
}

// selectors maps the words that compare a field to it, with the protocol or family that they imply.
var selectors = map[string]struct {
	field         filter.Field
	proto, family string
}{
	"iif": {field: filter.In}, "iifname": {field: filter.In}, "oif": {field: filter.Out}, "oifname": {field: filter.Out},
	"meta iif": {field: filter.In}, "meta iifname": {field: filter.In}, "meta oif": {field: filter.Out}, "meta oifname": {field: filter.Out},
	"ip saddr": {filter.From, "", "4"}, "ip daddr": {filter.To, "", "4"}, "ip6 saddr": {filter.From, "", "6"}, "ip6 daddr": {filter.To, "", "6"},
	"ip protocol": {filter.Proto, "", "4"}, "ip6 nexthdr": {filter.Proto, "", "6"}, "meta l4proto": {field: filter.Proto}, "meta nfproto": {field: filter.Family}, "meta protocol": {field: filter.Family}, "ether type": {field: filter.Family},
	"tcp dport": {filter.DPort, "tcp", ""}, "udp dport": {filter.DPort, "udp", ""}, "tcp sport": {filter.SPort, "tcp", ""}, "udp sport": {filter.SPort, "udp", ""},
	"th dport": {field: filter.DPort}, "th sport": {field: filter.SPort}, "icmp type": {filter.Type, "icmp", "4"}, "icmpv6 type": {filter.Type, "icmp6", "6"},
	"ct state": {field: filter.State}, "ct status": {field: filter.Status},
}

func (p *nftRule) read() {
	for len(p.words) > 0 {
		w := p.next().word
		name := w
		if len(p.words) > 0 {
			if _, two := selectors[w+" "+p.words[0].word]; two {
				name += " " + p.next().word
			}
		}
		if _, known := selectors[name]; known {
			p.compare(name)
		} else if !p.statement(w) {
			return
		}
	}
}

// compare reads what a field is compared with.
func (p *nftRule) compare(name string) {
	s := selectors[name]
	if s.proto != "" {
		p.rule.Add(filter.Proto, false, s.proto)
	}
	if s.family != "" {
		p.rule.Add(filter.Family, false, s.family)
	}
	v := p.next()
	not := v.word == "!="
	if not || v.word == "==" {
		v = p.next()
	}
	switch {
	case v.word == "vmap":
		p.verdicts(s.field)
		return
	case v.word == "." || strings.ContainsAny(v.word, "&|^"): // a concatenation, or a mask
		p.rule.Vague = true
		return
	case v.set == nil:
		v.set = []string{v.word}
	}
	for i, x := range v.set {
		if s.field == filter.Family {
			v.set[i] = family(x)
		}
	}
	p.rule.Add(s.field, not, v.set...)
}

// family returns "4" or "6" for nft's words of it.
func family(word string) string {
	return cmp.Or(map[string]string{"ip": "4"}[word], strings.TrimPrefix(strings.TrimPrefix(word, "ipv"), "ip"))
}

// nftVerdict matches an element of a verdict map.
var nftVerdict = lazy.Regexp(`^(.*?)[ \t]*:[ \t]*([a-z]\w*(?:[ \t][^:]*)?)$`)

// verdicts adds a rule for each element of a verdict map.
func (p *nftRule) verdicts(f filter.Field) {
	m := p.next()
	if m.set == nil {
		p.rule.Vague, p.rule.Action = true, filter.Divert
		return
	}
	for _, e := range m.set {
		at := nftVerdict().FindStringSubmatch(e)
		if at == nil {
			p.rule.Vague, p.rule.Action = true, filter.Divert
			continue
		}
		of := p.rule
		of.Conditions = slices.Clone(of.Conditions)
		if key := at[1]; key != "*" && key != "_" {
			if f == filter.Family {
				key = family(key)
			}
			of.Add(f, false, key)
		}
		v := nftRule{words: nftWords(at[2]), rule: of, table: p.table}
		v.read()
		p.mapped = append(p.mapped, v.rule)
	}
}

// statement reads what a rule does; false means that the rest says only how.
func (p *nftRule) statement(w string) (more bool) {
	r := &p.rule
	switch w {
	case "accept":
		r.Action = filter.Accept
	case "drop", "reject":
		r.Action = filter.Drop
	case "return":
		r.Action = filter.Return
	case "jump", "goto":
		r.Action, r.Target = filter.Jump, p.table+"/"+p.next().word
		if w == "goto" {
			r.Action = filter.Goto
		}
	case "dnat", "redirect":
		p.redirect()
	case "vmap":
		r.Action, r.Vague = filter.Divert, true
	case "queue", "tproxy", "synproxy", "snat", "masquerade", "fwd", "dup":
		p.masquerades = w == "snat" || w == "masquerade"
		r.Action, r.Translates = filter.Divert, p.masquerades
	case "comment":
		p.next()
		return true
	case "counter":
		if len(p.words) > 3 && p.words[0].word == "packets" {
			p.words = p.words[4:]
		} else if len(p.words) > 1 && p.words[0].word == "name" {
			p.words = p.words[2:]
		}
		return true
	case "log":
		for len(p.words) > 1 && slices.Contains([]string{"prefix", "level", "group", "snaplen", "queue-threshold", "flags"}, p.words[0].word) {
			p.words = p.words[2:]
		}
		return true
	case "notrack":
		p.untracks = true
	case "flow":
	default:
		r.Vague = true
		return true
	}
	return false
}

// redirect reads "dnat [ip|ip6] to ADDRESS[:PORT]" and "redirect to :PORT".
func (p *nftRule) redirect() {
	p.rule.Action = filter.Divert
	at := slices.IndexFunc(p.words, func(w nftWord) bool { return w.word == "to" })
	if at < 0 || at+1 >= len(p.words) || p.words[at+1].set != nil {
		return
	}
	p.to, p.port, p.redirects = target(p.words[at+1].word)
}

// source returns what translates the sender; one in a chain that others call may be about all packets.
func (p *nftRule) source(base bool) filter.Redirect {
	if !base {
		return filter.Redirect{Vague: true}
	}
	p.redirect()
	p.redirects = false
	return filter.Redirect{Line: p.rule.Line, Before: p.rule.Conditions, To: p.to, Vague: p.rule.Vague}
}

// target parses ADDRESS, ADDRESS:PORT, [ADDRESS]:PORT or :PORT.
func target(s string) (to netip.Addr, port string, ok bool) {
	if rest, only := strings.CutPrefix(s, ":"); only {
		return to, rest, rest != ""
	}
	if a, err := netip.ParseAddr(s); err == nil {
		return a, "", true
	}
	at, err := netip.ParseAddrPort(s)
	if err != nil {
		return to, "", false
	}
	_, port, _ = strings.Cut(s[strings.LastIndexByte(s, ']')+1:], ":")
	return at.Addr(), port, true
}
