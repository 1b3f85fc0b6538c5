package plan

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/internal/sharedtest"

	"linerate/catalogue"
	"linerate/internal/audit"
	"linerate/internal/evidence"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/role"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

// known holds what plans are made from, read once.
type known struct {
	catalogue *tunable.Catalogue
	library   *Library
	rules     *audit.RuleSet
	evidence  []evidence.Row
}

var load = sync.OnceValues(func() (k known, err error) {
	if k.catalogue, err = catalogue.Load(); err != nil {
		return k, err
	}
	if k.library, err = Load(sharedtest.Catalogue()); err != nil {
		return k, err
	}
	if k.rules, err = audit.LoadRules(sharedtest.Catalogue()); err != nil {
		return k, err
	}
	k.evidence, err = catalogue.Evidence()
	return k, err
})

// box returns a host of a release, modified by functions.
func box(os, rel string, change ...func(*fact.Facts)) *fact.Facts {
	r, err := release.Parse(rel)
	if err != nil {
		panic(err)
	}
	driver := map[string]string{fact.FreeBSD: "ix", fact.Linux: "ixgbe"}[os]
	port := func(name string, domain int) fact.NIC {
		return fact.NIC{Name: name, Driver: driver, Kind: fact.KindEthernet, SpeedBits: 10e9, MTU: 1500, RXQueues: 4, MaxQueues: 63, Options: []string{},
			RXDescriptors: 512, TXDescriptors: 512, MaxRXDescriptors: 4096, Domain: &domain, IPv4: 1}
	}
	f := &fact.Facts{OS: os, Release: r, Arch: "amd64", Hostname: "box", From: fact.Origin{Kind: fact.KindHost}, UptimeSeconds: 86400,
		CPU:    fact.CPU{Model: "a CPU", Count: 16, Cores: 16, Packages: 2, ThreadsPerCore: 1},
		Memory: fact.Memory{Physical: 16 << 30, Real: 16 << 30, PageSize: 4096}, NICs: []fact.NIC{port(driver+"0", 0), port(driver+"1", 1)}}
	run(f, map[string]string{fact.FreeBSD: "kern.ostype", fact.Linux: "kernel.ostype"}[os], os)
	for _, c := range change {
		c(f)
	}
	f.Normalise()
	return f
}

func run(f *fact.Facts, name, value string) {
	f.Settings = append(f.Settings, fact.Tunable{Name: name, Namespace: fact.Kernel, Live: &value})
}

// routes and the functions below modify a host for a use.
func routes(f *fact.Facts) {
	run(f, "net.inet.ip.forwarding", "1")
	run(f, "net.ipv4.ip_forward", "1")
}

func filters(f *fact.Facts) {
	yes, n, limit := true, uint64(240_000), uint64(262_144)
	if f.OS == fact.FreeBSD {
		f.Firewall.PF = &fact.PF{Enabled: &yes, Configured: true, Rules: 20, Translations: 2, File: "/etc/pf.conf"}
		return
	}
	f.Firewall.NFT = &fact.NFT{Rules: 20, Tracking: &yes, Connections: &n, Max: &limit}
	run(f, "net.netfilter.nf_conntrack_max", "262144")
	run(f, "net.netfilter.nf_conntrack_buckets", "262144")
	f.AddCounter("conntrack.drop", 90, "/proc/net/stat/nf_conntrack")
	f.Modules = append(f.Modules, fact.Module{Name: "nf_conntrack", Loaded: &yes})
}

func serves(f *fact.Facts) {
	yes := true
	f.Services = append(f.Services, fact.Service{Name: "nginx", Enabled: &yes})
	f.Listeners = append(f.Listeners, fact.Listener{Protocol: "tcp4", Port: 443}, fact.Listener{Protocol: "udp4", Port: 443})
	run(f, "net.core.somaxconn", "4096")
	run(f, "kern.ipc.soacceptqueue", "128")
	f.AddCounter("tcp.listen_overflows", 3, "netstat")
}

// loses makes every counter move that plans look at, and puts interrupts on the wrong NUMA node.
func loses(f *fact.Facts) {
	for _, n := range f.NICs {
		f.AddCounter("nic."+n.Name+".input_packets", 1e6, "ethtool -S")
		for _, c := range []string{"rx_missed", "rx_no_buffer", "xoff_sent"} {
			f.AddCounter("nic."+n.Name+"."+c, 5000, "ethtool -S")
		}
		f.Interrupts = append(f.Interrupts, fact.Interrupt{Name: fmt.Sprintf("irq%d: %s-TxRx-0", 40+len(f.Interrupts), n.Name), Device: n.Name, Queue: "TxRx-0", CPUs: []int{8 - 8**n.Domain}})
	}
	f.CPU.Domains = []fact.Domain{{ID: 0, CPUs: []int{0, 1, 2, 3, 4, 5, 6, 7}}, {ID: 1, CPUs: []int{8, 9, 10, 11, 12, 13, 14, 15}}}
	for _, c := range []string{"softnet.cpu0.dropped", "softnet.cpu0.time_squeeze", "softnet.cpu0.processed", "neigh.arp.table_fulls", "neigh.ndisc.table_fulls",
		"udp.full_sockets", "netisr.ip.queue_drops", "mbuf.denied.clusters"} {
		f.AddCounter(c, 700, "/proc/net")
	}
	f.CPU.Governor, f.CPU.IOMMU, f.CPU.Idle = "schedutil", "DMA-FQ", []fact.IdleState{{LatencyUS: 133}}
	for i := range f.CPU.Count {
		run(f, fmt.Sprintf("/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", i), "schedutil")
	}
	run(f, "net.core.netdev_max_backlog", "1000")
	run(f, "net.core.netdev_budget", "300")
}

// tree makes a host of which only files are known, with wrong lines.
func tree(f *fact.Facts) {
	f.From.Kind, f.Settings, f.Memory = fact.KindTree, nil, fact.Memory{}
	stage, lines := fact.Sysctl, [][2]string{{"net.ipv4.tcp_timestamps", "0"}, {"net.core.somaxconn", "128"}, {"net.ipv4.tcp_syncookies", "0"}, {"net.ipv4.tcp_wmem", "4096 16384 65536"}}
	if f.OS == fact.FreeBSD {
		lines = [][2]string{{"net.inet.tcp.syncookies", "0"}, {"kern.ipc.soacceptqueue", "16"}, {"net.inet.tcp.sendbuf_max", "65536"}, {"kern.random.harvest.mask", "351"}}
	}
	var all []fact.Line
	for i, l := range lines {
		all = append(all, fact.Line{File: "/etc/sysctl.conf", Number: i + 1, Text: l[0] + "=" + l[1], Name: l[0], Value: l[1], Stage: stage, Order: i + 1, Effective: true})
	}
	f.AddLines(all)
	f.Sources = append(f.Sources, fact.Source{Name: "/etc/sysctl.conf", Status: fact.StatusRead})
}

func small(f *fact.Facts) { f.Memory.Physical, f.Memory.Real = 256<<20, 256<<20 }
func only6(f *fact.Facts) {
	f.NICs[0].IPv4, f.NICs[0].IPv6, f.NICs[1].IPv4, f.NICs[1].IPv6 = 0, 1, 0, 1
}
func pppoe(f *fact.Facts) {
	yes := true
	f.Services = append(f.Services, fact.Service{Name: "mpd5", Enabled: &yes})
}
func docker(f *fact.Facts) {
	yes := true
	f.Services = append(f.Services, fact.Service{Name: "docker", Enabled: &yes})
}

// fixtures are the hosts for which plans are checked.
func fixtures() map[string]*fact.Facts {
	all := map[string]*fact.Facts{}
	for _, rel := range []struct{ os, release string }{{fact.FreeBSD, "11.4"}, {fact.FreeBSD, "12.4"}, {fact.FreeBSD, "13.5"}, {fact.FreeBSD, "14.3"}, {fact.FreeBSD, "15.0"},
		{fact.Linux, "5.15"}, {fact.Linux, "6.1"}, {fact.Linux, "6.12"}, {fact.Linux, "6.18"}} {
		on := rel.os + " " + rel.release
		all[on+", all at once"] = box(rel.os, rel.release, routes, filters, serves, loses, pppoe)
		all[on+", its files"] = box(rel.os, rel.release, tree)
		if rel.release != "14.3" && rel.release != "6.12" {
			continue
		}
		all[on+", nothing"] = box(rel.os, rel.release)
		all[on+", small"] = box(rel.os, rel.release, small, serves, filters)
		all[on+", IPv6 only"] = box(rel.os, rel.release, only6)
		all[on+", containers"] = box(rel.os, rel.release, routes, docker, filters, serves)
	}
	return all
}

// wishes are the needs that hosts are planned for: none, usual ones, and ones beyond every bound.
var wishes = map[string]Needs{"nothing": {}, "usual": {Link: 10e9, RTT: 0.03, States: 1e6, Connections: 1e5}, "the moon": {Link: 400e9, RTT: 0.3, States: 5e9, Connections: 5e9}}

// TestOneVoice checks the plans of every role, release and fixture: each name is in one list, each value is
// valid for the system, and each need is answered.
func TestOneVoice(t *testing.T) {
	k, err := load()
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range fixtures() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, r := range role.Names() {
				report, err := audit.Run(audit.Input{Facts: f, Catalogue: k.catalogue, Rules: k.rules, Role: r, Today: time.Unix(0, 0)})
				if err != nil {
					t.Fatal(err)
				}
				for wish, needs := range wishes {
					in := Input{Facts: f, Catalogue: k.catalogue, Library: k.library, Role: r, Needs: needs, Findings: report.Findings, Evidence: k.evidence, Unmeasured: wish != "nothing"}
					for _, problem := range objections(t, in) {
						t.Errorf("%s, needs %s: %s", r, wish, problem)
					}
				}
			}
		})
	}
}

// objections returns the contradictions and errors of a plan.
func objections(t *testing.T, in Input) (all []string) {
	t.Helper()
	p, err := Make(in)
	if err != nil {
		return []string{err.Error()}
	}
	if err := p.Check(); err != nil {
		all = append(all, err.Error())
	}
	if _, err := Render(p, nil); err != nil {
		all = append(all, err.Error())
	}
	seen := map[string]string{}
	list := func(name, where string) {
		if was := seen[name]; was != "" && was+where != "removeremove" {
			all = append(all, fmt.Sprintf("%s is in %s and in %s", name, was, where))
		}
		seen[name] = where
	}
	for _, s := range p.Settings {
		list(nameOf(s), "settings")
		all = append(all, illegal(in, s)...)
		all = append(all, odd(s.Formula, s.Reason, s.Risk, s.Undo, s.Evidence.Text)...)
		if s.Reason == "" || s.Risk == "" || s.Undo == "" {
			all = append(all, fmt.Sprintf("%s lacks its reason, risk or undo", s.ID()))
		}
	}
	for _, l := range p.LeftAlone {
		list(l.Name, "left alone")
		all = append(all, odd(l.Reason)...)
	}
	for _, r := range p.Remove {
		list(removes(in.Findings, r), "remove")
	}
	return append(append(all, odd(p.Unmet...)...), unspoken(t, in, p)...)
}

// removes returns the name that a removed line sets.
func removes(findings []audit.Finding, r Removal) string {
	i := slices.IndexFunc(findings, func(f audit.Finding) bool { return f.ID == r.Finding && f.File == r.File && f.Line == r.Line })
	return findings[i].Name
}

// nameOf returns a step's name in the catalogue.
func nameOf(s Step) string {
	switch s.Mechanism {
	case setting.PFLimit:
		return "pf.conf:limit." + s.Name
	case setting.Module:
		return "module " + s.Name
	}
	for template, known := range properties {
		switch {
		case known.mechanism == s.Mechanism && known.name == s.Name && s.Device != "":
			return instance(template, s.Device)
		case known.mechanism == s.Mechanism && known.name == "":
			return instance(template, s.Name)
		}
	}
	return s.Name
}

// illegal returns why the system would refuse a step's value.
func illegal(in Input, s Step) []string {
	name := nameOf(s)
	if s.Mechanism == setting.Module {
		return nil
	}
	r, ok := in.Catalogue.Lookup(in.Facts.OS, name)
	if !ok {
		return []string{name + " is not in the catalogue"}
	}
	if problem := r.Reject(s.Value); problem != nil {
		return []string{fmt.Sprintf("%s=%s: %s", name, s.Value, problem.Message)}
	}
	if r.Type == tunable.Numbers && len(strings.Fields(s.Value)) != r.Constraints.Count {
		return []string{fmt.Sprintf("%s=%s is not %d numbers", name, s.Value, r.Constraints.Count)}
	}
	return nil
}

// oddities matches what a template leaves if a value in it is unknown.
var oddities = regexp.MustCompile(`<nil>|NaN|Inf\b|\$\{|%!|\b0 (B|b/s)\b`)

func odd(texts ...string) (all []string) {
	for _, text := range texts {
		if oddities.MatchString(text) {
			all = append(all, "it says: "+text)
		}
	}
	return all
}

// unspoken lists the stated needs that do not affect the plan.
func unspoken(t *testing.T, in Input, p Plan) (all []string) {
	t.Helper()
	for need, unset := range map[string]func(*Needs){"rtt": func(n *Needs) { n.RTT = 0 }, "states": func(n *Needs) { n.States = 0 }, "connections": func(n *Needs) { n.Connections = 0 }} {
		if p.Needs[need] == "" {
			continue
		}
		without := in
		unset(&without.Needs)
		q, err := Make(without)
		if err != nil {
			return []string{err.Error()}
		}
		if reflect.DeepEqual([]any{p.Settings, p.LeftAlone, p.Unmet, p.Unanswered}, []any{q.Settings, q.LeftAlone, q.Unmet, q.Unanswered}) {
			all = append(all, "nothing speaks to "+need)
		}
	}
	return all
}
