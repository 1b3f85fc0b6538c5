package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"linerate/internal/cli"
	"linerate/internal/load/request"
	"linerate/internal/show"
)

// What the accounts of all loads have in common.

func ns(v int64) string { return show.Nanos(float64(v)) }

// accountLine writes a line of an account, under its name.
func accountLine(p *show.Page, name, format string, args ...any) {
	p.Line(show.Pad(name, 14) + fmt.Sprintf(format, args...))
}

// latencyTable writes an account's distributions. Latency is from when a
// request was due in an open loop, from when it was sent in a closed one.
func latencyTable(p *show.Page, open bool, r request.Result, connect string) {
	t := show.Table{Right: show.NumbersAfter(1), Header: []string{"", "p50", "p75", "p90", "p99", "p99.9", "max", "mean"}}
	latency := "latency (from sent)"
	if open {
		latency = "latency (from due)"
	}
	addQuantiles(&t, latency, r.Latency)
	if open {
		addQuantiles(&t, "service time", r.Service)
	}
	addQuantiles(&t, connect, r.Dial)
	if open {
		addQuantiles(&t, "generator lag", r.Generator.Lag)
	}
	if len(t.Rows) > 0 {
		p.Table(t)
	}
}

func addQuantiles(t *show.Table, name string, q *request.Quantiles) {
	if q != nil {
		t.Add(name, ns(q.P50), ns(q.P75), ns(q.P90), ns(q.P99), ns(q.P999), ns(q.Max), show.Nanos(q.Mean))
	}
}

// note writes what went wrong, or is to be doubted.
type note func(ink show.Ink, format string, args ...any)

func noting(p *show.Page, of string) note {
	return func(ink show.Ink, format string, args ...any) {
		p.Paragraph(p.Paint(ink, "note")+"          ", strings.Repeat(" ", 14), of+fmt.Sprintf(format, args...))
	}
}

func noteErrors(note note, r request.Result) {
	for _, e := range r.Errors {
		text := ""
		if e.First != "" {
			text = ": " + show.Clean(e.First)
		}
		note(show.Bad, "%s × %s%s", show.Count(e.Count), e.Text, text)
	}
}

func noteUnsent(note note, r request.Result, what string) {
	if r.Unsent > 0 {
		note(show.Bad, "%s %s were due and never sent; they count as latencies of at least their age", show.Count(r.Unsent), what)
	}
}

func noteSaturated(note note, r request.Result) {
	if len(r.Generator.Saturated) > 0 {
		note(show.Doubt, "the generator was saturated, these numbers may be its own: %s", show.List(r.Generator.Saturated))
	}
}

// loadLive says how far a load is: on a terminal in one line that is written
// over, elsewhere in lines.
type loadLive struct {
	*show.Live
	w    io.Writer
	unit string
	last request.Result
}

func newLoadLive(w io.Writer, unit string) *loadLive {
	return &loadLive{Live: cli.NewLive(w), w: w, unit: unit}
}

// every is how often to say it: as asked, or half a second on a terminal and
// ten seconds elsewhere.
func (l *loadLive) every(asked time.Duration) time.Duration {
	switch {
	case asked != 0:
		return asked
	case l.On():
		return 500 * time.Millisecond
	}
	return 10 * time.Second
}

// show prints the account so far; the rates are since the last time.
func (l *loadLive) show(r request.Result) {
	s := max(r.Seconds-l.last.Seconds, 1e-9)
	q := request.Quantiles{}
	if r.Latency != nil {
		q = *r.Latency
	}
	bytes := ""
	if r.WireIn > 0 {
		bytes = show.Bits(8*float64(r.WireIn-l.last.WireIn)/s) + "  "
	}
	text := fmt.Sprintf("%6.1f s  %s  %sfailed %s  p50 %s  p99 %s  max %s", r.Seconds,
		show.SI(float64(r.Answered-l.last.Answered)/s, l.unit), bytes, show.Count(r.Failed), ns(q.P50), ns(q.P99), ns(q.Max))
	l.last = r
	if l.On() {
		l.Show("%s", text)
		return
	}
	fmt.Fprintln(l.w, strings.TrimSpace(text))
}

// judgeLoad is the error of a run that --strict refuses.
func judgeLoad(r request.Result, what string) error {
	switch {
	case r.Failed+r.Unsent > 0:
		return fmt.Errorf("%s of %s %s failed, %s were not sent", show.Count(r.Failed), show.Count(r.Requests), what, show.Count(r.Unsent))
	case len(r.Generator.Saturated) > 0:
		return fmt.Errorf("the generator was saturated: %s", show.List(r.Generator.Saturated))
	}
	return nil
}
