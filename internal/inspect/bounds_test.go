package inspect

import (
	"context"
	"strings"
	"testing"

	"linerate/internal/fact/release"
	"linerate/internal/host/filehost"
)

// TestWhatIsNotReadIsSaidOnce: several parsers ask for a directory; and half a
// line at the end of a file that was cut is no setting.
func TestWhatIsNotReadIsSaidOnce(t *testing.T) {
	tree, err := filehost.OpenTree(writeTree(t, map[string]string{
		"etc/sysctl.d": "not a directory", "etc/sysctl.conf": "net.core.somaxconn=8192\n" + strings.Repeat("#", 4<<20-60) + "\nkernel.core_pattern=|/bin/" + strings.Repeat("a", 100) + "\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	f, err := Host(context.Background(), tree, Options{OS: "linux", Release: release.MustParse("6.12")})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, s := range f.Sources {
		seen[s.Name+" "+s.Status]++
	}
	if seen["/etc/sysctl.d unreadable"] != 1 || seen["/etc/sysctl.conf partial"] != 1 {
		t.Errorf("sources %v", seen)
	}
	if _, ok := f.Value("kernel.core_pattern"); ok {
		t.Error("half a line sets something")
	}
	if v, _ := f.Value("net.core.somaxconn"); v != "8192" {
		t.Errorf("a whole line sets %q", v)
	}
}
