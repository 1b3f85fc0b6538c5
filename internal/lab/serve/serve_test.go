package serve

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/internal/lab"
	"linerate/internal/load/request"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/internal/testbed/bedtest"
)

const servedSpec = `name: web
question: q?
workload:
  http: {objects: [1kB], rate: 100}
variants:
  - name: plain
  - name: slow
    settings:
      - {nginx: sendfile, value: "off"}
parts:
  - {seconds: 1.2, warmup: 0.1, blocks: 3}
`

// fakeSites raises fake sites.
type fakeSites struct {
	raised [][]string
	closed bool
	gone   string // the unavailable arm
	kernel string // the kernel's current setting
	local  []string
}

func (f *fakeSites) Describe() testbed.Description { return testbed.Description{Mode: testbed.Serve} }
func (f *fakeSites) Close() error                  { f.closed = true; return nil }
func (f *fakeSites) Global(_ context.Context, settings []setting.Setting) error {
	f.kernel = ""
	for _, s := range settings {
		if s.Value == "none" {
			return &testbed.ErrUnavailable{Setting: s.String(), Reason: "no"}
		}
		f.kernel += s.Name + "=" + s.Value
	}
	return nil
}
func (f *fakeSites) Raise(_ context.Context, _ testbed.Layout, arms []testbed.Settings) ([]testbed.Site, error) {
	out := make([]testbed.Site, len(arms))
	var names []string
	for i, a := range arms {
		names = append(names, a.Name)
		for _, s := range a.Settings {
			f.local = append(f.local, s.Name)
		}
		if a.Name == f.gone {
			out[i].Unavailable = &testbed.ErrUnavailable{Setting: "it", Reason: "no"}
		}
	}
	f.raised = append(f.raised, names)
	return out, nil
}

// fakeService has servers that answer after 10 ms, slow ones after 20.
type fakeService struct {
	mu      sync.Mutex
	running int
	asked   []string // in order
	seeds   []uint64
	tls     int
	most    int // largest number asked at the same time
	now     int
	crash   string
	uneven  bool // blocks differ
	looks   int  // reads of CPU time
	kernel  func() string
	found   []string // the kernel's setting at each turn and start
}

func (f *fakeService) Start(_ context.Context, _ testbed.Site, own []setting.Setting, part study.Part) (Server, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running++
	if part.HTTP != nil && part.HTTP.TLS {
		f.tls++
	}
	name := "plain"
	if len(own) > 0 {
		name = "slow"
	}
	if f.kernel != nil {
		f.found = append(f.found, "start "+f.kernel())
	}
	return &fakeServer{fakeService: f, name: name}, nil
}

type fakeServer struct {
	*fakeService
	name  string
	turns int // number of turns
}

func (s *fakeServer) Ask(_ context.Context, o Offer) (*request.Account, request.Meter, error) {
	s.mu.Lock()
	s.asked, s.seeds = append(s.asked, s.name), append(s.seeds, o.Seed)
	if s.kernel != nil {
		s.found = append(s.found, s.name+" "+s.kernel())
	}
	s.turns++
	s.now++
	s.most = max(s.most, s.now)
	s.mu.Unlock()
	time.Sleep(50 * time.Millisecond)
	s.mu.Lock()
	s.now--
	s.mu.Unlock()
	took := 10 * time.Millisecond
	if s.uneven {
		took += time.Duration(o.Seed%97) * 10 * time.Microsecond
	}
	if s.name == "slow" {
		took *= 2
	}
	a := request.NewAccount(1)
	for i := range 100 {
		at := time.Duration(i) * time.Millisecond
		a.Add(request.Outcome{Due: at, Start: at, End: at + took + time.Duration(i%7)*10*time.Microsecond, Code: 200, Body: 1000})
	}
	if o.Requests > 0 { // a burst takes 0.1 s, and a slow one 1 s
		o.Lasts = 10 * took
		if s.name == "slow" {
			o.Lasts *= 5
		}
	}
	return a, request.Meter{Elapsed: o.Lasts, CPUs: 2, Rate: 100}, nil
}

func (s *fakeServer) CPU() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	return time.Duration(s.turns) * time.Millisecond
}

func (s *fakeServer) Running() error {
	if s.name == s.crash {
		return errors.New("it crashed")
	}
	return nil
}

func (s *fakeServer) Stop() (*study.ServerLog, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	return nil, nil
}

// asked runs a study with fake servers.
func asked(t *testing.T, s study.Spec, sites *fakeSites, service *fakeService, allowed bool) ([]study.Trial, error) {
	t.Helper()
	r := Runner{Service: service, Sites: func(context.Context) (testbed.Sites, error) { return sites, nil }}
	trials, _, _, err := bedtest.Run(t, &lab.Lab{Machine: &bedtest.Simulated{Seed: 1}, AllowHost: allowed, Runners: []lab.Runner{r}}, lab.Task{Spec: s, Seed: 3})
	return trials, err
}

func serveStudy(t *testing.T, text string, sites *fakeSites, service *fakeService) (study.Spec, []study.Trial) {
	t.Helper()
	s := bedtest.Parse(t, text)
	trials, err := asked(t, s, sites, service, false)
	if err != nil {
		t.Fatal(err)
	}
	if service.running != 0 || !sites.closed {
		t.Errorf("%d servers still run; testbed closed: %v", service.running, sites.closed)
	}
	return s, trials
}

func TestServersAreAskedTogether(t *testing.T) {
	sites, service := &fakeSites{}, &fakeService{uneven: true}
	s, trials := serveStudy(t, servedSpec, sites, service)
	if len(trials) != 9 || len(sites.raised) != 3 || service.most != 3 {
		t.Fatalf("%d trials of %d instances, %d asked at once", len(trials), len(sites.raised), service.most)
	}
	if slices.Sort(service.seeds); !slices.Equal(slices.Compact(slices.Clone(service.seeds)), []uint64{service.seeds[0], service.seeds[3], service.seeds[6]}) {
		t.Errorf("seeds %x: all arms of a block must have the same requests, and different blocks different ones", service.seeds)
	}
	r := study.Analyse(s, 3, study.Environment{}, bedtest.Drifting(trials))
	for _, v := range r.Verdicts {
		if v.Metric == study.RequestMean && (v.Verdict != "worse" || v.Interleaved != study.Together || v.EffectPercent.Float() < 90 || v.EffectPercent.Float() > 110) {
			t.Errorf("slow is %s by %v, %s", v.Verdict, v.EffectPercent, v.Interleaved)
		}
	}
	if !r.Complete {
		t.Error("the study is not complete")
	}
}

func TestClosedLoopsTakeTurns(t *testing.T) {
	sites, service := &fakeSites{}, &fakeService{}
	_, trials := serveStudy(t, strings.Replace(servedSpec, "rate: 100", "rate: 0", 1), sites, service)
	// Three turns of 0.4 s per arm.
	if len(trials) != 9 || service.most != 1 || len(service.asked) != 27 {
		t.Fatalf("%d trials, %d at once, %d turns", len(trials), service.most, len(service.asked))
	}
	if o := trials[0].Saw().Served; o.Turns != 3 || o.Requests != 300 {
		t.Errorf("%d turns with %d requests", o.Turns, o.Requests)
	}
	first := service.asked[:3]
	if !slices.ContainsFunc([]int{3, 6, 9, 12, 15, 18, 21, 24}, func(i int) bool { return !slices.Equal(service.asked[i:i+3], first) }) {
		t.Error("all rounds have the same order")
	}
}

func TestClientsOfAnArmAskInItsWay(t *testing.T) {
	service := &fakeService{}
	serveStudy(t, strings.Replace(servedSpec, "name: slow\n", "name: slow\n    http: {tls: true}\n", 1), &fakeSites{}, service)
	if service.tls != 3 {
		t.Errorf("%d servers were asked over TLS, want the one of three in each of 3 blocks", service.tls)
	}
}

func TestServersInSequence(t *testing.T) {
	sites, service := &fakeSites{}, &fakeService{}
	s, trials := serveStudy(t, servedSpec+"interleave: false\n", sites, service)
	if len(trials) != 9 || len(sites.raised) != 9 || len(sites.raised[0]) != 1 || service.most != 1 {
		t.Fatalf("%d trials in %d instances, %d at once", len(trials), len(sites.raised), service.most)
	}
	if r := study.Analyse(s, 3, study.Environment{}, trials); !r.Complete || r.Verdicts[0].Interleaved != study.InSequence {
		t.Errorf("complete %v, %s", r.Complete, r.Verdicts[0].Interleaved)
	}
}

func TestAServerThatCrashesOrCannotBeHad(t *testing.T) {
	_, trials := serveStudy(t, servedSpec, &fakeSites{}, &fakeService{crash: "slow"})
	for _, tr := range trials {
		if (tr.Variant == "slow") == tr.Valid || tr.Variant == "slow" && !strings.Contains(tr.Reasons[0].String(), "it crashed") {
			t.Errorf("%s: valid %v, %q", tr.Variant, tr.Valid, tr.Reasons)
		}
	}
	_, trials = serveStudy(t, servedSpec, &fakeSites{gone: "slow"}, &fakeService{})
	for _, tr := range trials {
		if (tr.Variant == "slow") != (tr.Unavailable != "") {
			t.Errorf("%s: unavailable %q", tr.Variant, tr.Unavailable)
		}
	}
}

// TestArmsBeginOneAfterTheOther: the arms share a schedule, so their starts are staggered.
func TestArmsBeginOneAfterTheOther(t *testing.T) {
	for i, want := range []time.Duration{0, 25 * time.Millisecond, 50 * time.Millisecond, 75 * time.Millisecond} {
		if got := stagger(10, i, 4); got != want {
			t.Errorf("arm %d of 4, asked 10 times a second, begins after %v, want %v", i, got, want)
		}
	}
}

const burstSpec = `name: mail
question: q?
workload:
  smtp: {messages: [1kB], burst: 100}
variants:
  - name: plain
  - name: slow
    settings:
      - {postfix: in_flow_delay, value: "0"}
parts:
  - {seconds: 0.6, warmup: 0, blocks: 2}
metrics:
  - {metric: requests_per_second, primary: true}
`

// TestBurstsTakeTurns: after a round that does not count there are four rounds; an arm that has used its time
// takes part in no more. Rates are those of bursts.
func TestBurstsTakeTurns(t *testing.T) {
	service := &fakeService{}
	_, trials := serveStudy(t, burstSpec, &fakeSites{}, service)
	if service.most != 1 || len(trials) != 6 {
		t.Fatalf("%d trials, %d asked at once", len(trials), service.most)
	}
	for _, tr := range trials {
		v := tr.Saw().Served
		bursts, rate := 4, 1000.0
		if tr.Variant == "slow" {
			bursts, rate = 1, 100.0
		}
		if v.Turns != bursts || len(v.Bursts) != bursts || v.Requests != uint64(100*bursts) || math.Abs(v.ServerCPU-0.001*float64(bursts)) > 1e-9 || math.Abs(tr.Metrics[study.RequestRate]/rate-1) > 1e-9 {
			t.Errorf("%s, block %d: %d turns, %d requests, %+v, %v/s", tr.Variant, tr.Block, v.Turns, v.Requests, v.Bursts, tr.Metrics[study.RequestRate])
		}
	}
	if service.looks != 2*len(trials) {
		t.Errorf("CPU time was read %d times, want twice in a block of each of %d", service.looks, len(trials))
	}
	if n := len(service.asked); n != 2*(3+2*4+1) {
		t.Errorf("asked %d times", n)
	}
	seeds := slices.Clone(service.seeds)
	slices.Sort(seeds)
	if n := len(slices.Compact(seeds)); n != 2*5 {
		t.Errorf("%d seeds: all arms of a round must have the same requests, and different rounds different ones", n)
	}
}

const hostSpec = `name: files
question: q?
workload:
  files: {burst: 100}
variants:
  - name: plain
  - name: slow
    settings:
      - {filesystem: {type: tmpfs}}
      - {sysctl: vm.swappiness, value: 7, scope: host}
parts:
  - {seconds: 0.4, warmup: 0, blocks: 2}
metrics:
  - {metric: requests_per_second, primary: true}
`

// hostStudy runs a study of a setting that is global to the kernel.
func hostStudy(t *testing.T, text string, allowed bool) (service *fakeService, sites *fakeSites, trials []study.Trial) {
	t.Helper()
	sites, service = &fakeSites{}, &fakeService{}
	service.kernel = func() string { return sites.kernel }
	trials, err := asked(t, bedtest.Parse(t, text), sites, service, allowed)
	if err != nil {
		t.Fatal(err)
	}
	return service, sites, trials
}

// TestTheKernelsSettingsGoWithTheTurns: a global setting is written before each turn, and before an arm's
// server starts; other arms find the original value.
func TestTheKernelsSettingsGoWithTheTurns(t *testing.T) {
	service, sites, trials := hostStudy(t, hostSpec, true)
	turns := map[string]int{}
	for _, found := range service.found {
		turns[found]++
	}
	if len(sites.raised) != 2 || len(sites.raised[0]) != 3 || turns["slow "] > 0 || turns["plain vm.swappiness=7"] > 0 ||
		turns["slow vm.swappiness=7"] < 4 || turns["plain "] < 8 || turns["start vm.swappiness=7"] != 2 || turns["start "] != 4 {
		t.Errorf("instances %v, found %v", sites.raised, turns)
	}
	if sites.kernel != "" || slices.Contains(sites.local, "vm.swappiness") {
		t.Errorf("the kernel's final setting is %q, sites were given %v", sites.kernel, sites.local)
	}
	for _, tr := range trials {
		if !tr.Valid || tr.Observed.Interleaved == nil || tr.Observed.Interleaved.How != study.Alternating {
			t.Errorf("%s: %v, %+v", tr.Variant, tr.Reasons, tr.Observed.Interleaved)
		}
	}
	// Whichever arm has the last turn.
	both := strings.Replace(hostSpec, "name: plain\n", "name: plain\n    settings: [{sysctl: vm.swappiness, value: 8, scope: host}]\n", 1)
	if _, sites, _ := hostStudy(t, both, true); sites.kernel != "" {
		t.Errorf("if all arms have a setting, the kernel's final one is %q", sites.kernel)
	}
}

// TestTheKernelsSettingsInOneLoop: arms that run at the same time cannot have different global settings, so an
// open loop's arms run one after the other; if those with settings are left out, the rest runs together.
func TestTheKernelsSettingsInOneLoop(t *testing.T) {
	open := strings.Replace(hostSpec, "burst: 100", "rate: 100", 1)
	service, sites, _ := hostStudy(t, open, true)
	if len(sites.raised) != 6 || service.most != 1 || !slices.Contains(sites.local, "vm.swappiness") {
		t.Errorf("allowed: instances %v, %d at once, sites were given %v", sites.raised, service.most, sites.local)
	}
	service, sites, trials := hostStudy(t, open, false)
	if len(sites.raised) != 2 || service.most != 2 || len(sites.local) > 0 {
		t.Errorf("not allowed: instances %v, %d at once, sites were given %v", sites.raised, service.most, sites.local)
	}
	for _, tr := range trials {
		if (tr.Variant == "slow") != (tr.Unavailable != "") {
			t.Errorf("%s: unavailable %q", tr.Variant, tr.Unavailable)
		}
	}
	_, _, trials = hostStudy(t, strings.Replace(hostSpec, "value: 7", "value: none", 1), true)
	for _, tr := range trials {
		if (tr.Variant == "slow") != (tr.Unavailable != "") {
			t.Errorf("a sysctl that does not exist: %s: unavailable %q", tr.Variant, tr.Unavailable)
		}
	}
}

// TestServersTrialsAreOfRecords: estimates for trials of mail and files are within a quarter of the mean
// duration over their arms on a quiet machine.
func TestServersTrialsAreOfRecords(t *testing.T) {
	for _, c := range []struct {
		workload, part string
		seconds        float64
	}{
		{"smtp: {messages: [2kB, 10kB], accounts: 1000, sessions: 20, burst: 40}", "seconds: 3", 2.30},
		{"files: {count: 1000, size: 500B-10kB, fsync: true, burst: 100}", "seconds: 2, warmup: 0", 0.88},
		{"files: {count: 1000, size: 500B-10kB, fsync: true, burst: 100}", "seconds: 0.8, warmup: 0", 0.49},
		{"files: {count: 1000, size: 500B-10kB}", "seconds: 0.8, warmup: 0", 1.00},
		{"files: {count: 1000, size: 500B-10kB}", "seconds: 0.32, warmup: 0", 0.48},
		{"files: {count: 20000, size: 500B-10kB}", "seconds: 0.8, warmup: 0", 3.10},
	} {
		s := bedtest.Parse(t, "name: x\nquestion: q?\nworkload: {"+c.workload+"}\nvariants: [{name: a}, {name: b}]\nparts: [{"+c.part+"}]\nmetrics: [{metric: requests_per_second, primary: true}]\n")
		if got := s.Expected(s.Parts[0]); math.Abs(got/c.seconds-1) > 0.25 {
			t.Errorf("%s, %s: estimated %.2f s, but it took %.2f s", c.workload, c.part, got, c.seconds)
		}
	}
}

// TestEachTurnIsWarmedUp: each turn of a closed loop's arm has a warm-up, three turns in 1.2 s.
func TestEachTurnIsWarmedUp(t *testing.T) {
	s := bedtest.Parse(t, strings.Replace(servedSpec, ", rate: 100", "", 1))
	warm, cold := s.Parts[0], s.Parts[0]
	cold.Warmup = 0
	if how, more := s.Interleaving(warm), s.Expected(warm)-s.Expected(cold); how != study.Alternating || math.Abs(more-3*0.1) > 1e-9 {
		t.Errorf("%s: warming up takes %g s of an arm's trial", how, more)
	}
}
