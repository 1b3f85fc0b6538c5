package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"linerate/internal/audit"
)

// TestReportsAreBounded: what a hostile or broken file holds neither fills the
// terminal nor the document, and what is not listed is counted.
func TestReportsAreBounded(t *testing.T) {
	long := strings.Repeat("9", 3_000_000)
	files := map[string]string{
		"/etc/sysctl.d/60-long.conf":  "net.ipv4.tcp_rmem=4096 " + long + "\nnet.core.somaxconn=" + strings.Repeat("1 ", 500_000) + "\nbroken " + long + "\n",
		"/etc/sysctl.d/70-names.conf": strings.Repeat("net.core.busy_poll=50\n", 1000),
	}
	var b strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&b, "line%d broken\n", i)
	}
	files["/etc/sysctl.d/80-many.conf"] = b.String()
	r := run(t, tree(t, "6.12", files), "web")
	doc, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	sarif, err := json.Marshal(audit.ToSARIF(r, "test"))
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := r.Write(&text, audit.Style{}); err != nil {
		t.Fatal(err)
	}
	for what, n := range map[string]int{"text": text.Len(), "JSON": len(doc), "SARIF": len(sarif)} {
		if n > 4<<20 {
			t.Errorf("%s has %d bytes", what, n)
		}
	}
	if len(r.Findings) > 2000 || r.Count(audit.Info) < 2500 {
		t.Errorf("%d findings listed of %d", len(r.Findings), r.Count(audit.Info))
	}
	for _, want := range []string{"9999…(3000000 bytes)…9999", "more of the same kinds not listed"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q", want)
		}
	}
	if same := len(find(r, "LR-DUPLICATE", "net.core.busy_poll")); same != 20 {
		t.Errorf("%d findings on one name repeated, want the first 20", same)
	}
	r = run(t, tree(t, "6.12", map[string]string{"/etc/sysctl.d/80-many.conf": b.String() + strings.ReplaceAll(b.String(), "line", "more")}), "web")
	if len(r.Findings) != 2000 || r.Unlisted[audit.Error] != 1000 {
		t.Errorf("%d findings listed, %v not; want the first 2000 of 3000", len(r.Findings), r.Unlisted)
	}
}

// TestUnreadIsNoAllClear: that a host is well is not said where a file of its
// configuration was not read whole.
func TestUnreadIsNoAllClear(t *testing.T) {
	whole := strings.Repeat("# nothing\n", 10) + "net.core.busy_poll=50\n"
	f := tree(t, "6.12", map[string]string{"/etc/sysctl.d/60-big.conf": whole + strings.Repeat("# more\n", 700_000) + "net.ipv4.tcp_sack=0\n"})
	r := run(t, f, "endpoint")
	var text bytes.Buffer
	if err := r.Write(&text, audit.Style{}); err != nil {
		t.Fatal(err)
	}
	if len(r.Unread) != 1 || strings.Contains(text.String(), "leave it as it is") || !strings.Contains(text.String(), "nothing to say of what could be read") {
		t.Errorf("unread %v; says\n%s", r.Unread, text.String())
	}
}
