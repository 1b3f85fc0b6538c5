package study

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"linerate/internal/hint"
	"linerate/internal/load/request"
	"linerate/internal/testbed"
)

const served = `name: s
question: q?
workload:
  http: {objects: [24kB, 350kB], rate: 50, keepalive: false}
link: {delay: 40ms, jitter: 1ms, loss: 0.5%, rate: 20Mb/s}
variants:
  - name: a
  - name: b
    settings:
      - tcp: {initcwnd: 44, congestion: cubic}
      - {nginx: worker_processes, value: "2"}
parts:
  - name: new
  - name: kept
    http: {keepalive: true, rate: 0, connections: 10}
    link: {delay: 1ms}
`

func TestAStudyOfRequests(t *testing.T) {
	s, err := Parse("s.yaml", []byte(served))
	if err != nil {
		t.Fatal(err)
	}
	first, second := s.Parts[0], s.Parts[1]
	if first.Mode != testbed.Serve || first.HTTP.Rate != 50 || first.HTTP.Keepalive || first.HTTP.Clients != 10 || s.Interleaving(first) != Together {
		t.Errorf("first part %+v", *first.HTTP)
	}
	if !second.HTTP.Keepalive || second.HTTP.Rate != 0 || len(second.HTTP.Objects) != 2 || s.Interleaving(second) != Alternating {
		t.Errorf("second part %+v", *second.HTTP)
	}
	l, err := LinkOf(&s, first).Parse()
	if want := (testbed.Link{Delay: 40 * time.Millisecond, Jitter: time.Millisecond, Loss: 0.005, Rate: 20e6}); err != nil || l != want || l.RoundTrip() != 80*time.Millisecond {
		t.Errorf("link %v, %v", l, err)
	}
	if l, _ := LinkOf(&s, second).Parse(); l.Delay != time.Millisecond || l.Rate != 0 {
		t.Errorf("the second part's link is %v", l)
	}
	text, err := Format(s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("again.yaml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if again.Parts[1].HTTP.words() != second.HTTP.words() || again.Parts[1].Link == nil {
		t.Errorf("read back:\n%s", text)
	}
}

func (h *HTTP) words() string { return fmt.Sprintf("%+v", *h) }

func TestRefusedStudiesOfRequests(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"delay: 40ms", "delay: 40", "s.yaml:5: a delay of \"40\""},
		{"jitter: 1ms", "jitter: 50ms", "a jitter of 50ms is more than the delay"},
		{"loss: 0.5%", "loss: 0.5", "is not a share of packets"},
		{"rate: 20Mb/s", "rate: fast", "s.yaml:5: a rate of \"fast\""},
		{"[24kB, 350kB]", "[24kB, 350GB]", "an object of \"350GB\""},
		{"rate: 50", "rate: -1", "rate: -1"},
		{"rate: 50", "http: 2", "HTTP/2 needs TLS"},
		{"connections: 10", "connections: 0", "s.yaml:15: connections: 0"},
		{"nginx: worker_processes", "nginx: worker_proceses", "did you mean worker_processes"},
		{`value: "2"`, `value: "2; load_module x"`, "is not a value for nginx's"},
		{"initcwnd: 44", "initcwnd: -4", "initcwnd: -4"},
		{"initcwnd: 44", "initcwnd: 1001", "initcwnd: 1001 is not within 0 and 1000"},
		{"initcwnd: 44", "initrwnd: 1001", "initrwnd: 1001 is not within 0 and 1000"},
		{"initcwnd: 44, congestion: cubic", "", "the setting sets nothing"},
		{"  http: {objects: [24kB, 350kB], rate: 50, keepalive: false}", "  flows: 10", "a link is between clients"},
	} {
		if !strings.Contains(served, c.from) {
			t.Fatalf("no %q", c.from)
		}
		_, err := Parse("s.yaml", []byte(strings.Replace(served, c.from, c.to, 1)))
		if err == nil || c.want != "" && !strings.Contains(err.Error()+hint.Of(err), c.want) {
			t.Errorf("%s for %s: %v, want %q", c.to, c.from, err, c.want)
		}
	}
}

func observed(change func(*Served)) Observation {
	v := &Served{RoundTrip: 0.08, ServerCPU: 0.1, Asked: 1000, Within: map[string]float64{"100": 0.25}, Log: &ServerLog{Lines: 990, Within: 0.75, P50: 5}}
	v.Requests, v.Answered, v.BodyBytes, v.OfferedRate, v.RequestRate = 1000, 1000, 125e6, 100, 100
	v.Latency = &request.Quantiles{Mean: 200e6, P50: 200e6, P90: 300e6, P99: 400e6}
	v.Generator = request.Generator{CPUShare: 0.2, CPUs: 2, Lag: &request.Quantiles{P99: 15e6}}
	if change != nil {
		change(v)
	}
	return Observation{Served: v}
}

func TestJudgeServed(t *testing.T) {
	p := Part{Mode: testbed.Serve}
	m, why := serveJudge(p, DefaultGates(), observed(nil), 0)
	if len(why) > 0 {
		t.Errorf("reasons %q", why)
	}
	// 0.1 s for 1000 requests is 100 µs each; of 1 Mbit each, it is 0.1 CPUs per Gb/s.
	for name, want := range map[string]float64{RequestP50: 200e6, Within100ms: 0.25, LogWithin100ms: 0.75, RequestErrors: 0, ServerCPU: 1e5, ServerCPUPerGigabit: 0.1, RequestRate: 100} {
		if got := m[name]; got != want {
			t.Errorf("%s is %g, want %g", name, got, want)
		}
	}
	for want, change := range map[string]func(*Served){
		"failed: 1.00 %":                func(v *Served) { v.Failed = 10 },
		"saturated: the":                func(v *Served) { v.Generator.CPUShare = 0.95 },
		"lag: the clients":              func(v *Served) { v.Generator.Lag.P99 = 21e6 },
		"link: its emulation":           func(v *Served) { v.Link.Missed = 1 },
		"link: one packet in a hundred": func(v *Served) { v.Link.LateP99 = 9e6 },
		"no requests: the":              func(v *Served) { v.Requests = 0 },
		"saturated: the clients had": func(v *Served) {
			v.Errors = []request.Failure{{Kind: request.NoPort.String(), Text: "no local port left", Count: 3}}
		},
	} {
		if _, why := serveJudge(p, DefaultGates(), observed(change), 0); len(why) != 1 || !strings.HasPrefix(why[0], want) {
			t.Errorf("want one reason beginning with %q, got %q", want, why)
		}
	}
}

// TestVariantsAskInTheirOwnWay: in studies of servers, a variant may change how its clients ask
// (TLS, HTTP version).
func TestVariantsAskInTheirOwnWay(t *testing.T) {
	text := strings.Replace(served, "name: b\n", "name: b\n    http: {tls: true, http: 2}\n", 1)
	if text == served {
		t.Fatal("the replacement for variant b did not match the study")
	}
	s, err := Parse("s.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := s.Variant("b")
	for _, p := range s.Parts {
		own, all := AskedOf(p, b).HTTP, AskedOf(p, s.Variants[0]).HTTP
		if !own.TLS || own.Version != 2 || all.TLS || all.Version != 1 || own.Rate != all.Rate || own.Keepalive != all.Keepalive {
			t.Errorf("part %s: %+v of b, %+v of %s", p.Name, *own, *all, s.Variants[0].Name)
		}
	}
	for from, why := range map[string]string{
		"http: {http: 2}": "needs TLS",
		"http: {rate: 2}": "rate",
	} {
		if _, err := Parse("s.yaml", []byte(strings.Replace(text, "http: {tls: true, http: 2}", from, 1))); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", from, err)
		}
	}
	frames := "name: f\nquestion: q?\nvariants:\n  - {name: a}\n  - {name: b, http: {tls: true}}\n"
	if _, err := Parse("f.yaml", []byte(frames)); err == nil || !strings.Contains(err.Error(), "only clients of a server ask") {
		t.Errorf("a study of frames: %v", err)
	}
}
