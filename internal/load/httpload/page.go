package httpload

import (
	"errors"
	"fmt"

	"linerate/internal/hint"
	"linerate/internal/load/request"
	"linerate/internal/show"
)

// Document is the document of load http --json.
type Document struct {
	Version int     `json:"version"`
	Offer   Offer   `json:"offer"`
	Points  []Point `json:"points"`
}

// Offer is what was asked for.
type Offer struct {
	URLs           []string `json:"urls"`
	HTTP           string   `json:"http"`
	NewConnections bool     `json:"new_connections"`
	Verified       *bool    `json:"certificate_verified"`
	Sources        int      `json:"sources"`
	request.Pace
}

// Point is one run, of so many connections.
type Point struct {
	Connections int `json:"connections_allowed"`
	request.Result
}

// OfferOf is what a spec offers to the URLs, as they were typed.
func OfferOf(s Spec, urls []string) Offer {
	o := Offer{
		URLs: urls, HTTP: "1.1", NewConnections: s.NewEach, Sources: len(s.Sources),
		Pace: s.Pace(),
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

// Strictly is the error of the first run that failed in part, or whose generator was
// saturated.
func (d Document) Strictly() error {
	for _, p := range d.Points {
		if err := p.Strictly(); err != nil {
			return err
		}
	}
	return nil
}

// Unanswered is the error of a load to which nothing was answered: there is nothing
// to be read from its numbers.
func (d Document) Unanswered() error {
	asked := false
	for _, p := range d.Points {
		if p.Answered > 0 {
			return nil
		}
		asked = asked || p.Requests > 0
	}
	if !asked {
		return nil
	}
	return hint.With(errors.New("no request was answered"), "the account names the failures; is the server there, and the path?")
}

// Page writes the account; swept: a line a point.
func (d Document) Page(p *show.Page, swept bool) {
	p.Line(d.Offer.headline(d.Points))
	p.Line("")
	if swept {
		sweepPage(p, d.Points)
	} else {
		pointPage(p, d)
	}
	for i := range d.Points {
		notesOf(p, d.Offer, d.Points[i], swept)
	}
}

func (o Offer) headline(points []Point) string {
	what := o.Words("req/s", show.Plural(points[0].Connections, "connection"))
	if len(points) > 1 {
		what = "closed loops"
	}
	if o.NewConnections {
		what += ", a new connection each"
	}
	return fmt.Sprintf("%s: HTTP/%s, %s", show.Clean(o.URLs[0]), o.HTTP, what)
}

// pointPage writes one run.
func pointPage(p *show.Page, d Document) {
	r := d.Points[0]
	g := r.Generator
	request.Line(p, "answered", "%s of %s requests in %s", show.Count(r.Answered), show.Count(r.Requests), request.Seconds(r.Seconds))
	request.Line(p, "rate", "%s, bodies %s, %s on the wire", show.SI(r.RequestRate, "req/s"), show.SI(r.BodyRate, "B/s"), show.Bits(8*r.WireRate))
	request.Line(p, "connections", "%s made, %s", show.Count(r.Result.Connections), show.SI(r.ConnectionRate, "conn/s"))
	if r.Negotiated != "" {
		request.Line(p, "negotiated", "%s", r.Negotiated)
	}
	request.Line(p, "generator", "%s of CPU, %s per request; %s of %s", request.Seconds(g.CPUSeconds), show.Nanos(g.CPUPerRequest), show.Percent(100*g.CPUShare), show.Plural(g.CPUs, "CPU"))
	p.Line("")
	r.LatencyTable(p, d.Offer.Open(), "connect")
	if len(r.Targets) > 1 {
		p.Line("")
		p.Table(mixTable(d.Offer.URLs, r.Targets))
	}
}

func mixTable(urls []string, counts []request.TargetCount) show.Table {
	t := show.Table{Right: show.NumbersAfter(1), Header: []string{"mix", "answered", "failed", "bodies"}}
	for i, c := range counts {
		t.Add(show.Clean(urls[i]), show.Count(c.Answered), show.Count(c.Failed), show.Bytes(float64(c.Body)))
	}
	return t
}

func sweepPage(p *show.Page, points []Point) {
	t := show.Table{Right: show.NumbersAfter(0), Header: []string{"connections", "req/s", "bodies/s", "conn/s", "p50", "p99", "max", "failed", "CPU"}}
	for _, r := range points {
		q := request.Quantiles{}
		if r.Latency != nil {
			q = *r.Latency
		}
		t.Add(show.Count(r.Connections), show.SI(r.RequestRate, ""), show.SI(r.BodyRate, "B"), show.SI(r.ConnectionRate, ""),
			show.Nanos(float64(q.P50)), show.Nanos(float64(q.P99)), show.Nanos(float64(q.Max)), show.Count(r.Failed), show.Percent(100*r.Generator.CPUShare))
	}
	p.Table(t)
}

// notesOf writes what went wrong, and what to doubt.
func notesOf(p *show.Page, o Offer, r Point, named bool) {
	of := ""
	if named {
		of = fmt.Sprintf("%d connections: ", r.Connections)
	}
	note := request.Notes{Page: p, Of: of}
	note.Errors(r.Result)
	if len(r.Codes) > 1 || len(r.Codes) == 1 && r.Codes["200"] == 0 {
		note.Add(show.Note, "status %s", r.StatusList())
	}
	note.Unsent(r.Result)
	if r.Waited > 0 {
		note.Add(show.Doubt, "%s requests were due when all %s connections were busy; allow more connections", show.Count(r.Waited), show.Count(r.Connections))
	}
	if r.Unfinished*100 > r.Requests {
		note.Add(show.Doubt, "%s requests were cut off by the end, and are not counted", show.Count(r.Unfinished))
	}
	if o.Verified != nil && !*o.Verified {
		note.Add(show.Doubt, "the server's certificate was not verified")
	}
	note.Saturated(r.Result)
}
