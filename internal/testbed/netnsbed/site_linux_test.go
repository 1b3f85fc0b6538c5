package netnsbed

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"linerate/internal/labtest"
)

// TestASecondJournalIsRefused: of two server testbeds in a process only one may change the host. The
// other leaves nothing open, and gets permission once the first is closed.
func TestASecondJournalIsRefused(t *testing.T) {
	labtest.Need(t)
	first, err := UpSites(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	before := openNamespaces(t)
	if _, err := UpSites(t.Context(), true); err == nil || !strings.Contains(err.Error(), "another lab") {
		t.Errorf("a second testbed returns %v", err)
	}
	if after := openNamespaces(t); after != before {
		t.Errorf("%d namespaces are open, %d before", after, before)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	again, err := UpSites(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// openNamespaces counts this process's descriptors of network namespaces.
func openNamespaces(t *testing.T) (n int) {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(to, "net:") {
			n++
		}
	}
	return n
}

// TestServersPrecede: this process has precedence only while a server testbed is open.
func TestServersPrecede(t *testing.T) {
	labtest.Need(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := nice(t)
	b, err := UpSites(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if !b.precedes {
		b.Close()
		labtest.Lacking(t, "no CAP_SYS_NICE")
	}
	if n := nice(t); n != first {
		t.Errorf("this thread has nice %d", n)
	}
	if notes := strings.Join(b.Describe().Notes, "; "); !strings.Contains(notes, "nice −20") {
		t.Errorf("the notes say %s", notes)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if n := nice(t); n != before {
		t.Errorf("afterwards nice is %d, before it was %d", n, before)
	}
}
