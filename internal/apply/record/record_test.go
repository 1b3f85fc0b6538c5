package record

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	got := Parse("record 000002-0123456789ab\nof 000001-0123456789ab\ndrift sysctl - net.core.somaxconn =4096 =128\n" +
		"of 000002-0123456789ab\ndrift link eth0 mtu =9000 =!\ndrift-file /etc/a.conf 2026-11-23T05:45:12Z\ndrift-file /etc/b.conf gone\nwhat else\n")
	want := Record{"000002-0123456789ab", []Drift{
		{ID: "000001-0123456789ab", What: "sysctl net.core.somaxconn", Confirmed: "4096", Now: "128"},
		{ID: "000002-0123456789ab", What: "link eth0 mtu", Confirmed: "9000"},
		{ID: "000002-0123456789ab", What: "/etc/a.conf", Now: "another text", Changed: "2026-11-23T05:45:12Z"},
		{ID: "000002-0123456789ab", What: "/etc/b.conf"},
	}}
	if diff := cmp.Diff(want, got); diff != "" || !got.Known() {
		t.Error(diff)
	}
	for i, name := range []string{"net.core.somaxconn", "eth0 mtu", "/etc/a.conf"} {
		if n := got.Drift[i].Name(); n != name {
			t.Errorf("%q, want %q", n, name)
		}
	}
	for _, text := range []string{"", "record unreadable\n", "record pending\n", "record live\n", "record " + strings.Repeat("a", 99), "record x\x1b[2J"} {
		if Parse(text).Known() {
			t.Errorf("%.40q is known", text)
		}
	}
	if r := Parse(strings.Repeat("drift sysctl - a =1 =2\n", 2*maxDrift)); len(r.Drift) != maxDrift {
		t.Errorf("%d", len(r.Drift))
	}
}
