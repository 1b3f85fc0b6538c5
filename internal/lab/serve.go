package lab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"linerate/internal/load/request"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/study/serve"
	"linerate/internal/testbed"
)

// Service is a kind of server that a study measures, with the load that asks
// it: package lab knows neither.
type Service interface {
	// Start starts a server at a site, set as an arm wants it, and returns
	// when it answers. An ErrUnavailable says what the arm cannot have.
	Start(ctx context.Context, at testbed.Site, settings []setting.Setting, part study.Part) (Server, error)
}

// Server is one that runs.
type Server interface {
	// Ask offers requests once more, and waits for the last answer.
	Ask(ctx context.Context, o Offer) (*request.Account, request.Meter, error)
	CPU() time.Duration // of all its processes so far, for nobody else
	Running() error     // why it ended; nil while it runs
	// Stop ends it. The log is what it wrote of the requests, and nil where
	// there is none.
	Stop() (*serve.ServerLog, error)
}

// Offer is what a server is asked for.
type Offer struct {
	// Warmup does not count. Lasts is how long to ask after it; 0 with Requests.
	Warmup, Lasts time.Duration
	Requests      uint64 // ask so often; 0: for a time
	Seed          uint64 // draws when, and what for
}

// Teller is a Server that has more to say of its trial once it was stopped.
type Teller interface{ Tell(v *serve.Served) }

// served is one arm's share of a block.
type served struct {
	site   testbed.Site
	server Server
	// set makes the kernel what the arm wants of what all share; nil where arms
	// are tried one after the other, and that is done.
	set     func(context.Context) error
	account *request.Account
	meter   request.Meter
	turns   int
	bursts  []serve.Burst
	cpu     time.Duration
	o       study.Observation
	failed  error
}

// serve runs what a slot of a part of requests asks for: a block of all arms,
// or one arm's trial.
func (r *Session) serve(ctx context.Context, slot study.Slot, part study.Part) error {
	if r.servedHow(part) != study.InSequence {
		return r.hand(ctx, slot, part, r.task.Spec.Arms())
	}
	return r.hand(ctx, slot, part, []string{slot.Variant})
}

// servedHow is how the arms of a part take turns. Without leave to change what is
// global to the kernel the variants that need it are unavailable, and in nobody's way.
func (r *Session) servedHow(part study.Part) study.Interleaving {
	s := r.task.Spec
	if !r.AllowHost {
		s = s.Local()
	}
	return s.Interleaving(part)
}

// hand runs the arms and hands their trials on.
func (r *Session) hand(ctx context.Context, slot study.Slot, part study.Part, arms []string) error {
	r.tell(slot, part, nil)
	start := r.Machine.Now()
	in := &instance{part: part, how: r.servedHow(part), gone: map[string]string{}}
	in.Part, in.Block = part.Name, slot.Block
	in.first = slot.Order - 1
	if len(arms) > 1 {
		in.first = r.lastOrder(slot.Block)
		in.Attempt = study.Attempts(r.task.Done, slot.Block) + 1
	}
	in.rng = rand.New(rand.NewPCG(r.task.Seed, uint64(slot.Block)<<24|uint64(slot.Order)<<8|uint64(in.Attempt)))
	err := r.serveAll(ctx, in, arms)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%s, block %d: %w", part.Name, slot.Block, err)
	}
	trials := r.judge(in)
	for i := range trials {
		trials[i].Retry = slot.Retry
	}
	return r.deliver(trials, start, part)
}

func (r *Session) lastOrder(block int) (last int) {
	for _, t := range r.task.Done {
		if t.Block == block {
			last = max(last, t.Order)
		}
	}
	return last
}

// serveAll raises the arms' sites and servers, asks them, and notes what came
// of it in the instance's shares.
func (r *Session) serveAll(ctx context.Context, in *instance, arms []string) (err error) {
	in.rng.Shuffle(len(arms), func(i, j int) { arms[i], arms[j] = arms[j], arms[i] })
	all, err := r.settle(ctx, in, arms)
	defer func() {
		for _, s := range all {
			if s.server != nil {
				_, failed := s.server.Stop()
				err = errors.Join(err, failed)
			}
		}
	}()
	if err != nil {
		return err
	}
	before, err := r.check([]int{-1})
	if err != nil {
		return err
	}
	if err := r.askAll(ctx, in, all); err != nil {
		return err
	}
	after, err := r.check([]int{-1})
	if err != nil {
		return err
	}
	for _, s := range all {
		s.o.CPUs = compare(before, after)
		if err := s.close(r.linkOf(in.part)); err != nil {
			return err
		}
		in.shares = append(in.shares, &share{o: s.o, failed: s.failed})
	}
	return nil
}

func (r *Session) linkOf(p study.Part) testbed.Link {
	l, _ := serve.LinkOf(&r.task.Spec, p).Parse() // a study that was read has one that parses
	return l
}

// wish is what an arm is to be.
type wish struct {
	testbed.Settings                   // of its site
	server, kernel   []setting.Setting // the server's own, and what is written before each turn
	part             study.Part        // as its clients ask
}

// wishes are those of the arms that the run does not forbid.
func (r *Session) wishes(in *instance, arms []string) (all []wish) {
	for _, name := range arms {
		v, _ := r.task.Spec.Variant(name)
		if why := r.here().Why(v); why != "" {
			in.gone[name] = why
			continue
		}
		w := wish{Settings: testbed.Settings{Name: name}, part: serve.AskedOf(in.part, v)}
		others := v.Apply()
		if in.how == study.Alternating {
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

// settle makes the arms' sites and starts their servers.
func (r *Session) settle(ctx context.Context, in *instance, arms []string) (all []*served, err error) {
	wanted := r.wishes(in, arms)
	own := make([]testbed.Settings, len(wanted))
	for i, w := range wanted {
		own[i] = w.Settings
	}
	asks := serve.RequestsOf(in.part)
	layout := testbed.Layout{Clients: asks.Clients, Link: r.linkOf(in.part), Seed: r.task.Seed + uint64(in.Block)<<16, Origin: asks.Origin}
	sites, err := r.sites.Raise(ctx, layout, own)
	if err != nil {
		return nil, err
	}
	for i, site := range sites {
		s := &served{site: site, account: request.NewAccount(asks.Targets)}
		if in.how == study.Alternating {
			s.set = func(ctx context.Context) error { return r.sites.Global(ctx, wanted[i].kernel) }
		}
		failed := s.start(ctx, r.Service, wanted[i])
		var un *testbed.ErrUnavailable
		if errors.As(failed, &un) {
			in.gone[wanted[i].Name] = un.Error()
			continue
		}
		if failed != nil {
			return all, fmt.Errorf("%s: %w", wanted[i].Name, failed)
		}
		s.o = study.Observation{Load1: r.Machine.Load1(), Applied: site.Applied}
		if in.how != study.InSequence {
			s.o.Interleaved = &study.Interleaved{How: in.how, Attempt: in.Attempt, Lane: len(all)}
		}
		in.Arms, all = append(in.Arms, wanted[i].Name), append(all, s)
	}
	return all, nil
}

// start starts the arm's server, where its site could be had.
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

// askAll offers the part's requests, to all at once or in turns, and takes the
// servers' time around it: they rest while others are asked, and to find a
// server's processes among all of a machine takes as long as a turn may.
func (r *Session) askAll(ctx context.Context, in *instance, all []*served) error {
	o := Offer{
		Warmup: time.Duration(in.part.Warmup * float64(time.Second)), Lasts: time.Duration(in.part.Seconds * float64(time.Second)),
		Seed: r.task.Seed + uint64(in.Block)<<20,
	}
	ask := askInTurns
	if n := serve.RequestsOf(in.part).Burst; n > 0 && in.how != study.Together {
		o, ask = Offer{Requests: uint64(n), Seed: o.Seed}, askInBursts
		wake(ctx, in, all, o)
	} else if in.how == study.Together {
		ask = askTogether
	}
	for _, s := range all {
		s.cpu = -s.server.CPU()
	}
	ask(ctx, in, all, o)
	for _, s := range all {
		s.cpu += s.server.CPU()
	}
	if in.how == study.Alternating {
		return errors.Join(ctx.Err(), r.sites.Global(context.WithoutCancel(ctx), nil))
	}
	return ctx.Err()
}

// askTogether asks all arms at the same time.
func askTogether(ctx context.Context, in *instance, all []*served, o Offer) {
	var wait sync.WaitGroup
	for i, s := range all {
		wait.Go(func() {
			if asleep(ctx, stagger(serve.RequestsOf(in.part).Rate, i, len(all))) {
				s.ask(ctx, o)
			}
		})
	}
	wait.Wait()
}

// askInTurns asks all arms one after the other: once, or again and again for turnFor
// in rounds of random order.
func askInTurns(ctx context.Context, in *instance, all []*served, o Offer) {
	n := 1
	if in.how == study.Alternating {
		n = serve.TurnsOf(o.Lasts.Seconds())
	}
	o.Lasts /= time.Duration(n)
	for range n {
		for _, i := range in.rng.Perm(len(all)) {
			if all[i].ask(ctx, o); ctx.Err() != nil {
				return
			}
		}
		o.Seed++ // the same requests for all arms of a round
	}
}

// wake asks each server for a burst that does not count: the first.
func wake(ctx context.Context, in *instance, all []*served, o Offer) {
	for _, i := range in.rng.Perm(len(all)) {
		_, _, all[i].failed = all[i].turn(ctx, o)
	}
}

// askInBursts asks all arms for the same number of requests, again and again, in
// rounds of random order. Who took longer than the part's seconds by then takes part
// in no more, so that a slow arm has fewer bursts instead of most of the time.
func askInBursts(ctx context.Context, in *instance, all []*served, o Offer) {
	for range serve.Bursts(in.part) {
		o.Seed++
		for _, i := range in.rng.Perm(len(all)) {
			if s := all[i]; (s.meter.Elapsed + s.meter.Settle).Seconds() < in.part.Seconds {
				s.ask(ctx, o)
			}
			if ctx.Err() != nil {
				return
			}
		}
	}
}

// stagger is how much later than the first the i-th of n arms begins. All have
// the same requests after the same gaps (common random numbers: what chance
// asks for is not to look like an effect), but not at the same instant, in which
// they would be in each other's way: the offsets spread over a mean gap.
func stagger(rate float64, i, n int) time.Duration {
	return time.Duration(float64(i) / float64(n) / rate * float64(time.Second))
}

// asleep waits, and says whether it was left to.
func asleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// ask asks an arm's server for a while and adds what came of it. What fails
// is the arm's.
func (s *served) ask(ctx context.Context, o Offer) {
	if s.failed != nil {
		return
	}
	a, m, err := s.turn(ctx, o)
	if a != nil {
		s.account.Merge(a)
		s.meter = s.meter.Plus(m)
		s.turns++
		if o.Requests > 0 {
			s.bursts = append(s.bursts, serve.Burst{Answered: a.Result(m).Answered, Seconds: m.Elapsed.Seconds(), Settle: m.Settle.Seconds()})
		}
	}
	s.failed = errors.Join(err, s.server.Running())
}

// turn asks the arm's server once, with the kernel as the arm wants it.
func (s *served) turn(ctx context.Context, o Offer) (*request.Account, request.Meter, error) {
	if err := s.prepare(ctx); err != nil {
		return nil, request.Meter{}, err
	}
	return s.server.Ask(ctx, o)
}

// prepare sets the kernel for the arm.
func (s *served) prepare(ctx context.Context) error {
	if s.set == nil {
		return nil
	}
	return s.set(ctx)
}

// close ends the arm's server and completes its observation.
func (s *served) close(link testbed.Link) error {
	v := &serve.Served{Turns: s.turns, ServerCPU: s.cpu.Seconds(), RoundTrip: link.RoundTrip().Seconds()}
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
	s.o.Own = v.Observed()
	return err
}
