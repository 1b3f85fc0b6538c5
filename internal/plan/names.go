package plan

import (
	"math"
	"sync"

	"linerate/internal/fact/factexpr"
	"linerate/internal/show"
	"linerate/internal/tunable"
)

// names are the variables and functions of expressions in advice: the host and its tunables, the
// needs, and the current tunable.
type names struct {
	tunable.Names
	// RTT is the longest round trip in seconds, States and Connections the maximum concurrent
	// number; 0 if not given. A given link rate overrides the host's Link.
	RTT         float64 `expr:"rtt"`
	States      float64 `expr:"states"`
	Connections float64 `expr:"connections"`
	// ConnectionRate is the rate that one connection must reach, in bit/s, at most the link's;
	// ConnectionRateDefault is a note if it is a default.
	ConnectionRate        float64 `expr:"connection_rate"`
	ConnectionRateDefault string  `expr:"connection_rate_default"`
	// FastConnections is the number of connections that may reach that rate at a time.
	FastConnections float64 `expr:"fast_connections"`
	// Current is the current value of the tunable, New the planned one.
	Current float64 `expr:"current"`
	New     float64 `expr:"new"`
	// Lasts means that, as far as the files tell, the running value survives a reboot.
	Lasts bool `expr:"lasts"`
	// Want is the number that the needs require, Granted the part within the bounds, Bound the
	// reason of the effective bound.
	Want    float64 `expr:"want"`
	Granted float64 `expr:"granted"`
	Bound   string  `expr:"bound"`
	// Device is the current interface.
	Device string `expr:"device"`

	// Size and Rate format bytes and bits per second; Up and Down round to a multiple.
	Size func(bytes any) string        `expr:"size"`
	Rate func(bits any) string         `expr:"rate"`
	Up   func(v, multiple any) float64 `expr:"up"`
	Down func(v, multiple any) float64 `expr:"down"`
	// Span formats seconds, Grouped a whole number.
	Span    func(seconds any) string `expr:"span"`
	Grouped func(n any) string       `expr:"grouped"`
}

// language is the expression language of advice.
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
	n.Size = func(bytes any) string { return show.Bytes(factexpr.Number(bytes)) }
	n.Rate = func(bits any) string { return show.Bits(factexpr.Number(bits)) }
	n.Span = func(seconds any) string { return show.Nanos(factexpr.Number(seconds) * 1e9) }
	n.Grouped = func(v any) string { return show.Grouped(factexpr.Number(v), 0) }
	n.Up = func(v, multiple any) float64 { return roundUp(factexpr.Number(v), factexpr.Number(multiple)) }
	n.Down = func(v, multiple any) float64 { return -roundUp(-factexpr.Number(v), factexpr.Number(multiple)) }
	return n
}

// mostOfMany is the default rate of one connection, in bit/s, on hosts that serve many.
const mostOfMany = 1e9

// connectionRate returns the rate that one connection must reach, and a note if it is a default
// below the link's rate.
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

// missing describes the needs that are in neither the flags nor the facts.
func (n *names) missing(needs []string) []string {
	words := map[string]string{"link": "the rate of the link", "rtt": "the longest round trip that matters (rtt)", "states": "how many flows are tracked at a time (states)",
		"connections": "how many connections there are at a time"}
	known := map[string]bool{"link": n.Link > 0, "rtt": n.RTT > 0, "states": n.States > 0, "connections": n.Connections > 0,
		"connection_rate": true} // it has a default: the rate of the link, which is checked
	var out []string
	for _, need := range needs {
		if !known[need] {
			out = append(out, words[need])
		}
	}
	return out
}

// roundUp returns the least multiple that is at least v.
func roundUp(v, multiple float64) float64 {
	if multiple <= 0 {
		return v
	}
	return multiple * math.Ceil(v/multiple)
}
