package hosts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/apply/record"
	"linerate/internal/fact"
	"linerate/internal/fleet"
	"linerate/internal/hint"
	"linerate/internal/host/sshhost"
	"linerate/internal/plan"
)

// TestFileNames: whatever a host is called, its plan is one file below plans, and no two hosts
// share one.
func TestFileNames(t *testing.T) {
	names := []string{"fw1", "FW1", "fw1.example.org", "db_1", "db 1", "db/1", "../../etc/passwd", "..", ".hidden", "ä", "ö", "root@fw1:22", "root@fw1_22", "[2001:db8::1]", "nul\x00",
		strings.Repeat("n", maxFileName), strings.Repeat("n", maxFileName+1), strings.Repeat("n", maxFileName+2), "con.json", "-rf"}
	for _, n := range slices.Clone(names) { // a host that is called as another one's file
		names = append(names, strings.TrimSuffix(fileName(n), ".json"))
	}
	seen := map[string]string{}
	for _, n := range slices.Compact(slices.Sorted(slices.Values(names))) {
		f := fileName(n)
		if was, twice := seen[f]; twice {
			t.Errorf("%q and %q both have %s", was, n, f)
		}
		seen[f] = n
		if !filepath.IsLocal(f) || strings.ContainsAny(f, "/\x00 ") || strings.HasPrefix(f, ".") || len(f) > maxFileName+len("_-12345678.json") {
			t.Errorf("%q has %q", n, f)
		}
	}
	if fileName("fw1.example.org") != "fw1.example.org.json" || fileName("db_1") != "db_1.json" {
		t.Error("a plain name is not kept")
	}
}

func indexed(t *testing.T, lines ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, indexName), []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func line(name, more string) string {
	return fmt.Sprintf(`{"version":1,"name":%q,"source":"ssh://%s"%s}`+"\n", name, name, more)
}

// TestReadPlans: the last line of a host counts, in the order in which hosts came first; what a
// crash left of a line does not; and what is no index, or leads out of the directory, is refused.
func TestReadPlans(t *testing.T) {
	dir := indexed(t, line("a", `,"failure":"no route"`), line("b", ""), line("a", `,"file":"plans/a.json"`), `{"version":1,"name":"c","sour`)
	all, err := ReadPlans(dir)
	if err != nil || len(all) != 2 || all[0].Name != "a" || all[0].Failure != "" || all[0].File != "plans/a.json" || all[1].Name != "b" {
		t.Errorf("%+v, %v", all, err)
	}
	for what, c := range map[string][]string{
		"out of the directory": {line("a", `,"file":"../plan.json"`)}, "an absolute path": {line("a", `,"file":"/etc/passwd"`)}, "no name": {line("", "")}, "another version": {`{"version":2,"name":"a","source":"ssh://a"}` + "\n"},
		"no host over SSH": {`{"version":1,"name":"a","source":"/tmp/a.tar.gz"}` + "\n"}, "no JSON": {line("a", ""), "hello\n"}, "an empty line": {"\n"},
	} {
		if all, err := ReadPlans(indexed(t, c...)); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%s:%d", indexName, len(c))) {
			t.Errorf("%s: %+v, %v", what, all, err)
		}
	}
	if _, err := ReadPlans(t.TempDir()); !errors.Is(err, os.ErrNotExist) || hint.Of(err) == "" {
		t.Errorf("no index: %v", err)
	}
}

// TestPlansGoOn: a directory is begun once; one that goes on passes over hosts with a plan, tries
// the others again, and ends in the order of the list.
func TestPlansGoOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	targets := []fleet.Target{{Name: "c"}, {Name: "a"}, {Name: "b"}}
	p := &Plans{Dir: dir, Targets: targets}
	if done, err := p.begin(); err != nil || len(done) != 0 {
		t.Fatalf("%v, %v", done, err)
	}
	index, err := os.OpenFile(filepath.Join(dir, indexName), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	put := func(name, failure string) {
		t.Helper()
		if err := addTo(index, []fleet.Planned{{Version: 1, Name: name, Source: "ssh://" + name, Failure: failure}}); err != nil {
			t.Fatal(err)
		}
	}
	put("z", "") // of a list before
	put("a", "")
	put("b", "no route")
	if _, err := index.WriteString(`{"version":1,"na`); err != nil { // and a crash
		t.Fatal(err)
	}
	if _, err := p.begin(); err == nil || !hint.IsUsage(err) || !strings.Contains(err.Error(), "plans of 3 hosts") || !strings.Contains(hint.Of(err), "resume") {
		t.Errorf("begun twice: %v", err)
	}
	p.Resume = true
	done, err := p.begin()
	if err != nil || !done["a"] || !done["z"] || done["b"] || done["c"] {
		t.Fatalf("%v, %v", done, err)
	}
	if index, err = os.OpenFile(filepath.Join(dir, indexName), os.O_APPEND|os.O_WRONLY, 0); err != nil { // without what was torn
		t.Fatal(err)
	}
	defer index.Close()
	put("c", "")
	put("b", "")
	all, err := p.inOrder()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, h := range all {
		names = append(names, h.Name+h.Failure)
	}
	if got := strings.Join(names, " "); got != "c a b z" {
		t.Errorf("planned %s", got)
	}
	if again, err := ReadPlans(dir); err != nil || len(again) != 4 || again[0].Name != "c" {
		t.Errorf("%+v, %v", again, err)
	}
}

// TestPlansGoOnWithoutTheirFiles: a host whose plan is not there or is empty, as a power cut may
// leave it, is planned again; what somebody changed is kept.
func TestPlansGoOnWithoutTheirFiles(t *testing.T) {
	sealed, err := plan.Seal(plan.Plan{Version: 1, OS: fact.FreeBSD, Release: "14.3", Role: "router"})
	if err != nil {
		t.Fatal(err)
	}
	good, err := plan.Marshal(sealed)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, name := range []string{"whole", "missing", "empty", "changed"} {
		lines = append(lines, line(name, fmt.Sprintf(`,"file":"plans/%s.json","digest":%q`, name, sealed.Digest)))
	}
	dir := indexed(t, lines...)
	if err := os.Mkdir(filepath.Join(dir, plansName), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"whole": string(good), "empty": "", "changed": strings.Replace(string(good), `"router"`, `"firewall"`, 1)} {
		if err := os.WriteFile(filepath.Join(dir, plansName, name+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done, err := (&Plans{Dir: dir, Resume: true}).begin()
	if err != nil || !done["whole"] || done["missing"] || done["empty"] || !done["changed"] {
		t.Errorf("%v, %v", done, err)
	}
}

// TestListIsChecked before any host is reached.
func TestListIsChecked(t *testing.T) {
	for want, target := range map[string]fleet.Target{"": {Name: "h", Role: "web", Needs: map[string]string{"states": "5M"}}, "rooter": {Name: "h", Role: "rooter"}, "states": {Name: "h", Needs: map[string]string{"states": "many"}}} {
		err := (&Plans{Targets: []fleet.Target{target}}).check()
		if (err == nil) != (want == "") || err != nil && (!strings.HasPrefix(err.Error(), "h: ") || !strings.Contains(err.Error(), want)) {
			t.Errorf("%+v: %v", target, err)
		}
	}
	p := &Plans{Needs: map[string]string{"states": "1M", "link": "10G"}}
	if got := p.needs(&fleet.Target{Needs: map[string]string{"states": "5M"}}); got["states"] != "5M" || got["link"] != "10G" || got["rtt"] != "" {
		t.Errorf("%v", got)
	}
}

// TestDivide: hosts without a plan, or with nothing to do, are in no step, and take no place in one.
func TestDivide(t *testing.T) {
	var planned []fleet.Planned
	for i := range 12 {
		p := fleet.Planned{Name: fmt.Sprint(i), Source: "ssh://" + fmt.Sprint(i), Become: "sudo", Digest: "d", Changes: []fleet.PlannedChange{{}}}
		switch i {
		case 0:
			p.Failure = "no route"
		case 5:
			p.Changes = nil
		}
		planned = append(planned, p)
	}
	steps, err := fleet.ParseSteps("1,50%")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range Divide(planned, steps, time.Unix(7, 0)) {
		got = append(got, fmt.Sprintf("%s:%d", e.Name, e.Step))
		if e.State != fleet.WavePlanned || e.Digest != "d" || e.Become != "sudo" || e.Time.Unix() != 7 {
			t.Errorf("%+v", e)
		}
	}
	if s := strings.Join(got, " "); s != "1:1 2:2 3:2 4:2 6:2" {
		t.Errorf("%s", s)
	}
}

// TestReachedAgain: a wave that goes on reaches its hosts as at its beginning, but for what is said
// anew.
func TestReachedAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	o, err := Reached(fleet.WaveOptions{Parallel: 3}, &Remote{Become: "doas", Config: "conf", Timeout: 90 * time.Second})
	if err != nil || o.Become != "doas" || o.SSHConfig != filepath.Join(here, "conf") || o.Reach != 90 || o.Parallel != 3 {
		t.Fatalf("%+v, %v", o, err)
	}
	now := Remote{Become: "sudo", Config: "other", Timeout: time.Minute}
	for flags, want := range map[string]Remote{
		"":                          {Become: "doas", Config: o.SSHConfig, Timeout: 90 * time.Second},
		"become":                    {Become: "sudo", Config: o.SSHConfig, Timeout: 90 * time.Second},
		"become,ssh-config,timeout": {Become: "sudo", Config: "other", Timeout: time.Minute},
	} {
		got := Again(o, now, func(f string) bool { return slices.Contains(strings.Split(flags, ","), f) })
		if got.Become != want.Become || got.Config != want.Config || got.Timeout != want.Timeout {
			t.Errorf("flags %q: %+v", flags, got)
		}
	}
	w := Wave{Remote: Remote{Become: "sudo"}}
	if w.remote(fleet.WaveEvent{Become: "doas"}).Become != "doas" || w.remote(fleet.WaveEvent{}).Become != "sudo" || w.Remote.Become != "sudo" {
		t.Error("a host's own way to become root")
	}
}

// TestAlone: one wave of the same plans at a time.
func TestAlone(t *testing.T) {
	dir := t.TempDir()
	unlock, err := alone(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := alone(dir); err == nil || !strings.Contains(err.Error(), "another wave") {
		t.Errorf("two at once: %v", err)
	}
	unlock()
	again, err := alone(dir)
	if err != nil {
		t.Fatalf("after the first: %v", err)
	}
	again()
	if _, err := alone(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

// TestBundles: files that are captures by their names, and no others.
func TestBundles(t *testing.T) {
	dir := t.TempDir()
	if _, err := Bundles(dir); err == nil || hint.Of(err) == "" {
		t.Errorf("an empty directory: %v", err)
	}
	for _, n := range []string{"a.tar.gz", "b.tgz", "c.tar", "d.txt", ".tar", "e.tar.gz.part"} {
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "f.tar"), 0o700); err != nil {
		t.Fatal(err)
	}
	all, err := Bundles(dir)
	var names []string
	for _, b := range all {
		names = append(names, b.Name)
		if b.Source != filepath.Join(dir, map[string]string{"a": "a.tar.gz", "b": "b.tgz", "c": "c.tar"}[b.Name]) {
			t.Errorf("%+v", b)
		}
	}
	if err != nil || strings.Join(names, " ") != "a b c" {
		t.Errorf("%v, %v", names, err)
	}
	if _, err := Bundles(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

// TestFinal: what another try cannot mend is not tried again.
func TestFinal(t *testing.T) {
	for err, want := range map[error]bool{
		unplannable{errors.New("x")}: true, fmt.Errorf("a: %w", unplannable{errors.New("x")}): true, fmt.Errorf("a: %w", sshhost.ErrRefused): true, hint.Usagef("x"): true,
		os.ErrNotExist: true, os.ErrPermission: true, errors.New("connection reset by peer"): false, os.ErrDeadlineExceeded: false,
	} {
		if got := final(err); got != want {
			t.Errorf("%v is final: %v", err, got)
		}
	}
	if unplannableOf(nil) != nil {
		t.Error("no error is one")
	}
}

// TestApplied: what a host's record came to, and why it could not be compared.
func TestApplied(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "unread its capture does not tell",
		"record unreadable\n": "unread linerate's record there is root's alone",
		"record live\n":       "unread a live study has the host",
		"record pending\n":    "unread a change is pending",
		"record none\n":       "none",
		"record 000002-x\n":   "000002-x",
		"record 000002-x\nof 000001-y\ndrift sysctl - net.a =1 =2\ndrift-file /etc/b 2026-11-23T05:45:12Z\n": "000002-x; sysctl net.a is 2; linerate applied 1 (000001-y); /etc/b is another text, written 2026-11-23T05:45:12Z, not as linerate applied it (000001-y)",
		"record 000002-x\ndrift-file /etc/b gone\n":                                                          "000002-x; /etc/b is gone, not as linerate applied it (000002-x)",
	} {
		var o fleet.Observation
		applied(&o, record.Parse(text))
		got := o.Record
		if o.Unread != "" {
			got = "unread " + o.Unread
		}
		for _, f := range o.Findings {
			got += "; " + f.Text
		}
		if got != want {
			t.Errorf("%q:\n%s\nwant\n%s", text, got, want)
		}
	}
}
