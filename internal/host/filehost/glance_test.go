package filehost

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/host"
)

// captured is a Linux host's bundle, with pairs of old and new put into its texts.
func captured(t *testing.T, changes ...string) *Archive {
	t.Helper()
	change := strings.NewReplacer(changes...).Replace
	entries := []any{
		"manifest.tsv", "bundle\t1\nos\tlinux\ntaken\t2026-11-20T11:04:34Z\nmachine\t0f3c\n", "files/proc/uptime", "100.0 50.0\n", "files/proc/meminfo", "MemTotal: 1000 kB\nMemFree: 5 kB\n",
		"files/etc/sysctl.conf", "vm.swappiness=1\n", "out/ethtool-S-eth0", "rx_missed: 7\n", "out/tc-qdisc", "qdisc fq 0: dev eth0 root\n Sent 1 bytes 2 pkt\n",
		"trees/proc", "/proc/sys/vm/swappiness\t60\n/proc/sys/net/netfilter/nf_conntrack_count\t12\n/sys/class/net/eth0/statistics/rx_bytes\t99\nno tab\n", "later/kind", "new\n",
	}
	for i := range entries {
		entries[i] = change(entries[i].(string))
	}
	a, err := Unpack(bytes.NewReader(pack(t, entries...)), "b")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestGlance: what moves by itself leaves the rest as it was, any change of the host does
// not, and what moves is read whole.
func TestGlance(t *testing.T) {
	glanceAt := func(changes ...string) (string, *Bundle) {
		var stays bytes.Buffer
		moving, ok, err := captured(t, changes...).Glance(&stays)
		if err != nil || !ok {
			t.Fatalf("%v, %v", ok, err)
		}
		return stays.String(), moving
	}
	before, moving := glanceAt()
	for what, changes := range map[string][]string{
		"a later capture": {"11:04:34Z", "12:00:00Z"}, "the time": {"100.0 50.0", "900.0 50.0"}, "free memory": {"MemFree: 5", "MemFree: 9"}, "counters": {"rx_missed: 7", "rx_missed: 8", "rx_bytes\t99", "rx_bytes\t1000"},
		"connections": {"count\t12", "count\t900"}, "packets": {"2 pkt", "9 pkt"},
	} {
		if after, _ := glanceAt(changes...); after != before {
			t.Errorf("%s changes what stays:\n%s\n%s", what, before, after)
		}
	}
	for what, changes := range map[string][]string{
		"a file": {"swappiness=1", "swappiness=2"}, "a running value": {"swappiness\t60", "swappiness\t61"}, "memory": {"MemTotal: 1000", "MemTotal: 2000"}, "another counter": {"rx_missed", "rx_other"}, "no connections at all": {"count\t12", "count\t0"},
		"another machine": {"machine\t0f3c", "machine\t0f3d"}, "a file that went": {"files/etc/sysctl.conf", "files/etc/sysctl.conf.old"}, "a line without a value": {"no tab", "none"}, "another kind of entry": {"later/kind", "later/other"}, "what it says": {"new\n", "old\n"},
	} {
		if after, _ := glanceAt(changes...); after == before {
			t.Errorf("%s does not change what stays:\n%s", what, after)
		}
	}
	ctx := context.Background()
	for path, want := range map[string]string{"/proc/uptime": "100.0 50.0\n", "/sys/class/net/eth0/statistics/rx_bytes": "99\n", "/proc/sys/net/netfilter/nf_conntrack_count": "12\n"} {
		if got, err := moving.ReadFile(ctx, path); err != nil || string(got) != want {
			t.Errorf("%s of what moves: %q, %v", path, got, err)
		}
	}
	for _, path := range []string{"/etc/sysctl.conf", "/proc/meminfo", "/proc/sys/vm/swappiness"} {
		if got, err := moving.ReadFile(ctx, path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is among what moves: %q, %v", path, got, err)
		}
	}
	if _, ok, err := captured(t, "os\tlinux", "os\tFreeBSD").Glance(&bytes.Buffer{}); ok || err != nil {
		t.Errorf("of FreeBSD no moving parts are known: %v, %v", ok, err)
	}
	if _, ok, err := captured(t, "bundle\t1", "bundle\t2").Glance(&bytes.Buffer{}); ok || err == nil {
		t.Errorf("a bundle of another format: %v, %v", ok, err)
	}
}

// TestEntriesOfAnArchive: by name, whole; and a machine by what its manifest says.
func TestEntriesOfAnArchive(t *testing.T) {
	a := captured(t)
	if got := string(a.Entry("later/kind")); got != "new\n" || a.Entry("later") != nil || a.Entry("") != nil {
		t.Errorf("%q", got)
	}
	b, err := a.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	if b.MachineID() != "0f3c" || b.OS() != fact.Linux {
		t.Errorf("machine %q, system %q", b.MachineID(), b.OS())
	}
	if got, err := b.Output(context.Background(), host.QueryOf(fact.Linux, "tc-qdisc")); err != nil || !strings.HasPrefix(string(got), "qdisc fq") {
		t.Errorf("an answer that the manifest does not note: %q, %v", got, err)
	}
}

// TestTreesAreCleaned: paths of a listing lead nowhere else, and a listing of too many
// files is refused.
func TestTreesAreCleaned(t *testing.T) {
	long := "/" + strings.Repeat("a", maxPath-1)
	b, err := ReadBundle(bytes.NewReader(pack(t, "manifest.tsv", head, "trees/x", "/a/../b//c\t1\nrelative\t2\n"+long+"\t3\n"+long+"a\t4\n/no tab\n/../up\t5\n")), "b")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for path, want := range map[string]string{"/b/c": "1\n", long: "3\n", "/up": "5\n"} {
		if got, err := b.ReadFile(ctx, path); err != nil || string(got) != want {
			t.Errorf("%.20s: %q, %v", path, got, err)
		}
	}
	for _, path := range []string{"/relative", long + "a", "/no tab", "/a"} {
		if _, err := b.ReadFile(ctx, path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%.20s is there: %v", path, err)
		}
	}
	if names, err := b.ReadDir(ctx, "/b"); err != nil || len(names) != 1 {
		t.Errorf("%q, %v", names, err)
	}
	var flood strings.Builder
	for i := range treeEntries + 10 {
		flood.WriteString("/x/" + strconv.Itoa(i) + "\t1\n")
	}
	if _, err := ReadBundle(bytes.NewReader(pack(t, "manifest.tsv", head, "trees/x", flood.String())), "b"); err == nil || !strings.Contains(err.Error(), "more than 100000 files") {
		t.Errorf("a flood of files: %v", err)
	}
}

// TestHowSourcesWent: each status of a manifest is the error that the host gave.
func TestHowSourcesWent(t *testing.T) {
	for line, want := range map[string]string{
		"read\t": "", "0\t": "", "missing\tx": fs.ErrNotExist.Error(), "left-out\tkeys": host.ErrLeftOut.Error() + ": keys", "127\tx": host.ErrNoCommand.Error(), "no-command\t": host.ErrNoCommand.Error(),
		"unreadable\tPermission denied": "Permission denied", "unreadable\t": "unreadable when captured", "1\tcomplaint": "complaint", "3\t": "exit status 3",
	} {
		m, err := parseManifest("bundle\t1\r\nfile\t/etc/x\t" + line + "\r\nquery\tq\t" + line + "\nfile\nunknown\tline\n")
		if err != nil {
			t.Fatal(err)
		}
		if got, query := errText(m.files["/etc/x"].err()), errText(m.queries["q"].err()); got != want || query != want {
			t.Errorf("%q: %q and %q, want %q", line, got, query, want)
		}
	}
	if _, err := parseManifest("bundle\t" + strings.Repeat("9", 100) + "\n"); err == nil || len(err.Error()) > 80 {
		t.Errorf("another format: %v", err)
	}
}

// TestOpening: what is no bundle is told with what to do instead, and no path twice.
func TestOpening(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]string{
		filepath.Join(dir, "none"): {"no such file or directory", "linerate capture"}, dir: {"it is a directory", "root"}, filepath.Join(dir, "x"): {"unexpected EOF", "a bundle is a tar.gz"},
	} {
		_, err := OpenBundle(name)
		if err == nil || !strings.Contains(err.Error(), want[0]) || !strings.Contains(hint.Of(err), want[1]) || strings.Count(err.Error(), name) != 1 {
			t.Errorf("%s: %v; hint: %s", name, err, hint.Of(err))
		}
	}
	good := filepath.Join(dir, "b.tar.gz")
	if err := os.WriteFile(good, pack(t, "manifest.tsv", head), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := OpenBundle(good); err != nil || b.Origin().Path != good {
		t.Errorf("%v", err)
	}
}
