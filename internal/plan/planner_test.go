package plan_test

import (
	"flag"
	"strings"
	"testing"
	"time"

	"linerate/internal/sharedtest"

	"linerate/catalogue"
	"linerate/internal/audit"
	"linerate/internal/evidence"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/plan"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// update returns the flag that the internal tests define.
func update() bool { return flag.Lookup("update").Value.String() == "true" }

func host(os, rel, cpu string, cpus int, memory uint64, nics ...fact.NIC) *fact.Facts {
	r, err := release.Parse(rel)
	if err != nil {
		panic(err)
	}
	f := &fact.Facts{OS: os, Release: r, Arch: "amd64", Hostname: "box", From: fact.Origin{Kind: fact.KindHost},
		CPU:    fact.CPU{Model: cpu, Count: cpus, Cores: cpus, Packages: 1, ThreadsPerCore: 1},
		Memory: fact.Memory{Physical: memory, Real: memory, PageSize: 4096}, NICs: nics}
	if os == fact.FreeBSD {
		set(f, "kern.ostype", "FreeBSD")
		for counter, source := range map[string]string{"tcp.listen_overflows": "netstat -s", "mbuf.denied.clusters": "netstat -m", "netisr.ip.queue_drops": "netstat -Q"} {
			f.AddCounter(counter, 0, source)
		}
	}
	return f
}

func nic(name, driver string, speed uint64, options ...string) fact.NIC {
	up := true
	if options == nil {
		options = []string{}
	}
	return fact.NIC{Name: name, Driver: driver, Kind: fact.KindEthernet, Up: &up, Status: "active", SpeedBits: speed, MTU: 1500, Options: options}
}

func on() *bool { b := true; return &b }

// set gives a host a running value, in the format of sysctl's output.
func set(f *fact.Facts, name, value string) {
	f.Settings = append(f.Settings, fact.Tunable{Name: name, Namespace: fact.Kernel, Live: &value})
}

func withPF(f *fact.Facts) *fact.Facts {
	f.Firewall.PF = &fact.PF{Enabled: on(), Configured: true, Rules: 40, File: "/etc/pf.conf"}
	set(f, "net.inet.ip.forwarding", "1")
	return f
}

func forwarding(f *fact.Facts) *fact.Facts {
	set(f, "net.inet.ip.forwarding", "1")
	return f
}

func forwarding6(f *fact.Facts) *fact.Facts {
	set(f, "net.inet6.ip6.forwarding", "1")
	return forwarding(f)
}

func nginx(f *fact.Facts) *fact.Facts {
	f.Services = append(f.Services, fact.Service{Name: "nginx", Enabled: on()})
	f.Listeners = append(f.Listeners, fact.Listener{Port: 443}, fact.Listener{Port: 80})
	return f
}

// scenario is a host of the seeds, with its administrator's statements.
type scenario struct {
	name  string
	facts *fact.Facts
	role  string
	needs plan.Needs
	more  bool // include unmeasured settings
}

func scenarios() []scenario {
	gigabit, ten := 1e9, 10e9
	return []scenario{
		{"home-firewall", withPF(host("freebsd", "14.3-RELEASE", "Intel(R) Xeon(R) CPU E3-1275L v3", 4, 16<<30, nic("igb0", "igb", 1e9, "RXCSUM", "TSO4", "LRO"), nic("igb1", "igb", 1e9, "RXCSUM", "TSO4"))), "firewall", plan.Needs{Link: gigabit}, false},
		{"rack-server-chelsio", nginx(host("freebsd", "14.3-RELEASE", "Intel(R) Xeon(R) CPU E5-2697 v4", 18, 128<<30, nic("cxl0", "cxl", 10e9, "LRO", "TSO4"))), "web", plan.Needs{Link: ten, RTT: 0.03}, false},
		{"nginx-tls", nginx(host("freebsd", "14.3-RELEASE", "AMD EPYC 7402P", 24, 64<<30, nic("mce0", "mce", 10e9, "LRO", "TSO4"))), "web", plan.Needs{Link: ten, RTT: 0.1}, true},
		{"router-10g-14", forwarding6(host("freebsd", "14.3-RELEASE", "Intel(R) Xeon(R) CPU E5-2650 v4", 12, 32<<30, nic("ix0", "ix", 10e9), nic("vmx1", "vmx", 10e9, "LRO"))), "router", plan.Needs{Link: ten}, false},
		{"router-10g-12", forwarding6(host("freebsd", "12.4-RELEASE", "Intel(R) Xeon(R) CPU E5-2650 v4", 12, 32<<30, nic("ix0", "ix", 10e9), nic("ix1", "ix", 10e9))), "router", plan.Needs{Link: ten}, false},
		{"firewall-5m-8g", withPF(host("freebsd", "14.3-RELEASE", "Intel(R) Atom(TM) CPU C3758", 8, 8<<30, nic("ixl0", "ixl", 10e9), nic("ixl1", "ixl", 10e9))), "firewall", plan.Needs{States: 5e6}, false},
		{"firewall-5m-2g", withPF(host("freebsd", "14.3-RELEASE", "Intel(R) Atom(TM) CPU C3758", 8, 2<<30, nic("ixl0", "ixl", 10e9), nic("ixl1", "ixl", 10e9))), "firewall", plan.Needs{States: 5e6}, false},
		{"rack-stack-13", nginx(host("freebsd", "13.5-RELEASE", "AMD EPYC 7402P", 24, 64<<30, nic("mce0", "mce", 10e9))), "cdn", plan.Needs{}, true},
		{"rack-stack-14", nginx(host("freebsd", "14.0-RELEASE", "AMD EPYC 7402P", 24, 64<<30, nic("mce0", "mce", 10e9))), "cdn", plan.Needs{}, true},
		{"release-mirror", nginx(host("freebsd", "14.3-RELEASE", "Intel(R) Core(TM) i3-8100", 4, 16<<30, nic("em0", "em", 1e9, "TSO4"))), "cdn", plan.Needs{Link: gigabit, RTT: 0.04}, false},
		{"linux-firewall-1m", linuxFirewall(), "firewall", plan.Needs{States: 1e6}, false},
		{"linux-web", linuxWeb(), "web", plan.Needs{Link: ten, RTT: 0.03}, true},
	}
}

func linuxFirewall() *fact.Facts {
	f := host("linux", "6.12.48", "Intel(R) Atom(TM) CPU C3758", 8, 16<<30, nic("eth0", "ixgbe", 10e9), nic("eth1", "ixgbe", 10e9))
	set(f, "net.ipv4.ip_forward", "1")
	max, now := uint64(262144), uint64(81234)
	f.Firewall.NFT = &fact.NFT{Rules: 30, Tracking: on(), Connections: &now, Max: &max}
	set(f, "net.netfilter.nf_conntrack_buckets", "262144")
	set(f, "net.netfilter.nf_conntrack_max", "262144")
	f.Modules = append(f.Modules, fact.Module{Name: "nf_conntrack", Loaded: on()})
	return f
}

func linuxWeb() *fact.Facts {
	f := nginx(host("linux", "6.12.48", "AMD EPYC 7402P", 24, 64<<30, nic("eth0", "mlx5_core", 25e9)))
	set(f, "net.ipv4.tcp_wmem", "4096\t16384\t4194304")
	set(f, "net.ipv4.tcp_rmem", "4096\t131072\t6291456")
	f.AddCounter("tcp.listen_overflows", 812, "/proc/net/netstat")
	set(f, "net.core.somaxconn", "4096")
	return f
}

func make1(t *testing.T, s scenario, more ...evidence.Row) plan.Plan {
	t.Helper()
	s.facts.Normalise()
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	library, err := plan.Load(sharedtest.Catalogue())
	if err != nil {
		t.Fatal(err)
	}
	rules, err := audit.LoadRules(sharedtest.Catalogue())
	if err != nil {
		t.Fatal(err)
	}
	report, err := audit.Run(audit.Input{Facts: s.facts, Catalogue: c, Rules: rules, Role: s.role, Today: time.Unix(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := catalogue.Evidence()
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Make(plan.Input{Facts: s.facts, Catalogue: c, Library: library, Role: s.role, Needs: s.needs, Findings: report.Findings,
		Evidence: append(more, shipped...), Unmeasured: s.more})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestScenarios compares the plans of the seeds' hosts with golden files.
func TestScenarios(t *testing.T) {
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			p := make1(t, s)
			if err := p.Check(); err != nil {
				t.Errorf("the plan could not be applied: %v", err)
			}
			if _, err := plan.Render(p, nil); err != nil {
				t.Errorf("the plan's files: %v", err)
			}
			page := p
			page.Digest = "" // changes with every edit of the catalogue
			var b strings.Builder
			if err := page.Text(&b, show.Style{Width: 100}); err != nil {
				t.Fatal(err)
			}
			hold(t, s.name, b.String())
			again := make1(t, s)
			if again.Digest != p.Digest {
				t.Error("the same input gave a different plan")
			}
		})
	}
}

func find(p plan.Plan, name string) *plan.Step {
	for i := range p.Settings {
		if p.Settings[i].Name == name {
			return &p.Settings[i]
		}
	}
	return nil
}

func left(p plan.Plan, name string) string {
	for _, l := range p.LeftAlone {
		if l.Name == name {
			return l.Reason
		}
	}
	return ""
}

// TestScenariosSay checks what readers of the golden files must find in them.
func TestScenariosSay(t *testing.T) {
	byName := map[string]plan.Plan{}
	for _, s := range scenarios() {
		byName[s.name] = make1(t, s)
	}
	if s := find(byName["router-10g-12"], "net.inet.ip.redirect"); s == nil || s.Value != "0" || s.Evidence.Kind != plan.Correctness {
		t.Errorf("a FreeBSD 12 router keeps redirects on: %+v", s)
	}
	if find(byName["router-10g-14"], "net.inet.ip.redirect") != nil || !strings.Contains(left(byName["router-10g-14"], "net.inet.ip.redirect"), "does not depend") {
		t.Error("a FreeBSD 14 router's plan does not mention redirects, or changes them")
	}
	for _, name := range []string{"router-10g-12", "router-10g-14"} {
		if s := find(byName[name], "net.inet6.ip6.redirect"); s == nil || s.Value != "0" || s.Evidence.Kind != plan.Correctness {
			t.Errorf("%s forwards IPv6 on the slow path: %+v", name, s)
		}
	}
	if p := byName["firewall-5m-2g"]; len(p.Unmet) != 1 || !strings.Contains(p.Unmet[0], "too small for 5,000,000 flows") {
		t.Errorf("a host too small for its flows must list an unmet need: %q", p.Unmet)
	}
	if s := find(byName["release-mirror"], "net.inet.tcp.recvbuf_max"); s == nil {
		t.Error("the plan does not raise the cache's receive buffer")
	}
	if s := find(byName["linux-firewall-1m"], "nf_conntrack"); s == nil || s.Where.File != plan.LinuxModules {
		t.Errorf("the limits are lost at the next boot: %+v", s)
	}
	if s := find(byName["router-10g-14"], "lro"); s == nil || s.Current.Value == nil || *s.Current.Value != "on" || s.Device != "vmx1" || s.Value != "off" {
		t.Errorf("the hypervisor's LRO stays on at a router's port: %+v", s)
	}
	if s := find(byName["home-firewall"], "lro"); s != nil {
		t.Errorf("the kernel's own LRO must be left on: %+v", s)
	}
	if s := find(byName["firewall-5m-8g"], "states"); s == nil || s.Value != "10000000" || s.Current.Value == nil || *s.Current.Value != "100000" {
		t.Errorf("5 M flows need 10 M states: %+v", s)
	}
	if s := find(byName["firewall-5m-8g"], "net.pf.states_hashsize"); s == nil || s.Value != "16777216" || s.Where.File != plan.FreeBSDLoader || s.Where.Runtime {
		t.Errorf("wrong hash size for 10 M states: %+v", s)
	}
	if find(byName["firewall-5m-2g"], "states") != nil || !strings.Contains(left(byName["firewall-5m-2g"], "pf.conf:limit.states"), "too small") {
		t.Error("10 M states are planned for 2 GB of memory")
	}
	if s := find(byName["rack-server-chelsio"], "net.inet.tcp.sendbuf_max"); s == nil || s.Value != "4325376" {
		t.Errorf("1 Gb/s of one connection over 30 ms needs 3.75 MB plus a seventh: %+v", s)
	}
	if find(byName["rack-stack-13"], "tcp_rack") != nil || !strings.Contains(left(byName["rack-stack-13"], "tcp_rack_load"), "TCPHPTS") {
		t.Error("FreeBSD 13 has no RACK module to load")
	}
	if s := find(byName["rack-stack-14"], "net.inet.tcp.functions_default"); s == nil || s.Evidence.Kind != plan.Unmeasured {
		t.Errorf("RACK on FreeBSD 14 must be included as unmeasured: %+v", s)
	}
	if s := find(byName["linux-firewall-1m"], "net.netfilter.nf_conntrack_buckets"); s == nil || s.Value != "1048576" {
		t.Errorf("a million flows need as many buckets: %+v", s)
	}
}

// TestEvidence: evidence counts on the machine that it was measured on; elsewhere one study is not enough.
func TestEvidence(t *testing.T) {
	row := evidence.Row{ID: "v1", Subject: evidence.Subject{Tunable: "hw.intr_storm_threshold", After: "4000", Alone: true, OS: "FreeBSD", Release: "14.3-RELEASE", CPU: "Xeon E5-2650 v4", Driver: "ix", MachineID: "router"}, Workload: "IPv4 UDP 64 B",
		Metric: "overload_forwarding_rate_pps", Primary: true, Result: stats.Result{N: 5, Verdict: stats.Better, Effect: stats.Effect{EffectPercent: stats.Num(4), CILow: stats.Num(3), CIHigh: stats.Num(5)}}}
	router := func() scenario { s := scenarios()[3]; s.facts.MachineID = "router"; return s }
	if s := find(make1(t, router(), row), row.Tunable); s == nil || s.Value != "4000" || s.Evidence.Kind != plan.MeasuredHere {
		t.Errorf("a gain on this hardware is not in the plan: %+v", s)
	}
	for name, change := range map[string]func(*evidence.Row){
		"other machine":  func(r *evidence.Row) { r.MachineID = "another" },
		"not alone":      func(r *evidence.Row) { r.Alone = false },
		"no difference":  func(r *evidence.Row) { r.Verdict, r.CILow = stats.Inconclusive, stats.Num(-1) },
		"secondary":      func(r *evidence.Row) { r.Primary = false },
		"other workload": func(r *evidence.Row) { r.Metric = "http_requests_per_second" },
	} {
		other := row
		change(&other)
		if s := find(make1(t, router(), other), row.Tunable); s != nil {
			t.Errorf("%s: the setting is in the plan: %+v", name, s)
		}
	}
	loss := row
	loss.ID, loss.Verdict, loss.Study, loss.Effect = "v2", stats.Worse, "another", stats.Effect{EffectPercent: stats.Num(-4), CILow: stats.Num(-5), CIHigh: stats.Num(-3)}
	p := make1(t, router(), row, loss)
	if find(p, row.Tunable) != nil || !strings.Contains(left(p, row.Tunable), "It depends") {
		t.Errorf("conflicting evidence: %q", left(p, row.Tunable))
	}
}

// TestModulesThatLast: a module that is loaded and will be loaded at the next boot is left alone; one that
// is only loaded now is not.
func TestModulesThatLast(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fact.Module)
		lasts  bool
	}{
		"loaded by hand":         {func(*fact.Module) {}, false},
		"a line that is ignored": {func(m *fact.Module) { m.Lines = []fact.Line{{File: plan.LinuxModules}} }, false},
		"loaded by a file":       {func(m *fact.Module) { m.Lines = []fact.Line{{File: plan.LinuxModules, Effective: true}} }, true},
		"built in":               {func(m *fact.Module) { m.InKernel = true }, true},
	} {
		f := linuxFirewall()
		c.change(&f.Modules[0])
		p := make1(t, scenario{"firewall", f, "firewall", plan.Needs{States: 1e6}, false})
		if planned := find(p, "nf_conntrack") != nil; planned == c.lasts || c.lasts != strings.Contains(left(p, "module nf_conntrack"), "at the next boot") {
			t.Errorf("%s: planned %v, left because %q", name, planned, left(p, "module nf_conntrack"))
		}
	}
}

// TestNothingToDo: a correctly configured host gets an empty plan, which says so.
func TestNothingToDo(t *testing.T) {
	s := scenario{facts: forwarding(host("freebsd", "14.3-RELEASE", "some CPU of 2030", 4, 8<<30, nic("em0", "em", 1e9), nic("em1", "em", 1e9))), role: "router"}
	p := make1(t, s)
	if len(p.Settings) != 0 {
		t.Errorf("settings %+v", p.Settings)
	}
	var b strings.Builder
	if err := p.Text(&b, show.Style{}); err != nil || !strings.Contains(b.String(), "measured to be better otherwise.") {
		t.Errorf("%s, %v", b.String(), err)
	}
}

// TestOnlyAdviceIsATemplate: a ledger's text is quoted verbatim, whether or not its tunable is set; text
// that looks like an expression is not evaluated.
func TestOnlyAdviceIsATemplate(t *testing.T) {
	s := scenarios()[3]
	s.facts.MachineID = "router"
	for _, said := range []string{"${1+1}", "${nonsense(", "${"} {
		row := evidence.Row{ID: "v1", Study: "s", Flags: []string{"guardrail " + said}, Subject: evidence.Subject{Tunable: "hw.intr_storm_threshold", After: "4000", Alone: true, OS: "FreeBSD", Release: "14.3-RELEASE", MachineID: "router"},
			Metric: "overload_forwarding_rate_pps", Primary: true, Result: stats.Result{N: 5, Verdict: stats.Stopped}}
		if why := left(make1(t, s, row), row.Tunable); !strings.Contains(why, "A guardrail ended a study of it: guardrail "+said) {
			t.Errorf("left alone for %q", why)
		}
	}
}
