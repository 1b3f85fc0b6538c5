package linux

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/filter"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

// filterFiles are the rulesets that a boot loads, by their family; "" is nftables.
var filterFiles = []struct{ path, family string }{
	{"/etc/nftables.conf", ""}, {"/etc/sysconfig/nftables.conf", ""},
	{"/etc/iptables/rules.v4", "4"}, {"/etc/sysconfig/iptables", "4"}, {"/etc/iptables/iptables.rules", "4"},
	{"/etc/iptables/rules.v6", "6"}, {"/etc/sysconfig/ip6tables", "6"}, {"/etc/iptables/ip6tables.rules", "6"},
	{"/etc/iptables/rules-save", "4"}, {"/etc/iptables/rules6-save", "6"}, {"/etc/iptables.up.rules", "4"},
}

var (
	// dhcpv6 matches files of networkd and ifupdown that configure an interface by DHCPv6, beyond DHCP=yes.
	dhcpv6 = lazy.Regexp(`(?m)^[ \t]*DHCP=ipv6\b|^\[DHCPv6\]|^[ \t]*(?:DHCP)?PrefixDelegation|^[ \t]*iface \S+ inet6 dhcp\b`)
	// without6 matches what switches IPv6 off.
	without6 = lazy.Regexp(`(?m)^[ \t]*-?net[./]ipv6[./]conf[./]all[./]disable_ipv6[ \t]*=[ \t]*1|^[^#\n]*\bipv6\.disable(?:_ipv6)?=1`)
)

// FilterProblems finds rules that never decide, and packets that the files' rulesets drop though the
// host needs them. texts are a host's files by path.
func FilterProblems(texts map[string]string) (all []fact.Problem) {
	asks, six := false, true
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text := texts[name]
		if strings.Contains(name, "nftables") && len(text) < 1<<20 {
			if at, words := nftRefused(text); at > 0 {
				all = append(all, fact.Problem{File: name, Line: at, Kind: fact.ProblemSlip, Message: "nft-refused", Detail: words})
			}
		}
		six = six && !without6().MatchString(text)
		asks = asks || (strings.HasPrefix(name, "/etc/systemd/network/") && strings.HasSuffix(name, ".network") || strings.HasPrefix(name, "/etc/network/interfaces")) && dhcpv6().MatchString(text)
	}
	for _, f := range filterFiles {
		text := texts[f.path]
		if text == "" || len(text) > 1<<20 {
			continue
		}
		found := filterProblems{file: f.path}
		if f.family == "" {
			found.set = nftFilter(text)
			found.open()
			if _, docker := texts["/etc/docker/daemon.json"]; docker && !strings.Contains(text, "chain FORWARD {") { // which Docker's iptables shares
				found.dropped("filter-docker", "forward", filter.Packet{filter.Family: "4", filter.In: "docker0", filter.Proto: "tcp", filter.State: "new", filter.Status: "none"})
			}
		} else {
			found.set = iptablesFilter(text, f.family)
			if at, why := iptablesRefused(text, f.family, true); at > 0 {
				found.add("iptables-refused", at, why)
			}
		}
		found.check(six && !found.set.Refuses6(), asks)
		for _, w := range filter.Awaited(texts) {
			if c, is := found.set.Drops("input", w.Packet); is && f.family != map[string]string{"4": "6", "6": "4"}[w.Packet[filter.Family]] {
				found.add(w.Case, c.Line, w.Service)
			}
		}
		all = append(all, found.all...)
		if f.family == "" {
			all = append(all, definedLate(f.path, texts)...)
		}
	}
	for _, f := range []string{"/etc/ufw/before.rules", "/etc/ufw/after.rules", "/etc/ufw/user.rules"} { // others declare some of their chains
		if at, why := iptablesRefused(texts[f], "4", false); at > 0 {
			all = append(all, fact.Problem{File: f, Line: at, Kind: fact.ProblemSlip, Message: "iptables-refused", Detail: why})
		}
	}
	return all
}

type filterProblems struct {
	file string
	set  *filter.Ruleset
	all  []fact.Problem
}

func (p *filterProblems) add(name string, line int, detail string) {
	p.all = append(p.all, fact.Problem{File: p.file, Line: line, Kind: fact.ProblemSlip, Message: name, Detail: detail})
}

// dropped reports a packet that is certainly dropped, at the chain that does it.
func (p *filterProblems) dropped(name, hook string, packet filter.Packet) bool {
	c, is := p.set.Drops(hook, packet)
	if is {
		p.add(name, c.Line, "")
	}
	return is
}

func (p *filterProblems) check(six, dhcpv6 bool) {
	for _, d := range p.set.Unreached() {
		p.add("filter-"+cmp.Or(d.Of, "dead"), d.Line, strconv.Itoa(d.By))
	}
	for _, r := range p.set.Blind {
		p.add("filter-hook", r.Line, map[filter.Field]string{filter.In: "incoming", filter.Out: "outgoing"}[r.Before[0].Field])
	}
	for _, r := range p.set.Redirect {
		packet, hook := r.Redirected()
		if _, is := p.set.Drops(hook, packet); is {
			p.add("filter-redirect", r.Line, "")
		}
	}
	p.chains()
	outside := cmp.Or(p.set.Wan, filter.Outside)
	for _, hook := range []string{"forward", "input"} {
		reply := filter.Packet{filter.Family: "4", filter.Proto: "tcp", filter.SPort: "443", filter.DPort: "50000", filter.In: outside, filter.State: "established", filter.Status: "none"}
		unreachable := filter.Packet{filter.Family: "4", filter.Proto: "icmp", filter.Type: "3", filter.In: outside, filter.State: "related", filter.Status: "none"}
		if _, neither := p.set.Drops(hook, reply); !neither && p.dropped("filter-related", hook, unreachable) {
			break
		}
	}
	for _, u := range p.set.Untracked {
		if packet, hook := u.Redirected(); packet[filter.DPort] != "" {
			packet[filter.State], packet[filter.Status] = "untracked", "none"
			tracked := maps.Clone(packet)
			tracked[filter.State] = "new"
			_, is := p.set.Drops(hook, packet)
			if _, anyway := p.set.Drops(hook, tracked); is && !anyway {
				p.add("filter-untracked", u.Line, "")
			}
		}
	}
	if p.set.Masquerades {
		p.dropped("filter-forward", "forward", filter.Packet{filter.Family: "4", filter.State: "new", filter.Status: "none"})
	}
	for _, packet := range filter.Neighbours() {
		if !six {
			break
		}
		if packet[filter.In] = outside; p.dropped("filter-neighbours", "input", packet) {
			break
		}
	}
	if dhcpv6 {
		p.dropped("filter-dhcpv6", "input", filter.Packet{filter.Family: "6", filter.Proto: "udp", filter.SPort: "547", filter.DPort: "546", filter.From: "fe80::2", filter.In: outside, filter.State: "new", filter.Status: "none"})
	}
}

// chains compares the chains for this host's packets with each other, and finds rules that accept everything.
func (p *filterProblems) chains() {
	for i := range p.set.Chains {
		c := &p.set.Chains[i]
		for j := range c.Rules {
			r := &c.Rules[j]
			if c.Hook != "input" || r.Action != filter.Accept || r.Vague {
				continue
			}
			if c.Policy == filter.Drop && r.All() && (len(r.Conditions) > 0 || j < len(c.Rules)-1) {
				p.add("filter-accepts-all", r.Line, "")
			}
			packet, _ := (&filter.Redirect{Before: r.Conditions}).Redirected()
			packet[filter.Status] = "none"
			if by, is := p.set.Drops("input", packet); is && packet[filter.Proto] != "" && packet[filter.DPort] != "" && by.Name != c.Name {
				p.add("filter-two-tables", r.Line, strconv.Itoa(by.Line))
			}
		}
	}
}

// open reports a chain for this host's own packets that accepts some of them and refuses none.
func (p *filterProblems) open() {
	in := list.Filter(p.set.Chains, func(c filter.Chain) bool { return c.Hook == "input" })
	refuses := func(r filter.Rule) bool { return r.Action != filter.Accept && r.Action != filter.Continue }
	if !p.set.Partial && len(in) == 1 && in[0].Policy == filter.Accept && len(in[0].Rules) > 2 && !slices.ContainsFunc(in[0].Rules, refuses) {
		p.add("nft-open", in[0].Line, "")
	}
}

// nftVariables matches a file that is included, a definition, or the use of a variable, in a ruleset's line.
var nftVariables = lazy.Regexp(`^[ \t]*include[ \t]+"([^"]+)"|^[ \t]*(?:re)?define[ \t]+(\w+)|\$(\w+)`)

// definedLate finds the first variable of nftables that is used above its definition, in a file or in those that it includes.
func definedLate(file string, texts map[string]string) (all []fact.Problem) {
	known, used := map[string]bool{}, map[string]fact.Problem{}
	var read func(file string, depth int)
	read = func(file string, depth int) {
		for n, line := range fact.Lines(texts[file]) {
			line, _, _ = strings.Cut(line, "#")
			for _, m := range nftVariables().FindAllStringSubmatch(line, -1) {
				_, again := used[m[3]]
				switch {
				case m[1] != "" && depth < 4:
					for _, name := range slices.Sorted(maps.Keys(texts)) {
						if ok, _ := path.Match(m[1], name); ok && name != file {
							read(name, depth+1)
						}
					}
				case m[2] != "":
					if first, late := used[m[2]]; late && len(all) == 0 {
						all = append(all, first)
					}
					known[m[2]] = true
				case m[3] != "" && !known[m[3]] && !again:
					used[m[3]] = fact.Problem{File: file, Line: n + 1, Kind: fact.ProblemSlip, Message: "nft-define-late", Detail: m[3]}
				}
			}
		}
	}
	read(file, 0)
	return all
}
