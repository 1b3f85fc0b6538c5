package live

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"

	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/instrument"
	"linerate/internal/list"
	"linerate/internal/study"
)

// Source measures one metric of a host under its own traffic.
type Source interface {
	// Tick takes what accumulated since the last tick, within or between windows: a value
	// for the guardrail and the time series, NaN if there was nothing to measure. Errors
	// are reported to the user; the study continues without the value.
	Tick(ctx context.Context, now Sample) (float64, error)
	// Begin discards what came before; counting starts here.
	Begin()
	// Value returns the metric over everything since Begin; NaN if there is nothing.
	Value() float64
	// Traffic returns how many packets, requests or readings were measured
	// since Begin; 0 if unknown.
	Traffic() float64
	Close() error
}

// Metric is a metric that a user chose, with its source.
type Metric struct {
	study.Watched
	from Source
}

// sources maps a metric's first word to the constructor, which gets the text after the colon.
var sources = map[string]func(o *Options, rest string) (study.Watched, Source, error){
	"cpu-per-packet":     counterSource(study.CPUPerPacket, nanoseconds(study.CPUPerPacket), func(s Sample) float64 { return s.Packets }),
	"softirq-per-packet": counterSource(study.SoftirqPerPacket, nanoseconds(study.SoftirqPerPacket), func(s Sample) float64 { return s.Packets }),
	"retransmits":        sentAgain,
	"drops":              counterSource(study.DropsPerPacket, func(s Sample) float64 { return s.Drops }, func(s Sample) float64 { return s.Packets }),
	"rtt":                fromConnections(study.RoundTrip, func(c connection) float64 { return 1e9 * c.RoundTrip }),
	"delivery-rate":      fromConnections(study.DeliveryRate, func(c connection) float64 { return c.Rate }),
	"log":                fromLog,
	"cpu-per-request":    perRequest,
	"probe":              fromProbe,
	"command":            fromCommand,
	"prometheus":         fromPrometheus,
}

// sourceNames lists them in the order of the help.
var sourceNames = []string{"log", "cpu-per-packet", "softirq-per-packet", "cpu-per-request", "retransmits", "rtt", "delivery-rate", "drops", "probe", "command", "prometheus"}

// try reads each user-defined metric once, so that a study with a broken one does
// not begin.
func (o *Options) try(ctx context.Context) error {
	for _, m := range o.metrics {
		t, ok := m.from.(interface{ try(context.Context) error })
		if !ok {
			continue
		}
		if err := t.try(ctx); err != nil {
			return fmt.Errorf("metric %s: %w", m.Source, err)
		}
	}
	return nil
}

// ParseMetric parses a metric as users write it: log:PATH#p99,
// cpu-per-packet, probe:URL, command:PATH, prometheus:URL#QUERY.
func (o *Options) ParseMetric(text string) (Metric, error) {
	word, rest, _ := strings.Cut(text, ":")
	make, ok := sources[word]
	if !ok {
		return Metric{}, hint.Unknown("metric", word, sourceNames)
	}
	w, s, err := make(o, rest)
	if err != nil {
		return Metric{}, fmt.Errorf("metric %s: %w", text, err)
	}
	w.Source = text
	return Metric{Watched: w, from: s}, nil
}

// told describes each metric and its precision, as "log:PATH: …".
func (o *Options) told() []string {
	return list.Map(o.metrics, func(m Metric) string { return m.Source + ": " + m.How })
}

// counters is the ratio of the increments of two counters.
type counters struct {
	amount, per func(Sample) float64
	last        Sample
	known       bool
	sum, of     float64
}

func counterSource(name string, amount, per func(Sample) float64) func(*Options, string) (study.Watched, Source, error) {
	return func(o *Options, rest string) (study.Watched, Source, error) {
		if rest != "" {
			return study.Watched{}, nil, hint.Usagef("%q is more than the metric takes", rest)
		}
		w := study.Watched{Metric: name, How: howCounted[name]}
		if _, ok := cpuTimes[name]; ok {
			w.How = o.howKernel(name) + "; over the packets of all interfaces but loopback"
		}
		return w, &counters{amount: amount, per: per}, nil
	}
}

// howCounted describes the metrics of counters, and their precision.
var howCounted = map[string]string{
	study.Retransmits:    "TCP segments that were sent again, of all that the host sent",
	study.DropsPerPacket: "packets that interfaces, queues and sockets dropped, over all packets",
	study.RoundTrip:      "median of the smoothed round trips of established connections (ss), at each look: what was opened and closed between two looks is not in it",
	study.DeliveryRate:   "median of the delivery rates of established connections (ss), at each look: what was opened and closed between two looks is not in it",
}

func (c *counters) Tick(_ context.Context, now Sample) (float64, error) {
	before, known := c.last, c.known && c.last.Boot == now.Boot
	c.last, c.known = now, true
	if !known {
		return math.NaN(), nil
	}
	sum, of := c.amount(now)-c.amount(before), c.per(now)-c.per(before)
	if !(sum >= 0 && of >= 0) { // an interface disappeared, or counters were reset
		return math.NaN(), nil
	}
	c.sum, c.of = c.sum+sum, c.of+of
	return ratio(sum, of), nil
}

func (c *counters) Begin()           { c.sum, c.of = 0, 0 }
func (c *counters) Value() float64   { return ratio(c.sum, c.of) }
func (c *counters) Traffic() float64 { return c.of }
func (c *counters) Close() error     { return nil }

// ratio returns a/b; NaN if b is not positive.
func ratio(a, b float64) float64 {
	if b <= 0 {
		return math.NaN()
	}
	return a / b
}

// readings averages values over a window.
type readings struct{ sum, n float64 }

func (r *readings) add(v float64) {
	if !math.IsNaN(v) {
		r.sum, r.n = r.sum+v, r.n+1
	}
}

func (r *readings) Begin()           { *r = readings{} }
func (r *readings) Value() float64   { return ratio(r.sum, r.n) }
func (r *readings) Traffic() float64 { return 0 }
func (r *readings) Close() error     { return nil }

// webURL parses a URL that the controller will fetch.
func webURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, hint.With(hint.Usagef("%q is not a URL", text), "such as http://www1.example.net/health")
	}
	return u, nil
}

// looker reads one host.
type looker struct {
	host.Runner
	connections bool
	service     string
	kernel      instrument.KernelClock // nil: use the host's own accounts
}

// look takes a sample.
func (l *looker) look(ctx context.Context) (Sample, error) {
	connections := ""
	if l.connections {
		connections = "yes"
	}
	start := time.Now()
	out, err := l.Run(ctx, sampleScript, []string{"look", connections, l.service}, nil)
	if err != nil {
		return Sample{}, fmt.Errorf("read the counters of %s: %w", l.Where(), err)
	}
	s, err := parseSample(string(out))
	if err != nil {
		return s, fmt.Errorf("read the counters of %s: %w", l.Where(), err)
	}
	s.At, s.Took = start, time.Since(start)
	if l.kernel != nil {
		s.unread = l.meter(&s)
	}
	return s, nil
}
