package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"linerate/internal/audit"
)

// TestReportsAreBounded: a hostile or broken file fills neither the terminal nor the document, and
// findings that are not listed are counted.
func TestReportsAreBounded(t *testing.T) {
	long := strings.Repeat("9", 3_000_000)
	files := map[string]string{
		"/etc/sysctl.d/60-long.conf":  "net.ipv4.tcp_rmem=4096 " + long + "\nnet.core.somaxconn=" + strings.Repeat("1 ", 500_000) + "\nbroken " + long + "\n",
		"/etc/sysctl.d/70-names.conf": strings.Repeat("net.core.busy_poll=50\n", 1000),
	}
	var b strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&b, "net.core.line%d broken\n", i)
	}
	files["/etc/sysctl.d/80-many.conf"] = b.String()
	r := run(t, tree(t, "6.12", files), "web")
	doc, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	sarif, err := json.Marshal(audit.ToSARIF("test", audit.SARIFHost{Report: r}))
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
	for _, want := range []string{"more of the same kinds not listed"} {
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

// TestManyLinesAreBounded: the time for a directory with very many lines does not grow
// quadratically; lines beyond the bound are not judged, and the report says so.
func TestManyLinesAreBounded(t *testing.T) {
	var same, strange strings.Builder
	for i := range 60_000 {
		same.WriteString("net.core.somaxconn=128\n")
		fmt.Fprintf(&strange, "foo.bar%d.x=%d\n", i, i)
	}
	for what, text := range map[string]string{"one name": same.String(), "strange names": strange.String()} {
		f := tree(t, "6.12", map[string]string{"/etc/sysctl.d/60-many.conf": text})
		r := run(t, f, "web")
		if r.Lines != 20_000 || len(r.Unread) != 1 || !strings.Contains(r.Unread[0].Reason, "line 20001") {
			t.Errorf("%s: %d lines judged, unread %+v", what, r.Lines, r.Unread)
		}
		if n := len(r.Coverage.Unjudged); n > 500 || n+r.Coverage.Unlisted["not in the catalogue"] != map[string]int{"strange names": 20_000}[what] {
			t.Errorf("%s: %d unjudged names are listed, %v are not", what, n, r.Coverage.Unlisted)
		}
		var text bytes.Buffer
		if err := r.Write(&text, audit.Style{}); err != nil || strings.Contains(strings.Join(strings.Fields(text.String()), " "), " and 19,992 more.") != (what == "strange names") {
			t.Errorf("%s: %v, text about unjudged names:\n%.300s", what, err, text.String())
		}
	}
}

// TestSuppressedAreBounded: the list of suppressed findings has the same bound.
func TestSuppressedAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "net.core.line%d broken\n", i)
	}
	c, set := known(t)
	r, err := audit.Run(audit.Input{Facts: tree(t, "6.12", map[string]string{"/etc/sysctl.d/60-x.conf": b.String()}), Catalogue: c, Rules: set, Role: "web",
		Suppressions: []audit.Suppression{{ID: "LR-SYNTAX:*", Reason: "test"}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Suppressed) != 2000 || r.Hidden != 3000 {
		t.Errorf("%d suppressed listed of %d", len(r.Suppressed), r.Hidden)
	}
	var text bytes.Buffer
	if err := r.Write(&text, audit.Style{}); err != nil || !strings.Contains(text.String(), "3,000 suppressed") {
		t.Errorf("%v: %s", err, text.String())
	}
}

// TestSARIFSaysWhatItIsSilentOf: the log lists unjudged names, findings beyond the bounds, and
// sources that were not read.
func TestSARIFSaysWhatItIsSilentOf(t *testing.T) {
	var b strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&b, "net.core.line%d broken\n", i)
	}
	r := run(t, tree(t, "6.12", map[string]string{"/etc/sysctl.d/60-x.conf": "foo.bar=1\n" + b.String(), "/etc/sysctl.d/70-big.conf": strings.Repeat("# more\n", 700_000)}), "web")
	doc, err := json.Marshal(audit.ToSARIF("test", audit.SARIFHost{Report: r}))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Not judged (not in the catalogue): foo.bar", "findings of the same kinds not listed", "not read: /etc/sysctl.d/70-big.conf"} {
		if !strings.Contains(string(doc), want) {
			t.Errorf("the log lacks %q", want)
		}
	}
}

// TestUnreadIsNoAllClear: a host is not called fine if a configuration file was not read completely.
func TestUnreadIsNoAllClear(t *testing.T) {
	whole := strings.Repeat("# nothing\n", 10) + "net.core.busy_poll=50\n"
	f := tree(t, "6.12", map[string]string{"/etc/sysctl.d/60-big.conf": whole + strings.Repeat("# more\n", 700_000) + "net.ipv4.tcp_sack=0\n"})
	r := run(t, f, "endpoint")
	var text bytes.Buffer
	if err := r.Write(&text, audit.Style{}); err != nil {
		t.Fatal(err)
	}
	if len(r.Unread) != 1 || strings.Contains(text.String(), "leave it as it is") || !strings.Contains(text.String(), "no finding in what could be read") {
		t.Errorf("unread %v; says\n%s", r.Unread, text.String())
	}
}
