package live

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/study"
)

// Source measures one metric of a host under its own traffic.
type Source interface {
	// Tick takes what there is since the last tick, of a window or between two: a
	// value for the guardrail and the time series, NaN where there was nothing to
	// measure. Its errors are for people; the study goes on without the value.
	Tick(ctx context.Context, now Sample) (float64, error)
	// Begin forgets what came before: what is counted begins here.
	Begin()
	// Value is the metric over all since Begin; NaN of nothing.
	Value() float64
	// Traffic is how much there was to measure since Begin: packets, requests,
	// readings; 0 where the source cannot say.
	Traffic() float64
	Close() error
}

// Metric is a metric that a user chose, with where it comes from.
type Metric struct {
	study.Watched
	from Source
}

// sources make a Source of what follows the word and its colon.
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

// sourceNames in the order of the help.
var sourceNames = []string{"log", "cpu-per-packet", "softirq-per-packet", "cpu-per-request", "retransmits", "rtt", "delivery-rate", "drops", "probe", "command", "prometheus"}

// try reads each metric of the user's own once: what fails from the start ends the
// study before it begins.
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

// ParseMetric reads a metric as users write it: log:PATH#p99, cpu-per-packet,
// probe:URL, command:PATH, prometheus:URL#QUERY.
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

// told says of each metric what it is, and how exact, as "log:PATH: …".
func (o *Options) told() []string {
	return list.Map(o.metrics, func(m Metric) string { return m.Source + ": " + m.How })
}

// counters is the metric of two counters: how much of one for each of the other.
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

// howCounted says what a counter's metric is, and how exact.
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
	if !(sum >= 0 && of >= 0) { // an interface went away, or counters were reset
		return math.NaN(), nil
	}
	c.sum, c.of = c.sum+sum, c.of+of
	return ratio(sum, of), nil
}

func (c *counters) Begin()           { c.sum, c.of = 0, 0 }
func (c *counters) Value() float64   { return ratio(c.sum, c.of) }
func (c *counters) Traffic() float64 { return c.of }
func (c *counters) Close() error     { return nil }

// ratio is NaN of nothing.
func ratio(a, b float64) float64 {
	if b <= 0 {
		return math.NaN()
	}
	return a / b
}

// readings are values that are averaged over a window.
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

// webURL reads a URL that the controller is to fetch.
func webURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, hint.With(hint.Usagef("%q is no URL", text), "such as http://www1.example.net/health")
	}
	return u, nil
}
