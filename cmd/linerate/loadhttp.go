package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/load/httpload"
	"linerate/internal/load/request"
	"linerate/internal/show"
)

// httpDoc is the document of load http --json.
type httpDoc struct {
	Version int         `json:"version"`
	Offer   httpOffer   `json:"offer"`
	Points  []httpPoint `json:"points"`
}

// httpOffer is what was asked for.
type httpOffer struct {
	URLs           []string `json:"urls"`
	Loop           string   `json:"loop"`
	Arrivals       string   `json:"arrivals,omitempty"`
	Rate           float64  `json:"rate"`
	HTTP           string   `json:"http"`
	Streams        int      `json:"streams"`
	NewConnections bool     `json:"new_connections"`
	Verified       *bool    `json:"certificate_verified"`
	Sources        int      `json:"sources"`
	Seconds        float64  `json:"seconds"`
	WarmupSeconds  float64  `json:"warmup_seconds"`
	TimeoutSeconds float64  `json:"timeout_seconds"`
	Seed           uint64   `json:"seed"`
}

// httpPoint is one run, of so many connections.
type httpPoint struct {
	Connections int `json:"connections_allowed"`
	request.Result
}

func (f loadHTTPFlags) offer(s httpload.Spec, urls []string) httpOffer {
	o := httpOffer{
		URLs: urls, Loop: "closed", Rate: s.Rate, HTTP: "1.1", Streams: s.Streams, NewConnections: s.NewEach, Sources: len(s.Sources),
		Seconds: s.Duration.Seconds(), WarmupSeconds: s.Warmup.Seconds(), TimeoutSeconds: s.Timeout.Seconds(), Seed: s.Seed,
	}
	if s.Rate > 0 {
		o.Loop, o.Arrivals = "open", string(s.Arrivals)
	}
	if s.HTTP2 {
		o.HTTP = "2"
	}
	if s.Targets[0].URL.Scheme == "https" {
		verified := !s.Insecure
		o.Verified = &verified
	}
	return o
}

func interrupted(err error) bool { return errors.Is(err, context.Canceled) }

// judge is the error of a run that --strict refuses.
func (d httpDoc) judge() error {
	for _, p := range d.Points {
		switch {
		case p.Failed+p.Unsent > 0:
			return fmt.Errorf("%s of %s requests failed, %s were not sent", show.Count(p.Failed), show.Count(p.Requests), show.Count(p.Unsent))
		case len(p.Generator.Saturated) > 0:
			return fmt.Errorf("the generator was saturated: %s", show.List(p.Generator.Saturated))
		}
	}
	return nil
}

// print writes the account.
func (f loadHTTPFlags) print(cmd *cobra.Command, d httpDoc) error {
	if f.json {
		return printJSON(cmd.OutOrStdout(), d)
	}
	p := show.NewPage(styleOf(cmd.OutOrStdout()))
	p.Line(d.Offer.headline(d.Points))
	p.Line("")
	if f.sweep != "" {
		sweepPage(p, d.Points)
	} else {
		pointPage(p, d)
	}
	for i := range d.Points {
		notesOf(p, d.Offer, d.Points[i], f.sweep != "")
	}
	return p.Flush(cmd.OutOrStdout())
}

func (o httpOffer) headline(points []httpPoint) string {
	what := fmt.Sprintf("closed loop, %s", show.Plural(points[0].Connections, "connection"))
	if len(points) > 1 {
		what = "closed loops"
	}
	if o.Loop == "open" {
		what = fmt.Sprintf("open loop, %s, %s", show.SI(o.Rate, "req/s"), o.Arrivals)
	}
	if o.Streams > 1 {
		what += fmt.Sprintf(" of %d streams", o.Streams)
	}
	if o.NewConnections {
		what += ", a new connection each"
	}
	return fmt.Sprintf("%s: HTTP/%s, %s", show.Clean(o.URLs[0]), o.HTTP, what)
}

// pointPage writes one run.
func pointPage(p *show.Page, d httpDoc) {
	r := d.Points[0]
	g := r.Generator
	line := func(name, format string, args ...any) { p.Line(show.Pad(name, 14) + fmt.Sprintf(format, args...)) }
	line("answered", "%s of %s requests in %s", show.Count(r.Answered), show.Count(r.Requests), show.Brief(time.Duration(r.Seconds*1e9)))
	line("rate", "%s, bodies %s, %s on the wire", show.SI(r.RequestRate, "req/s"), show.SI(r.BodyRate, "B/s"), show.Bits(8*r.WireRate))
	line("connections", "%s made, %s", show.Count(r.Result.Connections), show.SI(r.ConnectionRate, "conn/s"))
	line("generator", "%s of CPU, %s per request; %s of %s", show.Brief(time.Duration(g.CPUSeconds*1e9)), show.Nanos(g.CPUPerRequest), show.Percent(100*g.CPUShare), show.Plural(g.CPUs, "CPU"))
	p.Line("")
	t := show.Table{Right: numbersAfter(1), Header: []string{"", "p50", "p75", "p90", "p99", "p99.9", "max", "mean"}}
	for _, q := range []struct {
		name string
		q    *request.Quantiles
	}{{latencyName(d.Offer), r.Latency}, {"service time", r.Service}, {"connect", r.Dial}, {"generator lag", g.Lag}} {
		if q.q != nil && (q.name != "service time" && q.name != "generator lag" || d.Offer.Loop == "open") {
			t.Add(q.name, ns(q.q.P50), ns(q.q.P75), ns(q.q.P90), ns(q.q.P99), ns(q.q.P999), ns(q.q.Max), show.Nanos(q.q.Mean))
		}
	}
	if len(t.Rows) > 0 {
		p.Table(t)
	}
	if len(r.Targets) > 1 {
		p.Line("")
		p.Table(mixTable(d.Offer.URLs, r.Targets))
	}
}

func ns(v int64) string { return show.Nanos(float64(v)) }

// latencyName says what is measured: from when a request was due in an open
// loop, from when it was sent in a closed one.
func latencyName(o httpOffer) string {
	if o.Loop == "open" {
		return "latency (from due)"
	}
	return "latency (from sent)"
}

func mixTable(urls []string, counts []request.TargetCount) show.Table {
	t := show.Table{Right: numbersAfter(1), Header: []string{"mix", "answered", "failed", "bodies"}}
	for i, c := range counts {
		t.Add(show.Clean(urls[i]), show.Count(c.Answered), show.Count(c.Failed), show.Bytes(float64(c.Body)))
	}
	return t
}

func sweepPage(p *show.Page, points []httpPoint) {
	t := show.Table{Right: numbersAfter(0), Header: []string{"connections", "req/s", "bodies/s", "conn/s", "p50", "p99", "max", "failed", "CPU"}}
	for _, r := range points {
		q := request.Quantiles{}
		if r.Latency != nil {
			q = *r.Latency
		}
		t.Add(show.Count(r.Connections), show.SI(r.RequestRate, ""), show.SI(r.BodyRate, "B"), show.SI(r.ConnectionRate, ""),
			ns(q.P50), ns(q.P99), ns(q.Max), show.Count(r.Failed), show.Percent(100*r.Generator.CPUShare))
	}
	p.Table(t)
}

// notesOf writes what went wrong, and what to doubt.
func notesOf(p *show.Page, o httpOffer, r httpPoint, named bool) {
	of := ""
	if named {
		of = fmt.Sprintf("%d connections: ", r.Connections)
	}
	note := func(ink show.Ink, format string, args ...any) {
		p.Paragraph(p.Paint(ink, "note")+"          ", strings.Repeat(" ", 14), of+fmt.Sprintf(format, args...))
	}
	for _, e := range r.Errors {
		text := ""
		if e.First != "" {
			text = ": " + show.Clean(e.First)
		}
		note(show.Bad, "%s × %s%s", show.Count(e.Count), e.Text, text)
	}
	if len(r.Codes) > 1 || len(r.Codes) == 1 && r.Codes["200"] == 0 {
		note(show.Note, "status %s", statusList(r.Codes))
	}
	if r.Unsent > 0 {
		note(show.Bad, "%s requests were due and never sent; they count as latencies of at least their age", show.Count(r.Unsent))
	}
	if r.Waited > 0 {
		note(show.Doubt, "%s requests were due when all %s connections were busy; --connections allows more", show.Count(r.Waited), show.Count(r.Connections))
	}
	if r.Unfinished*100 > r.Requests {
		note(show.Doubt, "%s requests were cut off by the end, and are not counted", show.Count(r.Unfinished))
	}
	if o.Verified != nil && !*o.Verified {
		note(show.Doubt, "the server's certificate was not verified")
	}
	if len(r.Generator.Saturated) > 0 {
		note(show.Doubt, "the generator was saturated, these numbers may be its own: %s", show.List(r.Generator.Saturated))
	}
}

func statusList(codes map[string]uint64) string {
	var out []string
	for c, n := range codes {
		out = append(out, fmt.Sprintf("%s × %s", c, show.Count(n)))
	}
	slices.Sort(out)
	return show.List(out)
}

// httpLive says how far a load is: on a terminal in one line that is written
// over, elsewhere in lines.
type httpLive struct {
	*show.Live
	w           io.Writer
	connections int
	last        request.Result
}

func newHTTPLive(w io.Writer, connections int) *httpLive {
	return &httpLive{Live: newLive(w), w: w, connections: connections}
}

func (l *httpLive) every() time.Duration {
	if l.On() {
		return 500 * time.Millisecond
	}
	return 10 * time.Second
}

// show prints the account so far; the rates are since the last time.
func (l *httpLive) show(r request.Result) {
	s := max(r.Seconds-l.last.Seconds, 1e-9)
	q := request.Quantiles{}
	if r.Latency != nil {
		q = *r.Latency
	}
	text := fmt.Sprintf("%6.1f s  %s  %s  failed %s  p50 %s  p99 %s  max %s", r.Seconds,
		show.SI(float64(r.Answered-l.last.Answered)/s, "req/s"), show.Bits(8*float64(r.WireIn-l.last.WireIn)/s), show.Count(r.Failed), ns(q.P50), ns(q.P99), ns(q.Max))
	l.last = r
	if l.On() {
		l.Show("%s", text)
		return
	}
	fmt.Fprintln(l.w, strings.TrimSpace(text))
}

// numbersAfter are the columns of a table that hold numbers: all but the
// first so many.
func numbersAfter(n int) []bool {
	right := slices.Repeat([]bool{true}, 12)
	clear(right[:n])
	return right
}
