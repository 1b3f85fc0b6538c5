package inspect

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/host/filehost"
)

// TestOwned: facts for a file's owner have the line as it is, without what looks secret;
// all others have what redaction allows.
func TestOwned(t *testing.T) {
	text := "net.core.somaxconn=4096 # raised for nginx\nvendor.mode = turbo\nnet.ipv6.conf.all.stable_secret=2001:db8::hunter2\n"
	for owned, want := range map[bool]string{true: "raised for nginx", false: "REDACTED"} {
		r := filehost.New(map[string][]byte{"/etc/sysctl.d/x.conf": []byte(text)}, fact.Linux)
		f, err := Host(context.Background(), r, Options{Release: release.MustParse("6.12"), OS: fact.Linux, Owned: owned})
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, l := range f.Lines() {
			lines = append(lines, l.Text)
		}
		all := strings.Join(lines, "\n")
		if !strings.Contains(all, want) || strings.Contains(all, "hunter2") || strings.Contains(all, "raised") != owned || strings.Contains(all, "turbo") != owned {
			t.Errorf("owned %v:\n%s", owned, all)
		}
	}
}

// TestOwnedFilter: the owner of a packet filter's file sees the name that is wrong.
func TestOwnedFilter(t *testing.T) {
	text := "flush ruleset\ntable inet f {\n chain x {\n  type filter hook output priority 0;\n  jump sshd\n }\n}\n"
	for owned, want := range map[bool]string{true: "jump sshd", false: "jump REDACTED"} {
		r := filehost.New(map[string][]byte{"/etc/nftables.conf": []byte(text)}, fact.Linux)
		f, err := Host(context.Background(), r, Options{Release: release.MustParse("6.12"), OS: fact.Linux, Owned: owned})
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Problems) != 1 || strings.TrimSpace(f.Problems[0].Text) != want {
			t.Errorf("owned %v: %+v, want %s", owned, f.Problems, want)
		}
	}
}

// TestUnreadServers: a server's file that cannot be read is recorded; an empty directory is none.
func TestUnreadServers(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"etc/keepalived/keepalived.conf", "etc/nginx/conf.d", "proc/sys"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r, err := filehost.OpenTree(root)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Host(context.Background(), r, Options{Release: release.MustParse("6.12"), OS: fact.Linux})
	if err != nil {
		t.Fatal(err)
	}
	unread := map[string]bool{}
	for _, s := range f.Sources {
		unread[s.Name] = unread[s.Name] || s.Status == fact.StatusUnreadable
	}
	if !unread["/etc/keepalived/keepalived.conf"] || unread["/etc/nginx/conf.d"] {
		t.Errorf("sources %+v", f.Sources)
	}
}
