package plan_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/sharedtest"

	"linerate/internal/assemble/hosts"
	"linerate/internal/audit"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/host/filehost"
	"linerate/internal/inspect"
	"linerate/internal/plan"
	"linerate/internal/setting"
)

// tree is a host's configuration by path.
type tree map[string]string

// bench judges trees of one system and role.
type bench struct {
	known audit.Input
	opts  inspect.Options
}

func newBench(t *testing.T, os, rel, role string) bench {
	t.Helper()
	known, err := hosts.Input()
	if err != nil {
		t.Fatal(err)
	}
	known.Role, known.Today = role, time.Unix(0, 0)
	return bench{known, inspect.Options{OS: os, Release: release.MustParse(rel)}}
}

func (b bench) judge(f *fact.Facts) (*audit.Report, error) {
	in := b.known
	in.Facts = f
	return audit.Run(in)
}

func (b bench) facts(t *testing.T, files tree) *fact.Facts {
	t.Helper()
	texts := map[string][]byte{}
	for p, text := range files {
		texts[p] = []byte(text)
	}
	f, err := inspect.Host(context.Background(), filehost.New(texts, b.opts.OS), b.opts)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (b bench) fixes(t *testing.T, files tree) plan.Plan {
	t.Helper()
	p, err := plan.Fixes(b.facts(t, files), b.known.Catalogue, b.judge)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestFixesKeepWhatTheHostNeeds: lines that a finding only refers to are kept, and conflicting lines are left
// for a person to decide.
func TestFixesKeepWhatTheHostNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		os, release, role string
		files             tree
		keeps             []string // words of lines that are kept
		decide            string   // a name that a person decides about
	}{
		"anchor of another name": {fact.FreeBSD, "14.3", "router",
			tree{"/etc/rc.conf": "hostname=\"r\"\nifconfig_ix0=\"inet6 2001:db8::1/64\"\nifconfig_ix1=\"inet6 2001:db8:1::1/64\"\nipv6_gateway_enable=\"YES\"\n"}, []string{"ipv6_gateway_enable"}, ""},
		"ipfw hash": {fact.FreeBSD, "14.3", "firewall",
			tree{"/etc/rc.conf": "firewall_enable=\"YES\"\nfirewall_type=\"open\"\n", "/etc/sysctl.conf": "net.inet.ip.fw.dyn_max=1000000\n"}, []string{"net.inet.ip.fw.dyn_max=1000000"}, ""},
		"pf_enable twice": {fact.FreeBSD, "14.3", "firewall",
			tree{"/etc/rc.conf": "pf_enable=\"YES\"\ngateway_enable=\"YES\"\npf_enable=\"NO\"\n"}, []string{"pf_enable=\"YES\"", "pf_enable=\"NO\""}, "pf_enable"},
		"ip_forward twice": {fact.Linux, "6.12", "router",
			tree{"/etc/sysctl.d/a.conf": "net.ipv4.ip_forward=1\n", "/etc/sysctl.d/b.conf": "net.ipv4.ip_forward=0\n"}, []string{"net.ipv4.ip_forward=1", "net.ipv4.ip_forward=0"}, "net.ipv4.ip_forward"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newBench(t, c.os, c.release, c.role).fixes(t, c.files)
			for _, word := range c.keeps {
				for _, r := range p.Removals() {
					if strings.Contains(r.Text, word) {
						t.Errorf("the line %q is removed: %s", r.Text, r.Reason)
					}
				}
			}
			if c.decide != "" && !slices.ContainsFunc(p.Decide, func(d plan.Decision) bool { return d.Name == c.decide }) {
				t.Errorf("%s is not left for a decision: %+v", c.decide, p.Decide)
			}
		})
	}
}

// TestPlansAreJudgedAgain: a plan for a badly configured tree names the host's own lines that set the same
// names. bench/changes tests that plans do no harm.
func TestPlansAreJudgedAgain(t *testing.T) {
	for _, c := range []struct {
		os, release, role string
		needs             plan.Needs
		files             tree
	}{
		{fact.Linux, "6.12", "firewall", plan.Needs{States: 5e6}, tree{"/etc/sysctl.d/99-z.conf": "net.netfilter.nf_conntrack_max=65536\nnet.ipv4.ip_forward=0\n"}},
		{fact.FreeBSD, "14.3", "web", plan.Needs{Link: 10e9, RTT: 0.1}, tree{"/etc/sysctl.conf": "kern.ipc.maxsockbuf=2097152\n", "/boot/loader.conf": "autoboot_delay=\"2\"\n", "/etc/rc.conf": "hostname=\"x\"\n"}},
	} {
		b := newBench(t, c.os, c.release, c.role)
		f := b.facts(t, c.files)
		report, err := b.judge(f)
		if err != nil {
			t.Fatal(err)
		}
		library, err := plan.Load(sharedtest.Catalogue())
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Make(plan.Input{Facts: f, Catalogue: b.known.Catalogue, Library: library, Role: c.role, Needs: c.needs, Findings: report.Findings, Judge: b.judge})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Settings) == 0 || len(p.Removals()) == 0 {
			t.Errorf("%s: nothing is set, or no line of the host is named: %+v", c.os, p)
		}
	}
}

// TestHarmsOfAForeignPlan: a plan read from a file is judged by the facts of the host to change, not by those
// that it was made from.
func TestHarmsOfAForeignPlan(t *testing.T) {
	const file = "/etc/sysctl.d/90-linerate.conf"
	step := func(name, value string) plan.Step {
		return plan.Step{Name: name, Value: value, Mechanism: setting.Sysctl, Where: plan.Where{File: file, Runtime: true}}
	}
	router := tree{"/etc/sysctl.d/10.conf": "net.ipv4.ip_forward=1\nnet.ipv6.conf.all.forwarding=1\n"}
	for name, c := range map[string]struct {
		role   string
		memory uint64
		files  tree
		step   plan.Step
		want   string // a word of the harm; "" for none
	}{
		"a queue":                        {"web", 0, tree{"/etc/sysctl.d/10.conf": "vm.swappiness=10\n"}, step("net.core.somaxconn", "8192"), ""},
		"forwarding off on a router":     {"router", 0, router, step("net.ipv4.ip_forward", "0"), "forward"},
		"forwarding off where it is off": {"web", 0, tree{"/etc/sysctl.d/10.conf": "vm.swappiness=10\n"}, step("net.ipv4.ip_forward", "0"), ""},
		"more memory than there is":      {"database", 16 << 30, router, step("vm.nr_hugepages", "65536"), "huge pages"},
		"as much as there is":            {"database", 256 << 30, router, step("vm.nr_hugepages", "65536"), ""},
		"router advertisements unheard":  {"router", 0, tree{"/etc/sysctl.d/10.conf": "net.ipv6.conf.all.forwarding=1\n"}, step("net.ipv6.conf.wan0.accept_ra", "1"), "accept_ra"},
		"a value that is none":           {"web", 0, router, step("net.ipv4.tcp_congestion_control", "bbrplus"), "bbrplus"},
		"a later file undoes it":         {"web", 0, tree{"/etc/sysctl.d/99.conf": "net.core.somaxconn=1024\n"}, step("net.core.somaxconn", "8192"), "overridden"},
	} {
		b := newBench(t, fact.Linux, "6.12", c.role)
		f := b.facts(t, c.files)
		f.Memory.Physical = c.memory
		p := plan.Plan{OS: fact.Linux, Role: c.role, Settings: []plan.Step{c.step}}
		harms, err := p.Harms(f, b.judge)
		if all := strings.Join(harms, "\n"); err != nil || (len(harms) > 0) != (c.want != "") || !strings.Contains(all, c.want) {
			t.Errorf("%s: %q %v, want %q", name, harms, err, c.want)
		}
	}
}

// TestFixesAreInTheGrammar: a misplaced line moves to rc.conf only if rc.conf takes its value.
func TestFixesAreInTheGrammar(t *testing.T) {
	b := newBench(t, fact.FreeBSD, "14.3", "web")
	for line, moves := range map[string]bool{`ifconfig_em0="YES"`: false, `syslogd_flags="NO"`: false, `sshd_enable="YES"`: true} {
		p := b.fixes(t, tree{"/boot/loader.conf": line + "\n", "/etc/rc.conf": "hostname=\"x\"\n"})
		if moved := len(p.Settings) == 1; moved != moves || moves == (len(p.Decide) == 1) {
			t.Errorf("%s: settings %+v, decide %+v", line, p.Settings, p.Decide)
		}
	}
}
