package plan_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"linerate/catalogue"
	"linerate/internal/assemble/audits"
	"linerate/internal/audit"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/host/filehost"
	"linerate/internal/inspect"
	"linerate/internal/plan"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

// tree is the configuration of a host, by path.
type tree map[string]string

// bench judges trees of one system and role.
type bench struct {
	known audit.Input
	opts  inspect.Options
}

func newBench(t *testing.T, os, rel, role string) bench {
	t.Helper()
	known, err := audits.Input()
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

// done are the files after the plan: without the lines that go, and with linerate's own.
func done(t *testing.T, files tree, p plan.Plan) tree {
	t.Helper()
	after := tree{}
	for name, text := range files {
		gone := slices.DeleteFunc(p.Removals(), func(r plan.Removal) bool { return r.File != name })
		after[name] = plan.Shorten(text, gone)
	}
	own, err := plan.Render(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range own {
		after[f.Path] += f.Content
	}
	return after
}

// TestFixesKeepWhatTheHostNeeds: lines that a finding only points at stay, and lines that
// disagree are left to a person.
func TestFixesKeepWhatTheHostNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		os, release, role string
		files             tree
		keeps             []string // words of lines that stay
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
						t.Errorf("the line %q goes: %s", r.Text, r.Reason)
					}
				}
			}
			if c.decide != "" && !slices.ContainsFunc(p.Decide, func(d plan.Decision) bool { return d.Name == c.decide }) {
				t.Errorf("nobody is asked about %s: %+v", c.decide, p.Decide)
			}
		})
	}
}

// places are the files in which generated trees have lines.
var places = map[string][]string{
	fact.Linux:   {"/etc/sysctl.d/10-a.conf", "/etc/sysctl.d/99-z.conf", "/etc/sysctl.conf", "/etc/modprobe.d/x.conf"},
	fact.FreeBSD: {"/etc/sysctl.conf", "/boot/loader.conf", "/etc/rc.conf"},
}

// generated is a tree of random lines: conflicts, wrong places, wrong and old names.
func generated(r *rand.Rand, c *tunable.Catalogue, os string) tree {
	files := tree{"/etc/rc.conf": "hostname=\"x\"\n", "/boot/loader.conf": "autoboot_delay=\"2\"\n"}
	if os == fact.Linux {
		files = tree{"/etc/hostname": "x\n"}
	}
	var names []string
	for _, rec := range c.Records {
		if rec.OS == os && slices.Contains([]setting.Mechanism{setting.Sysctl, setting.Loader, setting.RC}, rec.Mechanism) && !strings.ContainsAny(rec.Name, " :") {
			names = append(names, strings.NewReplacer(".N.", ".0.", ".IF.", ".eth0.").Replace(rec.Name))
		}
	}
	switches := map[string][]string{fact.Linux: {"net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding", "net.ipv4.conf.all.rp_filter"},
		fact.FreeBSD: {"gateway_enable", "ipv6_gateway_enable", "pf_enable", "firewall_enable", "net.inet.ip.forwarding", "net.inet6.ip6.forwarding"}}[os]
	var used []string
	for range 3 + r.IntN(12) {
		name := names[r.IntN(len(names))]
		switch r.IntN(5) {
		case 0:
			name = switches[r.IntN(len(switches))]
		case 1:
			if len(used) > 0 {
				name = used[r.IntN(len(used))]
			}
		case 2:
			if r.IntN(4) == 0 {
				name = name[:len(name)-1]
			}
		}
		used = append(used, name)
		value := []string{"0", "1", "2", "-1", "128", "4096", "65536", "262144", "16777216", "4294967296", "YES", "NO", "4096 87380 16777216"}[r.IntN(13)]
		if rec, ok := c.Lookup(os, name); ok && rec.Default != nil && r.IntN(2) == 0 {
			value = *rec.Default
		}
		file := places[os][r.IntN(len(places[os]))]
		if r.IntN(3) > 0 && os == fact.FreeBSD && !strings.Contains(name, ".") {
			file = "/etc/rc.conf"
		} else if r.IntN(3) > 0 {
			file = places[os][0]
		}
		if value == "" || strings.ContainsAny(value, "\n\"'$`\\") {
			value = "1"
		}
		if path.Base(file) == "rc.conf" || path.Base(file) == "loader.conf" {
			value = strconv.Quote(value)
		}
		files[file] += fmt.Sprintf("%s=%s\n", name, value)
	}
	return files
}

// TestChangesAreSafe: whatever a tree holds, what the fixes make of it has nothing new
// against it, and forwards and filters as before. The files are read anew, so that it
// holds the plan's own view of them (Over) to the readers' too. LINERATE_CASES is how
// many trees there are.
func TestChangesAreSafe(t *testing.T) {
	cases, err := strconv.Atoi(os.Getenv("LINERATE_CASES"))
	if err != nil {
		cases = 120
	}
	var benches []bench
	for _, on := range [][2]string{{fact.FreeBSD, "14.3"}, {fact.Linux, "6.12"}, {fact.FreeBSD, "12.4"}, {fact.Linux, "5.15"}} {
		for _, role := range []string{"router", "firewall", "web"} {
			benches = append(benches, newBench(t, on[0], on[1], role))
		}
	}
	changes := 0
	for seed := range cases {
		b := benches[seed%len(benches)]
		files := generated(rand.New(rand.NewPCG(uint64(seed), 1)), b.known.Catalogue, b.opts.OS)
		p := b.fixes(t, files)
		changes += len(p.Settings) + len(p.Remove)
		for _, problem := range b.harm(t, files, done(t, files, p)) {
			t.Errorf("seed %d, %s %s, %s: %s\nfiles: %q\nsets: %+v\nremoves: %+v", seed, b.opts.OS, b.opts.Release, b.known.Role, problem, files, p.Settings, p.Remove)
		}
	}
	t.Logf("%d changes of %d trees", changes, cases)
}

// harm is what is wrong with a tree that was not with another.
func (b bench) harm(t *testing.T, before, after tree) (all []string) {
	t.Helper()
	f, g := b.facts(t, before), b.facts(t, after)
	was, err := b.judge(f)
	if err != nil {
		t.Fatal(err)
	}
	is, err := b.judge(g)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]audit.Severity{}
	for _, o := range was.Findings {
		if s := known[o.PlainID()]; s == "" || o.Severity.AtLeast(s) {
			known[o.PlainID()] = o.Severity
		}
	}
	for _, n := range is.Findings {
		if s, ok := known[n.PlainID()]; n.Severity.AtLeast(audit.Warning) && (!ok || !s.AtLeast(n.Severity)) {
			all = append(all, fmt.Sprintf("%s: %s (%s:%d)", n.ID, n.Message, n.File, n.Line))
		}
	}
	for what, states := range map[string][2]bool{"IPv4 forwarding": {f.ForwardsIPv4(), g.ForwardsIPv4()}, "IPv6 forwarding": {f.ForwardsIPv6(), g.ForwardsIPv6()},
		"pf": {f.PFOn(), g.PFOn()}, "ipfw": {f.IPFWOn(), g.IPFWOn()}} {
		if states[0] && !states[1] {
			all = append(all, what+" is off")
		}
	}
	return all
}

// TestPlansAreJudgedAgain: a plan of a tree that sets things badly brings nothing new
// against the host, and names the host's own lines that set the same.
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
		library, err := plan.Load(catalogue.Files(), b.known.Catalogue)
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Make(plan.Input{Facts: f, Catalogue: b.known.Catalogue, Library: library, Role: c.role, Needs: c.needs, Findings: report.Findings, Judge: b.judge})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Settings) == 0 || len(p.Removals()) == 0 {
			t.Errorf("%s: nothing is set, or no line of the host's is named: %+v", c.os, p)
		}
		for _, problem := range b.harm(t, c.files, done(t, c.files, p)) {
			t.Errorf("%s %s: %s", c.os, c.role, problem)
		}
	}
}
