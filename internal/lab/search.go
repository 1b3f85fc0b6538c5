package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"linerate/internal/load"
	"linerate/internal/search"
	"linerate/internal/study"
	"linerate/internal/study/forward"
	searchkind "linerate/internal/study/search"
	"linerate/internal/testbed"
)

// The probe that finds how much a generator can send, and the share of it
// that a search may ask for: a little headroom for pacing.
const (
	probeSeconds   = 0.3
	generatorShare = 0.95
)

// search runs a part's throughput search on one set-up of the DUT. Like
// measure, it tells what failed apart from what can never go right.
func (r *Session) search(ctx context.Context, part study.Part, o *study.Observation) (failed, err error) {
	cpus := distinct(r.bed.Describe().CPUs)
	before, err := r.check(cpus)
	if err != nil {
		return nil, err
	}
	if o.Before, err = r.bed.Counters(); err != nil {
		return nil, fmt.Errorf("read the DUT's counters: %w", err)
	}
	o.Own = (&searchkind.Run{Method: searchkind.Of(part).Method, Points: []searchkind.Point{}}).Observed()
	failed = r.searchIn(ctx, part, o)
	if o.After, err = r.bed.Counters(); err != nil {
		return nil, fmt.Errorf("read the DUT's counters: %w", err)
	}
	after, err := r.check(cpus)
	if err != nil {
		return nil, err
	}
	o.CPUs = compare(before, after)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return failed, nil
}

// searchIn finds the generator's limit, searches below it, then measures
// latency at fractions of what was found.
func (r *Session) searchIn(ctx context.Context, part study.Part, o *study.Observation) error {
	c, err := r.chain(testbed.WaysOf(r.bed), part, r.bed.DUTThread())
	if err != nil {
		return err
	}
	defer c.close()
	m := &measurer{run: r, part: part, chain: c, settle: r.bed.Settle, record: searchkind.In(o)}
	limit, err := m.limit(ctx, o)
	if err != nil {
		return err
	}
	p, err := searchkind.NewProcedure(part, limit, searchkind.In(o).GeneratorMax)
	if err != nil {
		return err
	}
	m.begin(p)
	_, err = search.Run(ctx, p, m, 0, nil)
	p.Report(searchkind.In(o))
	if errors.Is(err, search.ErrBudget) {
		searchkind.In(o).Ended, err = search.ErrBudget.Error(), nil
	}
	if err != nil {
		return err
	}
	return m.latency(ctx, searchkind.In(o))
}

// warms reports whether a search's first trial is a warm-up.
func warms(p study.Part) bool { return p.Warmup > 0 && searchkind.Of(p).Method == searchkind.MLR }

// measurer runs a search's trials on the testbed.
type measurer struct {
	run     *Session
	part    study.Part
	chain   *chain                      // of the whole search
	settle  func(context.Context) error // waits until the DUT rests; nil: it does
	record  *searchkind.Run
	warming bool // the next trial is the warm-up
	quiet   bool // trials are not points of the search
	p       searchkind.Procedure
}

// begin makes the trials from now on those of a search.
func (m *measurer) begin(p searchkind.Procedure) { m.p, m.warming = p, warms(m.part) }

// limit is the largest load the search may ask for.
func (m *measurer) limit(ctx context.Context, o *study.Observation) (float64, error) {
	got, err := m.send(ctx, load.Offer{Limit: load.Limit{Duration: time.Duration(probeSeconds * float64(time.Second))}})
	if err != nil {
		return 0, fmt.Errorf("find what the generator can send: %w", err)
	}
	o.Sent, o.Received = got.sent, got.received
	// A load is offered in each direction.
	m.record.GeneratorMax = got.sent.TxPPS / float64(forward.Ways(m.part))
	limit := generatorShare * m.record.GeneratorMax
	if searchkind.Of(m.part).Max != "" {
		asked, err := searchkind.Of(m.part).Max.Parse()
		if err != nil {
			return 0, err
		}
		limit = min(limit, float64(asked.PPS))
	}
	return limit, nil
}

// searchTries is how often a disturbed trial is run before it counts as it is.
const searchTries = 4

// spent watches a search's time: search.ErrBudget when a trial would not fit
// in it. From half of it on, the search is for its first goal.
func (m *measurer) spent(t search.Trial) error {
	limit, used := searchkind.Of(m.part).LimitSeconds, m.record.TrialSeconds
	if m.quiet {
		return nil
	}
	if used > limit/2 {
		m.p.FirstGoal()
	}
	if used+t.Duration > limit {
		return search.ErrBudget
	}
	return nil
}

// Measure runs one trial of a search: frames at a paced load. When something
// else came in between, it is repeated.
func (m *measurer) Measure(ctx context.Context, t search.Trial) (search.Outcome, error) {
	for try := 1; ; try++ {
		if err := m.spent(t); err != nil {
			return search.Outcome{}, err
		}
		p, err := m.point(ctx, t)
		if err != nil {
			return search.Outcome{}, err
		}
		p.Repeated = p.Disturbed != "" && try < searchTries && !p.Warmup
		if !m.quiet {
			m.record.Points = append(m.record.Points, p)
			m.record.TrialSeconds += p.Effective
		}
		if !p.Repeated {
			return p.Outcome, nil
		}
	}
}

// point runs a trial once.
func (m *measurer) point(ctx context.Context, t search.Trial) (searchkind.Point, error) {
	got, err := m.send(ctx, offer(t))
	if err != nil {
		return searchkind.Point{}, err
	}
	point := searchkind.Point{Outcome: search.Outcome{Trial: t}, Warmup: m.warming}
	m.warming = false
	point.LossRatio, point.UnsentRatio = losses(got)
	if got.sent.Seconds > 0 {
		point.Effective = got.sent.Seconds
	}
	// A trial meant to be full-length must not become short by a rounding
	// of the clock.
	if point.Effective < t.Duration && point.Effective > 0.98*t.Duration {
		point.Effective = t.Duration
	}
	if l := got.received.Latency; l != nil {
		point.LatencyP50, point.LatencyP99 = float64(l.P50), float64(l.P99)
	}
	point.Disturbed = searchkind.Of(m.part).Disturbance(m.run.task.Spec.Gates, point.LossRatio, point.UnsentRatio, got.contention.Seconds()/max(point.Effective, t.Duration))
	return point, nil
}

// losses are the share of the frames due that did not arrive, and the part of
// it that the generator did not send. Where the end of the stream was not
// seen, what did not arrive is lost.
func losses(got ran) (loss, unsent float64) {
	due := float64(got.sent.TxPackets + got.sent.Unsent)
	if due == 0 {
		return 1, 1
	}
	missing := max(0, float64(got.sent.TxPackets)-float64(got.received.RxPackets))
	if got.received.Lost != nil {
		missing = float64(*got.received.Lost)
	}
	unsent = float64(got.sent.Unsent) / due
	return min(1, missing/due+unsent), unsent
}

// send runs traffic once, from a rested DUT.
func (m *measurer) send(ctx context.Context, o load.Offer) (ran, error) {
	if m.settle != nil {
		if err := m.settle(ctx); err != nil {
			return ran{}, err
		}
	}
	if err := m.chain.rx.Reset(); err != nil {
		return ran{}, err
	}
	return m.chain.run(ctx, o, 0, nil)
}

// offer is the traffic of a search's trial: paced for a time, or a burst as
// fast as the generator can.
func offer(t search.Trial) load.Offer {
	if t.Frames > 0 {
		return load.Offer{Limit: load.Limit{Packets: t.Frames}}
	}
	return load.Offer{Rate: load.Rate{PPS: uint64(math.Round(t.Load))}, Limit: load.Limit{Duration: time.Duration(t.Duration * float64(time.Second))}}
}

// latency measures delay at fractions of the first goal's throughput.
func (m *measurer) latency(ctx context.Context, s *searchkind.Run) error {
	at := searchkind.Of(m.part).LatencyAt
	if len(at) == 0 || len(s.Goals) == 0 || s.Goals[0].Throughput == nil || *s.Goals[0].Throughput <= 0 {
		return nil
	}
	l, err := search.NewLatency(*s.Goals[0].Throughput, at, m.part.Seconds, 1)
	if err != nil {
		return err
	}
	m.quiet = true
	if _, err := search.Run(ctx, l, m, 0, nil); err != nil {
		return fmt.Errorf("latency after the search: %w", err)
	}
	s.Latency = l.Results()
	return nil
}
