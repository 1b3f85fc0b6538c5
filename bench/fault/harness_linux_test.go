package fault

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"linerate/internal/apply"
	"linerate/internal/host"
	"linerate/internal/plan"
	"linerate/internal/setting"
)

// Phase is what the agent is doing when it is struck.
type Phase string

// The phases.
const (
	Applying    Phase = "apply"
	Confirming  Phase = "confirm"
	RollingBack Phase = "rollback"
	Reverting   Phase = "revert"
)

// Options of a run.
type Options struct {
	// Faults is how many; 0 is each that there is, once.
	Faults int
	// Sparse is fewer cases: each kind once in each phase, each command once in each
	// phase, and each command that fails.
	Sparse bool
	Seed   uint64
	// Kinds of faults; none is all.
	Kinds []Kind
	// Workers strike at as many hosts at once; 0 is 1.
	Workers int
	// Sabotage is a defect of the agent's that the check must see; "" is none.
	Sabotage Sabotage
	// Runner makes the runner of scripts in a sandbox, with an environment.
	Runner func(r *Sandbox, env []string) host.Runner
}

// Result counts what was left of the host.
type Result struct {
	Version int `json:"version"`
	Faults  int `json:"faults"`
	// Old and New: exactly as before, exactly as confirmed.
	Old int `json:"old"`
	New int `json:"new"`
	// Mixed: neither; Lost: a file that was there is gone or changed.
	Mixed int `json:"mixed"`
	Lost  int `json:"lost"`
	// Steps are the places a fault could strike at, by phase; Cases the faults that
	// differ: of steps between which nothing changed, one stands for all.
	Steps map[Phase]int `json:"steps"`
	Cases int           `json:"cases"`
	// Kinds are the faults by kind.
	Kinds map[Kind]int `json:"kinds"`
	// Bad describes the first of the mixed and lost.
	Bad []string `json:"bad,omitempty"`
}

// String says what was left of the hosts.
func (r Result) String() string {
	return fmt.Sprintf("%d faults: %d hosts as they were, %d as confirmed, %d mixed, %d lost", r.Faults, r.Old, r.New, r.Mixed, r.Lost)
}

// maxBad is how many bad ends are described.
const maxBad = 20

// lab is a run under way.
type lab struct {
	Options
	sandbox  *Sandbox
	script   string
	old, new map[string]string
	from     map[Phase]image
	steps    map[Phase][]step
	// transaction makes the host new; digest is its plan's.
	transaction apply.Transaction
	digest      string
	said        error // of the phase that was struck
	result      Result
}

// Run strikes Faults times, each at another step of another phase, and counts
// what is left after recovery. It works beneath dir; its error is of the run, never of
// what a fault left.
func Run(ctx context.Context, dir string, o Options) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := max(1, o.Workers)
	labs := make([]*lab, workers)
	for w := range labs {
		sandbox, err := NewSandbox(filepath.Join(dir, strconv.Itoa(w)))
		if err != nil {
			return Result{}, err
		}
		defer sandbox.Close()
		defer func() { _ = sandbox.endAll() }() // of what was interrupted
		labs[w] = newLab(sandbox, o)
	}
	if err := labs[0].learn(ctx); err != nil {
		return labs[0].result, fmt.Errorf("a run without faults: %w", err)
	}
	cases := labs[0].cases()
	if o.Faults == 0 {
		o.Faults = len(cases)
	}
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w, l := range labs {
		wg.Go(func() {
			if errs[w] = l.as(labs[0]); errs[w] == nil {
				errs[w] = l.work(ctx, cases, w, workers, o.Faults)
			}
			if errs[w] != nil {
				cancel()
			}
		})
	}
	wg.Wait()
	total := labs[0].result
	total.Version, total.Cases = 1, len(cases)
	for _, l := range labs[1:] {
		total.add(l.result)
	}
	return total, errors.Join(errs...)
}

// learnt are the labs of this process that have seen a run without faults, by the defect of
// their agent: it is the same for every host of the kind.
var (
	learning sync.Mutex
	learnt   = map[Sabotage]*lab{}
)

// learn has a lab know what a run without faults is like: from its own, the first time.
func (l *lab) learn(ctx context.Context) error {
	learning.Lock()
	defer learning.Unlock()
	if first := learnt[l.Sabotage]; first != nil {
		l.steps = first.steps
		for phase, steps := range l.steps {
			l.result.Steps[phase] = len(steps)
		}
		return l.as(first)
	}
	if err := l.calibrate(ctx); err != nil {
		return err
	}
	learnt[l.Sabotage] = l
	return nil
}

// as has a sandbox's host be what another was found to be.
func (l *lab) as(first *lab) error {
	if l == first {
		return nil
	}
	l.old, l.new, l.from, l.transaction, l.digest = first.old, first.new, first.from, first.transaction, first.digest
	return l.sandbox.begin()
}

// work does every workers-th of so many faults.
func (l *lab) work(ctx context.Context, cases []attack, first, workers, faults int) error {
	for i := first; i < faults; i += workers {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.strike(ctx, cases[i%len(cases)]); err != nil {
			return err
		}
	}
	return nil
}

func (r *Result) add(o Result) {
	r.Faults += o.Faults
	r.Old += o.Old
	r.New += o.New
	r.Mixed += o.Mixed
	r.Lost += o.Lost
	for k, n := range o.Kinds {
		r.Kinds[k] += n
	}
	r.Bad = append(r.Bad, o.Bad...)
}

func newLab(sandbox *Sandbox, o Options) *lab {
	return &lab{Options: o, sandbox: sandbox, script: script(o.Sabotage), from: map[Phase]image{}, steps: map[Phase][]step{},
		result: Result{Steps: map[Phase]int{}, Kinds: map[Kind]int{}}}
}

// attack is one fault.
type attack struct {
	phase Phase
	kind  Kind
	at    int
}

// boots reports faults after which the host boots.
func (a attack) boots() bool { return a.kind == Boot || a.kind == Unsynced }

// cases are all faults that differ, shuffled by the seed.
func (l *lab) cases() []attack {
	var all []attack
	for _, phase := range []Phase{Applying, Confirming, RollingBack, Reverting} {
		for _, kind := range l.kinds() {
			for i, s := range l.steps[phase] {
				if i == 0 || s.differs(l.steps[phase][i-1], kind) {
					all = append(all, attack{phase, kind, i + 1})
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(l.Seed, 12))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if l.Sparse {
		all = l.thin(all)
	}
	return all
}

// thin keeps a fault that is the first of its kind in a phase or the first at a command
// in a phase, and the first failure of a command. To the other kinds it does not matter
// which command they strike at, but what the host is at that moment.
func (l *lab) thin(all []attack) []attack {
	struck := map[[2]string]bool{}
	return slices.DeleteFunc(all, func(a attack) bool {
		phase, kind, command := string(a.phase), string(a.kind), l.steps[a.phase][a.at-1].command
		pairs := [][2]string{{phase, kind}, {phase, command}}
		if a.kind == IO {
			pairs = append(pairs, [2]string{kind, command})
		}
		old := true
		for _, pair := range pairs {
			old = old && struck[pair]
			struck[pair] = true
		}
		return old
	})
}

func (l *lab) kinds() []Kind {
	if len(l.Kinds) > 0 {
		return l.Kinds
	}
	return Kinds()
}

// machine is the sandbox with a fault in its agent; no kind is none.
func (l *lab) machine(kind Kind, at int) apply.Machine {
	env := []string{"LINERATE_ROOT=" + l.sandbox.Root, "LINERATE_INIT=sysv",
		"FAULT=" + string(kind), "FAULT_AT=" + strconv.Itoa(at), "FAULT_DIR=" + l.sandbox.Dir}
	return apply.OnWith(l.Runner(l.sandbox, env), l.script)
}

// calibrate runs every phase without a fault: it learns what old and new are,
// the steps of each phase, and keeps an image from before each.
func (l *lab) calibrate(ctx context.Context) error {
	if err := l.firstLook(ctx); err != nil {
		return err
	}
	m := l.machine("count", 0)
	for _, phase := range []Phase{Applying, Confirming, RollingBack, Reverting} {
		if phase == Reverting { // it starts from what a confirm starts from
			if err := errors.Join(l.sandbox.endAll(), l.sandbox.load(l.from[Confirming])); err != nil {
				return err
			}
		}
		var err error
		if l.from[phase], err = l.sandbox.save(); err != nil {
			return err
		}
		if err := l.scratch(); err != nil {
			return err
		}
		if err := l.perform(ctx, m, phase); err != nil {
			return fmt.Errorf("%s: %w", phase, err)
		}
		if l.steps[phase], err = l.trace(); err != nil {
			return err
		}
		l.result.Steps[phase] = len(l.steps[phase])
		state, err := l.sandbox.state()
		if err != nil {
			return err
		}
		if phase == Confirming {
			l.new = state
			if err := l.sandbox.do(func() error { l.new[readEarly] = l.sandbox.early(); return nil }); err != nil {
				return err
			}
		}
		if d := differs(state, l.old); (phase == RollingBack || phase == Reverting) && d != "" && l.Sabotage != BreakRevert {
			return fmt.Errorf("%s: %s", phase, d)
		}
	}
	return nil
}

// firstLook makes the host, the plan and what changes it.
func (l *lab) firstLook(ctx context.Context) error {
	if err := errors.Join(l.sandbox.begin(), l.scratch()); err != nil {
		return err
	}
	var err error
	if l.old, err = l.sandbox.state(); err != nil {
		return err
	}
	m := l.machine("", 0)
	id, err := m.Hello(ctx)
	if err != nil {
		return err
	}
	p := plan.Plan{OS: id.OS, Release: id.Release, Host: id.Host, Role: "router"}
	for _, s := range sysctls {
		p.Settings = append(p.Settings, plan.Step{Name: s.name, Mechanism: setting.Sysctl, Current: plan.Current{Value: &s.before},
			Value: s.after, Where: plan.Where{File: plan.LinuxSysctl, Runtime: true}, Reason: "to be struck at"})
	}
	p.Settings = append(p.Settings,
		plan.Step{Name: "nf_conntrack/hashsize", Mechanism: setting.ModParam, Value: "65536", Where: plan.Where{File: plan.LinuxModprobe}, Reason: "a file that was not there"},
		plan.Step{Name: "cpu0", Mechanism: setting.Governor, Value: "performance", Where: plan.Where{File: plan.LinuxTmpfiles}, Reason: "a directory that was not there"})
	if p, err = plan.Seal(p); err != nil {
		return err
	}
	l.digest = p.Digest
	dry := apply.DryRun(m, func(t apply.Transaction) { l.transaction = t })
	_, err = apply.Run(ctx, dry, p, apply.Options{Within: time.Hour})
	return err
}

// otherJournal is what somebody else applies.
const otherJournal = "linerate-transaction 1\ndigest sha256:222222222222222222\nwindow 60\nset sysctl - net.ipv4.tcp_keepalive_time =77\nend\n"

// scratch makes the directory of counters anew.
func (l *lab) scratch() error {
	return errors.Join(os.WriteFile(filepath.Join(l.sandbox.Dir, "count"), []byte("0\n"), 0o600), os.WriteFile(filepath.Join(l.sandbox.Dir, "trace"), nil, 0o600),
		os.WriteFile(filepath.Join(l.sandbox.Dir, "journal"), []byte(otherJournal), 0o600))
}
