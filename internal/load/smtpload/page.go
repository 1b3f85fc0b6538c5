package smtpload

import (
	"fmt"

	"linerate/internal/load/request"
	"linerate/internal/show"
)

// Document is the document of load smtp --json.
type Document struct {
	Version int     `json:"version"`
	Offer   Offer   `json:"offer"`
	Points  []Point `json:"points"`
}

// Offer is what was asked for.
type Offer struct {
	Server     string `json:"server"`
	From       string `json:"from"`
	To         string `json:"to"`
	Accounts   int    `json:"accounts"`
	Sizes      []int  `json:"message_bytes"`
	PerSession int    `json:"messages_per_session"`
	Sources    int    `json:"sources"`
	request.Pace
}

// Point is one run.
type Point struct {
	Sessions int `json:"sessions_allowed"`
	request.Result
	Queue *request.Queue `json:"queue"` // null: not watched
}

// OfferOf is what a spec offers.
func OfferOf(s Spec) Offer {
	return Offer{
		Server: s.Server, From: s.From, To: s.To, Accounts: s.Accounts, Sizes: s.Sizes, PerSession: s.PerSession,
		Sources: len(s.Sources), Pace: s.Pace(),
	}
}

// Page writes the account.
func (d Document) Page(p *show.Page) {
	o, r := d.Offer, d.Points[0]
	g := r.Generator
	p.Line(fmt.Sprintf("%s: SMTP to %s, %s", show.Clean(o.Server), show.Plural(o.Accounts, "account"), o.Words("msg/s", show.Plural(r.Sessions, "session"))))
	p.Line("")
	request.Line(p, "taken", "%s of %s messages in %s", show.Count(r.Answered), show.Count(r.Requests), request.Seconds(r.Seconds))
	request.Line(p, "rate", "%s, %s", show.SI(r.RequestRate, "msg/s"), show.SI(r.BodyRate, "B/s"))
	if q := r.Queue; q != nil {
		request.Line(p, "queue", "%s messages at most, empty %s later; %s deferred", show.Count(q.Peak), request.Seconds(q.DrainSeconds), show.Count(q.Deferred))
		request.Line(p, "delivered", "%s", show.SI(r.SettledRate, "msg/s"))
	}
	request.Line(p, "sessions", "%s made, %s", show.Count(r.Connections), show.SI(r.ConnectionRate, "sessions/s"))
	request.Line(p, "generator", "%s of CPU, %s per message; %s of %s", request.Seconds(g.CPUSeconds), show.Nanos(g.CPUPerRequest), show.Percent(100*g.CPUShare), show.Plural(g.CPUs, "CPU"))
	p.Line("")
	r.LatencyTable(p, o.Open(), "greeting")
	note := request.Notes{Page: p}
	note.Errors(r.Result)
	if len(r.Codes) > 1 {
		note.Add(show.Note, "replies %s", r.StatusList())
	}
	note.Unsent(r.Result, "messages")
	if r.Waited > 0 {
		note.Add(show.Doubt, "%s messages were due when all %s sessions were busy; allow more sessions", show.Count(r.Waited), show.Count(r.Sessions))
	}
	if r.Unfinished > 0 {
		note.Add(show.Note, "%s messages were cut off by the end and are not counted; the server may have taken them", show.Count(r.Unfinished))
	}
	if q := r.Queue; q != nil && q.Waiting > 0 {
		note.Add(show.Doubt, "%s messages were on their way still when the wait ended: the rate of delivery is less", show.Count(q.Waiting))
	}
	note.Saturated(r.Result)
}
