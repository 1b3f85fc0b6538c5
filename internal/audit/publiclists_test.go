package audit_test

import "testing"

// TestPublicFreeBSDLists covers two public FreeBSD lists: a refused line overrides no other line,
// and device hints are not sysctls.
func TestPublicFreeBSDLists(t *testing.T) {
	const twice = "net.inet.tcp.keepidle=62000\nnet.inet.tcp.keepidle=10000"
	for _, c := range []struct{ file, text, rule, not string }{
		{"/etc/sysctl.conf", twice + "\n", "LR-DUPLICATE", "LR-RANGE"},
		{"/etc/sysctl.conf", twice + " (default 65000)\n", "LR-RANGE", "LR-DUPLICATE"},
		{"/etc/sysctl.conf", "net.inet.tcp.cc.algorithm=cubic\nnet.inet.tcp.cc.algorithm=bbrx\n", "LR-CC-MODULE", "LR-DUPLICATE"},
		{"/boot/loader.conf", "hint.p4tcc.0.disabled=1\n", "", "LR-UNKNOWN"},
		{"/boot/loader.conf", "kern.ipc.nsfbufs=\"10240\"\n", "LR-INEFFECTIVE", ""},
	} {
		r := run(t, tree(t, "14.3", map[string]string{c.file: c.text}), "web")
		if c.rule != "" && len(find(r, c.rule, "")) == 0 {
			t.Errorf("%q: no finding of %s in %v", c.text, c.rule, r.Findings)
		}
		if c.not != "" && len(find(r, c.not, "")) != 0 {
			t.Errorf("%q: unwanted finding of %s", c.text, c.not)
		}
	}
}

// TestLinesBelowWhatHolds covers ten more public lists: numbers that were above the kernel's
// default when they were written, or are above it but below what systemd sets, and claims about
// conf.all that do not apply to an interface.
func TestLinesBelowWhatHolds(t *testing.T) {
	for _, c := range []struct {
		line string
		rule string // that must report the name
		not  string // that must not
	}{
		{line: "net.core.somaxconn = 1000", rule: "LR-LOWERS"},
		{line: "net.core.somaxconn = 64", not: "LR-LOWERS"}, // a short queue is a deliberate choice
		{line: "net.core.somaxconn = 16384", not: "LR-LOWERS"},
		{line: "net.ipv4.neigh.default.unres_qlen_bytes = 131072", rule: "LR-LOWERS"},
		{line: "kernel.sem = 250 32000 100 128", rule: "LR-LINUX-SEMAPHORES"},
		{line: "kernel.pid_max = 65536", rule: "LR-LINUX-PID-MAX", not: "LR-LOWERS"},
		{line: "net.unix.max_dgram_qlen = 256", rule: "LR-LINUX-UNIX-QUEUE"},
		{line: "net.ipv4.tcp_rmem = 4096 12582912 16777216", rule: "LR-LINUX-TCP-START", not: "LR-MEMORY"},
		{line: "net.ipv6.conf.all.accept_ra = 0", rule: "LR-PERDEVICE"},
		{line: "net.ipv6.conf.default.accept_ra = 0", not: "LR-FOLKLORE"},
		{line: "net.ipv6.conf.eth0.accept_ra = 0", not: "LR-FOLKLORE"},
	} {
		r := run(t, tree(t, "6.12", map[string]string{"/etc/sysctl.d/x.conf": c.line}), "web")
		if c.rule != "" && len(find(r, c.rule, "")) == 0 {
			t.Errorf("%s: no finding of %s in %v", c.line, c.rule, r.Findings)
		}
		if c.not != "" && len(find(r, c.not, "")) != 0 {
			t.Errorf("%s: unwanted finding of %s", c.line, c.not)
		}
	}
}
