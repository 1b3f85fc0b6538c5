package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"linerate/internal/appliance"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/knob"
	"linerate/internal/list"
	"linerate/internal/plan"
	"linerate/internal/show"
	"linerate/internal/wait"
)

// Limits of the confirmation window.
const (
	MinWindow = 10 * time.Second
	MaxWindow = 24 * time.Hour
)

// Check is something that must work before and after the change, tested from this machine over a
// separate connection.
type Check struct {
	Name string
	Do   func(context.Context) error
}

// Options say how to apply.
type Options struct {
	// Within is the time to confirm in; Chosen means that the user chose it for this plan: without
	// that, changes that may cut the user off are refused.
	Within time.Duration
	Chosen bool
	// Trial reboots the host to try what only a boot sets; the time to confirm begins with that
	// boot.
	Trial bool
	// Harms, unless nil, returns what the plan would make worse on the host in its current state: a
	// plan may be based on other facts. Such plans are refused unless Chosen.
	Harms func(context.Context, plan.Plan) ([]string, error)
	// Checks must succeed after the change; one that fails before it aborts.
	Checks []Check
	// CheckTries is how often gateways and checks are tried after the change before it counts as
	// failed, with growing pauses; 0 is 4.
	CheckTries int
	// Ask is called with the prepared transaction, before anything changes; false aborts. nil means
	// yes.
	Ask func(Transaction) (bool, error)
	// Began, unless nil, receives the host's identifier of the change once the host is changed.
	Began func(id string)
	// Say is called with progress messages, one line at a time; nil discards them.
	Say func(format string, args ...any)
	// Wait waits for the outcome; without it Run returns when the change can be confirmed.
	Wait bool
	// Poll is the polling interval of Wait; 0 is one second.
	Poll time.Duration
	// Line returns the command line that runs a verb (confirm, status) on the machine; nil uses the
	// function Line.
	Line func(verb string) string
}

func (o Options) line(verb string, m Machine) string {
	if o.Line == nil {
		return Line(verb, m.Where())
	}
	return o.Line(verb)
}

// Outcome is the result of Run.
type Outcome string

// The outcomes.
const (
	Nothing   Outcome = "nothing to do"
	Declined  Outcome = "declined"
	Planned   Outcome = "dry run"
	Pending   Outcome = "pending"
	Confirmed Outcome = "confirmed"
	Reverted  Outcome = "reverted"
)

// ErrReverted means that the host was changed and restored.
var ErrReverted = errors.New("the host is as it was")

// ErrInterrupted is the reason for reverting a change that its user interrupted.
var ErrInterrupted = errors.New("interrupted before anybody confirmed it")

// interrupted returns err, or if ctx was cancelled the cause, by default ErrInterrupted.
func interrupted(ctx context.Context, err error) error {
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		if why := context.Cause(ctx); !errors.Is(why, context.Canceled) {
			return why
		}
		return ErrInterrupted
	}
	return err
}

// Run applies a plan to a machine and reverts it unless it is confirmed in time. After an error the
// host is unchanged, unless the error says otherwise.
func Run(ctx context.Context, m Machine, p plan.Plan, o Options) (Outcome, error) {
	if o.Say == nil {
		o.Say = func(string, ...any) {}
	}
	t, err := prepare(ctx, m, p, o)
	if err != nil {
		return Nothing, err
	}
	if len(t.Set) == 0 && len(t.Files) == 0 {
		return Nothing, nil
	}
	gateways, err := baseline(ctx, m, o)
	if err != nil {
		return Nothing, err
	}
	if o.Ask != nil {
		if yes, err := o.Ask(t); err != nil || !yes {
			return Declined, err
		}
	}
	before, _ := m.Status(ctx) // only needed to distinguish this change from earlier ones
	id, after, err := applyNow(ctx, m, t)
	if errors.Is(err, errDryRun) {
		return Planned, nil
	}
	if err != nil {
		return Reverted, hint.Left(outOfTouch(m, t, o, before.newest(), interrupted(ctx, err)))
	}
	if o.Began != nil {
		o.Began(id)
	}
	if err := good(ctx, m, t, after, gateways, o); err != nil {
		return Reverted, TakeBack(m, o, id, interrupted(ctx, err))
	}
	if o.Trial {
		o.Say("rebooting %s to try it; unless confirmed within %s of that boot (%s), another boot reverts it", m.Where(), o.Within, o.line("confirm", m))
		return Pending, m.Reboot(ctx)
	}
	o.Say("applied to %s; it is reverted in %s unless you confirm from another connection: %s", m.Where(), o.Within, o.line("confirm", m))
	if !o.Wait {
		return Pending, nil
	}
	return await(ctx, m, id, o)
}

// Line returns the command line that runs a verb on a machine with the name where (Machine.Where),
// if no options are needed to reach it.
func Line(verb, where string) string {
	if strings.HasPrefix(where, "ssh://") {
		return "linerate " + verb + " " + where
	}
	return "linerate " + verb
}

// applyNow applies t with a time limit: a host that is cut off never answers.
func applyNow(ctx context.Context, m Machine, t Transaction) (string, map[knob.Key]string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, min(t.Window, patience), errors.New("the host no longer answers"))
	defer cancel()
	return m.Apply(ctx, t)
}

// outOfTouch waits for the outcome of a change whose answer never arrived. An error from the agent
// itself needs no waiting. The newest earlier transaction may be of the same plan.
func outOfTouch(m Machine, t Transaction, o Options, newest string, err error) error {
	var said *host.ScriptError
	if errors.As(err, &said) {
		return err
	}
	o.Say("%v; it reverts the change itself, in %s at the latest", err, o.Within)
	ctx, cancel := context.WithTimeout(context.Background(), o.Within+patience)
	defer cancel()
	for ctx.Err() == nil {
		try, done := context.WithTimeout(ctx, 15*time.Second)
		st, failed := m.Status(try)
		done()
		switch n := len(st.History); {
		case failed != nil:
		case st.State != "idle" && st.Digest == t.Plan.Digest:
			return TakeBack(m, o, st.ID, err)
		case n > 0 && st.History[n-1].Digest == t.Plan.Digest && st.newest() != newest:
			return fmt.Errorf("%w; then %s; %w", err, st.History[n-1].Why, ErrReverted)
		default:
			return fmt.Errorf("%w; nothing was changed", err)
		}
		time.Sleep(time.Second)
	}
	return hint.With(err, "the host was not reached again; its switch reverts the change")
}

// prepare reads the host's state and returns the transaction.
func prepare(ctx context.Context, m Machine, p plan.Plan, o Options) (Transaction, error) {
	if o.Within < MinWindow || o.Within > MaxWindow {
		return Transaction{}, hint.Usagef("%s to confirm: must be from %s to %s", o.Within, MinWindow, MaxWindow)
	}
	id, err := m.Hello(ctx)
	if err != nil {
		return Transaction{}, err
	}
	if err := errors.Join(Fits(p, id), bold(p, id, o), untried(id, o)); err != nil {
		return Transaction{}, err
	}
	own, companions := keysOf(p)
	now, err := m.Look(ctx, append(own, companions...), plan.Places(p.OS))
	if err != nil {
		return Transaction{}, err
	}
	t, err := Prepare(p, now, o.Within, o.Trial)
	if err != nil {
		return t, err
	}
	return t, sound(ctx, p, o)
}

// sound refuses a plan that makes the host worse, unless the user chose to try it.
func sound(ctx context.Context, p plan.Plan, o Options) error {
	if o.Harms == nil {
		return nil
	}
	worse, err := o.Harms(ctx, p)
	switch {
	case err != nil:
		o.Say("what the plan does to this host was not judged: %v", err)
	case len(worse) > 0 && !o.Chosen:
		return hint.With(fmt.Errorf("on this host, as it is now, the plan makes something worse: %s", show.Clean(strings.Join(worse, "; "))),
			"make a plan of this host (linerate plan), or say that you want this one and how long you try it: %s", hint.Option("confirm-within", "5m"))
	case len(worse) > 0:
		o.Say("on this host the plan makes something worse: %s", show.Clean(strings.Join(worse, "; ")))
	}
	return nil
}

// bold refuses a plan that may cut the user off, unless they chose how long they can wait for the
// host.
func bold(p plan.Plan, id Identity, o Options) error {
	for _, s := range p.Settings {
		if why := knob.Cuts(keyOf(s), s.Value, id.Management); why != "" && !o.Chosen {
			return hint.With(fmt.Errorf("%s = %s %s, and may cut you off", s.Title(), show.Clean(s.Value), why), "choose how long you can wait for the host to come back: %s", hint.Option("confirm-within", "1m"))
		}
	}
	return nil
}

// untried refuses a trial by reboot on products where it was never tested.
func untried(id Identity, o Options) error {
	if a := appliance.Named(id.Product); o.Trial && a != nil && !a.Applies {
		return hint.With(fmt.Errorf("%s does not support trials that boot", a.Title), "apply it without %s: what it sets runs at once, and a boot takes it back until it is confirmed", hint.Option("reboot", ""))
	}
	return nil
}

// baseline runs the checks before the change: one that fails now cannot show later whether the
// change broke it.
func baseline(ctx context.Context, m Machine, o Options) (map[string]bool, error) {
	gateways, err := m.Reach(ctx)
	if err != nil {
		return nil, err
	}
	for g, answers := range gateways {
		if !answers {
			o.Say("gateway %s does not answer now, so it cannot be a check", g)
		}
	}
	for _, c := range o.Checks {
		if err := c.Do(ctx); err != nil {
			return nil, hint.With(fmt.Errorf("check %s fails before anything is changed: %w", c.Name, err), "a check must work now to say anything later")
		}
	}
	return gateways, nil
}

// good checks an applied change: values read back, then reachability.
func good(ctx context.Context, m Machine, t Transaction, after map[knob.Key]string, gateways map[string]bool, o Options) error {
	if err := t.Judge(after); err != nil {
		return err
	}
	written := "left for confirm to write"
	if t.Trial {
		written = "written or told to the next boot"
	}
	o.Say("%s read back as set, %s %s", show.Plural(len(t.Set), "value"), show.Plural(len(t.Files), "file"), written)
	if err := reachable(ctx, m, gateways, o); err != nil {
		return err
	}
	return m.Ready(ctx)
}

// attempts is the default number of tries of a check after the change: links flap, neighbours are resolved again.
const attempts = 4

func reachable(ctx context.Context, m Machine, gateways map[string]bool, o Options) error {
	var err error
	for i := range cmp.Or(o.CheckTries, attempts) {
		if i > 0 {
			if err := wait.For(ctx, time.Duration(i)*time.Second); err != nil {
				return err
			}
		}
		if err = reachOnce(ctx, m, gateways, o.Checks); err == nil {
			return nil
		}
	}
	return err
}

func reachOnce(ctx context.Context, m Machine, before map[string]bool, checks []Check) error {
	now, err := m.Reach(ctx)
	if err != nil {
		return err
	}
	for g, answered := range before {
		if answered && !now[g] {
			return fmt.Errorf("gateway %s answered before the change and does not now", g)
		}
	}
	for _, c := range checks {
		if err := c.Do(ctx); err != nil {
			return fmt.Errorf("check %s: %w", c.Name, err)
		}
	}
	return nil
}

// patience is the time limit for reverting after the caller's context has ended.
const patience = 2 * time.Minute

// TakeBack reverts the pending change, even if the caller's context has ended. It returns why, with
// ErrReverted if the host is restored; the switch on the host may have reverted it first.
func TakeBack(m Machine, o Options, id string, why error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	reason := "taken back: " + strings.Join(strings.Fields(why.Error()), " ")
	if _, err := m.Revert(ctx, id, reason); err != nil {
		if past, over := pastOf(ctx, m, id); over && past.Outcome == string(Reverted) {
			return hint.Left(fmt.Errorf("%w; then %s; %w", why, past.Why, ErrReverted))
		}
		return hint.Left(hint.With(fmt.Errorf("%w; and it could not be reverted from here: %w", why, err), "the switch on the host reverts it when the time to confirm is over; %s shows whether it has", o.line("status", m)))
	}
	return hint.Left(fmt.Errorf("%w; %w", why, ErrReverted))
}

// pastOf returns a completed transaction from the host's history.
func pastOf(ctx context.Context, m Machine, id string) (past Past, over bool) {
	st, err := m.Status(ctx)
	if err != nil {
		return Past{}, false
	}
	return st.past(id)
}

// newest returns the ID of the last completed transaction; "" if there is none.
func (st Status) newest() string {
	p, _ := st.last(func(Past) bool { return true })
	return p.ID
}

// past returns a completed transaction.
func (st Status) past(id string) (Past, bool) {
	return list.Find(st.History, func(p Past) bool { return p.ID == id })
}

// await polls until the transaction is over. It reverts it at once if the context ends.
func await(ctx context.Context, m Machine, id string, o Options) (Outcome, error) {
	for {
		if wait.For(ctx, cmp.Or(o.Poll, time.Second)) != nil {
			return Reverted, TakeBack(m, o, id, interrupted(ctx, ctx.Err()))
		}
		st, err := m.Status(ctx)
		if err != nil || (st.ID == id && st.State != "idle") {
			continue // the connection itself may be lost: then the switch decides
		}
		past, over := st.past(id)
		switch {
		case over && past.Outcome == string(Confirmed):
			return Confirmed, nil
		case over:
			return Reverted, fmt.Errorf("%s; %w", past.Why, ErrReverted)
		}
		return Nothing, fmt.Errorf("%s no longer knows %s", m.Where(), id)
	}
}
