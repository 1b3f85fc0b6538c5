package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/list"
	"linerate/internal/show"
)

func (p *page) nics() {
	if len(p.f.NICs) == 0 {
		return
	}
	p.heading("Network interfaces")
	for _, n := range p.f.NICs {
		p.nic(n)
	}
}

func (p *page) nic(n fact.NIC) {
	what := n.Description
	if n.PCI != nil {
		what = cmp.Or(n.PCI.Device, what)
	}
	p.labelled("  "+show.Pad(show.Clean(n.Name), 10)+" ", join(", ", prefixed("", cmp.Or(what, kindOr(n))), prefixed("driver ", n.Driver), state(n), rate(n.SpeedBits), prefixed("duplex ", n.Duplex),
		prefixed("flow control ", n.FlowControl), number(float64(n.MTU), "MTU %.0f")))
	p.detail("queues", join(", ", queues("rx", n.RXQueues, n.RXDescriptors), queues("tx", n.TXQueues, n.TXDescriptors), domain(n)))
	p.detail("PCI", pci(n.PCI))
	if n.Options != nil && n.Kind == fact.KindEthernet {
		p.detail("offloads", strings.Join(n.Options, " "))
	}
	p.detail("asked for", strings.Join(n.ConfigFlags, " "))
	p.detail("holds", strings.Join(n.Members, " "))
	p.detail("on", n.Parent)
	p.detail("interrupts", p.interrupts(n.Name))
}

func (p *page) detail(label, text string) {
	if text != "" {
		p.labelled("             "+show.Pad(label, 11)+" ", text)
	}
}

func kindOr(n fact.NIC) string {
	if n.Kind == fact.KindEthernet || n.Kind == fact.KindUnknown {
		return ""
	}
	return n.Kind
}

func state(n fact.NIC) string {
	if n.Up != nil && !*n.Up {
		return "down"
	}
	return n.Status
}

func queues(dir string, count, descriptors int) string {
	switch {
	case count == 0 && descriptors == 0:
		return ""
	case descriptors == 0:
		return fmt.Sprintf("%d %s", count, dir)
	case count == 0:
		return fmt.Sprintf("%s with %d descriptors", dir, descriptors)
	}
	if count == 1 {
		return fmt.Sprintf("1 %s with %d descriptors", dir, descriptors)
	}
	return fmt.Sprintf("%d %s with %d descriptors each", count, dir, descriptors)
}

func domain(n fact.NIC) string {
	if n.Domain == nil || *n.Domain < 0 {
		return ""
	}
	return fmt.Sprintf("NUMA domain %d", *n.Domain)
}

func pci(p *fact.PCI) string {
	if p == nil || p.LinkWidth == 0 {
		return ""
	}
	s := fmt.Sprintf("x%d at %g GT/s", p.LinkWidth, p.LinkSpeed)
	if p.LinkWidth < p.MaxLinkWidth || p.LinkSpeed < p.MaxLinkSpeed {
		s += fmt.Sprintf(" (could be x%d at %g GT/s)", p.MaxLinkWidth, p.MaxLinkSpeed)
	}
	return s
}

// interrupts lists a device's interrupts with rates and CPUs.
func (p *page) interrupts(name string) string {
	var list []string
	for _, i := range p.f.Interrupts {
		if i.Device != name {
			continue
		}
		s := fmt.Sprintf("%s %.0f/s", cmp.Or(i.Queue, i.Name), i.Rate)
		switch {
		case i.CPU != nil:
			s += fmt.Sprintf(" on CPU %d", *i.CPU)
		case len(i.CPUs) > 0:
			s += " on CPUs " + fact.Ranges(i.CPUs)
		}
		list = append(list, s)
	}
	if len(list) > 16 {
		list = append(list[:16], fmt.Sprintf("and %d more", len(list)-16))
	}
	return strings.Join(list, "; ")
}

func (p *page) firewall() {
	fw := p.f.Firewall
	if fw.PF == nil && fw.IPFW == nil && !fw.IPF && fw.NFT == nil {
		return
	}
	p.heading("Firewall")
	if pf := fw.PF; pf != nil {
		p.field("pf", join(", ", onOff(pf.Enabled, pf.Configured), show.Plural(pf.Rules, "rule"),
			optional(pf.Translations, "translation"), optional(pf.SourceTracking, "rule")+trailing(pf.SourceTracking, " with source tracking"), prefixed("from ", pf.File)))
		p.field("", p.limits("limits", pf.Limits))
		p.field("", p.limits("limits set in the file", pf.FileLimits))
		if pf.States != nil {
			p.field("", fmt.Sprintf("states now: %d", *pf.States))
		}
		for _, s := range pf.Scrub {
			p.field("", fmt.Sprintf("scrub max-mss %d (%s:%d)", s.MaxMSS, s.File, s.Line))
		}
	}
	if w := fw.IPFW; w != nil {
		p.field("ipfw", join(", ", onOff(w.Enabled, w.Configured), show.Plural(w.Rules, "rule"), optional(w.Stateful, "stateful rule"),
			optional(w.NAT, "NAT rule"), optional(w.Pipes, "pipe"), prefixed("from ", w.File)))
	}
	if fw.IPF {
		p.field("ipfilter", onOff(nil, true))
	}
	if n := fw.NFT; n != nil {
		s := show.Plural(n.Rules, "rule")
		if n.Tracking != nil && *n.Tracking {
			s += ", tracks connections"
		}
		if n.Connections != nil && n.Max != nil {
			s += fmt.Sprintf(" (%d of at most %d)", *n.Connections, *n.Max)
		}
		p.field("netfilter", join(", ", s, prefixed("from ", n.File)))
	}
}

func trailing(n int, s string) string {
	if n == 0 {
		return ""
	}
	return s
}

func (p *page) limits(label string, limits []fact.Limit) string {
	all := list.Map(limits, func(l fact.Limit) string { return fmt.Sprintf("%s %d", l.Name, l.Value) })
	return prefixed(label+": ", strings.Join(all, ", "))
}

func onOff(running *bool, configured bool) string {
	switch {
	case running != nil && *running && configured:
		return "on"
	case running != nil && *running:
		return "on, though rc.conf does not switch it on"
	case running != nil && configured:
		return "off, though configured to be on"
	case running != nil:
		return "off"
	case configured:
		return "configured to be on"
	}
	return "not configured"
}

func (p *page) services() {
	var names []string
	for _, s := range p.f.Services {
		if s.Enabled != nil && *s.Enabled {
			names = append(names, s.Name)
		}
	}
	tcp, udp := ports(p.f.Listeners, false), ports(p.f.Listeners, true)
	writers := list.Filter(p.f.Writers, func(w string) bool { return w != "systemd-sysctl" && !strings.HasPrefix(w, "rc.d/") })
	if names == nil && writers == nil && tcp+udp == "" {
		return
	}
	p.heading("Services")
	p.field("enabled", strings.Join(slices.Compact(names), " "))
	p.field("writers", strings.Join(writers, ", "))
	p.field("TCP ports", tcp)
	p.field("UDP ports", udp)
}

// ports lists the ports that other hosts can reach.
func ports(listeners []fact.Listener, datagrams bool) string {
	var open []int
	for _, l := range listeners {
		if !l.Local && l.Datagrams() == datagrams {
			open = append(open, l.Port)
		}
	}
	slices.Sort(open)
	return strings.Join(list.Map(slices.Compact(open), strconv.Itoa), " ")
}

func (p *page) settings() {
	files := map[string]int{}
	var order []string
	total := 0
	for _, l := range p.f.Lines() {
		if files[l.File] == 0 {
			order = append(order, l.File)
		}
		files[l.File]++
		total++
	}
	live := 0
	for _, s := range p.f.Settings {
		if s.Live != nil {
			live++
		}
	}
	if total+live == 0 {
		return
	}
	p.heading("Settings")
	if live > 0 {
		p.field("running", show.Plural(live, "value"))
	}
	for _, file := range order {
		p.field("file", fmt.Sprintf("%s: %s", file, show.Plural(files[file], "setting")))
	}
	for _, pr := range p.f.Problems {
		if pr.Kind == fact.ProblemSlip {
			continue // a case's name, for which audit has the words
		}
		p.field("problem", fmt.Sprintf("%s:%d: %s", pr.File, pr.Line, pr.Message))
	}
	var loaded []string
	for _, m := range p.f.Modules {
		if m.Loaded != nil && *m.Loaded || m.Loaded == nil && len(m.Lines) > 0 {
			loaded = append(loaded, m.Name)
		}
	}
	if len(loaded) > 40 {
		loaded = append(loaded[:40], fmt.Sprintf("and %d more", len(loaded)-40))
	}
	p.field("modules", strings.Join(loaded, " "))
}

func (p *page) drops() {
	if len(p.f.Counters) == 0 {
		return
	}
	p.heading("Drops")
	drops := p.f.Drops()
	if len(drops) == 0 {
		p.line("none: no counter of loss is above zero")
	}
	for _, d := range drops {
		p.labelled(fmt.Sprintf("  %-13s %12s  ", d.Where, show.Grouped(float64(d.Value), 0)), d.Counter+": "+d.Meaning)
	}
}

func (p *page) complaints() {
	if len(p.f.Complaints) == 0 {
		return
	}
	p.heading("The system itself complains")
	for i, c := range p.f.Complaints {
		if i == 20 {
			p.line("and %d more", len(p.f.Complaints)-i)
			return
		}
		p.line("%s", c.Text)
	}
}

// maxLeftOut limits the list of omitted items: most files have comments.
const maxLeftOut = 12

func (p *page) sources() {
	bad := list.Filter(p.f.Sources, func(s fact.Source) bool { return s.Status != fact.StatusRead })
	if len(bad) > 0 {
		p.heading("Not read")
	}
	for _, s := range bad {
		p.line("%s: %s", s.Name, cmp.Or(s.Reason, s.Status))
	}
	if len(p.f.LeftOut) > 0 {
		p.heading("Left out: comments, and what no audit needs")
	}
	for i, l := range p.f.LeftOut {
		if i == maxLeftOut {
			p.line("and of %d more sources", len(p.f.LeftOut)-i)
			break
		}
		p.line("%s: %s", l.What, l.Why)
	}
}
