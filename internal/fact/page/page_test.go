package page

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/role"
	"linerate/internal/show"
)

func pointer[T any](v T) *T { return &v }

// full returns the facts of a host of which everything is known.
func full() *fact.Facts {
	f := &fact.Facts{
		From: fact.Origin{Kind: fact.KindBundle, Path: "b.tar.gz", Taken: "2026-11-20T11:04:34Z"}, OS: fact.FreeBSD, Release: release.MustParse("14.3-RELEASE"),
		Arch: "amd64", Hostname: "fw\x1b[31m1", KernelIdent: "GENERIC", Machine: "X10", Hypervisor: "none", Jailed: true, UptimeSeconds: 90000,
		CPU: fact.CPU{Model: "Xeon", Count: 16, Cores: 8, ThreadsPerCore: 2, Packages: 2, MHz: 2400, Features: []string{"AESNI", "FPU"},
			Domains: []fact.Domain{{ID: 0, CPUs: []int{0, 1, 2, 5}, MemoryBytes: 8 << 30}, {ID: 1, CPUs: []int{3}}}},
		Memory: fact.Memory{Physical: 16<<30 - 5<<20, Real: 16 << 30, Free: 1 << 30, PageSize: 4096},
		NICs: []fact.NIC{{Name: "ix0", Driver: "ix", Kind: fact.KindEthernet, Description: "Intel X520", Up: pointer(true), Status: "active", SpeedBits: 10e9, Duplex: "full",
			FlowControl: "none", MTU: 1500, RXQueues: 8, TXQueues: 8, RXDescriptors: 2048, TXDescriptors: 2048, Domain: pointer(1),
			PCI: &fact.PCI{Device: "82599ES", LinkWidth: 4, MaxLinkWidth: 8, LinkSpeed: 5, MaxLinkSpeed: 5}, Options: []string{"RXCSUM", "TSO4"}, ConfigFlags: []string{"-lro"}},
			{Name: "bridge0", Kind: fact.KindBridge, Up: pointer(false), Members: []string{"ix0", "ix1"}}},
		Interrupts: []fact.Interrupt{{Name: "irq264: ix0:rxq0", Device: "ix0", Queue: "rxq0", Rate: 1200, CPU: pointer(3)}, {Name: "irq265: ix0:rxq1", Device: "ix0", Queue: "rxq1", Rate: 7, CPUs: []int{0, 1, 2, 3}}},
		Modules:    []fact.Module{{Name: "pf", Loaded: pointer(true)}, {Name: "ipfw", Loaded: pointer(false)}},
		Firewall: fact.Firewall{PF: &fact.PF{Enabled: pointer(false), Configured: true, Rules: 12, Translations: 1, Limits: []fact.Limit{{Name: "states", Value: 100000}}, States: pointer(uint64(7))},
			IPFW: &fact.IPFW{Enabled: pointer(true), Rules: 1, NAT: 1}, IPF: true},
		Services:   []fact.Service{{Name: "sshd", Enabled: pointer(true)}, {Name: "nginx", Enabled: pointer(false)}},
		Listeners:  []fact.Listener{{Port: 443}, {Port: 22}, {Protocol: "tcp6", Port: 443}, {Port: 25, Local: true}, {Protocol: "udp4", Port: 123}, {Protocol: "udp6", Port: 53}, {Protocol: "udp4", Port: 67, Local: true}},
		Complaints: []fact.Complaint{{Text: "[zone: mbuf_cluster] kern.ipc.nmbclusters limit reached"}},
		Problems:   []fact.Problem{{File: "/etc/rc.conf", Line: 3, Message: "a function: not a setting"}},
		Sources:    []fact.Source{{Name: "kenv", Status: fact.StatusRead}, {Name: "pfctl -sr", Status: fact.StatusUnreadable, Reason: "pfctl: /dev/pf: Permission denied"}},
		LeftOut:    []fact.LeftOut{{What: "/etc/master.passwd", Why: "password hashes"}},
	}
	live := "1"
	f.Settings = []fact.Tunable{{Name: "net.inet.tcp.tso", Namespace: fact.Kernel, Live: &live}}
	f.AddCounter("nic.ix0.input_drops", 42, "netstat -i")
	f.AddCounter("zone.64_Bucket.failures", 9, "vmstat -z")
	f.Normalise()
	return f
}

func TestPageSaysEverything(t *testing.T) {
	var out strings.Builder
	if err := Write(&out, full(), role.Guess{Role: "router", Reasons: []string{"forwards packets"}, Others: []role.Candidate{{Role: "web", Reasons: []string{"runs a web server"}}}}, show.Style{Width: 200}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"fw?[31m1: FreeBSD 14.3-RELEASE amd64", "up          1 day, 1h0m0s", "bundle b.tar.gz, captured 2026-11-20T11:04:34Z",
		"Role: router\n  because it forwards packets\n  also web: it runs a web server",
		"Xeon, 16 CPUs (2 packages, 8 cores, 2 threads each), 2 NUMA domains, 2400 MHz", "AESNI\n", "NUMA 0      CPUs 0-2,5, 8 GiB", "16 GiB, free 1 GiB, pages of 4 KiB",
		"ix0        82599ES, driver ix, active, 10 Gb/s, duplex full, flow control none, MTU 1500",
		"8 rx with 2048 descriptors each, 8 tx with 2048 descriptors each, NUMA domain 1",
		"x4 at 5 GT/s (could be x8 at 5 GT/s)", "rxq0 1200/s on CPU 3; rxq1 7/s on CPUs 0-3", "asked for   -lro", "bridge0    bridge, down", "holds       ix0 ix1",
		"pf          off, though configured to be on, 12 rules, 1 translation", "limits: states 100000", "states now: 7", "ipfw        on, though rc.conf does not switch it on, 1 rule, 1 NAT rule", "jail        seen from inside a jail", "ipfilter    configured to be on\n",
		"enabled     sshd\n", "TCP ports   22 443\n", "UDP ports   53 123\n", "running     1 value\n", "problem     /etc/rc.conf:3: a function: not a setting", "modules     pf\n",
		"driver                  42  nic.ix0.input_drops: frames received and dropped", "kern.ipc.nmbclusters limit reached", "pfctl -sr: pfctl: /dev/pf: Permission denied", "/etc/master.passwd: password hashes",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, out.String())
		}
	}
	var headings []string
	for line := range strings.Lines(out.String()) {
		if line != "\n" && line[0] != ' ' {
			headings = append(headings, strings.TrimSpace(line))
		}
	}
	if want := []string{"fw?[31m1: FreeBSD 14.3-RELEASE amd64", "Role: router", "Hardware", "Network interfaces", "Firewall", "Services", "Settings", "Drops", "The system itself complains", "Not read", "Left out: comments, and what no audit needs"}; !slices.Equal(headings, want) {
		t.Errorf("sections %q, want %q", headings, want)
	}
	if strings.ContainsRune(out.String(), 0x1b) || strings.Contains(out.String(), "64_Bucket") {
		t.Errorf("the page has control characters or an internal zone:\n%s", out.String())
	}
}

func TestPageOfNothing(t *testing.T) {
	var out strings.Builder
	f := &fact.Facts{OS: fact.Linux}
	f.Normalise()
	if err := Write(&out, f, role.Guess{Role: "endpoint"}, show.Style{Colour: true}); err != nil {
		t.Fatal(err)
	}
	if want := "\x1b[1mhost: Linux\x1b[m\n\n\x1b[1mRole: endpoint\x1b[m\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestFormats(t *testing.T) {
	for got, want := range map[string]string{
		size(0): "", size(1536): "1.50 KiB", size(2 << 40): "2 TiB", rate(100e6): "100 Mb/s", rate(2.5e9): "2.5 Gb/s", rate(100e9): "100 Gb/s",
		fact.Ranges(nil): "", fact.Ranges([]int{1}): "1", fact.Ranges([]int{0, 1, 3, 4, 5, 9}): "0-1,3-5,9",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
