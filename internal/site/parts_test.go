package site

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"linerate/internal/audit"
	"linerate/internal/evidence"
	"linerate/internal/tunable"
	"linerate/internal/tunable/explain"
)

// small is a catalogue of a few records with names that are difficult in URLs.
func small(t *testing.T) *tunable.Catalogue {
	t.Helper()
	c, err := tunable.Read(fstest.MapFS{"linux/x.yaml": {Data: []byte(`
subsystem: x
records:
  - {name: net.x.limit, mechanism: sysctl, type: uint, settable: runtime, default: 100, summary: The limits of queues. More., sources: [x.c]}
  - {name: NET.X.limit, mechanism: sysctl, type: uint, settable: runtime, default: 1, summary: Other case., sources: [x.c]}
  - {name: net.x/limit, mechanism: sysctl, type: uint, settable: runtime, default: 1, summary: A slash., sources: [x.c]}
`)}, "freebsd/y.yaml": {Data: []byte(`
subsystem: y
records:
  - {name: net.x.limit, mechanism: sysctl, type: uint, settable: runtime, since: 12.0, removed: 14.0, default: 7, summary: s, sources: [y.c]}
`)}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestPlacesOfPages: each record has its own page, whatever letters its name has and however
// similar another name is.
func TestPlacesOfPages(t *testing.T) {
	in := Input{Catalogue: small(t)}
	first, again := newMaker(in, nil), newMaker(in, nil)
	seen := map[string]string{}
	for r, url := range first.urls {
		if other := seen[strings.ToLower(url)]; other != "" || strings.Trim(url, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/") != "" || !strings.HasPrefix(url, "t/"+r.OS+"/") || strings.Count(url, "/") != 2 {
			t.Errorf("%s %s is at %s, as is %q", r.OS, r.Name, url, other)
		}
		seen[strings.ToLower(url)] = r.Name
		if again.urls[r] != url {
			t.Errorf("%s is at %s, then at %s", r.Name, url, again.urls[r])
		}
	}
	if len(seen) != 4 {
		t.Errorf("%v", seen)
	}
}

// TestPagesOnDemand: a server's pages equal those of the site, missing pages are reported as
// missing, and concurrent requests work.
func TestPagesOnDemand(t *testing.T) {
	in := Input{Catalogue: small(t), Built: "test", Rules: []*audit.Rule{{ID: "LR-X", Message: "It is ${value}, not ${a(b)}."}}}
	whole := map[string][]byte{}
	if err := Write(in, func(name string, data []byte) error { whole[name] = data; return nil }); err != nil {
		t.Fatal(err)
	}
	p := NewPages(in)
	var wg sync.WaitGroup
	for name, want := range whole {
		wg.Go(func() {
			if got, err := p.Page(name, nil); err != nil || string(got) != string(want) {
				t.Errorf("%s: %d bytes, %v, want %d", name, len(got), err, len(want))
			}
		})
	}
	wg.Wait()
	url := p.URL("linux", "net.x.limit")
	bare := strings.TrimSuffix(url, ".html")
	for _, name := range []string{bare, bare + ".json.html", bare + ".html.json", bare + ".html.html", "t/linux/nosuch.html", "nosuch", "", "../index.html", "index.html/"} {
		if data, err := p.Page(name, nil); !errors.Is(err, fs.ErrNotExist) || data != nil {
			t.Errorf("%q: %d bytes, %v", name, len(data), err)
		}
	}
	if url == "" || p.URL("linux", "nosuch") != "" || p.Says("LR-X") != "It is value, not b." || p.Says("LR-Y") != "" {
		t.Errorf("%q, %q", url, p.Says("LR-X"))
	}
	failed := errors.New("no ledger")
	if _, err := p.Page(url, func(*tunable.Record) (About, error) { return About{}, failed }); !errors.Is(err, failed) {
		t.Errorf("a ledger that fails: %v", err)
	}
	if err := Write(in, func(name string, _ []byte) error {
		if strings.HasSuffix(name, "site.css") {
			return failed
		}
		return nil
	}); !errors.Is(err, failed) {
		t.Errorf("a disk that is full: %v", err)
	}
}

// TestIndexIsRead: the script has every record, with its search entry.
func TestIndexIsRead(t *testing.T) {
	in := Input{Catalogue: small(t)}
	var text string
	if err := Write(in, func(name string, data []byte) error {
		if name == "index.js" {
			text = string(data)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var index struct{ Entries []entry }
	if err := json.Unmarshal([]byte(strings.TrimSuffix(strings.TrimPrefix(text, "window.LINERATE="), ";\n")), &index); err != nil {
		t.Fatal(err)
	}
	if len(index.Entries) != 4 {
		t.Fatalf("%d entries", len(index.Entries))
	}
	for _, e := range index.Entries {
		gone := e.OS == 0
		if (e.Flags&isGone != 0) != gone || e.Flags&isMeasured != 0 || e.Name == "net.x.limit" && e.OS == 1 && e.Text != "The limits of queues" {
			t.Errorf("%+v", e)
		}
		for i, rel := range explain.Releases[[]string{"freebsd", "linux"}[e.OS]] {
			there := e.Releases>>i&1 == 1
			if want := e.OS == 1 || strings.HasPrefix(rel, "12.") || strings.HasPrefix(rel, "13."); there != want {
				t.Errorf("%s exists on %s: %v", e.Name, rel, there)
			}
		}
	}
}

// TestWordsOfPages: first sentences and expressions.
func TestWordsOfPages(t *testing.T) {
	for text, want := range map[string]string{"One. Two.": "One", "One.": "One", "": "", strings.Repeat("a", 140): strings.Repeat("a", 140), strings.Repeat("é", 141): strings.Repeat("é", 138) + " …", strings.Repeat("a ", 71): strings.TrimSpace(strings.Repeat("a ", 69)) + " …"} {
		if got := firstSentence(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"a": "a", "a ${line.name} ${line.value} c ${size(bdp_of)}": "a net.x VALUE c bdp of", "${a": "${a", "}${a + b}{": "}…{", "${}": "…"} {
		if got := filled(text, "net.x"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestVerdictsShownAtOnce: twelve primary verdicts are shown, the others folded; without a primary
// one the others are shown.
func TestVerdictsShownAtOnce(t *testing.T) {
	many := func(primary, other int) (all []explain.Evidence) {
		for range primary {
			all = append(all, explain.Evidence{Row: evidence.Row{Primary: true}})
		}
		return append(all, make([]explain.Evidence, other)...)
	}
	for _, c := range []struct{ primary, other, first, rest int }{{0, 0, 0, 0}, {12, 0, 12, 0}, {13, 2, 12, 3}, {1, 5, 1, 5}, {0, 5, 5, 0}} {
		if parts := shown(many(c.primary, c.other)); len(parts["first"]) != c.first || len(parts["rest"]) != c.rest {
			t.Errorf("of %d primary and %d others %d are shown, %d folded", c.primary, c.other, len(parts["first"]), len(parts["rest"]))
		}
	}
}
