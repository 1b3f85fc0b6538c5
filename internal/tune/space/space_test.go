package space

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/catalogue"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/tune"
	"linerate/studies"
)

func query(t *testing.T, name string) Query {
	t.Helper()
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	data, err := studies.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := study.Parse(name, data)
	if err != nil {
		t.Fatal(err)
	}
	base, _ := s.Variant(s.Control)
	f := &fact.Facts{OS: fact.Linux, Release: release.MustParse("6.12"), CPU: fact.CPU{Count: 4}, Memory: fact.Memory{Physical: 1 << 33, PageSize: 4096}}
	return Query{Catalogue: c, Facts: f, Role: "router", Study: s, Base: base}
}

// TestSpace: every tunable with levels is in the space or has a reason why not; settings global to
// the kernel need permission.
func TestSpace(t *testing.T) {
	q := query(t, "early-demux")
	all, err := Of(q)
	if err != nil {
		t.Fatal(err)
	}
	shared := 0
	for _, e := range all {
		if e.Why == "" || e.In && (len(e.Levels) == 0 || len(e.Levels[0].Settings) == 0 || e.Shared) {
			t.Errorf("%+v", e)
		}
		if strings.Contains(e.Why, "global to the kernel") {
			shared++
		}
	}
	in := len(Factors(all))
	if in < 3 || shared < 3 {
		t.Errorf("%d in the space of %d, %d wait for leave", in, len(all), shared)
	}
	q.AllowHost = true
	more, err := Of(q)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(Factors(more)); got != in+shared {
		t.Errorf("with leave %d factors, want %d", got, in+shared)
	}
	q.Only = []string{Factors(all)[0].Name}
	one, err := Of(q)
	if err != nil || len(Factors(one)) != 1 {
		t.Errorf("only one: %d, %v", len(Factors(one)), err)
	}
	q.Only = []string{"net.ipv4.no_such"}
	if _, err := Of(q); err == nil {
		t.Error("an unknown name was taken")
	}
}

// TestWorkload: a search has the settings that apply to its workload's server, all of the
// catalogue's for it can be put into the study, and none for other servers.
func TestWorkload(t *testing.T) {
	servers, err := Load(catalogue.Spaces())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for name, c := range map[string]struct{ has, lacks string }{
		"web-latency":    {"tcp initcwnd", "nginx ssl_buffer_size"},
		"tls":            {"nginx ssl_buffer_size", "postfix max_use"},
		"release-mirror": {"nginx proxy_cache_lock", "file system"},
		"mail":           {"postfix in_flow_delay", "nginx sendfile"},
		"files":          {"file system", "tcp initcwnd"},
		"early-demux":    {"net.ipv4.ip_early_demux", "tcp initcwnd"},
	} {
		q := query(t, name)
		q.Workloads = servers
		all, err := Of(q)
		if err != nil {
			t.Fatal(err)
		}
		entry := func(name string) *Entry { return entryOf(all, name) }
		if !entry(c.has).in() && name != "early-demux" || entry(c.lacks) != nil {
			t.Errorf("%s: %s %+v, %s %+v", name, c.has, entry(c.has), c.lacks, entry(c.lacks))
		}
		for _, e := range all {
			seen[e.Name] = true
			if strings.Contains(e.Why, "refuses") {
				t.Errorf("%s: %s: %s", name, e.Name, e.Why)
			}
		}
		if name == "web-latency" {
			if e := entry("tcp congestion"); e == nil || e.Now != "cubic" || len(e.Levels) != 1 || entry("net.ipv4.tcp_congestion_control").in() {
				t.Errorf("%s: congestion control of the path %+v", name, e)
			}
		}
		if e := entry("net.ipv4.tcp_fastopen"); name == "files" && (e == nil || e.In) {
			t.Errorf("files are asked for over a network: %+v", e)
		}
	}
	for _, e := range servers {
		if !seen[e.Name] || e.Levels[0].Source == "" {
			t.Errorf("%s is for no study, or has no source", e.Name)
		}
	}
}

// TestForbidden: no configuration of a space violates the catalogue's couplings.
func TestForbidden(t *testing.T) {
	q := query(t, "early-demux")
	env := q.Catalogue.NewEnv(q.Facts, q.Role)
	const high, low = "net.ipv4.ipfrag_high_thresh", "net.ipv4.ipfrag_low_thresh"
	now := env.Text(low)
	all := func(highs, lows []string) []Entry {
		out := []Entry{{Name: high, In: true}, {Name: low, In: true}}
		for i, values := range [][]string{highs, lows} {
			for _, v := range values {
				out[i].Levels = append(out[i].Levels, Level{Value: v})
			}
		}
		return out
	}
	for _, c := range []struct {
		highs, lows []string
		high, low   int
		why         string
	}{
		{[]string{"8000000"}, []string{"3500000"}, 1, 1, ""},
		{[]string{"1000"}, []string{"3500000"}, 0, 1, "no level agrees with " + low + "=" + now},
		{[]string{"3900000"}, []string{"4000000"}, 1, 1, "4000000 does not agree with " + high + "=3900000"},
	} {
		got := all(c.highs, c.lows)
		if err := forbid(q, env, got); err != nil {
			t.Fatal(err)
		}
		out := got[0].Why + got[1].Why
		if len(got[0].Levels) != c.high || len(got[1].Levels) != c.low || !strings.HasPrefix(out, c.why) || (out == "") != (c.why == "") {
			t.Errorf("%v, %v: %+v", c.highs, c.lows, got)
		}
	}
}

const own = `
factors:
  - name: merged
    base: [{firewall: {linear: 1000}}]
    levels:
      - {value: merged, settings: [{firewall: {linear: 1000, optimise: true}}]}
  - name: net.ipv4.ip_early_demux
    levels:
      - {value: "0", settings: [{sysctl: net.ipv4.ip_early_demux, value: 0}], source: guides}
`

// TestPut: experiments become studies that parse, and trials become values oriented so that more is
// better.
func TestPut(t *testing.T) {
	factors, err := Parse("own.yaml", []byte(own))
	if err != nil {
		t.Fatal(err)
	}
	q := query(t, "early-demux")
	b := Bench{Study: q.Study, Base: q.Base, Factors: factors, Question: "What helps?", Seed: 4}
	e := tune.Experiment{Name: "confirm", Phase: tune.Confirm, Control: tune.Config{0, 0}, Arms: []tune.Config{{1, 1}}, Blocks: 6, Looks: []int{4, 6}, Alpha: 0.03}
	s, err := b.Put(e)
	if err != nil {
		t.Fatal(err)
	}
	if s.Looks.Alpha != 0.03 || len(s.Variants) != 2 || len(s.Metrics) != 2 || s.Control != control {
		t.Errorf("study %+v", s)
	}
	got, want := s.Variants[1].Settings, 2
	if len(got) != want || !got[0].Is(setting.Firewall) || !got[0].Setting().Rules.Optimise || s.Variants[0].Settings[0].Setting().Rules.Optimise {
		t.Errorf("settings %+v", s.Variants)
	}
	var trials []study.Trial
	for block := 1; block <= 2; block++ {
		for i, arm := range []string{control, study.AA, "c01"} {
			trials = append(trials, study.Trial{Part: s.Parts[0].Name, Block: block, Variant: arm, Valid: true, Seconds: 2,
				Metrics: map[string]float64{"forwarding_rate_pps": 100 + float64(i), "cost_ns_per_packet": 1000}})
		}
	}
	guard := e
	guard.Name, guard.Phase, guard.Looks, guard.Blocks, guard.Guards = "guard", tune.Guard, nil, 14, []string{name(s.Metrics[1])}
	if g, err := b.Put(guard); err != nil || len(g.Metrics) != 2 || g.Parts[0].Blocks != 14 || g.Looks != nil {
		t.Errorf("guard %+v, %v", g, err)
	}
	dead := slices.Clone(trials)
	dead[2].Valid, dead[2].Reasons = false, []study.Refusal{{Gate: "nothing arrived", Text: "no frame reached the receiver"}}
	fit := e
	fit.Phase = tune.Fit
	if m := Measured(fit, s, dead); m.Unavailable[0] != "no frame reached the receiver" || len(m.Invalid) != 0 {
		t.Errorf("an arm that cuts the path: %+v", m)
	}
	if m := Measured(e, s, dead); len(m.Unavailable) != 0 || m.Invalid["nothing arrived"] != 1 {
		t.Errorf("a trial in which nothing arrived: %+v", m)
	}
	// Repetitions of invalid trials are trials too: there are never more invalid ones than
	// trials.
	for range 3 {
		dead = append(dead, dead[2])
	}
	if m := Measured(e, s, dead); m.Invalid["nothing arrived"] != 4 || m.Ran != 9 || m.Slots() != 6 {
		t.Errorf("with repetitions: %+v", m)
	}
	m := Measured(e, s, trials)
	if len(m.Values) != 2 || !(math.Abs(m.Values[1][2]-m.Values[1][0]-math.Log(1.02)) <= 1e-9) || m.Seconds != 12 {
		t.Errorf("measured %+v", m)
	}
	if n := b.Together(64); n < 6 || n%2 != 0 {
		t.Errorf("%d arms together", n)
	}
	if w := Words(factors, e.Arms[0]); !strings.Contains(w, "merged=merged") || Words(factors, e.Control) != "the base" {
		t.Errorf("words %q", w)
	}
}

// TestPutsEveryStudy: each experiment is a study that parses, whatever study it is derived from.
func TestPutsEveryStudy(t *testing.T) {
	for _, of := range studies.Names() {
		q := query(t, of)
		if part, _ := q.Study.Part(q.Study.Primary().Part); study.KindOf(part) == study.KindFlows {
			continue // tune refuses it: both arms are in one router
		}
		b := Bench{Study: q.Study, Base: q.Base, Factors: []Entry{{Name: "nothing", In: true, Levels: []Level{{Value: "0"}}}}, Question: "What helps?"}
		for _, phase := range []tune.Phase{tune.Screen, tune.Confirm, tune.Guard} {
			e := tune.Experiment{Name: string(phase), Phase: phase, Control: tune.Config{0}, Arms: []tune.Config{{1}}, Blocks: 6}
			for _, g := range q.Study.Metrics {
				if phase == tune.Guard && !g.Primary {
					e.Guards = append(e.Guards, name(g))
				}
			}
			if _, err := b.Put(e); err != nil {
				t.Errorf("%s of %s: %v", phase, of, err)
			}
		}
	}
}

// TestFileRefuses: a user's own space is parsed strictly.
func TestFileRefuses(t *testing.T) {
	for _, bad := range []string{"", "factors: []", "factors: [{name: a}]", "factors: [{name: a, levels: [{value: x}]}]", "factors: [{levels: []}]", "wrong: 1"} {
		if got, err := Parse("x.yaml", []byte(bad)); err == nil {
			t.Errorf("%q was taken: %+v", bad, got)
		}
	}
	all, _ := Parse("own.yaml", []byte(own))
	if err := Choose(all, nil, []string{"merged"}); err != nil || !slices.ContainsFunc(all, func(e Entry) bool { return !e.In }) {
		t.Errorf("without: %v %+v", err, all)
	}
}

// TestOneBoot: one search does not try both an image and files that a boot reads.
func TestOneBoot(t *testing.T) {
	const image, set, rc = "  - {name: image, levels: [{settings: [{image: new}]}]}\n", "  - {name: set, levels: [{settings: [{files: set}]}]}\n", "  - {name: rc, levels: [{settings: [{rc: pf_enable, value: \"YES\"}]}]}\n"
	for text, want := range map[string]string{image + set + rc: "image", set + image + rc: "set rc", set + rc: "set rc"} {
		all, err := Parse("own.yaml", []byte("factors:\n"+text))
		if err == nil {
			err = Choose(all, nil, nil)
		}
		var in []string
		for _, e := range Factors(all) {
			in = append(in, e.Name)
		}
		if got := strings.Join(in, " "); err != nil || got != want {
			t.Errorf("%s leaves %s, %v", text, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(own))
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = Parse("fuzz.yaml", data) })
}

// TestTook: resets and boots between trials count against the budget; an interruption overnight
// does not, and arms that run side by side start once.
func TestTook(t *testing.T) {
	at := func(minutes, seconds float64) study.Trial {
		return study.Trial{Start: time.Unix(0, 0).Add(time.Duration(minutes * float64(time.Minute))), Seconds: seconds}
	}
	for _, c := range []struct {
		trials []study.Trial
		want   float64
	}{
		{nil, 0},
		{[]study.Trial{at(0, 2), at(1, 2), at(2, 2)}, 122},
		{[]study.Trial{at(0, 2), at(600, 2)}, 4},
		{[]study.Trial{at(0, 2), at(0, 2), at(0, 2)}, 6},
	} {
		if got := took(c.trials); got != c.want {
			t.Errorf("%d trials took %g s, want %g", len(c.trials), got, c.want)
		}
	}
}

// TestMachinesSpace: on machines no setting needs permission, and loader variables can be tried if
// trials begin with a boot.
func TestMachinesSpace(t *testing.T) {
	q := query(t, "early-demux")
	q.Facts = &fact.Facts{OS: fact.FreeBSD, Release: release.MustParse("14.3"), CPU: fact.CPU{Count: 4}, Memory: fact.Memory{Physical: 1 << 33, PageSize: 4096}}
	loader := 0
	for _, reset := range []string{"settings", "reboot"} {
		s, err := study.Parse("bed.yaml", []byte("name: bed\nquestion: Which?\ntestbed: {kind: ssh, file: lab.yaml}\nreset: "+reset+`
variants: [{name: none}, {name: x, settings: [{sysctl: net.inet.ip.ttl, value: 77}]}]
parts: [{name: given, rate: 5kpps, blocks: 2, seconds: 1}]
metrics: [{metric: overload_forwarding_rate_pps, part: given, primary: true}]
`))
		if err != nil {
			t.Fatal(err)
		}
		q.Study = s
		q.Base, _ = s.Variant("none")
		all, err := Of(q)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			if strings.Contains(e.Why, "may not") || e.Shared {
				t.Errorf("reset %s: %s: %s", reset, e.Name, e.Why)
			}
			if e.In && e.Levels[0].Settings[0].Is(setting.Loader) {
				loader++
			}
			if reset == "settings" && loader > 0 {
				t.Errorf("%s without a boot", e.Name)
			}
		}
	}
	if loader == 0 {
		t.Error("no loader tunable in the space of a study that boots")
	}
}

// TestToShow compares the required number of blocks with a calculation by hand: a standard
// deviation of 4 and a margin of 5 need (2.802·4/5)² and two more.
func TestToShow(t *testing.T) {
	half := 4 * 2.262157 / math.Sqrt(10) // of ten blocks
	for _, c := range []struct {
		mean, margin float64
		want         int
	}{{0, 5, 8}, {2, 4, 8}, {-1, 6, 8}, {-5, 5, 0}, {-9, 5, 0}, {math.NaN(), 5, 0}} {
		if got := toShow(c.mean-half, c.mean+half, c.margin, 10); got != c.want {
			t.Errorf("mean %g, margin %g: %d blocks, want %d", c.mean, c.margin, got, c.want)
		}
	}
}
