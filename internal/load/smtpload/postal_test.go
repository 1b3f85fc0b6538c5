package smtpload

import (
	"context"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/hint"
	"linerate/internal/load/request"
)

func postal() *Postal {
	return &Postal{Start: (*exec.Cmd).Start, Spec: Spec{Server: "192.0.2.1", From: "a@example.org", To: "user%d@example.org", Accounts: 3, Sizes: []int{4000},
		Sessions: 2, PerSession: 1, Duration: 2 * time.Second, Timeout: time.Second}}
}

// fakePostal puts a script on PATH in the program's stead, which has what it was
// called with and its files in dir.
func fakePostal(t *testing.T, script string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	text := "#!/bin/sh\necho \"$@\" > " + dir + "/argv\n/bin/cat users senders > " + dir + "/lists\n" + script
	if err := os.WriteFile(filepath.Join(dir, "postal"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	return dir
}

// untilStopped has the script run until it is stopped.
const untilStopped = "trap 'exit 0' TERM\nwhile :; do /bin/sleep 0.02; done\n"

const logged = "echo 'f8517a636c9e60a7287464c3ba2895a0 <a@example.org> <user1@example.org>' >> postal.log\n"

func TestPostalIsDriven(t *testing.T) {
	dir := fakePostal(t, logged+logged+"echo 'Server error:550 no' >&2\n"+untilStopped)
	p := postal()
	a, m, err := p.Account(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := a.Result(m)
	if r.Answered != 2 || r.Failed != 1 || r.Latency != nil || r.Seconds < 2 || len(r.Errors) != 1 || r.Errors[0].First != "550 no" {
		t.Errorf("%+v", r)
	}
	for file, want := range map[string]string{"argv": "-t 2 -m 4 -M 4 -c 1 -r 10000000 -f senders [192.0.2.1]25 users\n", "lists": "user1@example.org\nuser2@example.org\nuser3@example.org\na@example.org\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", file, got, err, want)
		}
	}
	p.Server, p.PerSession = "mail.example.org:2525", 0
	if got := strings.Join(p.argv(), " "); !strings.Contains(got, "-c -1 ") || !strings.Contains(got, " [mail.example.org]2525 ") {
		t.Error(got)
	}
	if p.Server = "mail.example.org"; !strings.Contains(strings.Join(p.argv(), " "), " mail.example.org users") {
		t.Error(p.argv())
	}
}

func TestPostalThatFails(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"one that ends":          {"echo oh no; exit 1\n", "ended by itself"},
		"a log of another thing": {"echo hello > postal.log\n" + untilStopped, "line 1 of postal's log"},
	} {
		fakePostal(t, c.script)
		p := postal()
		if name == "one that ends" {
			p.Duration = time.Minute
		}
		if _, _, err := p.Account(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if path, err := FindPostal(); err == nil {
		t.Logf("%s is there", path)
	} else if !strings.Contains(hint.Of(err), "package postal") {
		t.Error(err)
	}
}

// TestInterruptedPostalHasAnAccount: what it sent until then.
func TestInterruptedPostalHasAnAccount(t *testing.T) {
	fakePostal(t, logged+untilStopped)
	t.Setenv("TMPDIR", t.TempDir())
	p := postal()
	p.Duration = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if logs, _ := filepath.Glob(filepath.Join(os.TempDir(), "linerate-postal*", "postal.log")); len(logs) > 0 {
				if text, err := os.ReadFile(logs[0]); err == nil && strings.HasSuffix(string(text), "\n") {
					return
				}
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	a, m, err := p.Account(ctx)
	if a == nil || err == nil {
		t.Fatalf("%v, %v", a, err)
	}
	if r := a.Result(m); r.Answered != 1 {
		t.Errorf("%+v", r)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "linerate-postal*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestWhatPostalCannotDo(t *testing.T) {
	for name, edit := range map[string]func(p *Postal){
		"a rate": func(p *Postal) { p.Rate = 5 }, "a number": func(p *Postal) { p.Messages = 5 }, "a warm-up": func(p *Postal) { p.Warmup = 1 },
		"IPv6": func(p *Postal) { p.Server = "[2001:db8::1]:25" }, "sizes": func(p *Postal) { p.Sizes = []int{1, 2} }, "a large one": func(p *Postal) { p.Sizes = []int{20 << 20} },
		"addresses": func(p *Postal) { p.Sources = []netip.Addr{netip.IPv6Unspecified()} }, "everybody": func(p *Postal) { p.Accounts = mostPostalAccounts + 1 },
		"nobody": func(p *Postal) { p.To = "" },
	} {
		p := postal()
		if edit(p); p.Validate() == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if err := postal().Validate(); err != nil {
		t.Error(err)
	}
}

func TestToldFailuresAreCounted(t *testing.T) {
	a := request.NewAccount(1)
	a.CountFailed(request.Status, 0, "none")
	a.CountFailed(request.Status, 3, "550 no")
	a.CountAnswered(4, 100)
	r := a.Result(request.Meter{Elapsed: time.Second})
	if r.Requests != 7 || r.Failed != 3 || r.Answered != 4 || r.BodyBytes != 100 || len(r.Errors) != 1 || r.Errors[0].Count != 3 || r.Targets[0].Failed != 3 {
		t.Errorf("%+v", r)
	}
}
