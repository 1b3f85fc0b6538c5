// Package search runs parts whose trials are searches: packets, offered as by
// package lab/forward, at loads chosen by a search method.
package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"linerate/internal/lab"
	packets "linerate/internal/lab/forward"
	"linerate/internal/load"
	"linerate/internal/search"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// Parameters of the probe of a generator's maximum rate, and the share of that
// rate that a search may request, which leaves headroom for pacing.
const (
	probeSeconds   = 0.3
	generatorShare = 0.95
)

// Runner runs parts that search.
type Runner struct{ *packets.Runner }

// Kind implements lab.Runner.
func (Runner) Kind() study.Kind { return study.KindSearch }

// Run implements lab.Runner.
func (r Runner) Run(ctx context.Context, s *lab.Session, slot study.Slot, part study.Part) ([]study.Trial, error) {
	return r.RunBy(ctx, s, slot, part, packets.By{Measure: measure, Way: func(in *packets.Instance) packets.Way {
		return &lockstep{OwnChains: packets.OwnChains{Instance: in}}
	}})
}

// measure runs a part's search, with the DUT set up once.
func measure(u *packets.Setup, ctx context.Context, o *study.Observation) (failed, err error) {
	again, err := u.Check(u.CPUs())
	if err != nil {
		return nil, err
	}
	if o.Before, err = u.Bed.DUT().Counters(); err != nil {
		return nil, fmt.Errorf("read the DUT's counters: %w", err)
	}
	o.Search = begun(u.Part)
	failed = searchIn(ctx, u, o)
	if o.After, err = u.Bed.DUT().Counters(); err != nil {
		return nil, fmt.Errorf("read the DUT's counters: %w", err)
	}
	if o.CPUs, err = again(); err != nil {
		return nil, err
	}
	return failed, ctx.Err()
}

// begun returns the record of a part's search before its first trial.
func begun(p study.Part) *study.SearchRun {
	return &study.SearchRun{Method: p.Search.Method, Points: []study.SearchPoint{}}
}

// searchIn measures the generator's limit, searches below it, then measures
// latency at fractions of the result.
func searchIn(ctx context.Context, u *packets.Setup, o *study.Observation) error {
	dut := u.Bed.DUT()
	c, err := u.Chain(dut.Ways(), dut.Thread)
	if err != nil {
		return err
	}
	defer c.Close()
	m := &measurer{Setup: u, chain: c, settle: u.Bed.Settle, record: o.Search}
	limit, err := m.limit(ctx, o)
	if err != nil {
		return err
	}
	if err := m.begin(limit); err != nil {
		return err
	}
	for more := true; more; {
		if more, err = m.step(ctx); err != nil {
			return err
		}
	}
	return m.latency(ctx, o.Search)
}

// measurer runs a search's trials on the testbed.
type measurer struct {
	*packets.Setup
	chain   *packets.Chain              // for the whole search
	settle  func(context.Context) error // waits until the DUT is at rest; nil if it already is
	record  *study.SearchRun
	warming bool // the next trial is the warm-up
	quiet   bool // trials are not points of the search
	p       search.Procedure
}

// begin starts a search below a load.
func (m *measurer) begin(limit float64) (err error) {
	m.warming = m.Part.Warmup > 0 && m.Part.Search.Method == study.MLR
	m.p, err = study.NewProcedure(m.Part, limit, m.record.GeneratorMax)
	return err
}

// errBudget is returned when the time limit ended a search.
var errBudget = errors.New("the search's time is used up")

// step runs the next trial of the search; more is false at its end.
func (m *measurer) step(ctx context.Context) (more bool, failed error) {
	t, more := m.p.Next()
	if more {
		o, err := m.Measure(ctx, t)
		if err == nil {
			m.p.Add(o)
			return true, nil
		}
		if errors.Is(err, errBudget) {
			m.record.Ended = err.Error()
		} else {
			failed = fmt.Errorf("trial at %.0f pps: %w", t.Load, err)
		}
	}
	found := m.p.Found()
	m.record.Goals, m.record.BackToBack, m.record.LossCurve = found.Goals, found.BackToBack, found.LossCurve
	return false, failed
}

// limit returns the largest load that the search may request.
func (m *measurer) limit(ctx context.Context, o *study.Observation) (float64, error) {
	got, err := m.send(ctx, load.Offer{Limit: load.Limit{Duration: time.Duration(probeSeconds * float64(time.Second))}})
	if err != nil {
		return 0, fmt.Errorf("find what the generator can send: %w", err)
	}
	o.Sent, o.Received = got.Sent, got.Received
	// Each direction gets the load.
	m.record.GeneratorMax = got.Sent.TxPPS / float64(study.DirectionCount(m.Part))
	limit := generatorShare * m.record.GeneratorMax
	if m.Part.Search.Max != "" {
		asked, err := m.Part.Search.Max.Parse()
		if err != nil {
			return 0, err
		}
		limit = min(limit, float64(asked.PPS))
	}
	return limit, nil
}

// searchTries is how often a disturbed trial is run before it counts.
const searchTries = 4

// spent returns errBudget if a trial would exceed the search's time. From
// half of the time on, it restricts the search to its first goal.
func (m *measurer) spent(t search.Trial) error {
	limit, used := m.Part.Search.LimitSeconds, m.record.TrialSeconds
	if m.quiet {
		return nil
	}
	if mlr, is := m.p.(*search.MLR); is && used > limit/2 {
		mlr.FirstGoal()
	}
	if used+t.Duration > limit {
		return errBudget
	}
	return nil
}

// Measure runs one trial of a search: frames at a paced load. It repeats
// disturbed trials.
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
func (m *measurer) point(ctx context.Context, t search.Trial) (study.SearchPoint, error) {
	got, err := m.send(ctx, offer(t))
	if err != nil {
		return study.SearchPoint{}, err
	}
	point := study.SearchPoint{Outcome: search.Outcome{Trial: t}, Warmup: m.warming}
	m.warming = false
	point.LossRatio, point.UnsentRatio = losses(got)
	if got.Sent.Seconds > 0 {
		point.Effective = got.Sent.Seconds
	}
	// A full-length trial must not become short by a rounding error of the
	// clock.
	if point.Effective < t.Duration && point.Effective > 0.98*t.Duration {
		point.Effective = t.Duration
	}
	if l := got.Received.Latency; l != nil {
		point.LatencyP50, point.LatencyP99 = float64(l.P50), float64(l.P99)
	}
	point.Disturbed = m.Part.Search.Disturbance(m.Spec().Gates, point.LossRatio, point.UnsentRatio, got.Contention.Seconds()/max(point.Effective, t.Duration))
	return point, nil
}

// losses returns the share of the due frames that did not arrive, and the
// part of it that the generator did not send. If the end of the stream was
// not seen, all missing frames count as lost.
func losses(got packets.Ran) (loss, unsent float64) {
	due := float64(got.Sent.TxPackets + got.Sent.Unsent)
	if due == 0 {
		return 1, 1
	}
	missing := max(0, float64(got.Sent.TxPackets)-float64(got.Received.RxPackets))
	if got.Received.Lost != nil {
		missing = float64(*got.Received.Lost)
	}
	unsent = float64(got.Sent.Unsent) / due
	return min(1, missing/due+unsent), unsent
}

// send runs traffic once, starting from a DUT at rest.
func (m *measurer) send(ctx context.Context, o load.Offer) (packets.Ran, error) {
	if m.settle != nil {
		if err := m.settle(ctx); err != nil {
			return packets.Ran{}, err
		}
	}
	if err := m.chain.Reset(); err != nil {
		return packets.Ran{}, err
	}
	return m.chain.Run(ctx, o, 0, nil)
}

// offer returns the load of a search's trial: paced for a duration, or a
// burst as fast as the generator can.
func offer(t search.Trial) load.Offer {
	if t.Frames > 0 {
		return load.Offer{Limit: load.Limit{Packets: t.Frames}}
	}
	return load.Offer{Rate: load.Rate{PPS: uint64(math.Round(t.Load))}, Limit: load.Limit{Duration: time.Duration(t.Duration * float64(time.Second))}}
}

// latency measures the delay at fractions of the first goal's throughput.
func (m *measurer) latency(ctx context.Context, s *study.SearchRun) error {
	at := m.Part.Search.LatencyAt
	if len(at) == 0 || len(s.Goals) == 0 || s.Goals[0].Throughput == nil || *s.Goals[0].Throughput <= 0 {
		return nil
	}
	m.quiet = true
	for _, share := range at {
		o, err := m.Measure(ctx, search.Trial{Load: share * *s.Goals[0].Throughput, Duration: m.Part.Seconds})
		if err != nil {
			return fmt.Errorf("latency after the search: %w", err)
		}
		s.Latency = append(s.Latency, search.LatencyAt{Load: o.Load, P50: o.LatencyP50, P99: o.LatencyP99, Loss: o.LossRatio, Repeats: 1})
	}
	return nil
}

// lockstep is the Way of searches: every search runs its next trial before any
// runs another, so that long disturbances affect all arms alike.
type lockstep struct {
	packets.OwnChains
	arms []*measurer // by lane
}

func (w *lockstep) Ready(context.Context) error {
	if err := w.Open(); err != nil {
		return err
	}
	for lane, s := range w.Shares {
		s.Observed.Search = begun(w.Part)
		// An arm is at rest while the others run, so it need not settle.
		w.arms = append(w.arms, &measurer{Setup: w.Setup, chain: w.Chains[lane], record: s.Observed.Search})
	}
	return nil
}

func (w *lockstep) Send(ctx context.Context) error {
	return w.Watched(func() error { return w.search(ctx) }, testbed.Arm.AllDrops)
}

// search measures what the generator can send, searches in rounds, and then
// measures latency at the result. A failure of an arm ends its search only.
func (w *lockstep) search(ctx context.Context) error {
	limit := math.Inf(1) // the same for all arms, so that they try the same loads
	if err := w.Round(ctx, func(lane int) error {
		l, err := w.arms[lane].limit(ctx, &w.Shares[lane].Observed)
		if err == nil {
			limit = min(limit, l)
		}
		return err
	}); err != nil {
		return err
	}
	if err := w.Round(ctx, func(lane int) error { return w.arms[lane].begin(limit) }); err != nil {
		return err
	}
	for slices.ContainsFunc(w.Shares, func(s *packets.Share) bool { return !s.Done }) {
		if err := w.Round(ctx, func(lane int) error {
			more, err := w.arms[lane].step(ctx)
			w.Shares[lane].Done = !more && err == nil
			return err
		}); err != nil {
			return err
		}
	}
	for _, s := range w.Shares {
		s.Done = s.Failed != nil
	}
	return w.Round(ctx, func(lane int) error {
		m := w.arms[lane]
		return m.latency(ctx, m.record)
	})
}
