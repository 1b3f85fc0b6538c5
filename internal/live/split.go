package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"net/netip"
	"strings"
	"time"

	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/list"
	"linerate/internal/setting"
	"linerate/internal/show"
	"linerate/internal/sockops"
	"linerate/internal/study"
)

// Split is a study in which each connection accepted by this machine draws its arm.
type Split struct {
	Spec study.Spec
	Seed uint64
	Conn host.Runner // to this machine; reads the server's log, if the study uses one
	// Sink receives each arm of a finished window; its error ends the study. Told is called
	// after all arms of a window.
	Sink func(study.Trial) error
	Told func(window int)
	// Trials returns the trials on record so far.
	Trials func() []study.Trial
}

// SplitOutcome is the result of such a study.
type SplitOutcome struct {
	Trip  *study.Trip
	Notes []string
}

const (
	splitEvery = 100 * time.Millisecond // interval between reads of the ring buffer
	// mostKept is how many connections of an arm and window the record holds, sampled if there are more.
	mostKept = 3000
	// refusedAfter is when to check whether the kernel accepted the setting on the first connections.
	refusedAfter = 5 * time.Second
)

// splitting is a running study.
type splitting struct {
	Split
	kernel *sockops.Splitter
	length time.Duration
	share  map[int]float64
	start  map[int]time.Time
	// seen holds the connections of windows that are not yet on record, by window and arm;
	// count holds their numbers.
	seen  map[int]*[3]study.Connections
	count map[int]*[3]int
	log   *requestLog // nil if the study reads no log
	salt  maphash.Seed
	rng   *rand.Rand
	costs []string // of the BPF program, in words
}

func socketOptions(s study.Spec) (out []sockops.Option, err error) {
	for _, v := range s.Variants {
		for _, set := range v.Settings {
			o, err := setting.SocketOptionNamed(set.Setting().Name)
			if err != nil {
				return nil, err
			}
			value, err := o.Parse(set.Value)
			if err != nil {
				return nil, err
			}
			to := sockops.Option{Level: o.Level, Name: o.Number, Value: value}
			if o.Text {
				to.Text = set.Value
			}
			if err := sockops.Try(to); err != nil {
				return nil, hint.With(fmt.Errorf("this kernel does not take %s=%s for a connection: %w", o.Alias, set.Value, err), "linerate explain %s says what it needs", o.Name)
			}
			out = append(out, to)
		}
	}
	return out, nil
}

// open attaches the BPF program; nothing is treated yet.
func (o Split) open(ctx context.Context) (s *splitting, group string, err error) {
	options, err := socketOptions(o.Spec)
	if err != nil {
		return nil, "", err
	}
	if group, err = sockops.Cgroup(o.Spec.Parts[0].Live.Service); err != nil {
		return nil, "", err
	}
	log, err := newRequestLog(ctx, o.Conn, o.Spec.Parts[0].Live.ServerLog())
	if err != nil {
		return nil, "", err
	}
	rng := rand.New(rand.NewPCG(o.Seed, study.NameHash("connections")))
	kernel, err := sockops.Attach(group, sockops.Key{rng.Uint64(), rng.Uint64()}, options)
	if err != nil {
		return nil, "", err
	}
	return &splitting{Split: o, kernel: kernel, log: log, length: time.Duration(o.Spec.Parts[0].Live.Window * float64(time.Second)), salt: maphash.MakeSeed(), rng: rng,
		share: map[int]float64{}, start: map[int]time.Time{}, seen: map[int]*[3]study.Connections{}, count: map[int]*[3]int{}}, group, nil
}

// Check returns why the study cannot run on this machine, or nil.
func (o Split) Check(ctx context.Context) error {
	s, _, err := o.open(ctx)
	if err != nil {
		return err
	}
	return s.kernel.Close()
}

// Look runs one window without treatment, and returns its connections.
func (o Split) Look(ctx context.Context) (trials []study.Trial, err error) {
	s, _, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	s.Trials, s.Told = func() []study.Trial { return trials }, func(int) {}
	s.Sink = func(t study.Trial) error {
		t.Block = 1 // the only window
		trials = append(trials, t)
		return nil
	}
	for w := range 2 {
		if err == nil {
			err = s.window(ctx, w, 0)
		}
	}
	if err == nil {
		_, err = s.record(ctx, 0)
	}
	return trials, errors.Join(err, s.kernel.Close())
}

// Run runs the study to its end, or until ctx is done. It detaches everything before it returns.
func (o Split) Run(ctx context.Context) (out SplitOutcome, err error) {
	s, group, err := o.open(ctx)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, s.kernel.Close()) }()
	out.Trip, err = s.windows(ctx)
	out.Notes = []string{"connections of cgroup " + group}
	if len(s.costs) > 0 {
		out.Notes = append(out.Notes, "the program took "+strings.Join(s.costs, "; ")+"; and none a packet")
	}
	if s.log != nil {
		out.Notes = append(out.Notes, fmt.Sprintf("%d of %d connections have lines in %s", s.log.joined, s.log.joined+s.log.without, s.log.tail.path))
	}
	return out, err
}

// windows runs the ramp, all windows, and one more in which the last connections end.
func (s *splitting) windows(ctx context.Context) (*study.Trip, error) {
	blocks := s.Spec.Parts[0].Blocks
	shares := append([]float64{study.Ramp}, study.Shares(s.Seed, blocks)...)
	for w, share := range append(shares, 0) {
		if err := s.window(ctx, w, share); err != nil {
			return nil, err
		}
		if w == 0 {
			if err := s.accepted(); err != nil {
				return nil, err
			}
			continue
		}
		trip, err := s.record(ctx, w-1)
		if err != nil || trip != nil {
			return trip, err
		}
	}
	return nil, nil
}

// window lets connections draw their arms for the length of a window.
func (s *splitting) window(ctx context.Context, w int, share float64) error {
	last, err := s.kernel.Tallies(uint32(max(0, w-1))) // of the first window: nothing
	if err != nil {
		return err
	}
	keep := sample(last[:], share)
	if w == 0 || w == 1 && keep != sockops.All {
		defer s.timed(w)()
	}
	s.share[w], s.start[w] = share, time.Now()
	s.seen[w], s.count[w] = &[3]study.Connections{}, &[3]int{}
	if err := s.kernel.Set(uint32(w), share, keep); err != nil {
		return err
	}
	for asked := false; time.Since(s.start[w]) < s.length; {
		if err := pause(ctx, min(splitEvery, s.length-time.Since(s.start[w]))); err != nil {
			return err
		}
		if err := s.read(); err != nil {
			return err
		}
		if since := time.Since(s.start[w]); w == 0 && !asked && since > min(refusedAfter, s.length/2) {
			asked = true
			if err := s.taken(); err != nil {
				return err
			}
		}
	}
	return nil
}

// sample returns the shares of each arm's connections to report: twice as many as the record holds, if
// a window has as many connections as the last one.
func sample(last []sockops.Tally, share float64) (keep sockops.Shares) {
	all := 0.0
	for _, t := range last {
		all += float64(t.Opened)
	}
	for arm, chance := range []float64{sockops.Control: (1 - share) / 2, sockops.Again: (1 - share) / 2, sockops.Treated: share} {
		keep[arm] = min(1, 2*mostKept/max(1, chance*all))
	}
	return keep
}

// timed times the program until end is called.
func (s *splitting) timed(w int) (end func()) {
	clock, err := sockops.NewClock()
	if err != nil {
		return func() {}
	}
	before, callsBefore, _ := s.kernel.Cost(clock)
	return func() {
		defer clock.Close()
		took, calls, err := s.kernel.Cost(clock)
		tallies, terr := s.kernel.Tallies(uint32(w))
		opened, kept, n := 0.0, 0.0, 0.0
		for _, t := range tallies {
			opened, kept = opened+float64(t.Opened), kept+float64(t.Kept)
			// An open connection counts as half a connection, since its end has not been seen.
			n += float64(t.Opened) - float64(t.Kept-t.Closed)/2
		}
		if err != nil || terr != nil || n == 0 {
			return
		}
		text := fmt.Sprintf("%s a connection, in %.1f calls", show.Nanos(float64(took-before)/n), float64(calls-callsBefore)/n)
		if w > 0 {
			text += fmt.Sprintf(", when it recorded %s of them", show.Percent(100*kept/opened))
		}
		s.costs = append(s.costs, text)
	}
}

// taken checks that the kernel accepted the setting on the first connections.
func (s *splitting) taken() error {
	tallies, err := s.kernel.Tallies(0)
	if err != nil {
		return err
	}
	if t := tallies[sockops.Treated]; t.Refused > 0 {
		return hint.With(fmt.Errorf("the kernel refused the setting for %d of %d connections: %w", t.Refused, t.Opened, t.Err()), "nothing was changed for them; a newer kernel may take it")
	}
	return nil
}

// accepted refuses a study in which no connection is accepted: the process is the wrong one, or too quiet.
func (s *splitting) accepted() error {
	tallies, err := s.kernel.Tallies(0)
	if err != nil {
		return err
	}
	for _, t := range tallies {
		if t.Opened > 0 {
			return nil
		}
	}
	of := cmp.Or(s.Spec.Parts[0].Live.Service, "this machine")
	return hint.With(fmt.Errorf("%s accepted no TCP connection in %s", of, s.length), "ss -ltnp names the process that listens; a server in a container has its own cgroup; a quiet one needs %s", hint.Option("window", "5m"))
}

// read takes the connections that have ended.
func (s *splitting) read() error {
	ended, err := s.kernel.Read()
	for _, c := range ended {
		w := int(c.Window)
		if s.seen[w] == nil || c.Arm > sockops.Treated {
			continue // it ended after its window was recorded
		}
		s.count[w][c.Arm]++
		at := s.keep(&s.seen[w][c.Arm], s.count[w][c.Arm], s.connection(c))
		if s.log != nil && at >= 0 {
			s.log.await(row{w, c.Arm, at}, c)
		}
	}
	return err
}

// keep adds a connection or, once mostKept are stored, replaces a random one, so that every
// connection has the same chance to be stored. It returns the row, -1 if it was not stored.
func (s *splitting) keep(c *study.Connections, n int, o study.Connection) int {
	if n <= mostKept {
		c.Add(o)
		return n - 1
	}
	at := s.rng.IntN(n)
	if at >= mostKept {
		return -1
	}
	c.Set(at, o)
	return at
}

func (s *splitting) connection(c sockops.Closed) study.Connection {
	return study.Connection{
		Client: s.client(c.Remote.Addr()), FirstRTT: round4(c.FirstRTT.Seconds()), RTT: round4(c.RTT.Seconds()), Duration: round4(c.Duration.Seconds()),
		Rate: round4(8 * c.Rate), Segments: float64(c.Segments), Again: float64(c.Again), Bytes: float64(c.BytesSent),
	}
}

// client hashes an address; for IPv6 only the /64 prefix, since its hosts count as one
// client. The salt is not recorded.
func (s *splitting) client(a netip.Addr) uint32 {
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			a = p.Addr()
		}
	}
	return uint32(maphash.Comparable(s.salt, a))
}

// round4 rounds to four significant digits, which is more than round-trip times have.
func round4(v float64) float64 {
	if v == 0 {
		return 0
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}

// record passes on a window whose connections had one more window to end in, and checks the guardrails.
func (s *splitting) record(ctx context.Context, w int) (*study.Trip, error) {
	if s.log != nil {
		if err := s.log.join(ctx, w, s.length, s.seen[w]); err != nil {
			return nil, err
		}
	}
	tallies, err := s.kernel.Tallies(uint32(w))
	if err != nil {
		return nil, err
	}
	var trials []study.Trial
	for arm, variant := range []string{sockops.Control: s.Spec.Control, sockops.Again: study.AA, sockops.Treated: s.treated()} {
		c, t := s.seen[w][arm], tallies[arm]
		if s.log == nil {
			c.Request = nil
		}
		each := float64(t.Opened) / float64(max(1, t.Kept)) // connections for one that was to be reported
		c.Share, c.Opened, c.Refused, c.Lost = s.share[w], int(t.Opened), int(t.Refused), int(each*float64(t.Lost))
		c.Open = max(0, int(each*float64(int(t.Kept)-s.count[w][arm]-int(t.Lost))))
		trial := study.ConnectionTrial(s.Spec, study.Window{Pair: w, Ramp: w == 0, Traffic: float64(t.Opened) / s.length.Seconds()}, variant, c)
		trial.Start, trial.Seconds = s.start[w], s.length.Seconds()
		trials = append(trials, trial)
	}
	delete(s.seen, w)
	trip := study.HarmIn(s.Spec, s.Seed, append(s.Trials(), trials...))
	for _, t := range trials {
		if t.Variant == s.treated() && trip != nil {
			t.Observed.Window.Trip = trip
			t.Metrics, t.Reasons = study.Judge(s.Spec.Parts[0], s.Spec.Gates, *t.Observed)
			t.Valid = false
		}
		if err := s.Sink(t); err != nil {
			return nil, err
		}
	}
	s.Told(w)
	return trip, nil
}

// treated returns the name of the variant that is not the control.
func (s *splitting) treated() string {
	v, _ := list.Find(s.Spec.Variants, func(v study.Variant) bool { return v.Name != s.Spec.Control })
	return v.Name
}
