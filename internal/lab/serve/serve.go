// Package serve runs parts that send requests to servers.
package serve

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"linerate/internal/lab"
	"linerate/internal/load/request"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/internal/wait"
)

// Service is a kind of server that a study measures, with its load; this
// package is independent of the kind.
type Service interface {
	// Start starts a server at a site, with an arm's settings, and returns
	// when it answers. An ErrUnavailable says which setting is unavailable.
	Start(ctx context.Context, at testbed.Site, settings []setting.Setting, part study.Part) (Server, error)
}

// Server is a running server.
type Server interface {
	// Ask sends requests and waits for the last answer. It may be called repeatedly.
	Ask(ctx context.Context, o Offer) (*request.Account, request.Meter, error)
	CPU() time.Duration // total of its own processes so far
	Running() error     // why it ended; nil while it runs
	// Stop stops it and returns its log of the requests, nil if there is
	// none.
	Stop() (*study.ServerLog, error)
}

// Offer is a load of requests for a server.
type Offer struct {
	// Warmup does not count. Lasts is the duration after it; 0 with Requests.
	Warmup, Lasts time.Duration
	Requests      uint64 // number of requests; 0: limited by time
	Seed          uint64 // determines the schedule and the mix
}

// Teller is a Server that adds to the results of its trial after it was stopped.
type Teller interface{ Tell(v *study.Served) }

// Runner runs parts that send requests to servers.
type Runner struct {
	// Sites opens the testbed of servers, and Service starts them.
	Sites   func(ctx context.Context) (testbed.Sites, error)
	Service Service
}

var _ lab.Runner = Runner{}

// Kind implements lab.Runner.
func (Runner) Kind() study.Kind { return study.KindServe }

// Up implements lab.Runner.
func (r Runner) Up(ctx context.Context, _ testbed.Mode) (lab.Bed, error) {
	if r.Sites == nil || r.Service == nil {
		return nil, errors.New("this lab has no servers")
	}
	return r.Sites(ctx)
}

// Prepare implements lab.Runner.
func (Runner) Prepare(*lab.Session, study.Part) error { return nil }

// Measured implements lab.Runner.
func (Runner) Measured(t study.Trial) bool {
	return t.Saw().Served != nil && t.Saw().Served.Answered > 0
}

// Run implements lab.Runner: a slot covers all arms if they take turns, else one arm.
func (r Runner) Run(ctx context.Context, s *lab.Session, slot study.Slot, part study.Part) ([]study.Trial, error) {
	task := s.Task()
	spec := task.Spec
	if !s.AllowHost {
		spec = spec.Local() // the other arms are unavailable and do not interfere
	}
	b := &block{Session: s, service: r.Service, sites: s.Bed().(testbed.Sites), part: part, number: slot.Block,
		how: spec.Interleaving(part), gone: map[string]string{}}
	arms, place := []string{slot.Variant}, slot
	place.Order--
	if b.how != study.InSequence {
		arms = task.Spec.Arms()
		place.Order, b.attempt = s.Last(slot.Block), study.Attempts(task.Done, slot.Block)+1
	}
	b.rng = rand.New(rand.NewPCG(task.Seed, uint64(slot.Block)<<24|uint64(slot.Order)<<8|uint64(b.attempt)))
	b.rng.Shuffle(len(arms), func(i, j int) { arms[i], arms[j] = arms[j], arms[i] })
	lanes, err := b.run(ctx, arms)
	if err != nil {
		return nil, err
	}
	return s.Together(place, part, lanes, b.gone), nil
}

// block is a block in progress, or one arm of it.
type block struct {
	*lab.Session
	service Service
	sites   testbed.Sites
	part    study.Part
	number  int
	attempt int
	how     study.Interleaving
	gone    map[string]string
	rng     *rand.Rand // for the order of the rounds
}

// served is one arm of a block.
type served struct {
	lab.Lane
	site   testbed.Site
	server Server
	// set applies the arm's shared kernel settings; nil if arms run in
	// sequence, and they are already applied.
	set     func(context.Context) error
	account *request.Account
	meter   request.Meter
	turns   int
	bursts  []study.Burst
	cpu     time.Duration
}

// run raises the arms' sites and servers, sends the requests, and records the results.
func (b *block) run(ctx context.Context, arms []string) (lanes []*lab.Lane, err error) {
	all, err := b.settle(ctx, arms)
	defer func() {
		for _, s := range all {
			if s.server != nil {
				_, failed := s.server.Stop()
				err = errors.Join(err, failed)
			}
		}
	}()
	if err != nil {
		return nil, err
	}
	again, err := b.Check([]int{-1})
	if err != nil {
		return nil, err
	}
	if err := b.askAll(ctx, all); err != nil {
		return nil, err
	}
	cpus, err := again()
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		s.Observed.CPUs = cpus
		if err := s.close(b.link()); err != nil {
			return nil, err
		}
		lanes = append(lanes, &s.Lane)
	}
	return lanes, nil
}

func (b *block) link() testbed.Link {
	l, _ := study.LinkOf(b.Spec(), b.part).Parse() // a parsed study has a valid one
	return l
}

// wish is what an arm requires.
type wish struct {
	testbed.Settings                   // of its site
	server, kernel   []setting.Setting // the server's own, and those written before each turn
	part             study.Part        // with the requests of its clients
}

// wishes returns the wishes of all arms that the run does not forbid.
func (b *block) wishes(arms []string) (all []wish) {
	for _, name := range arms {
		v, _ := b.Spec().Variant(name)
		if why := b.Here().Why(v); why != "" {
			b.gone[name] = why
			continue
		}
		w := wish{Settings: testbed.Settings{Name: name}, part: study.AskedOf(b.part, v)}
		others := v.Apply()
		if b.how == study.Alternating {
			others, w.kernel = v.ApplyLocal(), v.ApplyGlobal()
		}
		for _, s := range others {
			if s.Mechanism == setting.NGINX || s.Mechanism == setting.Postfix || s.Mechanism == setting.FileSystem {
				w.server = append(w.server, s)
			} else {
				w.Settings.Settings = append(w.Settings.Settings, s)
			}
		}
		all = append(all, w)
	}
	return all
}

// settle creates the arms' sites and starts their servers.
func (b *block) settle(ctx context.Context, arms []string) (all []*served, err error) {
	wanted := b.wishes(arms)
	own := make([]testbed.Settings, len(wanted))
	for i, w := range wanted {
		own[i] = w.Settings
	}
	asks := study.RequestsOf(b.part)
	layout := testbed.Layout{Clients: asks.Clients, Link: b.link(), Seed: b.Task().Seed + uint64(b.number)<<16, Origin: asks.Origin}
	sites, err := b.sites.Raise(ctx, layout, own)
	if err != nil {
		return nil, err
	}
	for i, site := range sites {
		s := &served{Lane: lab.Lane{Name: wanted[i].Name}, site: site, account: request.NewAccount(asks.Targets)}
		if b.how == study.Alternating {
			s.set = func(ctx context.Context) error { return b.sites.Global(ctx, wanted[i].kernel) }
		}
		failed := s.start(ctx, b.service, wanted[i])
		var un *testbed.ErrUnavailable
		if errors.As(failed, &un) {
			b.gone[wanted[i].Name] = un.Error()
			continue
		}
		if failed != nil {
			return all, fmt.Errorf("%s: %w", wanted[i].Name, failed)
		}
		s.Observed = study.Observation{Load1: b.Machine.Load1(), Applied: site.Applied}
		if b.how != study.InSequence {
			s.Observed.Interleaved = &study.Interleaved{How: b.how, Attempt: b.attempt, Lane: len(all)}
		}
		all = append(all, s)
	}
	return all, nil
}

// start starts the arm's server, if its site is available.
func (s *served) start(ctx context.Context, service Service, w wish) (err error) {
	if s.site.Unavailable != nil {
		return s.site.Unavailable
	}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	s.server, err = service.Start(ctx, s.site, w.server, w.part)
	return err
}

// askAll sends the part's requests, to all arms at once or in turns, and reads the
// servers' CPU time before and after: servers are idle while others get requests, and
// finding a server's processes among all processes takes as long as a turn may.
func (b *block) askAll(ctx context.Context, all []*served) error {
	o := Offer{
		Warmup: time.Duration(b.part.Warmup * float64(time.Second)), Lasts: time.Duration(b.part.Seconds * float64(time.Second)),
		Seed: b.Task().Seed + uint64(b.number)<<20,
	}
	ask := b.inTurns
	if n := study.RequestsOf(b.part).Burst; n > 0 && b.how != study.Together {
		o, ask = Offer{Requests: uint64(n), Seed: o.Seed}, b.inBursts
		b.wake(ctx, all, o)
	} else if b.how == study.Together {
		ask = b.atOnce
	}
	for _, s := range all {
		s.cpu = -s.server.CPU()
	}
	ask(ctx, all, o)
	for _, s := range all {
		s.cpu += s.server.CPU()
	}
	if b.how == study.Alternating {
		return errors.Join(ctx.Err(), b.sites.Global(context.WithoutCancel(ctx), nil))
	}
	return ctx.Err()
}

// atOnce sends requests to all arms at the same time.
func (b *block) atOnce(ctx context.Context, all []*served, o Offer) {
	var asked sync.WaitGroup
	for i, s := range all {
		asked.Go(func() {
			if wait.For(ctx, stagger(study.RequestsOf(b.part).Rate, i, len(all))) == nil {
				s.ask(ctx, o)
			}
		})
	}
	asked.Wait()
}

// inTurns sends requests to the arms in turn: once, or repeatedly for turnFor, in
// rounds of random order.
func (b *block) inTurns(ctx context.Context, all []*served, o Offer) {
	n := 1
	if b.how == study.Alternating {
		n = study.TurnsOf(o.Lasts.Seconds())
	}
	o.Lasts /= time.Duration(n)
	for range n {
		for _, i := range b.rng.Perm(len(all)) {
			if all[i].ask(ctx, o); ctx.Err() != nil {
				return
			}
		}
		o.Seed++ // the same requests for all arms in a round
	}
}

// wake sends each server a first burst, which does not count.
func (b *block) wake(ctx context.Context, all []*served, o Offer) {
	for _, i := range b.rng.Perm(len(all)) {
		_, _, all[i].Failed = all[i].turn(ctx, o)
	}
}

// inBursts sends all arms the same number of requests repeatedly, in rounds of
// random order. An arm that has used the part's seconds takes part in no further
// round, so that a slow arm has fewer bursts instead of most of the time.
func (b *block) inBursts(ctx context.Context, all []*served, o Offer) {
	for range study.Bursts(b.part) {
		o.Seed++
		for _, i := range b.rng.Perm(len(all)) {
			if s := all[i]; (s.meter.Elapsed + s.meter.Settle).Seconds() < b.part.Seconds {
				s.ask(ctx, o)
			}
			if ctx.Err() != nil {
				return
			}
		}
	}
}

// stagger returns how much later than the first the i-th of n arms begins. All
// have the same requests after the same gaps (common random numbers, so that
// random differences do not look like an effect), but not at the same instant,
// when they would interfere: the offsets are spread over a mean gap.
func stagger(rate float64, i, n int) time.Duration {
	return time.Duration(float64(i) / float64(n) / rate * float64(time.Second))
}

// ask sends requests to an arm's server for a while and adds the results. A
// failure affects only the arm.
func (s *served) ask(ctx context.Context, o Offer) {
	if s.Failed != nil {
		return
	}
	a, m, err := s.turn(ctx, o)
	if a != nil {
		s.account.Merge(a)
		s.meter = s.meter.Plus(m)
		s.turns++
		if o.Requests > 0 {
			s.bursts = append(s.bursts, study.Burst{Answered: a.Result(m).Answered, Seconds: m.Elapsed.Seconds(), Settle: m.Settle.Seconds()})
		}
	}
	s.Failed = errors.Join(err, s.server.Running())
}

// turn sends requests to the arm's server once, with the arm's kernel settings.
func (s *served) turn(ctx context.Context, o Offer) (*request.Account, request.Meter, error) {
	if err := s.prepare(ctx); err != nil {
		return nil, request.Meter{}, err
	}
	return s.server.Ask(ctx, o)
}

// prepare applies the arm's kernel settings.
func (s *served) prepare(ctx context.Context) error {
	if s.set == nil {
		return nil
	}
	return s.set(ctx)
}

// close stops the arm's server and completes its observation.
func (s *served) close(link testbed.Link) error {
	v := &study.Served{Turns: s.turns, ServerCPU: s.cpu.Seconds(), RoundTrip: link.RoundTrip().Seconds()}
	if s.site.Link != nil {
		v.Link = s.site.Link()
	}
	log, err := s.server.Stop()
	v.Log = log
	if t, ok := s.server.(Teller); ok {
		t.Tell(v)
	}
	s.server = nil
	v.Condense(s.account, s.meter)
	v.Bursts = s.bursts
	s.Observed.Served = v
	return err
}
