package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/hint"
	"linerate/internal/show"
)

const benchHTTPLong = `Let linerate, wrk and h2load (those on PATH) take turns in closed loops on an
nginx of this command's own: its configuration is generated in a temporary
directory, it listens on loopback and ends with the command. Ratios are medians
over rounds of those to the first row of each case; CPU is the client's,
and says most on a busy machine: wrk and h2load have one thread there, linerate
as many as there are CPUs.`

func newBenchHTTPCmd() *cobra.Command {
	var b httpBench
	cmd := &cobra.Command{
		Use:   "http",
		Short: "how fast HTTP is asked, beside wrk and h2load, on an nginx of its own",
		Long:  benchHTTPLong,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return b.run(cmd) },
	}
	cmd.Flags().IntVar(&b.rounds, "rounds", 10, "interleaved rounds")
	cmd.Flags().IntVar(&b.seconds, "seconds", 1, "of each run")
	cmd.Flags().IntVar(&b.connections, "connections", 10, "connections at once")
	cmd.Flags().BoolVar(&b.json, "json", false, "print the rows as JSON")
	return cmd
}

type httpBench struct {
	rounds, seconds, connections int
	json                         bool
}

// httpRow is one client in one case.
type httpRow struct {
	Case   string    `json:"case"`
	Client string    `json:"client"`
	Rate   []float64 `json:"requests_per_second"`
	P50    []float64 `json:"p50_seconds"` // h2load has none
	CPU    []float64 `json:"cpu_seconds_per_request"`
	Ratio  float64   `json:"rate_ratio"`
	Cost   float64   `json:"cpu_ratio"`
	argv   []string
	read   func(out []byte) (httpRun, error)
}

// httpRun is what a client said of one run.
type httpRun struct{ rate, p50, requests float64 }

func (b *httpBench) run(cmd *cobra.Command) error {
	if b.rounds < 1 || b.seconds < 1 || b.connections < 1 || b.connections > 1000 {
		return hint.Usagef("--rounds, --seconds and --connections are at least 1, connections at most 1000")
	}
	server, err := startNginx(cmd.Context())
	if err != nil {
		return err
	}
	defer server.stop()
	rows, err := b.rows(server)
	if err != nil {
		return err
	}
	live := newLive(cmd.ErrOrStderr())
	for round := range b.rounds {
		for i := range rows {
			r := rows[(i+round)%len(rows)]
			live.Show("round %d of %d: %s, %s", round+1, b.rounds, r.Case, r.Client)
			if err := r.once(cmd.Context()); err != nil {
				live.End()
				return fmt.Errorf("%s, %s: %w", r.Case, r.Client, err)
			}
		}
	}
	live.End()
	compareHTTP(rows)
	if b.json {
		return printJSON(cmd.OutOrStdout(), map[string]any{"version": 1, "rounds": b.rounds, "seconds": b.seconds, "connections": b.connections, "rows": rows})
	}
	return b.print(cmd.OutOrStdout(), rows)
}

// rows lists who takes turns at what; linerate is the first of each case.
func (b *httpBench) rows(s *nginx) ([]*httpRow, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	n, secs := strconv.Itoa(b.connections), strconv.Itoa(b.seconds)
	var rows []*httpRow
	add := func(name, client string, read func([]byte) (httpRun, error), argv ...string) {
		if path, err := exec.LookPath(argv[0]); err == nil {
			rows = append(rows, &httpRow{Case: name, Client: client, argv: append([]string{path}, argv[1:]...), read: read})
		}
	}
	for _, c := range []struct {
		name, url string
		ours, wrk []string
		h2load    []string
		two       bool
	}{
		{name: "600 B", url: s.plain + "/600", h2load: []string{"--h1"}},
		{name: "24 kB", url: s.plain + "/24k", h2load: []string{"--h1"}},
		{name: "350 kB", url: s.plain + "/350k", h2load: []string{"--h1"}},
		{name: "600 B, new connections", url: s.plain + "/600", ours: []string{"--new-connections"}, wrk: []string{"-H", "Connection: close"}},
		{name: "24 kB, TLS", url: s.secure + "/24k", h2load: []string{"--h1"}},
		{name: "600 B, TLS, HTTP/2 × 10", url: s.secure + "/600", ours: []string{"--http", "2", "--streams", "10"}, h2load: []string{"-m", "10"}, two: true},
	} {
		ours := append([]string{self, "load", "http", c.url, "--json", "--insecure", "-c", n, "-d", secs + "s", "--interval", "1h"}, c.ours...)
		add(c.name, "linerate", readLinerate, ours...)
		if !c.two {
			add(c.name, "wrk", readWrk, append([]string{"wrk", "--latency", "-t", "1", "-c", n, "-d", secs}, append(c.wrk, c.url)...)...)
		}
		if c.h2load != nil {
			add(c.name, "h2load", readH2load, append([]string{"h2load", "-c", n, "-D", secs}, append(c.h2load, c.url)...)...)
		}
	}
	return rows, nil
}

// once runs a client, in a process of its own, whose CPU time is its own.
func (r *httpRow) once(ctx context.Context) error {
	c := exec.CommandContext(ctx, r.argv[0], r.argv[1:]...)
	c.Env = append(os.Environ(), "LC_ALL=C")
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("run %s: %w", strings.Join(r.argv, " "), err)
	}
	run, err := r.read(out)
	if err != nil {
		return err
	}
	if run.requests <= 0 || run.rate <= 0 {
		return fmt.Errorf("no request was answered: %.200q", out)
	}
	r.Rate = append(r.Rate, run.rate)
	r.P50 = append(r.P50, run.p50)
	r.CPU = append(r.CPU, (c.ProcessState.UserTime()+c.ProcessState.SystemTime()).Seconds()/run.requests)
	return nil
}

func readLinerate(out []byte) (r httpRun, err error) {
	var d httpDoc
	if err := json.Unmarshal(out, &d); err != nil {
		return r, fmt.Errorf("read the account: %w", err)
	}
	p, err := onlyPoint(d.Points)
	if err != nil {
		return r, err
	}
	if p.Failed > 0 || p.Latency == nil {
		return r, fmt.Errorf("%d requests failed: %+v", p.Failed, p.Errors)
	}
	return httpRun{p.RequestRate, float64(p.Latency.P50) / 1e9, float64(p.Requests)}, nil
}

// onlyPoint is the one run of an account that is to have one.
func onlyPoint[T any](points []T) (p T, err error) {
	if len(points) != 1 {
		return p, fmt.Errorf("the account is of %d runs, not of one", len(points))
	}
	return points[0], nil
}

var (
	wrkSays    = regexp.MustCompile(`(?s)50%\s+([\d.]+)(us|ms|s)\b.*?(\d+) requests in .*Requests/sec:\s+([\d.]+)`)
	h2loadSays = regexp.MustCompile(`(?s)finished in [^,]+, ([\d.]+) req/s.*?(\d+) succeeded, (\d+) failed`)
)

func readWrk(out []byte) (httpRun, error) {
	m := wrkSays.FindSubmatch(out)
	if m == nil {
		return httpRun{}, fmt.Errorf("wrk said %.300q", out)
	}
	unit := map[string]float64{"us": 1e-6, "ms": 1e-3, "s": 1}[string(m[2])]
	return httpRun{parsed(m[4]), parsed(m[1]) * unit, parsed(m[3])}, nil
}

func readH2load(out []byte) (httpRun, error) {
	m := h2loadSays.FindSubmatch(out)
	if m == nil || parsed(m[3]) > 0 {
		return httpRun{}, fmt.Errorf("h2load said %.300q", out)
	}
	return httpRun{rate: parsed(m[1]), requests: parsed(m[2])}, nil
}

// parsed reads what a pattern of digits matched.
func parsed(text []byte) float64 {
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return 0
	}
	return v
}

// compareHTTP works out the ratios to each case's first row, round by round.
func compareHTTP(rows []*httpRow) {
	var base *httpRow
	for _, r := range rows {
		if base == nil || r.Case != base.Case {
			base = r
		}
		r.Ratio, r.Cost = medianRatio(r.Rate, base.Rate), medianRatio(r.CPU, base.CPU)
	}
}

// medianRatio is the median over rounds of a measurement's ratio to the same
// round's base.
func medianRatio(x, base []float64) float64 {
	ratios := make([]float64, len(x))
	for i := range x {
		ratios[i] = x[i] / base[i]
	}
	return medianOf(ratios)
}

func (b *httpBench) print(w io.Writer, rows []*httpRow) error {
	p := show.NewPage(styleOf(w))
	p.Line(fmt.Sprintf("closed loop, %s, nginx on loopback with one worker; %s of %d s", show.Plural(b.connections, "connection"), show.Plural(b.rounds, "interleaved round"), b.seconds))
	p.Line("")
	t := show.Table{Right: numbersAfter(2), Header: []string{"case", "client", "req/s", "ratio", "p50", "CPU/req", "ratio"}}
	for _, r := range rows {
		p50 := show.Unknown
		if m := medianOf(r.P50); m > 0 {
			p50 = show.Nanos(m * 1e9)
		}
		t.Add(r.Case, r.Client, show.SI(medianOf(r.Rate), ""), show.Digits(r.Ratio), p50, show.Nanos(medianOf(r.CPU)*1e9), show.Digits(r.Cost))
	}
	p.Table(t)
	return p.Flush(w)
}
