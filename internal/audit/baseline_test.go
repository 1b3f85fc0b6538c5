package audit_test

import (
	"bytes"
	"strings"
	"testing"

	"linerate/internal/audit"
)

func finding(file, id string, s audit.Severity) audit.Finding {
	return audit.Finding{ID: id, File: file, Severity: s, Name: "x"}
}

// TestBaseline: what was known is not new, what got worse, moved to another file or was
// not there is; what is gone is named; other hosts' findings are theirs.
func TestBaseline(t *testing.T) {
	then := &audit.Report{Findings: []audit.Finding{
		finding("/etc/a", "LR-DEFAULT:x", audit.Info), finding("/etc/a", "LR-RANGE:y", audit.Warning), finding("/etc/b", "LR-GONE:z", audit.Error),
	}, Unlisted: map[audit.Severity]int{audit.Info: 5}}
	var b audit.Baseline
	b.Add("", then)
	text, err := b.Text()
	if err != nil {
		t.Fatal(err)
	}
	read, err := audit.ParseBaseline(text)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := read.Text(); err != nil || !bytes.Equal(text, again) {
		t.Errorf("read and written again it is %s (%v)", again, err)
	}
	now := func() *audit.Report {
		return &audit.Report{Findings: []audit.Finding{
			finding("/etc/a", "LR-DEFAULT:x", audit.Info), finding("/etc/a", "LR-RANGE:y", audit.Error), finding("/etc/c", "LR-DEFAULT:x", audit.Info),
		}, Unlisted: map[audit.Severity]int{audit.Info: 7}}
	}
	r := now()
	read.Hold("", r)
	if len(r.Findings) != 2 || r.Findings[0].ID != "LR-RANGE:y" || r.Findings[1].File != "/etc/c" || r.Unlisted[audit.Info] != 2 {
		t.Errorf("new: %+v, unlisted %v", r.Findings, r.Unlisted)
	}
	if g := r.Baseline.Gone; len(g) != 1 || g[0].ID != "LR-GONE:z" || len(r.Baseline.Known) != 1 {
		t.Errorf("gone %+v, known %+v", g, r.Baseline.Known)
	}
	other := now()
	read.Hold("ssh://other", other)
	if len(other.Findings) != 3 || len(other.Baseline.Gone) != 0 || other.Unlisted[audit.Info] != 7 {
		t.Errorf("another host's findings are known: %+v", other.Baseline)
	}
	var after audit.Baseline
	after.Add("", r)
	if len(after.Findings) != 3 {
		t.Errorf("a baseline made with one keeps %d of 3 findings", len(after.Findings))
	}
}

func TestBaselinesThatAreNone(t *testing.T) {
	for _, text := range []string{"", "[]", `{"version":2,"findings":[]}`, `{"version":1,"findings":[{"id":"","severity":"error"}]}`,
		`{"version":1,"findings":[{"id":"x","severity":"bad"}]}`, `{"version":1,"finding":[]}`, `{"version":1,"findings":[]} {}`} {
		if _, err := audit.ParseBaseline([]byte(text)); err == nil {
			t.Errorf("%s is taken for a baseline", text)
		}
	}
}

func FuzzParseBaseline(f *testing.F) {
	f.Add([]byte(`{"version":1,"findings":[{"host":"ssh://a","file":"/etc/a","id":"LR-X:y","severity":"error"}],"unlisted":[{"severity":"info","count":3}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := audit.ParseBaseline(text)
		if err != nil {
			return
		}
		out, err := b.Text()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := audit.ParseBaseline(out); err != nil {
			t.Errorf("what was written is not read: %v\n%s", err, out)
		}
		b.Hold("", &audit.Report{Findings: []audit.Finding{finding("/etc/a", "LR-X:y", audit.Error)}})
	})
}

// TestNagios: one line, its states and codes, and nothing in the text that would begin
// performance data.
func TestNagios(t *testing.T) {
	f := func(s audit.Severity) audit.Finding {
		return audit.Finding{ID: "LR-X:y", Name: "a|b\nc", File: "/etc/x", Line: 3, Severity: s}
	}
	config := []audit.Unread{{Source: "/etc/x", Config: true}}
	for _, c := range []struct {
		r    audit.Report
		code int
		line string
	}{
		{audit.Report{Host: "fw1", Lines: 4}, 0, "LINERATE OK - fw1: 0 errors, 0 warnings, 0 info | errors=0;;0;0 warnings=0;0;;0 infos=0;;;0 lines=4;;;0"},
		{audit.Report{Findings: []audit.Finding{f(audit.Warning), f(audit.Info)}}, 1, "LINERATE WARNING - 0 errors, 1 warning, 1 info; LR-X a b c (/etc/x:3) | errors=0;;0;0 warnings=1;0;;0 infos=1;;;0 lines=0;;;0"},
		{audit.Report{Findings: []audit.Finding{f(audit.Error)}, Unread: config}, 2, "LINERATE CRITICAL - 1 error, 0 warnings, 0 info, 1 file of configuration not read; LR-X a b c (/etc/x:3) | errors=1;;0;0 warnings=0;0;;0 infos=0;;;0 lines=0;;;0"},
		{audit.Report{Unread: config}, 3, "LINERATE UNKNOWN - 0 errors, 0 warnings, 0 info, 1 file of configuration not read | errors=0;;0;0 warnings=0;0;;0 infos=0;;;0 lines=0;;;0"},
	} {
		if line, code := c.r.Nagios(); line != c.line || code != c.code {
			t.Errorf("got  %d %s\nwant %d %s", code, line, c.code, c.line)
		}
	}
	long := audit.Report{}
	for range 500 {
		long.Findings = append(long.Findings, f(audit.Error))
	}
	if line, _ := long.Nagios(); len(line) > 1024 || strings.Count(line, "|") != 1 {
		t.Errorf("%d bytes: %s", len(line), line)
	}
}
