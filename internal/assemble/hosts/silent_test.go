package hosts

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/host/sshhost/sshtest"
)

// TestSilentHost reads a host that goes down in the middle: its connection does not
// end with it.
func TestSilentHost(t *testing.T) {
	t.Parallel()
	began := filepath.Join(t.TempDir(), "began")
	s := sshtest.Start(t, sshtest.Options{Command: "touch " + began + "; exec cat >/dev/null"})
	config := filepath.Join(s.Dir, "cut")
	if err := os.WriteFile(config, []byte(behind(t, s, began)), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &Remote{Timeout: time.Minute, Alive: 500 * time.Millisecond, Config: config}
	if _, err := r.Bundle(t.Context(), "ssh://cut"); err == nil || !strings.Contains(err.Error(), "the connection was lost") {
		t.Errorf("a host that is silent: %v", err)
	}
}

// behind is a Host block of ssh_config(5) for a server behind something that passes
// nothing back once there is a file.
func behind(t *testing.T, s *sshtest.Server, file string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		near, err := l.Accept()
		if err != nil {
			return
		}
		defer near.Close()
		far, err := net.Dial("tcp", s.Address())
		if err != nil {
			return
		}
		defer far.Close()
		go func() {
			buf := make([]byte, 32<<10)
			for n, err := far.Read(buf); err == nil; n, err = far.Read(buf) {
				if _, gone := os.Stat(file); gone != nil {
					_, _ = near.Write(buf[:n])
				}
			}
		}()
		_, _ = io.Copy(far, near)
	}()
	_, port, _ := net.SplitHostPort(s.Address())
	_, here, _ := net.SplitHostPort(l.Addr().String())
	known := filepath.Join(s.Dir, "known_cut")
	if err := os.WriteFile(known, []byte(strings.Replace(s.KnownHost(t), ":"+port, ":"+here, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("Port "+port, "Port "+here, "/known_hosts", "/known_cut").Replace(s.ClientConfig("cut"))
}
