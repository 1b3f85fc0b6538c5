package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"linerate/catalogue"
	"linerate/internal/assemble/ledgers"
	"linerate/internal/audit"
	"linerate/internal/cli"
	"linerate/internal/fleet"
	"linerate/internal/hint"
	"linerate/internal/lab"
	"linerate/internal/labtest/pgserver"
	"linerate/internal/ledger"
	"linerate/internal/plan"
	"linerate/internal/show"
	"linerate/internal/site"
	"linerate/internal/web"
	"linerate/internal/web/webtest"
)

// serveBench is a run of the bench.
type serveBench struct {
	hosts, days, times int
	seed               uint64
	dir, ledger        string
	asJSON             bool
}

// serveDocument is serve --json.
type serveDocument struct {
	Version     int        `json:"version"`
	Hosts       int        `json:"hosts"`
	Days        int        `json:"days"`
	Changes     int        `json:"changes"`
	FillSeconds float64    `json:"fill_seconds"`
	LedgerMB    float64    `json:"ledger_mb"`
	Load1       float64    `json:"load1"` // of the machine, before the pages
	Rows        []serveRow `json:"rows"`
}

// serveRow is how long a page took, from the request to its last byte.
type serveRow struct {
	Page     string  `json:"page"`
	Requests int     `json:"requests"`
	P50      float64 `json:"p50_ms"`
	P95      float64 `json:"p95_ms"`
	Max      float64 `json:"max_ms"`
	KB       float64 `json:"kb"` // of the largest answer
}

func newServeCmd() *cobra.Command {
	var b serveBench
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "measure the web page with a large fleet and a year of changes",
		Long: `Fill a ledger (a new file of SQLite; with --ledger a PostgreSQL), by its own store, with a fleet that is made up and a year
of nightly sweeps in each of which 2 % of the hosts change; then ask a server on
loopback for every kind of page, one after the other, each time another host,
rule or day where there are many.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return b.run(cmd) },
	}
	cmd.Flags().IntVar(&b.hosts, "hosts", 10000, "hosts of the fleet")
	cmd.Flags().IntVar(&b.days, "days", 365, "nights it was swept")
	cmd.Flags().IntVar(&b.times, "times", 40, "requests for each kind of page")
	cmd.Flags().Uint64Var(&b.seed, "seed", 1, "seed of the fleet")
	cmd.Flags().StringVar(&b.dir, "dir", "", "folder to work in (default: a temporary one, removed)")
	cmd.Flags().StringVar(&b.ledger, "ledger", "", "an empty `LEDGER`, postgres://…; \"postgres\" starts a private server of the one that is installed")
	cmd.Flags().BoolVar(&b.asJSON, "json", false, "print one JSON document")
	return cmd
}

func (b *serveBench) run(cmd *cobra.Command) error {
	if b.dir == "" {
		tmp, err := os.MkdirTemp("", "linerate-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		b.dir = tmp
	}
	doc := serveDocument{Version: 1, Hosts: b.hosts, Days: b.days}
	db, end, err := b.place()
	if err != nil {
		return err
	}
	defer end()
	if err := b.fill(cmd, db, &doc); err != nil {
		return err
	}
	doc.Load1 = lab.Local{}.Load1()
	if err := b.ask(cmd.Context(), db, &doc); err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if b.asJSON {
		return cli.PrintJSON(w, doc)
	}
	fmt.Fprintf(w, "%s, %s of sweeps, %s; ledger %.0f MB, filled in %.0f s; load average %.1f\n", show.Plural(b.hosts, "host"), show.Plural(b.days, "night"), show.Plural(doc.Changes, "change"), doc.LedgerMB, doc.FillSeconds, doc.Load1)
	t := show.Table{Header: []string{"PAGE", "P50", "P95", "MAX", "SIZE"}, Right: show.NumbersAfter(1)}
	for _, r := range doc.Rows {
		t.Add(r.Page, fmt.Sprintf("%.1f ms", r.P50), fmt.Sprintf("%.1f ms", r.P95), fmt.Sprintf("%.1f ms", r.Max), fmt.Sprintf("%.0f kB", r.KB))
	}
	return t.Write(w, cli.StyleOf(w))
}

// place is the ledger to fill, and what ends a server that was started for it.
func (b *serveBench) place() (db string, end func(), err error) {
	switch b.ledger {
	case "":
		return filepath.Join(b.dir, "serve.db"), func() {}, nil
	case "postgres":
	default:
		return b.ledger, func() {}, nil
	}
	server, err := pgserver.New(false)
	if err != nil {
		return "", nil, err
	}
	end = func() { _ = server.Stop() } // what is left is in /tmp
	if db, err = server.Fresh("bench"); err != nil {
		end()
		return "", nil, err
	}
	return db, end, nil
}

// fill writes the fleet.
func (b *serveBench) fill(cmd *cobra.Command, db string, doc *serveDocument) error {
	began, live := time.Now(), cli.NewLive(cmd.ErrOrStderr())
	defer live.End()
	err := ledgers.With(cmd.Context(), db, func(s ledger.Store) (err error) {
		all, err := s.Fleet().Sweeps(cmd.Context(), 1)
		if err != nil {
			return err
		}
		if len(all) > 0 {
			return hint.With(fmt.Errorf("the ledger %s has a fleet already", b.ledger), "the bench fills one of its own: name an empty database")
		}
		doc.Changes, err = webtest.Fleet{Hosts: b.hosts, Days: b.days, Seed: b.seed, End: time.Now().UTC()}.Fill(cmd.Context(), s.Fleet(), func(day int) {
			live.Show("night %d of %d", day+1, b.days)
		})
		return err
	})
	if err != nil {
		return err
	}
	doc.FillSeconds = time.Since(began).Seconds()
	if info, err := os.Stat(db); err == nil {
		doc.LedgerMB = float64(info.Size()) / 1e6
	}
	return nil
}

// ask asks a server for its pages.
func (b *serveBench) ask(ctx context.Context, db string, doc *serveDocument) error {
	in, err := benchSite()
	if err != nil {
		return err
	}
	s := web.New(web.Config{
		Open: func(ctx context.Context) (ledger.Reader, error) {
			return ledgers.ReadOnly(ctx, db)
		},
		Catalogue: site.NewPages(in), Built: "bench", Log: func(err error) { fmt.Fprintln(os.Stderr, err) },
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(serving, l, nil, web.Limits{}) }()
	err = b.pages(ctx, "http://"+l.Addr().String(), db, doc)
	stop()
	return errors.Join(err, <-ended, s.Close())
}

// benchSite is the catalogue for its pages.
func benchSite() (in site.Input, err error) {
	if in.Catalogue, err = catalogue.Load(); err != nil {
		return in, err
	}
	rules, rerr := audit.LoadRules(catalogue.Files())
	advice, aerr := plan.Load(catalogue.Files(), in.Catalogue)
	if in.Evidence, err = catalogue.Evidence(); errors.Join(err, rerr, aerr) != nil {
		return in, errors.Join(err, rerr, aerr)
	}
	in.Rules, in.Advice, in.Within = rules.Rules(), advice.Advice, web.Nav()
	return in, nil
}

// pages measures every kind of page.
func (b *serveBench) pages(ctx context.Context, at, db string, doc *serveDocument) error {
	var hosts []fleet.Host
	var rules []fleet.RuleCount
	err := ledgers.With(ctx, db, func(s ledger.Store) (err error) {
		if hosts, err = s.Fleet().Hosts(ctx, fleet.HostFilter{}); err == nil {
			rules, err = s.Fleet().RuleCounts(ctx, "")
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(hosts) == 0 || len(rules) == 0 {
		return errors.New("the fleet has no hosts or no findings")
	}
	h := func(i int) fleet.Host { return hosts[i*7919%len(hosts)] }
	rule := func(i int) string { return url.PathEscape(rules[i*31%len(rules)].Rule) }
	for _, p := range []struct {
		name string
		of   func(i int) string
	}{
		{"overview", func(int) string { return "/" }},
		{"fleet", func(int) string { return "/fleet" }},
		{"fleet, JSON", func(int) string { return "/api/v1/fleet" }},
		{"hosts", func(i int) string { return "/fleet/hosts?after=" + url.QueryEscape(h(i).Name) }},
		{"hosts, searched", func(i int) string { return fmt.Sprintf("/fleet/hosts?q=%03d", i*37%1000) }},
		{"hosts of a rule", func(i int) string { return "/fleet/hosts?rule=" + rule(i) }},
		{"hosts, unreachable", func(int) string { return "/fleet/hosts?unreachable=1" }},
		{"host", func(i int) string { return "/fleet/hosts/" + h(i).ID }},
		{"rules", func(int) string { return "/fleet/rules" }},
		{"rule", func(i int) string { return "/fleet/rules/" + rule(i) }},
		{"changes", func(int) string { return "/fleet/changes" }},
		{"changes, of a kind", func(i int) string {
			return "/fleet/changes?since=8000h&kind=" + string(fleet.Kinds()[i%len(fleet.Kinds())])
		}},
		{"changes, far back", func(i int) string { return fmt.Sprintf("/fleet/changes?before=%d", 1+doc.Changes*(i%10)/10+100) }},
		{"studies", func(int) string { return "/studies" }},
		{"tunable", func(i int) string {
			return []string{"/catalogue/t/linux/net.ipv4.tcp_rmem.html", "/catalogue/t/freebsd/net.inet.tcp.sendbuf_max.html"}[i%2]
		}},
		{"metrics", func(int) string { return "/metrics" }},
	} {
		row := serveRow{Page: p.name, Requests: b.times}
		var ms []float64
		for i := range b.times {
			took, size, err := fetch(ctx, at+p.of(i))
			if err != nil {
				return err
			}
			ms, row.KB = append(ms, took.Seconds()*1e3), max(row.KB, float64(size)/1e3)
		}
		slices.Sort(ms)
		row.P50, row.P95, row.Max = ms[len(ms)/2], ms[min(len(ms)-1, len(ms)*95/100)], ms[len(ms)-1]
		doc.Rows = append(doc.Rows, row)
	}
	return nil
}

// fetch asks for a page and reads all of it.
func fetch(ctx context.Context, at string) (took time.Duration, size int64, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	size, err = io.Copy(io.Discard, resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", at, resp.Status)
	}
	return time.Since(began), size, err
}
