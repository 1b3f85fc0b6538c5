package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/internal/labtest"
	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/study/record"
	"linerate/internal/studydir"
)

// The tests in this file take the longest. Parallel tests start in the order of their files,
// so its name sorts first.

// realStudies is the environment variable that enables the long tests on a serving host;
// its value is how often each fault is injected, at random times.
const realStudies = "LINERATE_PROVE_REAL"

// Settings of the studies whose controller is killed.
const (
	lossy     = "net/ipv4/tcp_fin_timeout"
	lossySet  = "net.ipv4.tcp_fin_timeout=17"
	treatedAs = "17"
)

// calamities are the faults injected into a running study, and how each is repaired.
var calamities = []struct {
	name         string
	strike, mend func(p *production, s *proving)
}{
	{"the controller killed", func(_ *production, s *proving) { s.kill() }, func(*production, *proving) {}},
	{"the controller's power gone", func(p *production, s *proving) { s.freeze(); p.link("down"); s.kill() }, func(p *production, _ *proving) { p.link("up") }},
	{"the link cut", func(p *production, _ *proving) { p.link("down") }, func(p *production, s *proving) { s.kill(); p.link("up") }},
	{"sshd stopped", func(p *production, _ *proving) { p.ssh.Stop(p.t) }, func(_ *production, s *proving) { s.kill() }},
	{"the host's disk full", func(p *production, _ *proving) { p.fill() }, func(*production, *proving) {}},
}

// fill fills the host's disk to the last byte.
func (p *production) fill() {
	path, err := p.box.Path(hostDir + "/filler")
	if err != nil {
		p.t.Error(err)
		return
	}
	f, err := os.Create(path)
	if err != nil {
		p.t.Error(err)
		return
	}
	defer f.Close()
	for size := 1 << 20; size > 0; size /= 2 {
		for {
			if _, err := f.Write(make([]byte, size)); err != nil {
				break
			}
		}
	}
}

// TestComesBack: whatever happens to the controller, the link or the host's disk, the host
// restores its original value within one window plus the grace period.
func TestComesBack(t *testing.T) {
	t.Parallel()
	labtest.Namespaces(t)
	for _, c := range calamities {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newProduction(t)
			took := p.calamity(c.strike, c.mend, 0)
			t.Logf("%s: back after %.1f s", c.name, took.Seconds())
		})
	}
}

// calamity starts a study, injects a fault in a treated window after a delay, and waits for
// the host's original value. It returns the time from the fault to the restoration.
func (p *production) calamity(strike, mend func(*production, *proving), after time.Duration) time.Duration {
	p.t.Helper()
	p.calm()
	before := p.get(lossy)
	s := p.prove("--metric", "rtt", "--window", "2s", "--pilot", "1s", "--pairs", "60", lossySet)
	if !labtest.Eventually(func() bool { return p.get(lossy) == treatedAs }) {
		p.t.Fatalf("never treated: %s", s.said())
	}
	time.Sleep(after) // at any point of the study, not only in its first window
	if after == 0 && !labtest.Eventually(func() bool { return p.get(lossy) == treatedAs }) {
		p.t.Fatalf("never treated again: %s", s.said())
	}
	struck := time.Now()
	strike(p, s)
	last := struck // when the treated value was last seen
	for quiet := time.Now(); time.Since(quiet) < 3*time.Second; time.Sleep(20 * time.Millisecond) {
		if p.get(lossy) != before {
			last, quiet = time.Now(), time.Now()
		}
		if time.Since(struck) > labtest.Patience {
			p.t.Fatalf("%s is %s %v later: %s", lossy, p.get(lossy), labtest.Patience, s.said())
		}
	}
	mend(p, s)
	return last.Sub(struck)
}

// TestSleeps: the machine that runs the study is suspended in a treated window for longer
// than the host's timeout. The host restores its own value, the window does not count, and
// the study then runs to its end.
func TestSleeps(t *testing.T) {
	t.Parallel()
	p := newProduction(t)
	p.calm()
	before := p.get(lossy)
	s := p.prove("--metric", "rtt", "--metric", "probe:tcp://"+p.ssh.Address(), "--window", "2s", "--pilot", "1s", "--pairs", "6", lossySet)
	if !labtest.Eventually(func() bool {
		if p.get(lossy) != treatedAs {
			return false
		}
		if s.freeze(); p.get(lossy) == treatedAs {
			return true
		}
		s.thaw() // the window was just over
		return false
	}) {
		t.Fatalf("never treated: %s", s.said())
	}
	if !labtest.Eventually(func() bool { return p.get(lossy) == before }) {
		t.Errorf("%s is %s while the study sleeps", lossy, p.get(lossy))
	}
	s.thaw()
	err := <-s.ended
	slept := 0
	for _, trial := range p.record(s).Trials {
		if strings.Contains(strings.Join(trial.Why(), " "), "slept") {
			slept++
		}
	}
	if slept == 0 || strings.Contains(s.said(), "guardrail") || p.get(lossy) != before {
		t.Errorf("%v, %d windows slept through, %s is %s: %s", err, slept, lossy, p.get(lossy), s.said())
	}
	if v := p.results(s).Verdicts[0]; v.N < 6 {
		t.Errorf("%d pairs: %s", v.N, s.said())
	}
}

// TestHarmIsStopped: the guardrail on the metric that a one-page receive buffer degrades
// stops the study, and the host's value is restored.
func TestHarmIsStopped(t *testing.T) {
	t.Parallel()
	p := newProduction(t)
	p.calm()
	p.harm("net/ipv4/tcp_rmem", "net.ipv4.tcp_rmem=4096 4096 4096", "command:"+p.proxy(), "--better", "lower")
}

// proxy returns a command that fetches through the host's proxied service and prints the duration.
func (p *production) proxy() string {
	path := filepath.Join(p.dir, "proxied")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexec fetched "+p.proxied()+"\n"), 0o755); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// harm runs a study that a guardrail must stop, and returns its output.
func (p *production) harm(name, set, metric string, more ...string) (said string) {
	p.t.Helper()
	before := p.get(name)
	s := p.prove(append(more, "--metric", metric, "--window", "3s", "--pilot", "3s", "--pairs", "12", set)...)
	var exit *exec.ExitError
	if err := <-s.ended; !errors.As(err, &exit) || exit.ExitCode() != 4 {
		p.t.Errorf("a study that a guardrail ended exits with %v, not 4", err)
	}
	if v := p.results(s).Verdicts[0]; v.Verdict != stats.Stopped || v.EffectPercent.Known() {
		p.t.Errorf("the verdict is %s, effect %v", v.Verdict, v.EffectPercent)
	}
	treated := 0
	for _, trial := range p.record(s).Trials {
		if trial.Variant == "setting" && trial.Block > 0 {
			treated++
		}
	}
	if now := p.get(name); now != before {
		p.t.Errorf("%s is %s, was %s", name, now, before)
	}
	said = s.said()
	if treated == 12 || !strings.Contains(strings.Join(strings.Fields(said), " "), "ended the study under setting") {
		p.t.Errorf("%d treated windows: %s", treated, said)
	}
	p.t.Logf("%s: stopped in treated window %d after the first exposures\n%s", set, treated, said)
	return said
}

// TestRealStudies are the long tests: a known effect is detected within three minutes, its
// A/A comparison shows none, and the controller, link, sshd and disk fail at random times.
func TestRealStudies(t *testing.T) {
	kills, err := strconv.Atoi(os.Getenv(realStudies))
	if err != nil {
		t.Skipf("long: set %s to how often each calamity is to strike", realStudies)
	}
	t.Run("idle restart of slow start", func(t *testing.T) {
		p := newProduction(t)
		p.visitors(24, 100)
		time.Sleep(5 * time.Second)
		start := time.Now()
		s := p.prove("--metric", "log:"+accessLog, "--window", "3s", "--pairs", "24", "net.ipv4.tcp_slow_start_after_idle=0")
		<-s.ended
		took := time.Since(start)
		t.Logf("%.0f s\n%s", took.Seconds(), s.said())
		r := p.results(s)
		if v := r.Verdicts[0]; v.Verdict != stats.Better {
			t.Errorf("%s after %v", v.Verdict, took)
		}
		if r.AA.Verdict.Differs() {
			t.Errorf("the A/A comparison differs: %+v", r.AA)
		}
		keepRecord(t, s.dir)
	})
	t.Run("the sham", func(t *testing.T) { // a setting that does not affect this traffic
		p := newProduction(t)
		p.visitors(24, 100)
		for range 3 {
			s := p.prove("--metric", "log:"+accessLog, "--window", "2s", "--pairs", "8", lossySet)
			<-s.ended
			r := p.results(s)
			t.Logf("%s, sham %s", r.Verdicts[0].Verdict, r.AA.Verdict)
			if r.AA.Verdict.Differs() {
				t.Errorf("the A/A comparison differs: %+v", r.AA)
			}
		}
	})
	t.Run("a send buffer of one page", func(t *testing.T) {
		p := newProduction(t)
		p.visitors(24, 2) // existing connections keep their buffers
		p.harm("net/ipv4/tcp_wmem", "net.ipv4.tcp_wmem=4096 4096 4096", "log:"+accessLog)
	})
	for _, c := range calamities {
		t.Run(c.name, func(t *testing.T) { atRandom(t, kills, c.strike, c.mend) })
	}
}

func (p *production) record(s *proving) *record.Record {
	p.t.Helper()
	r, err := studydir.Read(s.dir)
	if err != nil {
		p.t.Fatalf("%v: %s", err, s.said())
	}
	return r
}

func (p *production) results(s *proving) study.Results {
	p.t.Helper()
	r := p.record(s).Results()
	if len(r.Verdicts) == 0 {
		p.t.Fatalf("no verdict: %s", s.said())
	}
	return r
}

// keepRecord copies a record to the directory named by an environment variable, for the guide.
func keepRecord(t *testing.T, dir string) {
	if to := os.Getenv("LINERATE_PROVE_KEEP"); to != "" {
		if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
			t.Error(err)
		}
	}
}

// atRandom injects a fault into studies of several hosts at random times.
func atRandom(t *testing.T, n int, strike, mend func(*production, *proving)) {
	const side = 2 // concurrent studies
	var lock sync.Mutex
	var longest time.Duration
	var all sync.WaitGroup
	for w := range side {
		all.Go(func() {
			for i := w; i < n; i += side {
				after := time.Duration(rand.Int64N(int64(12 * time.Second)))
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					p := newProduction(t)
					took := p.calamity(strike, mend, after)
					lock.Lock()
					defer lock.Unlock()
					longest = max(longest, took)
					t.Logf("struck %.1f s after the first exposure: back after %.1f s", after.Seconds(), took.Seconds())
				})
			}
		})
	}
	all.Wait()
	t.Logf("the longest: %.1f s of the 12 s of window and grace", longest.Seconds())
	if longest > 16*time.Second {
		t.Errorf("%v until the host was back", longest)
	}
}
