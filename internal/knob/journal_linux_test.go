package knob

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"linerate/internal/setting"
)

// The journal is the host's, but what it writes are sysctls of the calling
// thread's namespace: in a namespace of its own a test changes no host.
func journal(t *testing.T) (*Target, *HostSysctls) {
	t.Helper()
	return fresh(t), &HostSysctls{Journal: filepath.Join(t.TempDir(), "journal")}
}

func TestJournalIsWrittenFirst(t *testing.T) {
	target, h := journal(t)
	before := sysctlOf(t, target, "net/ipv4/tcp_rmem")
	inside(t, target, func() error {
		err := h.Set("net.ipv4.tcp_rmem", "8192 0 9000000")
		if !errors.Is(err, unix.EINVAL) {
			t.Errorf("got %v, want EINVAL", err)
		}
		return nil
	})
	data, err := os.ReadFile(h.Journal)
	if err != nil || !strings.Contains(string(data), "net.ipv4.tcp_rmem") {
		t.Errorf("the write failed, and the journal before it has %s, %v", data, err)
	}
	if after := sysctlOf(t, target, "net/ipv4/tcp_rmem"); after != before {
		t.Errorf("tcp_rmem was %s and is %s", before, after)
	}
}

func TestRestoreUndoesEveryChange(t *testing.T) {
	target, h := journal(t)
	before := []string{sysctlOf(t, target, "net/ipv4/ip_default_ttl"), sysctlOf(t, target, "net/ipv4/tcp_rmem")}
	inside(t, target, func() error {
		return errors.Join(h.Set("net.ipv4.ip_default_ttl", "77"), h.Set("net.ipv4.tcp_rmem", "8192 9000 9000000"),
			h.Set("net.ipv4.ip_default_ttl", "78"))
	})
	if got := sysctlOf(t, target, "net/ipv4/ip_default_ttl"); got != "78" {
		t.Fatalf("ttl is %s", got)
	}
	inside(t, target, h.Restore)
	after := []string{sysctlOf(t, target, "net/ipv4/ip_default_ttl"), sysctlOf(t, target, "net/ipv4/tcp_rmem")}
	if before[0] != after[0] || before[1] != after[1] {
		t.Errorf("were %v, are %v", before, after)
	}
	if _, err := os.Stat(h.Journal); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the journal of a restored host is still there: %v", err)
	}
	inside(t, target, h.Restore) // nothing left to do
}

// TestCrashIsRestoredByTheNextStart forgets the owner of a journal, as a kill would.
func TestCrashIsRestoredByTheNextStart(t *testing.T) {
	target, h := journal(t)
	before := sysctlOf(t, target, "net/ipv4/ip_default_ttl")
	inside(t, target, func() error { return h.Set("net.ipv4.ip_default_ttl", "77") })
	path := h.Journal
	inside(t, target, func() error { return RestoreJournal(path) })
	if got := sysctlOf(t, target, "net/ipv4/ip_default_ttl"); got != before {
		t.Errorf("ttl was %s and is %s", before, got)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the journal that was worked off is still there: %v", err)
	}
	inside(t, target, func() error { return RestoreJournal(path) }) // and a second start finds none
}

// TestRestoreGoesOn: a setting that cannot be restored keeps the journal, and the others are restored
// nevertheless.
func TestRestoreGoesOn(t *testing.T) {
	target, h := journal(t)
	before := sysctlOf(t, target, "net/ipv4/ip_default_ttl")
	inside(t, target, func() error { return h.Set("net.ipv4.ip_default_ttl", "77") })
	data, err := os.ReadFile(h.Journal)
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.Replace(string(data), "]", `,{"name":"net.ipv4.gone","value":"1"},{"name":"../../etc/passwd","value":"x"}]`, 1)
	if err := os.WriteFile(h.Journal, []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	inside(t, target, func() error {
		err := RestoreJournal(h.Journal)
		if err == nil || !strings.Contains(err.Error(), "net.ipv4.gone") || !strings.Contains(err.Error(), "not valid") {
			t.Errorf("got %v", err)
		}
		return nil
	})
	if got := sysctlOf(t, target, "net/ipv4/ip_default_ttl"); got != before {
		t.Errorf("ttl was %s and is %s", before, got)
	}
	if _, err := os.Stat(h.Journal); err != nil {
		t.Errorf("a journal not worked off is gone: %v", err)
	}
}

func TestTornJournalIsNotIgnored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(path, []byte(`[{"name":"net.ipv4.ip_de`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := RestoreJournal(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
	if err := RestoreJournal(path + ".none"); err != nil {
		t.Errorf("no journal at all: %v", err)
	}
}

func TestSysctlPath(t *testing.T) {
	for name, want := range map[string]string{
		"net.ipv4.ip_forward":              "/proc/sys/net/ipv4/ip_forward",
		"net/ipv4/conf/eth0.100/rp_filter": "/proc/sys/net/ipv4/conf/eth0.100/rp_filter",
		"net.ipv4.conf.eth0/100.rp_filter": "/proc/sys/net/ipv4/conf/eth0.100/rp_filter",
		"net/../../x":                      "",
		"/etc/passwd":                      "",
		"":                                 "",
	} {
		got, err := sysctlPath(name)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q is %q, %v; want %q", name, got, err, want)
		}
	}
}

// TestSwitchGoesBackAndForth: one arm's settings are reverted for the next, and the host's values are restored
// in the end.
func TestSwitchGoesBackAndForth(t *testing.T) {
	target, h := journal(t)
	const ttl, reuse = "net/ipv4/ip_default_ttl", "net/ipv4/ip_local_reserved_ports"
	before := []string{sysctlOf(t, target, ttl), sysctlOf(t, target, reuse)}
	a := []setting.Setting{{Mechanism: setting.Sysctl, Name: "net.ipv4.ip_default_ttl", Value: "77"}}
	b := []setting.Setting{{Mechanism: setting.Sysctl, Name: "net.ipv4.ip_local_reserved_ports", Value: "4000"}}
	for _, c := range []struct {
		set  []setting.Setting
		want []string
	}{{a, []string{"77", before[1]}}, {b, []string{before[0], "4000"}}, {nil, before}, {a, []string{"77", before[1]}}} {
		inside(t, target, func() error { return h.Switch(c.set) })
		if got := []string{sysctlOf(t, target, ttl), sysctlOf(t, target, reuse)}; got[0] != c.want[0] || got[1] != c.want[1] {
			t.Errorf("after %v: %q, want %q", c.set, got, c.want)
		}
	}
	inside(t, target, h.Restore)
	if got := sysctlOf(t, target, ttl); got != before[0] {
		t.Errorf("ttl was %s and is %s", before[0], got)
	}
}

// TestJournalOfAPair: of two sysctls of which one reads 0, and 0 cannot be written, the effective one is
// journalled, whichever name is given.
func TestJournalOfAPair(t *testing.T) {
	for _, name := range []string{"vm.dirty_bytes", "vm.dirty_ratio", "vm/dirty_background_bytes", "vm.dirty_background_ratio", "vm.overcommit_kbytes", "vm.overcommit_ratio"} {
		e, err := had(name)
		if err != nil || e.Value == "0" && !strings.HasSuffix(e.Name, "_ratio") {
			t.Errorf("%s: %+v is journalled (%v)", name, e, err)
		}
		if !e.isOf(name) || !e.isOf(exclusive[dotted(name)]) || e.isOf("vm.swappiness") {
			t.Errorf("%s: %+v is of another", name, e)
		}
	}
}
