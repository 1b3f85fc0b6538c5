package freebsd

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/filter"
	"linerate/internal/fact/network"
	"linerate/internal/lazy"
)

// These match lines of rc.conf that give the host addresses of IPv6, and shared ones, and that start sshd, and its port.
var (
	usesIPv6 = lazy.Regexp(`(?m)^[ \t]*ifconfig_(\w+?)(?:_alias\w*|_ipv6)=["']?[^"'\n#]*\binet6\b`)
	usesSSH  = lazy.Regexp(`(?m)^[ \t]*sshd_enable=["']?(?i:yes|on|true|1)\b`)
	sshPort  = lazy.Regexp(`(?m)^[ \t]*Port[ \t]+([0-9]+)`)
	usesSync = lazy.Regexp(`(?m)^[ \t]*pfsync_syncdev=["']?(\w+)`)
	usesCARP = lazy.Regexp(`(?m)^[ \t]*ifconfig_(\w+?)(?:_alias\w*)?=["'][^\n#]*\bvhid\b`)
)

// FilterProblems finds rules of pf and ipfw that never decide, packets that they drop though the host
// needs them, and parameters of jails without effect. texts are a host's files by path; open means that ipfw's last rule accepts.
// h is the network of rc.conf.
func FilterProblems(texts map[string]string, h *network.Host, pf, ipfw, open bool) (all []fact.Problem) {
	rc := texts["/etc/rc.conf"] + "\n" + texts["/etc/rc.conf.local"]
	all = append(jailProblems(texts), needProblems(texts)...)
	add := func(file, name string, line int, detail string) {
		all = append(all, fact.Problem{File: file, Line: line, Kind: fact.ProblemSlip, Message: name, Detail: detail})
	}
	if text := texts["/etc/pf.conf"]; pf && text != "" && len(text) < 1<<20 {
		m := pfFilter(text)
		all = append(all, h.Translations("/etc/pf.conf", &m.set, texts)...)
		for _, g := range m.gates {
			if h.Far(rcName(g.Dev), g.Via) {
				add("/etc/pf.conf", "pf-gateway", g.Line, g.Via.String())
			}
		}
		m.problems(func(name string, line int, detail string) { add("/etc/pf.conf", name, line, detail) })
		for _, w := range filter.Awaited(texts) {
			w.Packet[filter.Way] = "in"
			if _, is := m.set.Drops("input", w.Packet); is && w.Case == "filter-wireguard" && strings.Contains(rc, "wireguard_enable=") {
				add("/etc/pf.conf", w.Case, m.set.Chains[0].Default(), w.Service)
			}
		}
		needed(&m.set, rc, texts["/etc/ssh/sshd_config"], func(name string) { add("/etc/pf.conf", name, m.set.Chains[0].Default(), "") })
	}
	const file = "/etc/ipfw.rules"
	if text := texts[file]; ipfw && text != "" && len(text) < 1<<20 {
		s := ipfwFilter(text, map[bool]filter.Action{true: filter.Accept, false: filter.Drop}[open], !strings.Contains(text+rc+texts["/etc/sysctl.conf"], "one_pass"))
		for _, d := range s.Unreached() {
			if s.Partial {
				break
			}
			add(file, "filter-dead", d.Line, strconv.Itoa(d.By))
		}
		for _, r := range s.Chains[0].Rules {
			if unanswered(s, &r) {
				add(file, "filter-replies", r.Line, "")
				break
			}
		}
		needed(s, rc, texts["/etc/ssh/sshd_config"], func(name string) { add(file, name, s.Chains[0].Default(), "") })
	}
	return all
}

// needed reports packets that the host needs.
func needed(s *filter.Ruleset, rc, sshd string, add func(name string)) {
	drops := func(uses *regexp.Regexp, packets ...filter.Packet) bool {
		for _, on := range uses.FindAllStringSubmatch(rc, -1) {
			for _, packet := range packets {
				if packet[filter.In] = on[1]; strings.HasPrefix(on[1], "lo") {
					continue
				}
				if _, is := s.Drops("input", packet); is {
					return true
				}
			}
		}
		return false
	}
	if usesSSH().MatchString(rc) {
		ports, closed := sshPort().FindAllStringSubmatch(sshd, -1), true
		if len(ports) == 0 {
			ports = [][]string{{"", "22"}}
		}
		for _, port := range ports {
			_, is := s.Drops("input", filter.Packet{filter.Proto: "tcp", filter.DPort: port[1], filter.Way: "in", filter.In: filter.Outside, filter.State: "new"})
			closed = closed && is
		}
		if closed {
			add("filter-ssh")
		}
	}
	if !s.Refuses6() && drops(usesIPv6(), filter.Neighbours()...) {
		add("filter-neighbours")
	}
	if drops(usesCARP(), filter.Packet{filter.Family: "4", filter.Proto: "carp", filter.Way: "in", filter.To: "224.0.0.18", filter.State: "new"}) {
		add("filter-carp")
	}
	if drops(usesSync(), filter.Packet{filter.Family: "4", filter.Proto: "pfsync", filter.Way: "in", filter.To: "224.0.0.240", filter.State: "new"}) {
		add("filter-pfsync")
	}
}

// unanswered reports whether a rule accepts connections whose replies are certainly dropped.
func unanswered(s *filter.Ruleset, r *filter.Rule) bool {
	way, _ := filter.One(r.Conditions, filter.Way)
	proto, _ := filter.One(r.Conditions, filter.Proto)
	port, ok := filter.One(r.Conditions, filter.DPort)
	_, part := filter.One(r.Conditions, filter.State)
	tracked := slices.ContainsFunc(s.Chains[0].Rules, func(o filter.Rule) bool { return o.Tracks && o.Target == "" && o.Number <= r.Number })
	switch {
	case r.Action != filter.Accept || r.Tracks || part && way == "out":
		return false
	case way == "out" && (proto == "tcp" || proto == "udp") && !tracked: // from any port, if it names none
		port = cmp.Or(port, "443")
	case way != "in" || proto != "tcp" || !ok:
		return false
	}
	back := map[string]string{"in": "out", "out": "in"}[way]
	reply := filter.Packet{filter.Way: back, filter.Proto: proto, filter.SPort: port, filter.DPort: "50000", filter.State: "established", filter.Family: "4", filter.In: filter.Outside}
	if on, ok := filter.One(r.Conditions, filter.In); ok {
		reply[filter.In] = on
	}
	_, is := s.Drops("input", reply)
	return is
}

// problems reports what is wrong with the rules themselves.
func (m *pfModel) problems(add func(name string, line int, detail string)) {
	for _, d := range m.set.Unreached() {
		add("filter-dead", d.Line, strconv.Itoa(d.By))
	}
	for _, line := range m.negated {
		add("pf-negated-list", line, "")
	}
	for _, line := range m.late {
		add("pf-overload-late", line, "")
	}
	for _, d := range m.set.Redirect {
		packet, _ := d.Redirected()
		if _, is := m.set.Drops("input", packet); is && !d.Passes {
			add("filter-redirect", d.Line, "")
		}
	}
	for _, n := range m.set.Sources { // what is translated leaves as a packet of the filter's, too
		out := filter.Packet{filter.Way: "out", filter.In: n.Only(filter.Out), filter.Family: "4", filter.State: "new"}
		if _, is := m.set.Drops("input", out); is && out[filter.In] != "" && !n.Passes && !n.Vague {
			add("filter-forward", n.Line, "")
			break
		}
	}
	for _, way := range []string{"out", "in"} {
		loopback := filter.Packet{filter.Way: way, filter.In: "lo0", filter.Family: "4", filter.Proto: "tcp", filter.From: "127.0.0.1", filter.To: "127.0.0.1", filter.State: "new"}
		if _, is := m.set.Drops("input", loopback); is {
			add("pf-loopback", m.set.Chains[0].Default(), "")
			break
		}
	}
	for _, r := range m.set.Chains[0].Rules {
		way, _ := filter.One(r.Conditions, filter.Way)
		on, _ := filter.One(r.Conditions, filter.In)
		for _, n := range m.translates {
			if r.Action == filter.Drop && way == "out" && on == n.on && m.translated(r, n.from) {
				add("pf-after-nat", r.Line, "")
				break
			}
		}
	}
}

// translated reports whether a rule's sources are among those of a nat rule.
func (m *pfModel) translated(r filter.Rule, from filter.Condition) bool {
	for _, c := range r.Conditions {
		if c.Field == filter.From && !c.Not && !strings.HasPrefix(c.Any[0], "(") {
			return from.Covers(c)
		}
	}
	return false
}
