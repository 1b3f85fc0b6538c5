package audit_test

import (
	"bytes"
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
