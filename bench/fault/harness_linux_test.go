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

// Phase is what the agent is doing when a fault strikes.
type Phase string

// The phases.
const (
	Applying    Phase = "apply"
	Confirming  Phase = "confirm"
	RollingBack Phase = "rollback"
	Reverting   Phase = "revert"
)

// Options are the options of a run.
type Options struct {
	// Faults is the number of faults; 0 means each distinct one once.
	Faults int
	// Sparse selects fewer cases: each kind and each command once in each phase, and
	// each command failing once.
	Sparse bool
	Seed   uint64
	// Kinds of faults; empty: all.
	Kinds []Kind
	// Workers is the number of hosts tested in parallel; 0 is 1.
	Workers int
	// Sabotage is a defect added to the agent that the check must find; "" is none.
	Sabotage Sabotage
	// Runner returns a runner of scripts in a sandbox with an environment.
	Runner func(r *Sandbox, env []string) host.Runner
}

// Result counts the states of hosts after recovery.
type Result struct {
	Version int `json:"version"`
	Faults  int `json:"faults"`
	// Old and New: exactly as before, and exactly as confirmed.
	Old int `json:"old"`
	New int `json:"new"`
	// Mixed: neither of them; Lost: an existing file is gone or changed.
	Mixed int `json:"mixed"`
	Lost  int `json:"lost"`
	// Steps is the number of steps at which a fault could strike, by phase; Cases is the
	// number of distinct faults, as steps without a change in between are equivalent.
	Steps map[Phase]int `json:"steps"`
	Cases int           `json:"cases"`
	// Kinds is the number of faults by kind.
	Kinds map[Kind]int `json:"kinds"`
	// Bad describes the first of the mixed and lost hosts.
	Bad []string `json:"bad,omitempty"`
}

// String summarises the result.
func (r Result) String() string {
	return fmt.Sprintf("%d faults: %d hosts as they were, %d as confirmed, %d mixed, %d lost", r.Faults, r.Old, r.New, r.Mixed, r.Lost)
}

// maxBad is the number of bad hosts that are described.
const maxBad = 20

// lab is a worker of a run, with its sandbox.
type lab struct {
	Options
	sandbox  *Sandbox
	script   string
	old, new map[string]string
	from     map[Phase]image
	steps    map[Phase][]step
	// transaction changes the host to the new state; digest is that of its plan.
	transaction apply.Transaction
	digest      string
	said        error // error of the phase in which the fault struck
	result      Result
}

// Run injects Faults faults, each at another step or phase, and counts the hosts'
// states after recovery. It works below dir. Its error is about the run itself, not
// about what a fault left behind.
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
		defer func() { _ = sandbox.endAll() }() // of interrupted phases
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

// learnt holds, for each defect of the agent, a lab that has completed a run without
// faults, which is the same for all hosts of this kind.
var (
	learning sync.Mutex
	learnt   = map[Sabotage]*lab{}
)

// learn records a run without faults, or copies the record of an earlier lab.
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

// as copies the recorded states from another lab, and resets the sandbox.
func (l *lab) as(first *lab) error {
	if l == first {
		return nil
	}
	l.old, l.new, l.from, l.transaction, l.digest = first.old, first.new, first.from, first.transaction, first.digest
	return l.sandbox.begin()
}

// work injects every workers-th of the faults.
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

// attack is a fault at a step of a phase.
type attack struct {
	phase Phase
	kind  Kind
	at    int
}

// boots reports whether the host boots after the fault.
func (a attack) boots() bool { return a.kind == Boot || a.kind == Unsynced }

// cases returns all distinct faults, shuffled by the seed.
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

// thin keeps a fault if it is the first of its kind in a phase, the first at a command
// in a phase, or the first failure of a command. For the other kinds, the command does
// not matter, only the state of the host at that moment.
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

// machine returns the sandbox with a fault in its agent; kind "" is none.
func (l *lab) machine(kind Kind, at int) apply.Machine {
	env := []string{"LINERATE_ROOT=" + l.sandbox.Root, "LINERATE_INIT=sysv",
		"FAULT=" + string(kind), "FAULT_AT=" + strconv.Itoa(at), "FAULT_DIR=" + l.sandbox.Dir}
	return apply.OnWith(l.Runner(l.sandbox, env), l.script)
}

// calibrate runs each phase without faults to record the old and new states
// and the steps of each phase, and saves an image before each.
func (l *lab) calibrate(ctx context.Context) error {
	if err := l.firstLook(ctx); err != nil {
		return err
	}
	m := l.machine("count", 0)
	for _, phase := range []Phase{Applying, Confirming, RollingBack, Reverting} {
		if phase == Reverting { // starts from the same state as confirm
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

// firstLook sets up the host, the plan and its transaction.
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

// otherJournal is the transaction that somebody else applies.
const otherJournal = "linerate-transaction 1\ndigest sha256:222222222222222222\nwindow 60\nset sysctl - net.ipv4.tcp_keepalive_time =77\nend\n"

// scratch recreates the files that the faults use.
func (l *lab) scratch() error {
	return errors.Join(os.WriteFile(filepath.Join(l.sandbox.Dir, "count"), []byte("0\n"), 0o600), os.WriteFile(filepath.Join(l.sandbox.Dir, "trace"), nil, 0o600),
		os.WriteFile(filepath.Join(l.sandbox.Dir, "journal"), []byte(otherJournal), 0o600))
}
