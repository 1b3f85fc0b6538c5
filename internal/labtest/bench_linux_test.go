package labtest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestBenchTakesOver: a bench whose owner was killed stands in nobody's way.
func TestBenchTakesOver(t *testing.T) {
	Namespaces(t)
	dead := benchID()
	n := slot(t, benchID())
	f, err := os.OpenFile(t.TempDir()+"/lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(dead); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	ns, dev := Prefix+"b"+dead+"-1", Prefix+"m"+dead+"-1"
	t.Cleanup(func() {
		_ = exec.Command("ip", "netns", "del", ns).Run()
		_ = exec.Command("ip", "link", "del", dev).Run()
	})
	sh(t, "ip", "netns", "add", ns)
	sh(t, "ip", "link", "add", dev, "type", "veth", "peer", "name", Prefix+"p"+dead+"-1")
	sh(t, "ip", "addr", "add", network(n, 1)+"1/24", "dev", dev)
	takeOver(t, f, n, "4711a")
	if out := sh(t, "ip", "netns", "list"); strings.Contains(out, ns) {
		t.Errorf("the dead bench's namespace is still there:\n%s", out)
	}
	if out := sh(t, "ip", "-o", "link"); strings.Contains(out, dev) {
		t.Errorf("a device with the bench's address is still there:\n%s", out)
	}
	if text, err := os.ReadFile(f.Name()); err != nil || string(text) != "4711a" {
		t.Errorf("the lock names %q, %v", text, err)
	}
}

// TestBenchForgetsItsName: a lock names a bench that stands or was killed, not one
// that is gone, whose name another may have by now.
func TestBenchForgetsItsName(t *testing.T) {
	Namespaces(t)
	n, id := 0, benchID()
	t.Run("bench", func(t *testing.T) { n = slot(t, id) })
	if text, err := os.ReadFile(lockPath(fmt.Sprintf("bench%d", n))); err != nil || string(text) == id {
		t.Errorf("the lock names %q, %v", text, err)
	}
}
