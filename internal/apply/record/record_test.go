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
			t.Errorf("%.40q is accepted", text)
		}
	}
	if r := Parse(strings.Repeat("drift sysctl - a =1 =2\n", 2*maxDrift)); len(r.Drift) != maxDrift {
		t.Errorf("%d", len(r.Drift))
	}
}

// TestOddLines: values with blanks and signs, lines of files, and truncated lines.
func TestOddLines(t *testing.T) {
	got := Parse("record 000002-0123456789ab\r\ndrift sysctl - net.ipv4.tcp_rmem =4096 131072 6291456 =4096 87380 6291456\ndrift-file /etc/a.conf 2026-11-23T05:45:12Z\ndrift-line -vm.swappiness=1\ndrift-line +vm.swappiness=60\n" +
		"drift rc - gateway_enable =YES =\ndrift short\ndrift-line of nobody\nrecord UPPER\n").Drift
	want := []Drift{
		{What: "sysctl net.ipv4.tcp_rmem", Confirmed: "4096 131072 6291456", Now: "4096 87380 6291456"},
		{What: "/etc/a.conf", Now: "another text", Changed: "2026-11-23T05:45:12Z", Lines: []string{"-vm.swappiness=1", "+vm.swappiness=60"}},
		{What: "rc gateway_enable", Confirmed: "YES"}, {What: "short", Lines: []string{"of nobody"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	for i, file := range []bool{false, true, false, false} {
		if got[i].File() != file {
			t.Errorf("%s is a file: %v", got[i].What, !file)
		}
	}
	if name := got[3].Name(); name != "" {
		t.Errorf("a truncated setting has the name %q", name)
	}
	many := Parse("drift-line of none\ndrift-file /etc/a gone\n" + strings.Repeat("drift-line +x\n", 3*maxLines))
	if n := len(many.Drift[0].Lines); n != maxLines || len(many.Drift) != 1 {
		t.Errorf("%d lines of one file are kept", n)
	}
	if r := Parse("record " + strings.Repeat("a", maxState) + "\n"); !r.Known() {
		t.Error("a transaction id of 32 characters is refused")
	}
	for _, state := range []string{"confirming", "reverting", ""} {
		if (Record{State: state}).Known() {
			t.Errorf("%q: the host was compared with its record", state)
		}
	}
	if r := Parse("record none\n"); !r.Known() || r.State != None {
		t.Errorf("a host without a record: %+v", r)
	}
}

// TestLinesBeyondTheBound: lines of a file beyond the bound are not added to another file.
func TestLinesBeyondTheBound(t *testing.T) {
	many := Parse(strings.Repeat("drift-file /etc/a x\n", maxDrift) + "drift-file /etc/b x\ndrift-line +of b\n")
	if len(many.Drift) != maxDrift || len(many.Drift[maxDrift-1].Lines) != 0 {
		t.Errorf("%d, and the last one has the lines %q", len(many.Drift), many.Drift[maxDrift-1].Lines)
	}
}

// TestValues: values of drift with blanks, missing values, and unreadable ones.
func TestValues(t *testing.T) {
	for line, want := range map[string]Drift{
		"drift rps eth0 rx-0 =f =":   {What: "rps eth0 rx-0", Confirmed: "f"},
		"drift sysctl - net.a = =1":  {What: "sysctl net.a", Now: "1"},
		"drift sysctl - net.a =1 =!": {What: "sysctl net.a", Confirmed: "1"},
		"drift half a":               {What: "half a"},
		"drift ":                     {},
		"drift-file /etc/my conf":    {What: "/etc/my", Now: "another text", Changed: "conf"},
	} {
		if got := Parse(line).Drift; len(got) != 1 || !cmp.Equal(got[0], want) {
			t.Errorf("%q: %+v, want %+v", line, got, want)
		}
	}
}

// FuzzParse: whatever a host answers, the parsed record is bounded, and its names are not empty.
func FuzzParse(f *testing.F) {
	f.Add("record 000002-0123456789ab\nof 000001-0123456789ab\ndrift sysctl - net.core.somaxconn =4096 =128\ndrift-file /etc/a.conf 2026-11-23T05:45:12Z\ndrift-line +x\n")
	f.Add("drift \ndrift a\ndrift-file \ndrift-line\nrecord \nof \n")
	f.Fuzz(func(t *testing.T, text string) {
		r := Parse(text)
		if len(r.State) > maxState || len(r.Drift) > maxDrift {
			t.Fatalf("state %q, %d drifts", r.State, len(r.Drift))
		}
		for i := range r.Drift {
			if d := &r.Drift[i]; len(d.Lines) > maxLines || len(d.Name()) > len(d.What) || d.File() && d.Name() != d.What {
				t.Fatalf("%+v called %q", d, d.Name())
			}
		}
	})
}
