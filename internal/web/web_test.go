package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"html"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/internal/sharedtest"

	"linerate/catalogue"
	"linerate/internal/audit"
	"linerate/internal/fleet"
	"linerate/internal/ledger"
	"linerate/internal/queue"
	"linerate/internal/site"
	"linerate/internal/store/sqlite"
	"linerate/internal/store/storetest"
	"linerate/internal/study"
	"linerate/internal/studydir"
	"linerate/internal/web"
)

// now is the time at which these tests view the pages.
var now = time.Date(2026, 11, 23, 4, 0, 0, 0, time.UTC)

// pages are the catalogue's, built once.
var pages = sync.OnceValues(func() (*site.Pages, error) {
	c, err := catalogue.Load()
	if err != nil {
		return nil, err
	}
	rules, rerr := audit.LoadRules(sharedtest.Catalogue())
	rows, err := catalogue.Evidence()
	if err := errors.Join(err, rerr); err != nil {
		return nil, err
	}
	return site.NewPages(site.Input{Catalogue: c, Rules: rules.Rules(), Evidence: rows, Built: "test", Within: web.Nav()}), nil
})

const spec = `name: small
question: What do rules cost?
seed: 5
variants:
  - name: none
  - name: rules-100
    settings:
      - firewall: {linear: 100}
  - name: hook
    summary: <b>bold & hostile</b>
    settings:
      - nft: "table ip x { # </style><script>alert(1)</script>\n}"
blocks: 8
parts:
  - mode: cost
`

// trials are the study's, with known costs and noise.
func trials(t *testing.T) (study.Spec, []study.Trial) {
	t.Helper()
	s, err := study.Parse("small.yaml", []byte(spec))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var out []study.Trial
	for i, slot := range study.Schedule(s, 5) {
		cost := map[string]float64{"none": 700, study.AA: 700, "rules-100": 980, "hook": 704}[slot.Variant] * (1 + 0.01*rng.NormFloat64())
		out = append(out, study.Trial{Part: slot.Part, Variant: slot.Variant, Block: slot.Block, Order: slot.Order, Mode: "cost",
			Start: now.Add(time.Duration(i) * time.Second), Seconds: 0.9, Valid: true, Reasons: []study.Refusal{},
			Metrics: map[string]float64{study.CostNS: cost, study.ForwardingRate: 1e9 / cost, study.ChainNS: cost + 150, study.BypassNS: 150}})
	}
	return s, out
}

// desk is a server with a ledger that has a fleet and studies, and with a queue.
type desk struct {
	*web.Server
	db    string
	study ledger.ID
	queue string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	tmp := t.TempDir()
	d := &desk{db: filepath.Join(tmp, "ledger.db")}
	d.fill(t, filepath.Join(tmp, "done"))
	d.queue = filepath.Join(tmp, "ledger-queue.db")
	d.wait(t)
	p, err := pages()
	if err != nil {
		t.Fatal(err)
	}
	d.Server = web.New(web.Config{
		Open: func(ctx context.Context) (ledger.Reader, error) {
			return sqlite.OpenReadOnly(ctx, d.db, sqlite.Owner{UID: -1, GID: -1})
		},
		OpenQueue: func(ctx context.Context) (queue.Reader, error) {
			return sqlite.OpenQueueReadOnly(ctx, d.queue, sqlite.Owner{UID: -1, GID: -1})
		},
		Catalogue: p, Built: "test",
		Door: web.Door{Token: token}, Log: func(err error) { t.Errorf("logged: %v", err) },
	})
	t.Cleanup(func() { d.Close() })
	return d
}

// fill stores a fleet, a study run by linerate and an imported one.
func (d *desk) fill(t *testing.T, done string) {
	t.Helper()
	l, err := sqlite.Open(t.Context(), d.db, sqlite.Owner{UID: -1, GID: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := (madeUp{Hosts: 260, Days: 40, Seed: 3, End: time.Now()}).Fill(t.Context(), l, nil); err != nil {
		t.Fatal(err)
	}
	hostile := fleet.Observation{Name: "<script>alert(1)</script>", Time: time.Now(), ID: "aaaabbbbccccdddd", Hostname: "x\"onload=\"alert(2)", OS: "linux", Release: "6.12", Role: "web",
		Findings: []fleet.Finding{{ID: "LR-X:y", Rule: "LR-X", Tunable: "net.ipv4.tcp_rmem", Severity: audit.Error, Text: "</td><script>alert(3)</script>"}}}
	if _, err := l.BeginSweep(t.Context(), fleet.Sweep{ID: "late", Start: time.Now(), Hosts: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Observe(t.Context(), "late", hostile); err != nil {
		t.Fatal(err)
	}
	if _, err := l.EndSweep(t.Context(), "late", time.Now()); err != nil {
		t.Fatal(err)
	}
	s, all := trials(t)
	dir, err := studydir.Create(done, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range all {
		if err := dir.Append(tr); err != nil {
			t.Fatal(err)
		}
	}
	env := study.Environment{OS: "linux", Kernel: "Linux 6.18", Arch: "x86_64", CPU: "test CPU", CPUs: 2, Engine: "xdp", Label: "veth, not a NIC",
		Mitigations: map[string]string{}, Testbeds: map[string]study.BedNotes{}, Unavailable: map[string]string{}}
	if err := errors.Join(studydir.WriteResults(dir.Path, study.Analyse(s, 5, env, all)), dir.Close()); err != nil {
		t.Fatal(err)
	}
	rec, err := studydir.Read(done)
	if err != nil {
		t.Fatal(err)
	}
	b, err := ledger.OfRecord(rec, done)
	if err != nil {
		t.Fatal(err)
	}
	d.study = b.Studies[0].ID
	if _, err := l.Append(t.Context(), b, storetest.Sample("elsewhere")); err != nil {
		t.Fatal(err)
	}
}

// wait queues two studies: one testbed has finished four blocks of the first, and is in quarantine.
func (d *desk) wait(t *testing.T) {
	t.Helper()
	q, err := sqlite.OpenQueue(t.Context(), d.queue, sqlite.Owner{UID: -1, GID: -1}, queue.DefaultPatience)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	for _, id := range []string{"q1", "q2"} {
		err := q.Submit(t.Context(), queue.Submission{ID: id, Name: "small", Label: "pair", Kind: "netns", Submitter: "ada@x", Spec: []byte(spec), Estimate: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
	}
	l, err := q.Lease(t.Context(), queue.Claim{Testbed: "rack-1", Label: "pair", Kind: "netns", Holder: "host:1"})
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	err = q.Work(t.Context(), l, nil, func(_ context.Context, j queue.Job) (queue.Outcome, error) {
		if done++; done > 4 {
			return queue.Outcome{}, &queue.BedFailed{Reason: "the cable <b>is out</b>"}
		}
		return queue.Outcome{Trials: storetest.Trials(j, 700), Environment: study.Environment{CPU: "cpu", OS: "linux"}}, nil
	})
	var failed *queue.BedFailed
	if !errors.As(err, &failed) && err != nil {
		t.Fatal(err)
	}
}

// every is each kind of page, with texts that it and its JSON contain.
func (d *desk) every() []struct{ path, says, has string } {
	return []struct{ path, says, has string }{
		{"/fleet", "Roles and releases", `"groups":`},
		{"/fleet/hosts", "cdn00096.example.org", `"next": "?after=`},
		{"/fleet/hosts?q=web0000", "web00000.example.org", `"name": "web00000.example.org"`},
		{"/fleet/hosts?rule=LR-X", "&lt;script&gt;alert(1)", `"errors": 1`},
		{"/fleet/hosts?unreachable=1", "unreachable", `"reason":`},
		{"/fleet/hosts/web00001.example.org", "First seen", `"findings": [`},
		{"/fleet/hosts/aaaabbbbccccdddd", `href="/catalogue/t/linux/net.ipv4.tcp_rmem.html"`, `"rule": "LR-X"`},
		{"/fleet/rules/LR-X", "By role and release", `"of": 261`},
		{"/fleet/changes", "first-seen", `"next": "/fleet/changes?before=`},
		{"/fleet/changes?kind=came&since=9000h", "came", `"kind": "came"`},
		{"/studies", "What do rules cost?", `"matching": 2`},
		{"/studies?q=rules&kind=study", "What do rules cost?", `"matching": 1`},
		{"/studies/" + string(d.study), "Every trial in time order", `"results": {`},
		{"/studies/" + string(d.study)[:12], "Gates and invalid trials", `"version": 1`},
		{"/studies/" + string(ledger.IDOf("study", "elsewhere")), "AMD GX-412TC", `"evidence": [`},
		{"/queue", "4 of 8", `"trials": 16`},
		{"/queue", "rack-1", `"testbeds": [`},
		{"/queue", "the cable &lt;b&gt;is out", `"state": "quarantined"`},
	}
}

var loads = regexp.MustCompile(`<(?:script|img|link|iframe|object|embed)[^>]*(?:src|href|data)="(?:https?:)?//`)

// TestPagesAndTheirJSON: every page states its subject and links to its JSON; names of hosts and
// studies are text, never markup; and nothing is loaded from other sites.
func TestPagesAndTheirJSON(t *testing.T) {
	d := newDesk(t)
	h := d.Handler()
	for _, p := range d.every() {
		w := ask(h, "GET", p.path, withToken())
		page := w.Body.String()
		if w.Code != http.StatusOK || !strings.Contains(page, p.says) || !strings.Contains(page, "<h1") || strings.Count(page, `aria-current="true"`) > 1 || strings.HasPrefix(p.path, "/fleet") && !strings.Contains(page, `"/fleet" aria-current`) {
			t.Errorf("%s: %d, without %q:\n%.600s", p.path, w.Code, p.says, page)
		}
		if strings.Contains(page, "<script>alert") || strings.Contains(page, `onload="alert`) || loads.MatchString(page) || strings.Contains(page, "<style") {
			t.Errorf("%s has markup that is not its own", p.path)
		}
		at := html.UnescapeString(between(page, `<a href="`+web.API, `"`))
		path, _, _ := strings.Cut(p.path, "?")
		if got, _, _ := strings.Cut(at, "?"); got != path {
			t.Errorf("%s leads to the JSON of %s", p.path, at)
		}
		j := ask(h, "GET", web.API+p.path, withToken())
		var doc struct{ Version int }
		if err := json.Unmarshal(j.Body.Bytes(), &doc); err != nil || doc.Version != 1 || j.Header().Get("Content-Type") != "application/json" || !strings.Contains(j.Body.String(), p.has) {
			t.Errorf("JSON of %s: %d, %v, without %s:\n%.500s", p.path, j.Code, err, p.has, j.Body)
		}
		if err := fitsItsSchema(j); err != nil {
			t.Errorf("JSON of %s: %v", p.path, err)
		}
	}
	if w := ask(h, "GET", "/", withToken()); w.Header().Get("Location") != "/fleet" {
		t.Errorf("home leads to %s, want the fleet", w.Header().Get("Location"))
	}
	for path, want := range map[string]int{
		"/fleet/hosts/nobody": 404, "/fleet/rules/LR-NONE": 404, "/fleet/changes?kind=x": 400, "/fleet/changes?since=-1h": 400, "/fleet/changes?before=x": 400,
		"/fleet/hosts?unreachable=yes": 400, "/studies?page=0": 400, "/studies/deadbeef": 404, "/studies/small": 404, "/queue/q1": 404, "/catalogue/t/linux/none.html": 404,
	} {
		for _, at := range []string{path, web.API + path} {
			w := ask(h, "GET", at, withToken())
			if strings.HasPrefix(path, "/catalogue") {
				at = path
			}
			if at == path && w.Code != want || w.Code != want && w.Code != 404 {
				t.Errorf("%s: %d, want %d", at, w.Code, want)
			}
		}
	}
}

// TestTunablePage: it has the fleet's findings about the tunable, with their hosts, and
// measurements; its JSON has the same; the name on one device leads to it.
func TestTunablePage(t *testing.T) {
	h := newDesk(t).Handler()
	for path, wants := range map[string][]string{
		"/catalogue/t/linux/net.ipv4.tcp_rmem.html":      {"In your fleet", "/fleet/hosts?os=linux&amp;release=6.12&amp;role=web&amp;rule=LR-X&amp;tunable=net.ipv4.tcp_rmem", "The same idea elsewhere"},
		web.API + "/catalogue/t/linux/net.ipv4.tcp_rmem": {`"rule":"LR-X","severity":"error","role":"web"`, `"hosts":1`},
		"/catalogue/t/linux/net.core.somaxconn.html":     {"LR-APPLIED"},
		"/fleet":                                 {"/fleet/hosts?role=web&amp;rule=LR-", "/fleet/hosts?os=linux&amp;release=6.12&amp;role=web\""},
		"/fleet/hosts?tunable=net.ipv4.tcp_rmem": {"About <code>net.ipv4.tcp_rmem</code>", "aaaabbbbccccdddd"},
		"/catalogue/t/freebsd/kern.random.harvest.mask.html": {"forwarding rate under overload", "<th>effect</th>"},
	} {
		w := ask(h, "GET", path, withToken())
		for _, want := range wants {
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: %d, without %q", path, w.Code, want)
			}
		}
	}
	if w := ask(h, "GET", "/catalogue/t/linux/net.ipv4.conf.eth7.rp_filter.html", withToken()); w.Code != http.StatusSeeOther || !strings.HasPrefix(w.Header().Get("Location"), "/catalogue/t/linux/net.ipv4.conf.") {
		t.Errorf("the name of one interface: %d to %s", w.Code, w.Header().Get("Location"))
	}
}

func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}

// TestLinksLeadSomewhere: every link of every page is answered.
func TestLinksLeadSomewhere(t *testing.T) {
	d := newDesk(t)
	h := d.Handler()
	seen := map[string]bool{}
	follow := func(page string) {
		for _, m := range regexp.MustCompile(`(?:href|src|action)="([^"#]+)`).FindAllStringSubmatch(page, -1) {
			to := html.UnescapeString(m[1])
			if seen[to] {
				continue
			}
			seen[to] = true
			if w := ask(h, "GET", to, withToken()); w.Code != http.StatusOK {
				t.Errorf("a link leads to %s: %d", to, w.Code)
			}
		}
	}
	for _, p := range d.every() {
		follow(ask(h, "GET", p.path, withToken()).Body.String())
	}
	if len(seen) < 300 {
		t.Errorf("only %d links", len(seen))
	}
}

// TestWithoutALedger: the catalogue is shown, and the other pages say that
// there is no ledger; one that is created later is found.
func TestWithoutALedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	s := web.New(web.Config{Door: web.Door{Token: token}, Open: func(ctx context.Context) (ledger.Reader, error) {
		if _, err := os.Stat(path); err != nil {
			return nil, err
		}
		return sqlite.OpenReadOnly(ctx, path, sqlite.Owner{UID: -1, GID: -1})
	}})
	defer s.Close()
	for _, p := range []string{"/fleet", "/studies"} {
		if w := ask(s.Handler(), "GET", p, withToken()); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "There is no ledger yet") {
			t.Errorf("%s: %d %.300s", p, w.Code, w.Body)
		}
	}
	if w := ask(s.Handler(), "GET", "/", withToken()); w.Header().Get("Location") != "/studies" {
		t.Errorf("home leads to %s, want the studies", w.Header().Get("Location"))
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("looking made a ledger: %v", err)
	}
	l, err := sqlite.Open(t.Context(), path, sqlite.Owner{UID: -1, GID: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if w := ask(s.Handler(), "GET", "/fleet", withToken()); !strings.Contains(w.Body.String(), "has no fleet yet") {
		t.Errorf("%d %.300s", w.Code, w.Body)
	}
}

// TestMistakesAreNotTold: internal errors are logged, and readers do not see them.
func TestMistakesAreNotTold(t *testing.T) {
	var logged []string
	s := web.New(web.Config{Door: web.Door{Token: token}, Open: func(context.Context) (ledger.Reader, error) {
		return nil, errors.New("password of /secret/place")
	}, Log: func(err error) { logged = append(logged, err.Error()) }})
	defer s.Close()
	for _, p := range []string{"/fleet", "/fleet/hosts", web.API + "/studies"} {
		if w := ask(s.Handler(), "GET", p, withToken()); w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: %d %s", p, w.Code, w.Body)
		}
	}
	if len(logged) != 3 || !strings.Contains(logged[0], "secret") {
		t.Errorf("logged: %q", logged)
	}
}
