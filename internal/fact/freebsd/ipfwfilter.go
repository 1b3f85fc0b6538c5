package freebsd

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/filter"
	"linerate/internal/lazy"
)

// ipfwControl matches shell that decides which rules are added.
var ipfwControl = lazy.Regexp(`(?m)^[ \t]*(if|for|while|case|\.|source|until)[ \t]`)

// ipfwFilter models an ipfw script or rule file as one chain; policy is what the last rule does. With onePass, what nat
// translates is accepted, and sees no rule below (net.inet.ip.fw.one_pass=1, the default).
func ipfwFilter(text string, policy filter.Action, onePass bool) *filter.Ruleset {
	r := readIPFW(text, "", &fact.IPFW{})
	for i := range r.rules {
		if onePass && r.rules[i].Target == "nat" {
			r.rules[i].Action, r.rules[i].Tracks = filter.Accept, true
		}
	}
	slices.SortStableFunc(r.rules, func(a, b filter.Rule) int { return a.Number - b.Number })
	return &filter.Ruleset{Chains: []filter.Chain{{Hook: "input", Line: 1, Policy: policy, Rules: r.rules}}, Partial: ipfwControl().MatchString(text)}
}

// model adds a rule by its words behind add.
func (r *ipfwReader) model(line int, w []string) {
	if len(w) < 2 || len(r.rules) >= 8192 {
		return
	}
	n, err := strconv.Atoi(w[0])
	if err != nil {
		n = r.last + 100
	} else {
		w = w[1:]
	}
	r.last = n
	p := ipfwRule{rule: filter.Rule{Line: line, Number: n}}
	for _, word := range w {
		p.rule.Vague = p.rule.Vague || strings.Contains(word, hidden) || strings.Contains(word, "$")
		p.words = append(p.words, strings.NewReplacer(`"`, "", `'`, "").Replace(word))
	}
	p.read()
	r.rules = append(r.rules, p.rule)
}

// ipfwRule reads a rule's words in order: action, protocol, sides, options.
type ipfwRule struct {
	words []string
	rule  filter.Rule
}

func (p *ipfwRule) next() string {
	if len(p.words) == 0 {
		return ""
	}
	w := p.words[0]
	p.words = p.words[1:]
	return w
}

func (p *ipfwRule) read() {
	r := &p.rule
	w := p.next()
	for w == "set" || w == "prob" {
		r.Vague = r.Vague || w == "prob"
		p.next()
		w = p.next()
	}
	switch w {
	case "allow", "accept", "pass", "permit":
		r.Action = filter.Accept
	case "deny", "drop", "reject", "reset", "reset6":
		r.Action = filter.Drop
	case "unreach", "unreach6":
		r.Action = filter.Drop
		p.next()
	case "count", "check-state":
		return
	case "skipto":
		r.Action, r.Target = filter.Skip, p.next()
	default: // nat, divert, pipe, fwd
		r.Action, r.Target = filter.Divert, w
	}
	if at := slices.Index(p.words, "from"); at > 1 { // log, tag
		p.words = p.words[at-1:]
	}
	p.protocol(p.next())
	if p.next() != "from" {
		r.Vague = true
		return
	}
	p.side(filter.From, filter.SPort)
	if p.next() != "to" {
		r.Vague = true
		return
	}
	p.side(filter.To, filter.DPort)
	for len(p.words) > 0 && !strings.HasPrefix(p.words[0], "//") {
		p.option(p.next())
	}
}

func (p *ipfwRule) protocol(w string) {
	switch w {
	case "ip4", "ipv4":
		p.rule.Add(filter.Family, false, "4")
	case "ip6", "ipv6":
		p.rule.Add(filter.Family, false, "6")
	default:
		p.rule.Vague = p.rule.Vague || strings.ContainsAny(w, "{(")
		p.rule.Add(filter.Proto, false, w)
		if w == "icmp" {
			p.rule.Add(filter.Family, false, "4")
		}
	}
}

// ipfwPorts matches a list of ports.
var ipfwPorts = lazy.Regexp(`^([0-9]+(-[0-9]+)?|[a-z]+)(,([0-9]+(-[0-9]+)?|[a-z]+))*$`)

// side reads an address and its ports.
func (p *ipfwRule) side(address, port filter.Field) {
	w := p.next()
	not := w == "not"
	if not {
		w = p.next()
	}
	if strings.ContainsAny(w, "{[") {
		p.rule.Vague = true
		for len(p.words) > 0 && !strings.Contains(w, "}") {
			w = p.next()
		}
	} else {
		p.rule.Add(address, not, strings.Split(w, ",")...)
	}
	if len(p.words) > 0 && p.words[0] != "to" && ipfwPorts().MatchString(p.words[0]) && !slices.Contains(ipfwOptions, p.words[0]) {
		p.rule.Add(port, false, strings.Split(p.next(), ",")...)
	}
}

// ipfwOptions are words behind the sides that look like services.
var ipfwOptions = strings.Fields("in out via recv xmit setup established frag limit antispoof jail uid gid bridged layer mac not or proto src dst tagged tagonly verrevpath versrcreach lookup dscp keep record")

// limited are the words of limit.
var limited = strings.Fields("src-addr src-port dst-addr dst-port")

func (p *ipfwRule) option(w string) {
	r := &p.rule
	switch w {
	case "in", "out":
		r.Add(filter.Way, false, w)
	case "via", "recv", "xmit":
		r.Add(filter.In, false, p.next())
		if w == "recv" {
			r.Vague = r.Vague || slices.ContainsFunc(r.Conditions, func(c filter.Condition) bool { return c.Field == filter.Way && c.Any[0] == "out" })
		}
	case "setup":
		r.Add(filter.State, false, "new")
	case "established":
		r.Add(filter.State, false, "established")
	case "keep-state", "record-state":
		r.Tracks = true
	case "limit", "set-limit":
		r.Tracks = true
		for len(p.words) > 0 && slices.Contains(limited, p.words[0]) {
			p.next()
		}
		p.next()
	case "src-port":
		r.Add(filter.SPort, false, strings.Split(p.next(), ",")...)
	case "dst-port":
		r.Add(filter.DPort, false, strings.Split(p.next(), ",")...)
	case "icmptypes", "icmp6types":
		r.Add(filter.Type, false, strings.Split(p.next(), ",")...)
	case "log", "logamount":
	default:
		r.Vague = r.Vague || !strings.HasPrefix(w, ":") // the name of a state
	}
}
