package page

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/role"
	"linerate/internal/show"
)

// of returns the page of a host.
func of(t *testing.T, f *fact.Facts) string {
	t.Helper()
	f.Normalise()
	var out strings.Builder
	if err := Write(&out, f, role.Guess{Role: "endpoint", Others: []role.Candidate{{Role: "endpoint", Reasons: []string{"is one"}}}}, show.Style{Width: 120}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestPageOfParts: the page shows what is known of a partly known host, and no more.
func TestPageOfParts(t *testing.T) {
	yes, no, n := true, false, uint64(5)
	for _, c := range []struct {
		name       string
		f          fact.Facts
		want, lack []string
	}{
		{"a VM", fact.Facts{Hypervisor: "kvm", Machine: "QEMU"}, []string{"machine     QEMU, virtual (kvm)"}, []string{"also"}},
		{"a container", fact.Facts{Container: "lxc"}, []string{"container   lxc: the kernel"}, nil},
		{"up for less than a day", fact.Facts{UptimeSeconds: 86399}, []string{"up          23h59m59s"}, []string{"day"}},
		{"up for two days", fact.Facts{UptimeSeconds: 2 * 86400}, []string{"up          2 days, 0s"}, nil},
		{"over SSH", fact.Facts{From: fact.Origin{Kind: fact.KindSSH, Path: "ssh://fw1"}}, []string{"read from   ssh://fw1\n"}, nil},
		{"a tree", fact.Facts{From: fact.Origin{Kind: fact.KindTree, Path: "/mnt"}}, []string{"tree /mnt (files only"}, nil},
		{"this host", fact.Facts{From: fact.Origin{Kind: fact.KindHost, Path: "/"}}, nil, []string{"read from"}},
		{"one CPU", fact.Facts{CPU: fact.CPU{Count: 1, Cores: 1, ThreadsPerCore: 1, Packages: 1, Domains: []fact.Domain{{CPUs: []int{0}}}}}, []string{"1 CPU (1 package, 1 core), 1 NUMA domain"}, []string{"threads", "NUMA 0", "memory"}},
		{"CPUs alone", fact.Facts{CPU: fact.CPU{Count: 4}}, []string{"CPU         4 CPUs\n"}, []string{"(", "domain"}},
		{"memory alone", fact.Facts{Memory: fact.Memory{Physical: 4 << 30, Swap: 1 << 30}}, []string{"memory      4 GiB, swap 1 GiB\n"}, []string{"CPU", "free"}},
		{"a port with few known facts", fact.Facts{NICs: []fact.NIC{{Name: "e0", RXQueues: 1, RXDescriptors: 256, TXDescriptors: 512, Domain: new(int)}}},
			[]string{"1 rx with 256 descriptors, tx with 512 descriptors, NUMA domain 0\n"}, []string{"each", "duplex", "MTU"}},
		{"queues alone", fact.Facts{NICs: []fact.NIC{{Name: "e0", RXQueues: 4, TXQueues: 2, Domain: at(-1)}}}, []string{"queues      4 rx, 2 tx\n"}, []string{"NUMA"}},
		{"a link at its maximum width", fact.Facts{NICs: []fact.NIC{{Name: "e0", PCI: &fact.PCI{LinkWidth: 8, MaxLinkWidth: 8, LinkSpeed: 8, MaxLinkSpeed: 8}}}}, []string{"x8 at 8 GT/s\n"}, []string{"could be"}},
		{"a slow link", fact.Facts{NICs: []fact.NIC{{Name: "e0", PCI: &fact.PCI{LinkWidth: 8, MaxLinkWidth: 8, LinkSpeed: 5, MaxLinkSpeed: 8}}}}, []string{"could be x8 at 8 GT/s"}, nil},
		{"a VLAN", fact.Facts{NICs: []fact.NIC{{Name: "v5", Kind: fact.KindVLAN, Parent: "e0", Options: []string{"LRO"}}}}, []string{"v5         vlan", "on          e0"}, []string{"offloads"}},
		{"rules", fact.Facts{Firewall: fact.Firewall{NFT: &fact.NFT{Rules: 2, Tracking: &yes, Connections: &n, Max: &n, File: "/etc/nftables.conf"}}},
			[]string{"netfilter   2 rules, tracks connections (5 of at most 5), from /etc/nftables.conf"}, nil},
		{"rules without states", fact.Facts{Firewall: fact.Firewall{NFT: &fact.NFT{Rules: 1, Tracking: &no, Max: &n}}}, []string{"netfilter   1 rule\n"}, []string{"tracks", "at most"}},
		{"source tracking", fact.Facts{Firewall: fact.Firewall{PF: &fact.PF{Enabled: &yes, Configured: true, SourceTracking: 2, Scrub: []fact.Scrub{{MaxMSS: 1400, File: "/etc/pf.conf", Line: 3}}}}},
			[]string{"pf          on, 0 rules, 2 rules with source tracking", "scrub max-mss 1400 (/etc/pf.conf:3)"}, []string{"max-mss 0", "states now"}},
		{"a firewall that is off", fact.Facts{Firewall: fact.Firewall{IPFW: &fact.IPFW{Enabled: &no}}}, []string{"ipfw        off, 0 rules"}, []string{"though", "ipfilter"}},
		{"only local sockets", fact.Facts{Listeners: []fact.Listener{{Protocol: "tcp4", Port: 25, Local: true}, {Protocol: "udp4", Port: 323, Local: true}}}, nil, []string{"Services", "ports"}},
		{"only datagrams", fact.Facts{Listeners: []fact.Listener{{Protocol: "udp4", Port: 1000}, {Protocol: "udp6", Port: 53}, {Protocol: "udp4", Port: 53}}}, []string{"Services\n", "UDP ports   53 1000\n"}, []string{"TCP", "enabled"}},
		{"no loss", fact.Facts{Counters: []fact.Counter{{Name: "ip.received", Value: 5}, {Name: "ip.no_route"}}}, []string{"none: no counter of loss is above zero"}, nil},
		{"loss on Linux", fact.Facts{OS: fact.Linux, Counters: []fact.Counter{{Name: "udp6.full_sockets", Value: 1234}}}, []string{"socket               1,234  udp6.full_sockets"}, []string{"none:"}},
		{"settings of files only", fact.Facts{Settings: []fact.Tunable{{Name: "a", Lines: []fact.Line{{File: "/etc/sysctl.conf", Stage: fact.Sysctl}}}, {Name: "b", Lines: []fact.Line{{File: "/etc/sysctl.conf", Stage: fact.Sysctl}, {File: "/usr/lib/x", Default: true}}}}},
			[]string{"Settings\n  file        /etc/sysctl.conf: 2 settings\n"}, []string{"running", "/usr/lib"}},
		{"limits of a file", fact.Facts{Firewall: fact.Firewall{PF: &fact.PF{FileLimits: []fact.Limit{{Name: "states", Value: 5}, {Name: "frags", Value: 6}}}}}, []string{"limits set in the file: states 5, frags 6"}, nil},
		{"an interface of unknown kind", fact.Facts{NICs: []fact.NIC{{Name: "x0", Kind: fact.KindUnknown}, {Name: "e0", Kind: fact.KindEthernet}, {Name: "t0", Kind: fact.KindTunnel}}}, []string{"t0         tunnel"}, []string{"unknown", "ethernet"}},
		{"modules of files", fact.Facts{Modules: []fact.Module{{Name: "pf", Lines: []fact.Line{{}}}, {Name: "zfs"}, {Name: "x", Loaded: &no, Lines: []fact.Line{{}}}}, Settings: live("a.b")}, []string{"modules     pf\n"}, nil},
	} {
		got := of(t, &c.f)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: the page lacks %q:\n%s", c.name, want, got)
			}
		}
		for _, lack := range c.lack {
			if strings.Contains(got, lack) {
				t.Errorf("%s: the page has %q:\n%s", c.name, lack, got)
			}
		}
	}
}

func at(n int) *int { return &n }

func live(name string) []fact.Tunable {
	v := "1"
	return []fact.Tunable{{Name: name, Namespace: fact.Kernel, Live: &v}}
}

// TestPageOfMany: long lists are cut, and the page says how many more entries there are.
func TestPageOfMany(t *testing.T) {
	yes := true
	f := &fact.Facts{NICs: []fact.NIC{{Name: "e0"}}, Settings: live("a.b")}
	for i := range 45 {
		f.Interrupts = append(f.Interrupts, fact.Interrupt{Name: fmt.Sprintf("irq%d", i), Device: "e0"}, fact.Interrupt{Name: "other", Device: "e1"})
		f.Modules = append(f.Modules, fact.Module{Name: fmt.Sprintf("m%02d", i), Loaded: &yes})
		f.Complaints = append(f.Complaints, fact.Complaint{Text: fmt.Sprintf("complaint %d", i)})
		f.LeftOut = append(f.LeftOut, fact.LeftOut{What: fmt.Sprintf("file%d", i), Why: "comments"})
		f.Sources = append(f.Sources, fact.Source{Name: fmt.Sprintf("read%d", i), Status: fact.StatusRead})
	}
	f.Sources = append(f.Sources, fact.Source{Name: "gone", Status: fact.StatusMissing})
	got := of(t, f)
	for _, want := range []string{"irq15 0/s; and 29 more", "m39 and 5 more", "complaint 19\n  and 25 more", "file11: comments\n  and of 33 more sources", "gone: missing"} {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("the page lacks %q:\n%s", want, got)
		}
	}
	for _, lack := range []string{"irq16", "m40", "complaint 20", "file12", "read0", "other"} {
		if strings.Contains(got, lack) {
			t.Errorf("the page has %q", lack)
		}
	}
	f.LeftOut, f.Complaints = f.LeftOut[:maxLeftOut], f.Complaints[:20]
	if got := of(t, f); strings.Contains(got, "and of ") || strings.Contains(got, "and 0 more") {
		t.Errorf("the page says that complete lists have more entries:\n%s", got)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no space") }

// TestPageThatCannotBeWritten: a write error is returned.
func TestPageThatCannotBeWritten(t *testing.T) {
	if err := Write(broken{}, full(), role.Guess{}, show.Style{}); err == nil || !strings.Contains(err.Error(), "write page: no space") {
		t.Errorf("%v", err)
	}
}
