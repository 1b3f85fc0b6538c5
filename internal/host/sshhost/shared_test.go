package sshhost

import (
	"crypto/ed25519"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

func hostKeyOf(t *testing.T, seed byte) (ssh.PublicKey, string) {
	t.Helper()
	key, err := ssh.NewPublicKey(ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), 32))).Public())
	if err != nil {
		t.Fatal(err)
	}
	return key, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

// TestSharedKnownHosts: files read once for many hosts say what they say to one.
func TestSharedKnownHosts(t *testing.T) {
	a, aText := hostKeyOf(t, 'a')
	b, bText := hostKeyOf(t, 'b')
	r, rText := hostKeyOf(t, 'r')
	file := filepath.Join(t.TempDir(), "known_hosts")
	text := "# ours\nplain,[plain]:2222 " + aText + "\n*.example.org " + bText + "\nrevoked " + rText + "\n@revoked * " + rText + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, shared := range []*Shared{nil, NewShared()} {
		k, err := shared.knownHosts([]string{file})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name string
			key  ssh.PublicKey
			ok   bool
		}{
			{"plain:22", a, true}, {"plain:2222", a, true}, {"plain:22", b, false}, {"x.example.org:22", b, true}, {"x.example.org:22", a, false},
			{"revoked:22", r, false}, {"unknown:22", a, false},
		} {
			err := k.HostKeyCallback()(c.name, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 22}, c.key)
			if (err == nil) != c.ok {
				t.Errorf("shared %v: %s: %v", shared != nil, c.name, err)
			}
		}
		if got := k.HostKeyAlgorithms("plain:22"); len(got) != 1 || got[0] != ssh.KeyAlgoED25519 {
			t.Errorf("algorithms %v", got)
		}
	}
}
