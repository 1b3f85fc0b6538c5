package fault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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
	Faults int
	Seed   uint64
	// Kinds of faults; none is all.
	Kinds []Kind
	// Workers strike at as many hosts at once; 0 is 1.
	Workers int
	// BreakRevert sabotages the revert: the check must see it.
	BreakRevert bool
	// Runner makes the runner of scripts in a realm, with an environment.
	Runner func(r *Realm, env []string) host.Runner
	// Progress is told how many are done, by any worker; nil is silence.
	Progress func(done int)
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
	// Steps are the places a fault could strike at, by phase.
	Steps map[Phase]int `json:"steps"`
	// Kinds are the faults by kind.
	Kinds map[Kind]int `json:"kinds"`
	// Bad describes the first of the mixed and lost.
	Bad []string `json:"bad,omitempty"`
}

// maxBad is how many bad ends are described.
const maxBad = 20

// lab is a run under way.
type lab struct {
	Options
	realm    *Realm
	script   string
	old, new map[string]string
	from     map[Phase]image
	// transaction makes the host new; digest is its plan's.
	transaction apply.Transaction
	digest      string
	said        error // of the phase that was struck
	result      Result
}

// Run strikes Faults times, each at another step of another phase, and counts
// what is left after recovery. It works beneath dir.
func Run(ctx context.Context, dir string, o Options) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := max(1, o.Workers)
	results, errs := make([]Result, workers), make([]error, workers)
	var done atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			results[w], errs[w] = o.work(ctx, filepath.Join(dir, strconv.Itoa(w)), w, workers, &done)
			if errs[w] != nil {
				cancel()
			}
		})
	}
	wg.Wait()
	total := results[0]
	total.Version = 1
	for _, r := range results[1:] {
		total.add(r)
	}
	return total, errors.Join(errs...)
}

// work does every workers-th fault in a realm of its own.
func (o Options) work(ctx context.Context, dir string, first, workers int, done *atomic.Int64) (Result, error) {
	realm, err := NewRealm(dir)
	if err != nil {
		return Result{}, err
	}
	defer func() {
		_ = realm.endWatchers() // of what was interrupted
		realm.Close()
	}()
	l := newLab(realm, o)
	if err := l.calibrate(ctx); err != nil {
		return l.result, fmt.Errorf("a run without faults: %w", err)
	}
	cases := l.cases()
	for i := first; i < o.Faults; i += workers {
		if err := ctx.Err(); err != nil {
			return l.result, err
		}
		if err := l.strike(ctx, cases[i%len(cases)]); err != nil {
			return l.result, err
		}
		if o.Progress != nil {
			o.Progress(int(done.Add(1)))
		}
	}
	return l.result, nil
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

func newLab(realm *Realm, o Options) *lab {
	return &lab{Options: o, realm: realm, script: script(o.BreakRevert), from: map[Phase]image{},
		result: Result{Steps: map[Phase]int{}, Kinds: map[Kind]int{}}}
}

// attack is one fault.
type attack struct {
	phase Phase
	kind  Kind
	at    int
}

// cases are all faults there are, shuffled by the seed.
func (l *lab) cases() []attack {
	var all []attack
	for _, phase := range []Phase{Applying, Confirming, RollingBack, Reverting} {
		for _, kind := range l.kinds() {
			for at := range l.result.Steps[phase] {
				all = append(all, attack{phase, kind, at + 1})
			}
		}
	}
	r := rand.New(rand.NewPCG(l.Seed, 12))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

func (l *lab) kinds() []Kind {
	if len(l.Kinds) > 0 {
		return l.Kinds
	}
	return Kinds()
}

// machine is the realm with a fault in its agent; no kind is none.
func (l *lab) machine(kind Kind, at int) apply.Machine {
	env := []string{"LINERATE_ROOT=" + l.realm.Root, "LINERATE_INIT=sysv",
		"FAULT=" + string(kind), "FAULT_AT=" + strconv.Itoa(at), "FAULT_DIR=" + l.realm.Dir}
	return apply.OnWith(l.Runner(l.realm, env), l.script)
}

// calibrate runs every phase without a fault: it learns what old and new are,
// how many steps each phase has, and keeps an image from before each.
func (l *lab) calibrate(ctx context.Context) error {
	if err := l.firstLook(ctx); err != nil {
		return err
	}
	m := l.machine("count", 0)
	steps := 0
	for _, phase := range []Phase{Applying, Confirming, RollingBack} {
		var err error
		if l.from[phase], err = l.realm.save(); err != nil {
			return err
		}
		if err := l.perform(ctx, m, phase); err != nil {
			return fmt.Errorf("%s: %w", phase, err)
		}
		now := l.steps()
		l.result.Steps[phase], steps = now-steps, now
		state, err := l.realm.state()
		if err != nil {
			return err
		}
		if phase == Confirming {
			l.new = state
		}
		if d := differs(state, l.old); phase == RollingBack && d != "" && !l.BreakRevert {
			return fmt.Errorf("rollback: %s", d)
		}
	}
	// A revert starts from what a confirm starts from, and has the steps of
	// a rollback, nearly.
	l.from[Reverting], l.result.Steps[Reverting] = l.from[Confirming], l.result.Steps[RollingBack]
	return nil
}

// firstLook makes the host, the plan and what changes it.
func (l *lab) firstLook(ctx context.Context) error {
	if err := errors.Join(l.realm.begin(), l.scratch()); err != nil {
		return err
	}
	var err error
	if l.old, err = l.realm.state(); err != nil {
		return err
	}
	m := l.machine("", 0)
	id, err := m.Hello(ctx)
	if err != nil {
		return err
	}
	p := plan.Plan{OS: id.OS, Release: id.Release, Host: id.Host, Role: "router"}
	for _, s := range sysctls {
		p.Settings = append(p.Settings, plan.Setting{Name: s.name, Mechanism: setting.Sysctl, Current: plan.Current{Value: &s.before},
			Value: s.after, Where: plan.Where{File: plan.LinuxSysctl, Runtime: true}, Reason: "to be struck at"})
	}
	p.Settings = append(p.Settings,
		plan.Setting{Name: "nf_conntrack/hashsize", Mechanism: setting.ModParam, Value: "65536", Where: plan.Where{File: plan.LinuxModprobe}, Reason: "a file that was not there"},
		plan.Setting{Name: "cpu0", Mechanism: setting.Governor, Value: "performance", Where: plan.Where{File: plan.LinuxTmpfiles}, Reason: "a directory that was not there"})
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
	return errors.Join(os.WriteFile(filepath.Join(l.realm.Dir, "count"), []byte("0\n"), 0o600),
		os.WriteFile(filepath.Join(l.realm.Dir, "journal"), []byte(otherJournal), 0o600))
}

func (l *lab) steps() int {
	b, _ := os.ReadFile(filepath.Join(l.realm.Dir, "count"))
	n, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return n
}

// perform does one phase as the command would.
func (l *lab) perform(ctx context.Context, m apply.Machine, phase Phase) error {
	switch phase {
	case Applying:
		_, after, err := m.Apply(ctx, l.transaction)
		if err != nil {
			return err
		}
		if err := l.transaction.Judge(after); err != nil {
			_, revert := m.Revert(ctx, "any", "read back otherwise")
			return errors.Join(err, revert)
		}
		return m.Ready(ctx)
	case Confirming:
		_, err := m.Confirm(ctx, l.digest)
		return err
	case RollingBack:
		_, err := m.Rollback(ctx, "000001-"+plan.Plan{Digest: l.digest}.Short())
		return err
	}
	_, err := m.Revert(ctx, "any", "struck")
	return err
}

// strike starts from before a phase, does the phase with the fault in it, then
// what a host would do to recover, and judges.
func (l *lab) strike(ctx context.Context, a attack) error {
	// The same transaction has the same id each time: a switch that is left
	// from the last strike would take this one for its own.
	if err := l.realm.endWatchers(); err != nil {
		return err
	}
	if err := errors.Join(l.realm.load(l.from[a.phase]), l.scratch()); err != nil {
		return err
	}
	well := l.machine("", 0)
	// Whether it fails is not the question: what it leaves is.
	l.said = l.perform(ctx, l.machine(a.kind, a.at), a.phase)
	unarmed, err := l.unarmed(a)
	if err != nil {
		return err
	}
	if err := l.recover(ctx, a, well); err != nil {
		return err
	}
	return l.judge(a, unarmed)
}

// unarmed finds a host that is changed, not confirmed, and has no switch.
func (l *lab) unarmed(a attack) (string, error) {
	if a.phase != Applying {
		return "", nil
	}
	// This first: a switch that is at work meanwhile makes it old.
	st, err := l.realm.standing()
	if err != nil || st.armed {
		return "", err
	}
	state, err := l.realm.state()
	if err != nil {
		return "", err
	}
	for _, s := range sysctls {
		if k := "sysctl " + s.name; state[k] != l.old[k] {
			return fmt.Sprintf("%s is changed without a switch, when %+v", s.name, st), nil
		}
	}
	return "", nil
}

// recover does what happens to a struck host: its switch fires, on a host that
// is as bad as the fault left it and again when that is mended; or it boots.
func (l *lab) recover(ctx context.Context, a attack, well apply.Machine) error {
	_ = os.Remove(filepath.Join(l.realm.Dir, "lie"))
	if a.kind == Second {
		l.secondDone()
	}
	if a.kind == Boot {
		if err := l.realm.boot(); err != nil {
			return err
		}
	}
	_, fired := well.Revert(ctx, "any", "its switch fired")
	if a.kind == Full || a.kind == ReadOnly {
		if err := l.realm.writable(); err != nil {
			return err
		}
	} else if fired == nil {
		return nil
	}
	for range 20 {
		if _, err := well.Revert(ctx, "any", "its switch fired again"); err == nil || strings.Contains(err.Error(), "nothing is pending") {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil
}

// secondDone waits for the other apply, which waits for its turn.
func (l *lab) secondDone() {
	if !exists(filepath.Join(l.realm.Dir, "struck")) {
		return
	}
	for range 400 {
		if exists(filepath.Join(l.realm.Dir, "second-done")) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// judge compares the host with what it may be.
func (l *lab) judge(a attack, unarmed string) error {
	l.result.Faults++
	l.result.Kinds[a.kind]++
	state, err := l.realm.state()
	if err != nil {
		return err
	}
	st, err := l.realm.standing()
	if err != nil {
		return err
	}
	confirmed := st.confirmed == l.digest
	wrongOld, wrongNew := differs(state, l.old), differs(state, l.new)
	bad := ""
	switch {
	case st.state != "":
		l.result.Mixed++
		bad = "still " + st.state
	case unarmed != "":
		l.result.Mixed++
		bad = unarmed
	case wrongNew == "" && confirmed:
		l.result.New++
	case wrongOld == "" && !confirmed:
		l.result.Old++
	case lost(state, l.old):
		l.result.Lost++
		bad = "lost: " + wrongOld
	default:
		l.result.Mixed++
		bad = fmt.Sprintf("confirmed %v: against old: %s; against new: %s", confirmed, wrongOld, wrongNew)
	}
	if bad != "" && len(l.result.Bad) < maxBad {
		struck, _ := os.ReadFile(filepath.Join(l.realm.Dir, "struck"))
		l.result.Bad = append(l.result.Bad, fmt.Sprintf("%s at step %d (%s) of %s: %s", a.kind, a.at, strings.TrimSpace(string(struck)), a.phase, bad)+fmt.Sprintf(" (it said: %v)", l.said))
	}
	return nil
}

// differs names the first things in which two states differ; "" for none.
func differs(a, b map[string]string) string {
	var out []string
	all := maps.Clone(a)
	maps.Copy(all, b)
	for k := range all {
		if a[k] != b[k] {
			out = append(out, fmt.Sprintf("%s is %.60s, want %.60s", k, a[k], b[k]))
		}
	}
	if len(out) > 3 {
		out = append(out[:3], fmt.Sprintf("and %d more", len(out)-3))
	}
	return strings.Join(out, "; ")
}

// lost says whether a file that was there is gone.
func lost(state, old map[string]string) bool {
	for k := range old {
		if _, there := state[k]; strings.HasPrefix(k, "file ") && !there {
			return true
		}
	}
	return false
}
