package plan

import (
	"math"
	"sync"

	"linerate/internal/fact/factexpr"
	"linerate/internal/show"
	"linerate/internal/tunable"
)

// names are what expressions of advice see: the host and its tunables as the
// catalogue has them, what the host must carry, and the tunable at hand.
type names struct {
	tunable.Names
	// RTT is the longest round trip in seconds, States and Connections the most at a time;
	// 0 when not given. A link that was asked for overrides the host's Link.
	RTT         float64 `expr:"rtt"`
	States      float64 `expr:"states"`
	Connections float64 `expr:"connections"`
	// ConnectionRate is what one connection must reach in bit/s, at most the
	// link; ConnectionRateDefault says in words that it is a default.
	ConnectionRate        float64 `expr:"connection_rate"`
	ConnectionRateDefault string  `expr:"connection_rate_default"`
	// FastConnections is how many connections may reach it at a time.
	FastConnections float64 `expr:"fast_connections"`
	// Current is the tunable's number now, New what the plan sets it to.
	Current float64 `expr:"current"`
	New     float64 `expr:"new"`
	// Lasts: a boot keeps the running value, as far as the files tell.
	Lasts bool `expr:"lasts"`
	// Want is what the needs ask for, Granted what of it the bounds leave,
	// Bound the reason of the one that binds.
	Want    float64 `expr:"want"`
	Granted float64 `expr:"granted"`
	Bound   string  `expr:"bound"`
	// Often: what a counter, or several by a pattern, counts happens more than once an hour.
	Often func(counters string) bool `expr:"often"`
	// Device is the interface at hand.
	Device string `expr:"device"`

	// Size and Rate write bytes and bits per second for people, Up rounds
	// up to a multiple, Down down to one.
	Size func(bytes any) string        `expr:"size"`
	Rate func(bits any) string         `expr:"rate"`
	Up   func(v, multiple any) float64 `expr:"up"`
	Down func(v, multiple any) float64 `expr:"down"`
	// Span writes seconds for people, Grouped a whole number.
	Span    func(seconds any) string `expr:"span"`
	Grouped func(n any) string       `expr:"grouped"`
}

// language is that of the advice.
var language = sync.OnceValue(factexpr.NewLanguage[names])

func (in *Input) names() *names {
	n := &names{Names: *in.Catalogue.NewEnv(in.Facts, in.Role).Names}
	if in.Needs.Link > 0 {
		n.Link = int(in.Needs.Link)
	}
	n.RTT, n.States, n.Connections = in.Needs.RTT, in.Needs.States, in.Needs.Connections
	n.ConnectionRate, n.ConnectionRateDefault = connectionRate(in.Needs.ConnectionRate, float64(n.Link), in.Role)
	if n.ConnectionRate > 0 {
		n.FastConnections = float64(n.Link) / n.ConnectionRate
	}
	if n.Connections > 0 {
		n.FastConnections = min(n.FastConnections, n.Connections)
	}
	n.Often = func(counters string) bool {
		sum := in.Facts.Sum(counters)
		return sum > 10 && sum*3600 > in.Facts.UptimeSeconds
	}
	n.Size = func(bytes any) string { return show.Bytes(factexpr.Number(bytes)) }
	n.Rate = func(bits any) string { return show.Bits(factexpr.Number(bits)) }
	n.Span = func(seconds any) string { return show.Nanos(factexpr.Number(seconds) * 1e9) }
	n.Grouped = func(v any) string { return show.Grouped(factexpr.Number(v), 0) }
	n.Up = func(v, multiple any) float64 { return roundUp(factexpr.Number(v), factexpr.Number(multiple)) }
	n.Down = func(v, multiple any) float64 { return -roundUp(-factexpr.Number(v), factexpr.Number(multiple)) }
	return n
}

// mostOfMany is the default rate of one connection, in bit/s, where a host serves many.
const mostOfMany = 1e9

// connectionRate is the rate that one connection must reach, and a note where it is a
// default below the link's.
func connectionRate(asked, link float64, role string) (rate float64, note string) {
	switch {
	case link <= 0:
		return asked, ""
	case asked > 0:
		return min(asked, link), ""
	case role == "endpoint", role == "generator", link <= mostOfMany:
		return link, ""
	}
	return mostOfMany, " (--connection-rate; default: the link, at most " + show.Bits(mostOfMany) + ")"
}

// missing tells which needs neither the caller nor the facts give, in words.
func (n *names) missing(needs []string) []string {
	words := map[string]string{"link": "the rate of the link", "rtt": "the longest round trip that matters (rtt)", "states": "how many flows are tracked at a time (states)",
		"connections": "how many connections there are at a time"}
	known := map[string]bool{"link": n.Link > 0, "rtt": n.RTT > 0, "states": n.States > 0, "connections": n.Connections > 0,
		"connection_rate": true} // by default the link's, which is asked for
	var out []string
	for _, need := range needs {
		if !known[need] {
			out = append(out, words[need])
		}
	}
	return out
}

// roundUp is the least multiple that is at least v.
func roundUp(v, multiple float64) float64 {
	if multiple <= 0 {
		return v
	}
	return multiple * math.Ceil(v/multiple)
}
