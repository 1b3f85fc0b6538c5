package sshbed

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestWayIn: the interface that SSH came by is not told by a loopback interface's
// address, nor by nobody's.
func TestWayIn(t *testing.T) {
	for _, address := range []string{"127.0.0.1", "203.0.113.99"} {
		cmd := exec.Command("sh", "-s", "way_in")
		cmd.Stdin, cmd.Env = strings.NewReader(bedScript), append(os.Environ(), "SSH_CONNECTION=192.0.2.1 50000 "+address+" 22")
		if out, err := cmd.Output(); err != nil || len(out) > 0 {
			t.Errorf("SSH to %s comes by %q (%v)", address, out, err)
		}
	}
}
