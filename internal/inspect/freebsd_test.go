package inspect

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/host"
	"linerate/internal/sharedtest"
)

// captured is a host.Reader over the raw captures of a real FreeBSD 14: one
// file of each query, and its configuration.
type captured struct {
	t   *testing.T
	set string // "01-default" or "02-modules"
}

var capturedFiles = map[string]string{
	"/boot/loader.conf": "loader.conf.txt", "/etc/sysctl.conf": "sysctl.conf.txt", "/etc/rc.conf": "rc.conf.txt",
	"/var/run/dmesg.boot": "dmesg.txt",
}

func (c captured) Origin() fact.Origin {
	return fact.Origin{Kind: fact.KindBundle, Path: c.set, Taken: "2026-11-20T11:14:34Z"}
}
func (captured) OS() string              { return fact.FreeBSD }
func (captured) LeftOut() []fact.LeftOut { return nil }
func (captured) Close() error            { return nil }

func (c captured) read(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(sharedtest.Dir(c.t, "data", "freebsd-14.0"), name))
}

func (c captured) ReadFile(_ context.Context, path string) ([]byte, error) {
	if name, ok := capturedFiles[path]; ok {
		return c.read(name)
	}
	return nil, fs.ErrNotExist
}

func (captured) ReadDir(context.Context, string) ([]string, error) { return nil, fs.ErrNotExist }

func (c captured) Output(_ context.Context, q host.Query) ([]byte, error) {
	id := q.ID()
	if id == "ifconfig" {
		id = "ifconfig-v"
	}
	for _, name := range []string{c.set + "." + id + ".txt", id + ".txt"} {
		if b, err := c.read(name); err == nil {
			return b, nil
		}
	}
	return nil, host.ErrNoCommand
}

func TestRealFreeBSD(t *testing.T) {
	f, err := Host(context.Background(), captured{t, "02-modules"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Release.String() != "14.0-STABLE" || f.Hostname != "fw14.example.net" || f.UptimeSeconds != 600 || f.Machine != "QEMU Standard PC (Q35 + ICH9, 2009)" {
		t.Errorf("%s %s %v %q", f.Release, f.Hostname, f.UptimeSeconds, f.Machine)
	}
	s, _ := f.Tunable("net.link.ifqmaxlen")
	l, ok := s.EffectiveLine(fact.Sysctl)
	if !ok || l.Number != 4 || *s.Live != "50" || s.Access.Runtime {
		t.Errorf("set in the wrong file: %+v", s)
	}
	if m, ok := f.Module("tcp_rack"); !ok || m.Loaded == nil || !*m.Loaded {
		t.Errorf("tcp_rack: %+v", m)
	}
	em, _ := f.NIC("em0")
	if em.RXQueues != 2 || em.FlowControl != "full" || len(em.Configured) != 2 || em.IPv4 != 1 {
		t.Errorf("em0 %+v", em)
	}
	if f.Firewall.PF == nil || f.Firewall.PF.Enabled == nil || *f.Firewall.PF.Enabled || len(f.Firewall.PF.Limits) != 4 {
		t.Errorf("pf %+v", f.Firewall.PF)
	}
	if f.Firewall.IPFW != nil && f.Firewall.IPFW.Rules != 0 {
		t.Errorf("ipfw %+v", f.Firewall.IPFW)
	}
	if !f.Live() || !f.Read("sysctl -a") || f.Read("pciconf -lvbc x") {
		t.Error("sources are not recorded")
	}
	if !slices.ContainsFunc(f.Sources, func(s fact.Source) bool { return s.Name == "netstat -Lan" && s.Status == fact.StatusMissing }) {
		t.Errorf("what is missing is not recorded: %+v", f.Sources)
	}
	if len(f.Problems) != 0 {
		t.Errorf("%+v", f.Problems)
	}
}

// TestIdentityAlone: system and release are had without an inspection, by the system's own questions.
func TestIdentityAlone(t *testing.T) {
	if f := Identity(context.Background(), captured{t, "01-default"}); f.OS != fact.FreeBSD || f.Release.Major != 14 {
		t.Errorf("%s %s, not FreeBSD 14", f.OS, f.Release)
	}
}
