package hosts

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"linerate/internal/sharedtest"

	"linerate/catalogue"
	"linerate/internal/audit"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/host/filehost"
	"linerate/internal/inspect"
	"linerate/internal/plan"
	"linerate/internal/tunable"
)

// auditing audits trees of one role.
func auditing(t *testing.T, role string) (*tunable.Catalogue, plan.Judge) {
	t.Helper()
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	rules, err := audit.LoadRules(sharedtest.Catalogue())
	if err != nil {
		t.Fatal(err)
	}
	return c, func(f *fact.Facts) (*audit.Report, error) {
		return audit.Run(audit.Input{Facts: f, Catalogue: c, Rules: rules, Role: role})
	}
}

// TestShortenIsIdempotent: an audit of what the fixes leave has nothing more to
// take out, and no error or warning that the first had not.
func TestShortenIsIdempotent(t *testing.T) {
	trees := map[string]map[string]string{
		"linux: order":       {"/etc/sysctl.d/x.conf": "net.ipv4.ip_forward=1\nnet.ipv4.conf.eth0.forwarding=0\nnet.ipv4.conf.all.accept_redirects=1\nnet.ipv4.ip_forward=1\nvm.dirty_ratio=20\nvm.dirty_bytes=1000000\n"},
		"linux: hidden":      {"/etc/sysctl.d/a.conf": "vm.swappiness=10\nnet.core.somaxconn=128\n", "/etc/sysctl.d/b.conf": "vm.swappiness=60\nnet.core.somaxconn=4096\n"},
		"linux: words":       {"/etc/default/grub": "GRUB_CMDLINE_LINUX=\"quiet pti=auto nohz=on mitigations=auto kpti=1\"\nGRUB_CMDLINE_LINUX_DEFAULT=\"nohz=on\"\n"},
		"freebsd: tso":       {"/etc/sysctl.conf": "net.inet.tcp.tso=0\n", "/etc/rc.conf": "firewall_enable=\"YES\"\nfirewall_nat_enable=\"YES\"\nifconfig_em0=\"DHCP\"\n"},
		"freebsd: rc":        {"/etc/rc.conf": "a=\"1\"\na=\"$a 2\"\nfoo=\"1\"\nfoo=\"2\"\nsshd_enable=\"YES\"\n", "/etc/sysctl.conf": "net.inet.tcp.sack.enable=1\nkern.ipc.somaxconn=128\nkern.ipc.somaxconn=128\n"},
		"freebsd: loader":    {"/boot/loader.conf": "autoboot_delay=\"3\"\nnet.inet.tcp.hostcache.enable=\"0\"\nkern.ipc.nmbclusters=\"1000\"\n", "/etc/sysctl.conf": "kern.ipc.nmbclusters=1000\n"},
		"freebsd: continued": {"/etc/rc.conf": "x=\"a \\\nb\"\ngateway_enable=\"NO\"; y=1\n"},
	}
	lists, err := filepath.Glob("../../audit/testdata/lists/*")
	if err != nil || len(lists) == 0 {
		t.Fatal(err, lists)
	}
	for _, p := range append(lists, "../../audit/testdata/klaver-2011.conf") {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		trees["linux: "+filepath.Base(p)] = map[string]string{"/etc/sysctl.d/list.conf": string(text)}
	}
	took := 0
	for _, role := range []string{"web", "router"} {
		c, run := auditing(t, role)
		for name, files := range trees {
			texts := map[string][]byte{}
			for p, text := range files {
				texts[p] = []byte(text)
			}
			opts := inspect.Options{OS: fact.Linux, Release: release.MustParse("6.12")}
			if name[:7] == "freebsd" {
				opts = inspect.Options{OS: fact.FreeBSD, Release: release.MustParse("14.3")}
			}
			base := filehost.New(texts, opts.OS)
			reportOf := func(h *filehost.Host) *audit.Report {
				f, err := inspect.Host(context.Background(), h, opts)
				if err != nil {
					t.Fatal(err)
				}
				r, err := run(f)
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			fixes := func(h *filehost.Host) plan.Plan {
				f, err := inspect.Host(context.Background(), h, opts)
				if err != nil {
					t.Fatal(err)
				}
				p, err := plan.Fixes(f, c, run)
				if err != nil {
					t.Fatal(err)
				}
				return p
			}
			left := maps.Clone(texts)
			for _, s := range Shorten(context.Background(), base, fixes(base)) {
				left[s.Path] = []byte(s.New)
				took += len(s.Cuts)
			}
			host := filehost.New(left, opts.OS)
			before := map[string]audit.Severity{}
			for _, f := range reportOf(base).Findings {
				before[f.PlainID()] = f.Severity
			}
			for _, f := range reportOf(host).Findings {
				if was, ok := before[f.PlainID()]; f.Severity.AtLeast(audit.Warning) && (!ok || !was.AtLeast(f.Severity)) {
					t.Errorf("%s, %s: the shorter files have a new finding: %s: %s", name, role, f.ID, f.Message)
				}
			}
			if again := Shorten(context.Background(), host, fixes(host)); len(again) > 0 {
				t.Errorf("%s, %s: more to take out of the shorter files: %+v", name, role, again)
			}
		}
	}
	if took < 50 {
		t.Errorf("only %d lines were taken out of all", took)
	}
}

func TestAreFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	plain, packed := write("sysctl.conf", "vm.swappiness=1\n"), write("b.tar.gz", "\x1f\x8b\x08\x00")
	for _, c := range []struct {
		args []string
		want bool
	}{{nil, false}, {[]string{plain}, true}, {[]string{Stdin, plain}, true}, {[]string{packed}, false}, {[]string{plain, packed}, false}, {[]string{"ssh://fw1"}, false}, {[]string{dir}, false}} {
		if got := AreFiles(c.args); got != c.want {
			t.Errorf("%v: %v", c.args, got)
		}
	}
}
