package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/apply"
	"linerate/internal/hint"
	"linerate/internal/host/localhost"
	"linerate/internal/knob"
	"linerate/internal/labtest"
	"linerate/internal/plan"
	"linerate/internal/setting"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// hostOf is a test host with a temporary root and its own network namespace.
type hostOf struct {
	root string
	net  string // the namespace's file
	jobs chan func()
}

func newHost(t *testing.T) *hostOf {
	t.Helper()
	if os.Getuid() != 0 {
		labtest.Lacking(t, "needs root: it changes sysctls of a network namespace")
	}
	h := &hostOf{root: t.TempDir(), jobs: make(chan func())}
	ready := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the namespace
		err := unix.Unshare(unix.CLONE_NEWNET)
		h.net = fmt.Sprintf("/proc/%d/task/%d/ns/net", os.Getpid(), unix.Gettid())
		ready <- err
		for job := range h.jobs {
			job()
		}
	}()
	if err := <-ready; err != nil {
		labtest.Lacking(t, "no network namespace here: %v", err)
	}
	t.Cleanup(func() { close(h.jobs) })
	return h
}

func (h *hostOf) run(cmd *exec.Cmd) error {
	done := make(chan error, 1)
	h.jobs <- func() { done <- cmd.Run() }
	return <-done
}

func (h *hostOf) runner() *localhost.Runner {
	return &localhost.Runner{Env: []string{"LINERATE_ROOT=" + h.root, "LINERATE_INIT=none"}, Start: h.run}
}

func (h *hostOf) sysctl(t *testing.T, name string) string {
	t.Helper()
	var b strings.Builder
	cmd := exec.Command("sysctl", "-n", name)
	cmd.Stdout = &b
	if err := h.run(cmd); err != nil {
		t.Fatalf("sysctl %s: %v", name, err)
	}
	return strings.TrimSpace(b.String())
}

// feeling is a metric that depends on a sysctl of the host: factor times 100 if it has value, otherwise
// 100, with almost no noise. The time for reading it does not matter.
func (h *hostOf) feeling(name, value string, factor float64) string {
	n := 0
	felt.Store(h.net, func() (v float64, err error) {
		done := make(chan struct{})
		h.jobs <- func() {
			var is []byte
			is, err = os.ReadFile("/proc/sys/" + strings.ReplaceAll(name, ".", "/")) // in the thread's namespace
			v = 100 * (1 + 0.0005*float64(n*7%13))
			if n++; strings.TrimSpace(string(is)) == value {
				v *= factor
			}
			close(done)
		}
		<-done
		return v, err
	})
	return "felt:" + h.net
}

// command returns a command that prints a number, and fails if a sysctl has a value.
func (h *hostOf) command(t *testing.T, name, failsAt string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "metric")
	script := fmt.Sprintf("#!/bin/sh\necho 100\n[ \"$(nsenter --net=%s cat /proc/sys/%s)\" != %s ]\n", h.net, strings.ReplaceAll(name, ".", "/"), failsAt)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return "command:" + path
}

// calm is a host with little and steady traffic, however busy the real machine is: a host's guardrails
// watch the whole machine.
type calm struct{ *localhost.Runner }

func (c calm) Run(ctx context.Context, script string, args []string, in []byte) ([]byte, error) {
	out, err := c.Runner.Run(ctx, script, args, in)
	if script != sampleScript || len(args) == 0 || args[0] != "look" {
		return out, err
	}
	var kept strings.Builder
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		switch f[0] {
		case "uptime":
			up := number(f, 1)
			fmt.Fprintf(&kept, "%score\nhz 100\ncpu %.0f 0 0 %.0f\nrunning 1\nmemory 100\navailable 50\ndev v0 0 %.0f 0 0 0 0 0 0 0 0 0 0\n", line, 10*up, 90*up, 1000*up)
		case "clock", "boot", "owner", "service", "end":
			kept.WriteString(line)
		}
	}
	return []byte(kept.String()), err
}

// study returns a study of a sysctl on the host.
func (h *hostOf) study(t *testing.T, name, value string, factor float64) (Options, *[]Window) {
	var windows []Window
	return Options{
		Conn: calm{h.runner()}, Machine: apply.On(h.runner()), Seed: 5,
		Plan:       study.WindowPlan{Window: 500 * time.Millisecond, BurnIn: 100 * time.Millisecond, Treatments: []string{"it"}, Pairs: 6},
		Treatments: []Treatment{{Name: "it", Values: []apply.Assignment{{Key: knob.Key{Mechanism: setting.Sysctl, Name: name}, Value: value}}}},
		Metrics:    []string{h.feeling(name, value, factor)}, Better: stats.LowerIsBetter,
		Pilot: 500 * time.Millisecond,
		Sink:  func(w Window) error { windows = append(windows, w); return nil },
		Say:   t.Logf,
	}, &windows
}

// arms returns the values of a treatment's valid pairs.
func arms(windows []Window, of string) (control, treated stats.Arm) {
	for _, w := range windows {
		v, ok := w.Value[study.WatchedLower]
		switch {
		case w.Ramp || w.Of != of || !ok:
		case w.Arm == study.Control:
			control.Values = append(control.Values, v)
		default:
			treated.Values = append(treated.Values, v)
		}
	}
	return control, treated
}

// TestFindsAnEffect: a setting that lowers a metric by 4 % is detected, its A/A comparison shows nothing,
// and the host is restored.
func TestFindsAnEffect(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	before := h.sysctl(t, fin)
	o, windows := h.study(t, fin, "17", 0.96)
	out, err := Run(t.Context(), o)
	if err != nil || out.Trip != nil || !out.Restored {
		t.Fatalf("%+v, %v", out, err)
	}
	if now := h.sysctl(t, fin); now != before {
		t.Errorf("%s is %s, was %s", fin, now, before)
	}
	opt := stats.Options{Better: stats.LowerIsBetter}
	a, b := arms(*windows, "it")
	c := stats.CompareSwitchback([]stats.Arm{a}, []stats.Arm{b}, opt)[0]
	if c.Verdict != stats.Better || c.EffectPercent.Estimate > -2.5 || c.EffectPercent.Estimate < -5.5 {
		t.Errorf("%s %+v of %d pairs: %v %v", c.Verdict, c.EffectPercent, c.N, a, b)
	}
	a, b = arms(*windows, study.Sham)
	if c := stats.CompareSwitchback([]stats.Arm{a}, []stats.Arm{b}, opt)[0]; c.N < 2 || c.EffectPercent.Estimate > 2 || c.EffectPercent.Estimate < -2 {
		t.Errorf("A/A pairs: %+v of %d pairs", c.EffectPercent, c.N)
	}
	left, _ := filepath.Glob(h.root + "/var/lib/linerate/*")
	if len(left) > 0 {
		t.Errorf("left on the host: %v", left)
	}
	ramps := 0
	for _, w := range *windows {
		if w.Ramp {
			ramps++
		}
		if len(w.Disturbed) > 0 || len(w.Notes) > 0 {
			t.Logf("pair %d %s: %v %v", w.Pair, w.Arm, w.Disturbed, w.Notes)
		}
	}
	if ramps != 4 {
		t.Errorf("%d windows of the ramp", ramps)
	}
}

// TestHarmTripsTheGuardrail: the primary metric's guardrail reverts a harmful setting in the ramp.
func TestHarmTripsTheGuardrail(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	before := h.sysctl(t, fin)
	o, windows := h.study(t, fin, "17", 3)
	o.Pilot = 3 * time.Second
	out, err := Run(t.Context(), o)
	if err != nil || out.Trip == nil || !out.Restored {
		t.Fatalf("%+v, %v", out, err)
	}
	if now := h.sysctl(t, fin); now != before {
		t.Errorf("%s is %s, was %s", fin, now, before)
	}
	last := (*windows)[len(*windows)-1]
	if last.Trip == nil || !strings.Contains(last.Trip.Text, "above the control's") || len(*windows) > 8 {
		t.Errorf("after %d windows: %+v", len(*windows), last.Trip)
	}
}

// TestFailuresTripAGuardrail: a setting under which the metric's command fails gives no worse value, but is
// reverted all the same.
func TestFailuresTripAGuardrail(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	before := h.sysctl(t, fin)
	o, windows := h.study(t, fin, "17", 1)
	o.Metrics = []string{h.command(t, fin, "17")}
	o.Say = func(string, ...any) {}
	out, err := Run(t.Context(), o)
	if err != nil || out.Trip == nil || !out.Restored || !strings.HasPrefix(out.Trip.Guardrail, "failures of ") {
		t.Fatalf("%+v, %v after %d windows", out, err, len(*windows))
	}
	if now := h.sysctl(t, fin); now != before {
		t.Errorf("%s is %s, was %s", fin, now, before)
	}
}

// TestInterruptedAndResumed: Ctrl-C in a treated window restores the host, and the study resumes later with
// the same schedule.
func TestInterruptedAndResumed(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	before := h.sysctl(t, fin)
	o, windows := h.study(t, fin, "17", 0.96)
	ctx, cancel := context.WithCancel(t.Context())
	keep := o.Sink
	o.Sink = func(w Window) error {
		if w.Pair == 3 && w.Half == 1 {
			cancel()
		}
		return keep(w)
	}
	out, err := Run(ctx, o)
	if !errors.Is(err, context.Canceled) || !out.Restored || h.sysctl(t, fin) != before {
		t.Fatalf("%+v, %v, %s", out, err, h.sysctl(t, fin))
	}
	o, rest := h.study(t, fin, "17", 0.96)
	o.Done = *windows
	if out, err = Run(t.Context(), o); err != nil || !out.Restored {
		t.Fatalf("%+v, %v", out, err)
	}
	if (*rest)[0].Pair != 3 || (*rest)[0].Half != 1 || (*rest)[0].Ramp {
		t.Errorf("goes on with %+v", (*rest)[0])
	}
}

func TestOneStudyAHost(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	o, _ := h.study(t, fin, "17", 1)
	if _, err := h.runner().Run(t.Context(), hostScript, []string{"lock", "study-other", "60"}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "another live study") {
		t.Errorf("%v", err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	for name, c := range map[string]struct{ name, value, want string }{
		"what the host has already": {fin, h.sysctl(t, fin), "has it already"},
		"no such setting":           {"net.ipv4.no_such_thing", "1", "no such setting"},
		"what cannot be put back":   {"net.ipv6.conf.all.disable_ipv6", "1", "disable_ipv6"},
		"what the switch needs":     {"kernel.threads-max", "5", "the host's own switch"},
	} {
		t.Run(name, func(t *testing.T) {
			o, windows := h.study(t, c.name, c.value, 1)
			if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), c.want) || len(*windows) > 0 {
				t.Errorf("%v after %d windows", err, len(*windows))
			}
		})
	}
}

// TestRefusesWithoutABoot: a host without a boot id has no reliable switch, and is refused before anything
// is changed.
func TestRefusesWithoutABoot(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	o, windows := h.study(t, fin, "17", 1)
	o.Machine = apply.OnWith(h.runner(), apply.Script("boot_id() { :; }\n"))
	_, err := Run(t.Context(), o)
	for _, err := range []error{err, Check(t.Context(), o)} {
		if err == nil || !strings.Contains(err.Error(), "has no boot identifier") || !strings.Contains(hint.Of(err), "container") || len(*windows) > 0 {
			t.Errorf("%v after %d windows", err, len(*windows))
		}
	}
	if left, _ := filepath.Glob(h.root + "/var/lib/linerate/*"); len(left) > 0 {
		t.Errorf("left on the host: %v", left)
	}
}

// TestStopped: stopping a study from outside restores the host and records the reason.
func TestStopped(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	before := h.sysctl(t, fin)
	o, windows := h.study(t, fin, "17", 0.96)
	o.About = "a question"
	stopped := make(chan error, 1)
	keep := o.Sink
	o.Sink = func(w Window) error {
		if w.Pair == 1 && w.Half == 1 {
			st, err := apply.On(h.runner()).Status(t.Context())
			if err != nil || st.Live == nil || st.Live.About != "a question" {
				t.Errorf("status: %+v, %v", st.Live, err)
			}
			// Nobody else can change the host meanwhile, whatever its state.
			if _, _, err := apply.On(h.runner()).Apply(t.Context(), apply.Transaction{Plan: plan.Plan{Digest: "sha256:" + strings.Repeat("ab", 32)}, Window: time.Minute}); err == nil || !strings.Contains(err.Error(), "a live study has this host") {
				t.Errorf("another change: %v", err)
			}
			if err := st.Taken(); err == nil || !strings.Contains(err.Error()+hint.Of(err), "linerate study stop") {
				t.Errorf("%v", err)
			}
			go func() { stopped <- Stop(context.WithoutCancel(t.Context()), h.runner(), apply.On(h.runner())) }()
		}
		return keep(w)
	}
	out, err := Run(t.Context(), o)
	if !errors.Is(err, ErrStopped) || !out.Restored || len(*windows) > 12 {
		t.Fatalf("%+v, %v after %d windows", out, err, len(*windows))
	}
	if err := <-stopped; err != nil || h.sysctl(t, fin) != before {
		t.Errorf("%v; %s", err, h.sysctl(t, fin))
	}
	if left, _ := filepath.Glob(h.root + "/var/lib/linerate/*"); len(left) > 0 {
		t.Errorf("left on the host: %v", left)
	}
	if err := Stop(t.Context(), h.runner(), apply.On(h.runner())); err == nil || !strings.Contains(err.Error(), "no live study") {
		t.Errorf("a second time: %v", err)
	}
}

// TestStoppedUnawares: a study that does not know yet that it was stopped, because it hangs or sleeps,
// cannot start another window.
func TestStoppedUnawares(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	before := h.sysctl(t, fin)
	o, windows := h.study(t, fin, "17", 0.96)
	keep := o.Sink
	o.Sink = func(w Window) error {
		if w.Pair == 1 && w.Half == 1 {
			if err := Stop(t.Context(), h.runner(), apply.On(h.runner())); err != nil {
				t.Error(err)
			}
		}
		return keep(w)
	}
	out, err := Run(t.Context(), o)
	if !errors.Is(err, ErrStopped) || !out.Restored || (*windows)[len(*windows)-1].Pair != 1 {
		t.Errorf("%+v, %v after %d windows", out, err, len(*windows))
	}
	for _, study := range []string{"", "study-other"} { // held by nobody, or by another study
		if study != "" {
			if _, err := h.runner().Run(t.Context(), hostScript, []string{"lock", study, "60"}, nil); err != nil {
				t.Fatal(err)
			}
		}
		late := apply.Transaction{Plan: plan.Plan{Digest: apply.OfLiveStudy + strings.Repeat("17", 8)}, Study: "study-0badcafe", Window: time.Minute,
			Before: []apply.Assignment{{Key: knob.Key{Mechanism: setting.Sysctl, Name: fin}, Value: before}},
			Set:    []apply.Assignment{{Key: knob.Key{Mechanism: setting.Sysctl, Name: fin}, Value: "17"}}}
		if _, _, err := apply.On(h.runner()).Apply(t.Context(), late); err == nil || !strings.Contains(err.Error(), "no longer has this host") {
			t.Errorf("a window after the study was over: %v", err)
		}
		if now := h.sysctl(t, fin); now != before {
			t.Errorf("%s is %s", fin, now)
		}
		if st, err := apply.On(h.runner()).Status(t.Context()); err != nil || st.State != "idle" || len(st.History) > 0 {
			t.Errorf("%+v, %v", st, err)
		}
	}
}

// TestLeavingOut: with a base, the control's windows have settings too: the plan is compared with and
// without one of them.
func TestLeavingOut(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	before := h.sysctl(t, fin)
	o, windows := h.study(t, fin, "17", 0.9)
	const other = "net.ipv4.tcp_retries1"
	retries := apply.Assignment{Key: knob.Key{Mechanism: setting.Sysctl, Name: other}, Value: "5"}
	o.Base = Treatment{Name: "all", Values: append(slices.Clone(o.Treatments[0].Values), retries)}
	o.Treatments[0].Values = []apply.Assignment{retries}
	out, err := Run(t.Context(), o)
	if err != nil || out.Trip != nil || !out.Restored || h.sysctl(t, fin) != before {
		t.Fatalf("%+v, %v, %s", out, err, h.sysctl(t, fin))
	}
	a, b := arms(*windows, "it")
	c := stats.CompareSwitchback([]stats.Arm{a}, []stats.Arm{b}, stats.Options{Better: stats.LowerIsBetter})[0]
	if c.Verdict != stats.Worse || c.EffectPercent.Estimate < 7 {
		t.Errorf("without it: %s %+v: %v %v", c.Verdict, c.EffectPercent, a, b)
	}
	for _, w := range *windows {
		if len(w.Disturbed) > 0 {
			t.Logf("pair %d %s: %v", w.Pair, w.Arm, w.Disturbed)
		}
	}
}

// TestKilledController: if the controller is killed in a window of either arm, the host reverts by itself,
// and the next study removes what was left.
func TestKilledController(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	before := h.sysctl(t, fin)
	s := switcher{Machine: apply.On(h.runner()), os: "linux", window: time.Second, grace: time.Second}
	treatment := Treatment{Name: "it", Values: []apply.Assignment{{Key: knob.Key{Mechanism: setting.Sysctl, Name: fin}, Value: "17"}}}
	for how, has := range map[writing]string{treated: "17", asIs: before} {
		if err := s.set(t.Context(), treatment, how); err != nil || h.sysctl(t, fin) != has {
			t.Fatal(err, h.sysctl(t, fin))
		}
		// The value is restored before the journal's end; the test's time-out is the limit.
		for st := (apply.Status{}); st.State != "idle" || h.sysctl(t, fin) != before; {
			time.Sleep(50 * time.Millisecond)
			var err error
			if st, err = s.Machine.Status(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	o, _ := h.study(t, fin, "17", 0.96)
	o.Plan.Pairs = 1
	if out, err := Run(t.Context(), o); err != nil || !out.Restored {
		t.Fatalf("%+v, %v", out, err)
	}
	if left, _ := filepath.Glob(h.root + "/var/lib/linerate/*"); len(left) > 0 {
		t.Errorf("left on the host: %v", left)
	}
}

// TestShamsWrite: a sham writes the host's current value, a treatment its own, and an as-is window nothing,
// all in the same way.
func TestShamsWrite(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	is := h.sysctl(t, fin)
	logged := apply.Script(`knob_write() { echo "$3=$4" >>"$ROOT/writes"; sysctl -qw "$3=$4"; }`)
	s := switcher{Machine: apply.OnWith(h.runner(), logged), os: "linux", window: time.Minute}
	treatment := Treatment{Name: "it", Values: []apply.Assignment{{Key: knob.Key{Mechanism: setting.Sysctl, Name: fin}, Value: "17"}}}
	for _, how := range []writing{asIs, sham, treated} {
		if err := errors.Join(s.set(t.Context(), treatment, how), s.off(t.Context(), "a test")); err != nil {
			t.Fatal(err)
		}
	}
	writes, err := os.ReadFile(h.root + "/writes")
	want := fmt.Sprintf("%s=%s\n%s=17\n%s=%s\n", fin, is, fin, fin, is)
	if err != nil || string(writes) != want {
		t.Errorf("wrote %q, want %q: %v", writes, want, err)
	}
}

// counting makes the switch and its guard record each program that they start; after some sleeps, which
// take no time here, they wait for the end of their window.
const counting = `
case ${1-} in watch | guard) NOTED=$ROOT/started.$1 naps=0 ;; *) NOTED='' ;; esac
started() { [ -z "$NOTED" ] || echo "$*" >>"$NOTED"; }
sleep() {
	started sleep "$1"
	[ -n "$NOTED" ] || { command sleep "$1"; return; }
	naps=$((naps + 1))
	[ $naps -lt 12 ] || { : >"$NOTED.all" && NOTED='' && while under_way "$id"; do command sleep 0.02; done; }
}
for p in awk cat cmp date flock grep id ls od ps sed sysctl tail tr uname; do eval "$p() { started $p; command $p \"\$@\"; }"; done
`

// TestEveryWindowHasTheSwitch: the switch's load is the same in every window: a treated one must not start
// more programs than an as-is one. Without a switch in as-is windows, cpu-per-packet once rated a
// setting without effect 11 % worse.
func TestEveryWindowHasTheSwitch(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	treatment := Treatment{Name: "it", Values: []apply.Assignment{{Key: knob.Key{Mechanism: setting.Sysctl, Name: fin}, Value: "17"}}}
	r := run{o: &Options{Treatments: []Treatment{treatment}}, sw: switcher{Machine: apply.OnWith(h.runner(), apply.Script(counting)), os: "linux", window: time.Hour}}
	want := strings.Repeat("sleep 5\n", 12)
	for _, arm := range []string{"it", study.Control, study.Sham, study.Rest} {
		if err := r.turn(t.Context(), study.WindowSlot{Pair: 1, Half: 1, Of: "it", Arm: arm}); err != nil {
			t.Fatal(err)
		}
		if st, err := r.sw.Status(t.Context()); err != nil || !st.Armed {
			t.Fatalf("a window %s has no switch: %+v, %v", arm, st, err)
		}
		for _, of := range []string{"watch", "guard"} {
			noted := filepath.Join(h.root, "started."+of)
			all := labtest.Eventually(func() bool { _, err := os.Stat(noted + ".all"); return err == nil })
			if started, _ := os.ReadFile(noted); !all || string(started) != want {
				t.Errorf("a window %s: its %s started %q, want %q", arm, of, started, want)
			}
			_, _ = os.Remove(noted), os.Remove(noted+".all")
		}
	}
	// A study of many windows makes the host remember only few.
	r.sw.host, r.sw.past = h.runner(), append(make([]string, mostPast), r.sw.past...)
	if err := r.turn(t.Context(), study.WindowSlot{Of: "it", Arm: study.Control}); err != nil || len(r.sw.past) != 1 {
		t.Errorf("%v; it has yet to forget %q", err, r.sw.past)
	}
	if st, err := r.sw.Status(t.Context()); err != nil || len(st.History) != 1 || !strings.HasPrefix(st.ID, "000005-") {
		t.Errorf("%+v, %v", st, err)
	}
	if err := r.sw.end(t.Context()); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(h.root + "/var/lib/linerate/history/*"); len(left) > 0 {
		t.Errorf("left on the host: %v", left)
	}
}

// TestOffloadsComeBack: an interface's offload is applied, and reverted with all that it disabled.
func TestOffloadsComeBack(t *testing.T) {
	t.Parallel()
	labtest.Program(t, "ethtool")
	h := newHost(t)
	if err := h.run(exec.Command("ip", "link", "add", "v0", "type", "veth", "peer", "name", "v1")); err != nil {
		t.Fatal(err)
	}
	features := func() string {
		var b strings.Builder
		cmd := exec.Command("ethtool", "-k", "v0")
		cmd.Stdout = &b
		if err := h.run(cmd); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	before := features()
	s := switcher{Machine: apply.On(h.runner()), os: "linux", window: time.Minute}
	// Without checksum offload there is no segmentation offload either.
	treatment := Treatment{Name: "it", Values: []apply.Assignment{{Key: knob.Key{Mechanism: setting.Offload, Device: "v0", Name: "tx"}, Value: "off"}}}
	if err := s.begin(t.Context(), []Treatment{treatment}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.set(t.Context(), treatment, treated); err != nil {
			t.Fatal(err)
		}
		if on := features(); !strings.Contains(on, "tx-checksumming: off") || !strings.Contains(on, "tx-tcp-segmentation: off") {
			t.Errorf("under treatment:\n%s", on)
		}
		if err := s.off(t.Context(), "a test"); err != nil {
			t.Fatal(err)
		}
		if after := features(); after != before {
			t.Errorf("afterwards:\n%s\nbefore:\n%s", after, before)
		}
	}
	if err := s.set(t.Context(), treatment, sham); err != nil || features() != before {
		t.Errorf("a sham: %v\n%s", err, features())
	}
	if err := s.off(t.Context(), "a test"); err != nil || features() != before {
		t.Errorf("after a sham: %v\n%s", err, features())
	}
}
