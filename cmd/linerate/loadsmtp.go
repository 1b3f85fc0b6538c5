package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/load/request"
	"linerate/internal/load/smtpload"
	"linerate/internal/show"
)

// smtpDoc is the document of load smtp --json.
type smtpDoc struct {
	Version int         `json:"version"`
	Offer   smtpOffer   `json:"offer"`
	Points  []smtpPoint `json:"points"`
}

// smtpOffer is what was asked for.
type smtpOffer struct {
	Driver         string  `json:"driver"` // "linerate" or "postal"
	Server         string  `json:"server"`
	From           string  `json:"from"`
	To             string  `json:"to"`
	Accounts       int     `json:"accounts"`
	Sizes          []int   `json:"message_bytes"`
	PerSession     int     `json:"messages_per_session"`
	Loop           string  `json:"loop"`
	Arrivals       string  `json:"arrivals,omitempty"`
	Rate           float64 `json:"rate"`
	Sources        int     `json:"sources"`
	Seconds        float64 `json:"seconds"`
	WarmupSeconds  float64 `json:"warmup_seconds"`
	TimeoutSeconds float64 `json:"timeout_seconds"`
	Seed           uint64  `json:"seed"`
}

// smtpPoint is one run.
type smtpPoint struct {
	Sessions int `json:"sessions_allowed"`
	request.Result
	Queue *request.Queue `json:"queue"` // null: not watched
}

func (f loadSMTPFlags) offer(s smtpload.Spec) smtpOffer {
	o := smtpOffer{
		Driver: f.driver, Server: s.Server, From: s.From, To: s.To, Accounts: s.Accounts, Sizes: s.Sizes, PerSession: s.PerSession, Loop: "closed", Rate: s.Rate,
		Sources: len(s.Sources), Seconds: s.Duration.Seconds(), WarmupSeconds: s.Warmup.Seconds(), TimeoutSeconds: s.Timeout.Seconds(), Seed: s.Seed,
	}
	if s.Rate > 0 {
		o.Loop, o.Arrivals = "open", string(s.Arrivals)
	}
	return o
}

// print writes the account.
func (f loadSMTPFlags) print(cmd *cobra.Command, d smtpDoc) error {
	if f.json {
		return cli.PrintJSON(cmd.OutOrStdout(), d)
	}
	p := show.NewPage(cli.StyleOf(cmd.OutOrStdout()))
	d.page(p)
	return p.Flush(cmd.OutOrStdout())
}

func (d smtpDoc) page(p *show.Page) {
	o, r := d.Offer, d.Points[0]
	g := r.Generator
	how := fmt.Sprintf("closed loop, %s", show.Plural(r.Sessions, "session"))
	if o.Loop == "open" {
		how = fmt.Sprintf("open loop, %s, %s", show.SI(o.Rate, "msg/s"), o.Arrivals)
	}
	if o.Driver != driverOwn {
		how += ", by " + o.Driver
	}
	p.Line(fmt.Sprintf("%s: SMTP to %s, %s", show.Clean(o.Server), show.Plural(o.Accounts, "account"), how))
	p.Line("")
	seconds := func(s float64) string { return show.Brief(time.Duration(s * 1e9)) }
	accountLine(p, "taken", "%s of %s messages in %s", show.Count(r.Answered), show.Count(r.Requests), seconds(r.Seconds))
	rate := show.SI(r.RequestRate, "msg/s")
	if o.Driver == driverOwn {
		rate += ", " + show.SI(r.BodyRate, "B/s")
	}
	accountLine(p, "rate", "%s", rate)
	if q := r.Queue; q != nil {
		accountLine(p, "queue", "%s messages at most, empty %s later; %s deferred", show.Count(q.Peak), seconds(q.DrainSeconds), show.Count(q.Deferred))
		accountLine(p, "delivered", "%s", show.SI(r.SettledRate, "msg/s"))
	}
	if o.Driver == driverOwn {
		accountLine(p, "sessions", "%s made, %s", show.Count(r.Connections), show.SI(r.ConnectionRate, "sessions/s"))
	}
	accountLine(p, "generator", "%s of CPU, %s per message; %s of %s", seconds(g.CPUSeconds), show.Nanos(g.CPUPerRequest), show.Percent(100*g.CPUShare), show.Plural(g.CPUs, "CPU"))
	p.Line("")
	latencyTable(p, o.Loop == "open", r.Result, "greeting")
	note := noting(p, "")
	noteErrors(note, r.Result)
	if len(r.Codes) > 1 {
		note(show.Note, "replies %s", statusList(r.Codes))
	}
	noteUnsent(note, r.Result, "messages")
	if r.Waited > 0 {
		note(show.Doubt, "%s messages were due when all %s sessions were busy; --sessions allows more", show.Count(r.Waited), show.Count(r.Sessions))
	}
	if r.Unfinished > 0 {
		note(show.Note, "%s messages were cut off by the end and are not counted; the server may have taken them", show.Count(r.Unfinished))
	}
	if q := r.Queue; q != nil && q.Waiting > 0 {
		note(show.Doubt, "%s messages were on their way still when the wait ended: the rate of delivery is less", show.Count(q.Waiting))
	}
	noteSaturated(note, r.Result)
}
