package request

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"linerate/internal/show"
)

// What the accounts of all loads have in common, as people read them.

// Line writes a line of an account, under its name.
func Line(p *show.Page, name, format string, args ...any) {
	p.Line(show.Pad(name, 14) + fmt.Sprintf(format, args...))
}

// Seconds is a time as accounts write it.
func Seconds(s float64) string { return show.Brief(time.Duration(math.Round(s * 1e9))) }

// LatencyTable writes the distributions of a run; connect names the third. Latency
// is from when a request was due in an open loop, from when it was sent in a closed
// one.
func (r Result) LatencyTable(p *show.Page, open bool, connect string) {
	t := show.Table{Right: show.NumbersAfter(1), Header: []string{"", "p50", "p75", "p90", "p99", "p99.9", "max", "mean"}}
	latency := "latency (from sent)"
	if open {
		latency = "latency (from due)"
	}
	r.Latency.addTo(&t, latency)
	if open {
		r.Service.addTo(&t, "service time")
	}
	r.Dial.addTo(&t, connect)
	if open {
		r.Generator.Lag.addTo(&t, "generator lag")
	}
	if len(t.Rows) > 0 {
		p.Table(t)
	}
}

func (q *Quantiles) addTo(t *show.Table, name string) {
	if q != nil {
		t.Add(name, show.Nanos(float64(q.P50)), show.Nanos(float64(q.P75)), show.Nanos(float64(q.P90)), show.Nanos(float64(q.P99)), show.Nanos(float64(q.P999)), show.Nanos(float64(q.Max)), show.Nanos(q.Mean))
	}
}

// Notes are the lines below an account: what went wrong, and what to doubt.
type Notes struct {
	// Page takes them; Of begins each.
	Page *show.Page
	Of   string
}

// Add writes one.
func (n Notes) Add(ink show.Ink, format string, args ...any) {
	n.Page.Paragraph(n.Page.Paint(ink, "note")+"          ", strings.Repeat(" ", 14), n.Of+fmt.Sprintf(format, args...))
}

// Errors counts the failures by their kinds.
func (n Notes) Errors(r Result) {
	for _, e := range r.Errors {
		text := ""
		if e.First != "" {
			text = ": " + show.Clean(e.First)
		}
		n.Add(show.Bad, "%s × %s%s", show.Count(e.Count), e.Text, text)
	}
}

// Unsent counts what was due and never sent.
func (n Notes) Unsent(r Result) {
	if r.Unsent > 0 {
		n.Add(show.Bad, "%s requests were due and never sent; they count as latencies of at least their age", show.Count(r.Unsent))
	}
}

// Saturated doubts the numbers of a generator that was at its own limit.
func (n Notes) Saturated(r Result) {
	if len(r.Generator.Saturated) > 0 {
		n.Add(show.Doubt, "the generator was saturated, these numbers may be its own: %s", show.List(r.Generator.Saturated))
	}
}

// StatusList is which statuses came how often.
func (r Result) StatusList() string {
	var out []string
	for c, n := range r.Codes {
		out = append(out, fmt.Sprintf("%s × %s", c, show.Count(n)))
	}
	slices.Sort(out)
	return show.List(out)
}

// Strictly is the error of a run in which something failed or was not sent, or
// whose generator was saturated.
func (r Result) Strictly() error {
	switch {
	case r.Failed+r.Unsent > 0:
		return fmt.Errorf("%s of %s requests failed, %s were not sent", show.Count(r.Failed), show.Count(r.Requests), show.Count(r.Unsent))
	case len(r.Generator.Saturated) > 0:
		return fmt.Errorf("the generator was saturated: %s", show.List(r.Generator.Saturated))
	}
	return nil
}

// Pace is how and for how long a load was offered.
type Pace struct {
	Loop           string  `json:"loop"`               // "closed" or "open"
	Arrivals       string  `json:"arrivals,omitempty"` // of an open loop
	Rate           float64 `json:"rate"`               // a second, of an open loop
	Seconds        float64 `json:"seconds"`
	WarmupSeconds  float64 `json:"warmup_seconds"`
	TimeoutSeconds float64 `json:"timeout_seconds"`
	Seed           uint64  `json:"seed"`
}

// Open tells an open loop from a closed one.
func (p Pace) Open() bool { return p.Loop == "open" }

// Words describe the loop: what arrives in an open one, in this unit, or who goes round in a
// closed one.
func (p Pace) Words(unit, who string) string {
	if p.Open() {
		return fmt.Sprintf("open loop, %s, %s", show.SI(p.Rate, unit), p.Arrivals)
	}
	return "closed loop, " + who
}
