package fileload

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/hint"
	"linerate/internal/labtest"
	"linerate/internal/load/client"
)

// fakePostmark puts a script on PATH in the program's stead.
func fakePostmark(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "postmark"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
}

func postmark(t *testing.T) *Postmark {
	p := pool()
	p.Lanes, p.Min, p.Directories = 1, 1, 3
	return &Postmark{Pool: p, Dir: t.TempDir(), Start: (*exec.Cmd).Start}
}

func TestPostmarkIsDriven(t *testing.T) {
	if _, err := FindPostmark(); err != nil {
		labtest.Lacking(t, "%v", err)
	}
	p := postmark(t)
	a, m, err := p.Account(t.Context(), client.Load{Requests: 200, Timeout: 1, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	r := a.Result(m)
	if r.Answered != 200 || r.Failed > 0 || r.Seconds <= 0 || r.RequestRate <= 0 || r.BodyBytes == 0 || r.Latency != nil {
		t.Errorf("%+v", r)
	}
	if p.Said.Created < 200/4+uint64(p.Files) {
		t.Errorf("%+v", p.Said)
	}
	p.Directories = 0
	if _, _, err := p.Account(t.Context(), client.Load{Requests: 20}); err != nil || p.Said.Transactions != 20 {
		t.Errorf("without directories: %+v, %v", p.Said, err)
	}
	if left, err := os.ReadDir(p.Dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestPostmarkThatFails: it ends well whatever happened, and counts what failed
// as done.
func TestPostmarkThatFails(t *testing.T) {
	report, err := os.ReadFile("../../tooltext/testdata/postmark-1.51")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ script, want string }{
		"a file that it cannot write": {"echo \"Error: cannot open './5' for writing\" >&2; cat <<'E'\n" + string(report) + "\nE\n", "cannot open './5' for writing"},
		"nothing":                     {"exit 0\n", "does not say how many"},
		"another number":              {"/bin/cat <<'E'\n" + string(report) + "\nE\n", "20000 transactions instead of 200"},
		"a signal":                    {"kill -SEGV $$\n", "postmark: "},
		"too much":                    {"i=0; while [ $i -lt 3000 ]; do echo 'one hundred bytes are on each line, and nobody ever asked for that many of them, or would read'; i=$((i+1)); done\n", "does not say"},
	} {
		fakePostmark(t, c.script)
		if _, _, err := postmark(t).Account(t.Context(), client.Load{Requests: 200, Timeout: 1}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, _, err := postmark(t).Account(t.Context(), client.Load{Requests: 200}); err == nil || !strings.Contains(hint.Of(err), "package postmark") {
		t.Errorf("not there: %v", err)
	}
}

func TestWhatPostmarkCannotDo(t *testing.T) {
	for name, edit := range map[string]func(p *Postmark, l *client.Load){
		"a rate": func(_ *Postmark, l *client.Load) { l.Rate = 5 }, "lanes": func(p *Postmark, _ *client.Load) { p.Lanes = 2 }, "fsync": func(p *Postmark, _ *client.Load) { p.Sync = true },
		"empty files": func(p *Postmark, _ *client.Load) { p.Min = 0 }, "no end": func(_ *Postmark, l *client.Load) { l.Requests = 0 }, "a warm-up": func(_ *Postmark, l *client.Load) { l.Warmup = 1 },
		"a third": func(p *Postmark, _ *client.Load) { p.Reads = 1. / 3 }, "no files": func(p *Postmark, _ *client.Load) { p.Files = 0 },
	} {
		p, l := postmark(t), client.Load{Requests: 10}
		edit(p, &l)
		if err := p.Validate(l); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
