package live

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// connection is an established TCP connection on the host.
type connection struct {
	ID              string  // the addresses of both ends
	RoundTrip       float64 // smoothed, in seconds
	Segments, Again float64 // segments sent, and retransmitted, since the connection was opened
	Rate            float64 // delivery rate, in bits per second; NaN if the host does not report it
}

// connection parses a line of sample.sh: ID rtt-in-ms segments retransmitted rate.
func (p *parsing) connection(f []string) {
	if len(f) < 5 {
		return
	}
	p.Connections = append(p.Connections, connection{ID: f[0], RoundTrip: number(f, 1) / 1000, Segments: number(f, 2), Again: number(f, 3), Rate: bits(f[4])})
}

// bits parses a rate as ss prints it: 94184bps, 11.6Mbps.
func bits(s string) float64 {
	s = strings.TrimSuffix(s, "bps")
	scale := 1.0
	if n := len(s) - 1; n > 0 {
		if x, ok := map[byte]float64{'K': 1e3, 'M': 1e6, 'G': 1e9, 'T': 1e12}[s[n]]; ok {
			s, scale = s[:n], x
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return math.NaN()
	}
	return v * scale
}

// howNew says what a metric of connections excludes if the setting affects new ones
// only.
const howNew = ", of those opened in the window alone: the setting acts on new ones"

// connectionless reports whether the host's kernel provides no per-connection data.
func (o *Options) connectionless() bool { return strings.EqualFold(o.OS, fact.FreeBSD) }

// young excludes connections older than the window, if the setting under study
// affects new connections only.
type young struct {
	only bool
	old  map[string]bool
	last []connection
}

// turned is called when a window begins: connections that exist now are older than it.
func (y *young) turned() {
	y.old = map[string]bool{}
	for _, c := range y.last {
		y.old[c.ID] = true
	}
}

// of returns the connections of a look that count.
func (y *young) of(now Sample) []connection {
	y.last = now.Connections
	if !y.only {
		return now.Connections
	}
	return slices.DeleteFunc(slices.Clone(now.Connections), func(c connection) bool { return y.old[c.ID] })
}

// sampled is a metric that is the median over the connections at each look.
type sampled struct {
	readings
	young
	value func(connection) float64
}

func fromConnections(name string, value func(connection) float64) func(*Options, string) (study.Watched, Source, error) {
	return func(o *Options, rest string) (study.Watched, Source, error) {
		if rest != "" {
			return study.Watched{}, nil, hint.Usagef("%q is more than the metric takes", rest)
		}
		w := study.Watched{Metric: name, How: howCounted[name]}
		if o.connectionless() {
			return w, nil, hint.With(errors.New("FreeBSD's kernel does not export the round trip or the delivery rate of a connection (net.inet.tcp.pcblist has windows, timers and segments sent again)"),
				"watch retransmits, a probe (probe:tcp://HOST:PORT) or the server's log instead")
		}
		o.connections = true
		if o.NewConnections {
			w.How += howNew
		}
		return w, &sampled{young: young{only: o.NewConnections}, value: value}, nil
	}
}

func (s *sampled) Tick(_ context.Context, now Sample) (float64, error) {
	var values []float64
	for _, c := range s.of(now) {
		if v := s.value(c); !math.IsNaN(v) && v > 0 {
			values = append(values, v)
		}
	}
	v := stats.Median(values)
	s.add(v)
	return v, nil
}

// sentAgain returns the share of retransmitted segments: from the host's counters or,
// if the setting affects new connections only, from those connections.
func sentAgain(o *Options, rest string) (study.Watched, Source, error) {
	if !o.NewConnections || o.connectionless() {
		w, s, err := counterSource(study.Retransmits, func(s Sample) float64 { return s.Again }, func(s Sample) float64 { return s.Segments })(o, rest)
		if o.NewConnections {
			w.How += "; the setting acts on new connections, and those older than the window are counted too: FreeBSD does not tell them apart"
		}
		return w, s, err
	}
	if rest != "" {
		return study.Watched{}, nil, hint.Usagef("%q is more than the metric takes", rest)
	}
	o.connections = true
	return study.Watched{Metric: study.Retransmits, How: howCounted[study.Retransmits] + howNew}, &againByConnection{young: young{only: true}}, nil
}

// againByConnection sums what connections sent between two looks at which they were seen.
type againByConnection struct {
	young
	seen       map[string]connection
	again, all float64
}

func (a *againByConnection) Tick(_ context.Context, now Sample) (float64, error) {
	seen := map[string]connection{}
	again, all := 0.0, 0.0
	for _, c := range a.of(now) {
		before := a.seen[c.ID] // zero if it was opened since: everything it sent counts
		if c.Segments >= before.Segments && c.Again >= before.Again {
			again, all = again+c.Again-before.Again, all+c.Segments-before.Segments
		}
		seen[c.ID] = c
	}
	a.seen = seen
	a.again, a.all = a.again+again, a.all+all
	return ratio(again, all), nil
}

func (a *againByConnection) Begin()           { a.again, a.all = 0, 0 }
func (a *againByConnection) Value() float64   { return ratio(a.again, a.all) }
func (a *againByConnection) Traffic() float64 { return a.all }
func (a *againByConnection) Close() error     { return nil }
