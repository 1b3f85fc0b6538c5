package main

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"linerate/internal/assemble"
	"linerate/internal/lab"
	"linerate/internal/labtest"
	"linerate/internal/port"
	"linerate/internal/server"
	"linerate/internal/study"
	"linerate/studies"
)

// truths is a study whose answers are known beforehand.
const truths = `name: truths
question: Does the lab of servers find what is known?
workload:
  http: {objects: [110kB], rate: 30, keepalive: false}
link: {delay: 40ms}
control: ten
variants:
  - name: ten
    settings: [{tcp: {congestion: reno, initcwnd: 10}}]
  - name: forty-four
    settings: [{tcp: {congestion: reno, initcwnd: 44}}]
parts:
  - {seconds: 1, warmup: 0, blocks: 3}
metrics:
  - {metric: request_latency_p50_ns, primary: true, margin_percent: 5}
  - {metric: log_within_100ms_ratio}
`

// TestServers runs the tests with studies of servers, disks and mail one after another, as each
// needs the server lab for itself, in parallel with tests that do not.
func TestServers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		test func(*testing.T)
	}{
		{"an initial window saves round trips", initialWindowSavesRoundTrips},
		{"a lossy link loses", aLossyLinkLoses},
		{"the arms of study tls speak what they say", armsOfStudyTLSSpeakWhatTheySay},
		{"each arm writes to its own disk", eachArmWritesToItsOwnDisk},
		{"mail that was taken is delivered", mailThatWasTakenIsDelivered},
		{"settings of the machine come back", settingsOfTheMachineComeBack},
		{"a study of servers leaves nothing", aStudyOfServersLeavesNothing},
	} {
		t.Run(c.name, c.test)
	}
}

// served runs a study of servers and returns its results.
func served(t *testing.T, text string) study.Results {
	t.Helper()
	labtest.Need(t)
	_, r := serveStudyOf(t, text, assemble.Options{Engine: "auto"})
	return r
}

// needWeb skips or fails a test where the web server is missing.
func needWeb(t *testing.T) {
	t.Helper()
	if err := server.NGINX.Installed(); err != nil {
		labtest.Lacking(t, "%v", err)
	}
}

func serveStudyOf(t *testing.T, text string, o assemble.Options, also ...func(*assemble.Testbed)) (study.Spec, study.Results) {
	t.Helper()
	s, err := study.Parse("truths.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	opened, err := assemble.Local(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range also {
		f(opened)
	}
	var trials []study.Trial
	_, err = opened.Lab.Run(t.Context(), lab.Task{Spec: s, Seed: 7}, func(tr study.Trial) error { trials = append(trials, tr); return nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, study.Analyse(s, 7, study.Environment{}, trials)
}

// fastest returns an arm's fastest answer. A busy machine can delay answers, but none can be
// faster than the link's round trips.
func fastest(r study.Results, part, arm string) (least time.Duration) {
	for _, tr := range r.Trials {
		if tr.Variant == arm && tr.Part == part && tr.Observed != nil && tr.Saw().Served.Latency != nil {
			if l := time.Duration(tr.Saw().Served.Latency.Min); least == 0 || l < least {
				least = l
			}
		}
	}
	return least
}

// initialWindowSavesRoundTrips: an answer of 110 kB, 77 segments, takes four flights (10, 20, 40
// and the rest) with an initial window of ten and two with one of forty-four, each of 80 ms,
// after one for the handshake; no answer can be faster than that. The window in use is read
// from the route of the arm's server while it is measured. That the larger window is faster is
// only logged, because on a busy machine every answer may be late.
func initialWindowSavesRoundTrips(t *testing.T) {
	needWeb(t)
	labtest.Need(t)
	var w *diskWatch
	_, r := serveStudyOf(t, truths, assemble.Options{Engine: "auto"}, func(bed *assemble.Testbed) {
		w = watchDisks(t, bed)
		w.also = func(server port.Place) string { return initialWindow(t, server) }
	})
	windows := map[string]int{} // number of arms by window
	for _, arm := range w.seen {
		windows[strings.Join(arm.also, "; then ")]++
	}
	if len(windows) != 2 || windows["initcwnd 10"] < 2*3 || windows["initcwnd 44"] < 3 { // three blocks, each with ten twice (control and placebo)
		t.Errorf("initial windows of the arms' servers: %v", windows)
	}
	roundTripsTaken(t, r)
}

// initialWindow returns the initial window of a namespace's only route, in ip-route(8)'s words.
func initialWindow(t *testing.T, in port.Place) string {
	var out strings.Builder
	cmd := exec.Command("ip", "route")
	cmd.Stdout = &out
	if err := in(cmd.Run); err != nil {
		t.Error(err)
	}
	return strings.Join(regexp.MustCompile(`initcwnd \d+`).FindAllString(out.String(), -1), ", ")
}

// roundTripsTaken checks that no answer was faster than the round trips it needs.
func roundTripsTaken(t *testing.T, r study.Results) {
	const trip = 80 * time.Millisecond
	t.Logf("fastest answers: ten %v, forty-four %v", fastest(r, "serve", "ten"), fastest(r, "serve", "forty-four"))
	for arm, trips := range map[string]time.Duration{"ten": 5, study.AA: 5, "forty-four": 3} {
		if least := fastest(r, "serve", arm); least < trips*trip {
			t.Errorf("%s: an answer after %v, but it needs %d round trips of %v", arm, least, trips, trip)
		}
	}
	for _, tr := range r.Trials {
		if tr.Observed == nil {
			t.Errorf("%s, block %d: %v", tr.Variant, tr.Block, tr.Reasons)
			continue
		}
		o := tr.Saw().Served
		if o.Log == nil || o.Log.Lines != o.Asked {
			t.Errorf("%s, block %d: the clients asked %d times, the log has %+v", tr.Variant, tr.Block, o.Asked, o.Log)
			continue
		}
		// The server's log does not include the time on the link.
		if o.Log.P50 > o.Latency.P50-int64(o.RoundTrip*1e9)*3/4 {
			t.Errorf("the log's median is %v, the clients' %v", time.Duration(o.Log.P50), time.Duration(o.Latency.P50))
		}
	}
}

// aLossyLinkLoses: a part whose link loses one packet in twenty loses some, and its answers are
// complete nevertheless; a link without loss loses none.
func aLossyLinkLoses(t *testing.T) {
	needWeb(t)
	text := strings.Replace(truths, "  - {seconds: 1, warmup: 0, blocks: 3}\n",
		"  - {name: clean, seconds: 1, warmup: 0, blocks: 2}\n  - {name: lossy, seconds: 1, warmup: 0, blocks: 2, link: {delay: 40ms, loss: 5%}}\n", 1)
	text = strings.Replace(text, "primary: true,", "part: clean, primary: true,", 1)
	text = strings.Replace(text, "log_within_100ms_ratio}", "log_within_100ms_ratio, part: clean}", 1)
	r := served(t, text)
	var lost, passed uint64
	for _, tr := range r.Trials {
		if tr.Observed == nil {
			t.Errorf("%s, block %d: %v", tr.Variant, tr.Block, tr.Reasons)
		} else if l := tr.Saw().Served.Link; tr.Part == "lossy" {
			lost, passed = lost+l.Lost, passed+l.Packets
		} else if l.Lost > 0 {
			t.Errorf("a clean link lost %d packets", l.Lost)
		}
	}
	if lost < passed/40 || lost > passed/10 {
		t.Errorf("a link that loses one packet in twenty lost %d, and delivered %d", lost, passed)
	}
}

// negotiated maps the arms of study tls to the protocol that each must be measured with.
var negotiated = map[string]string{
	"default": "TLS 1.3, TLS_AES_", "tls-1.2": "TLS 1.2, TLS_ECDHE_", "chacha20": "TLS 1.3, TLS_CHACHA20_POLY1305_SHA256", "http-2": ", h2", "clear": "",
}

// armsOfStudyTLSSpeakWhatTheySay: each arm negotiates the protocol it names. Server defaults vary
// by version, and an arm that silently negotiated another would be equivalent to the control.
func armsOfStudyTLSSpeakWhatTheySay(t *testing.T) {
	needWeb(t)
	text, err := studies.Read("tls")
	if err != nil {
		t.Fatal(err)
	}
	s, err := study.Parse("tls.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Parts {
		s.Parts[i].Seconds, s.Parts[i].Blocks = 0.2, min(s.Parts[i].Blocks, 2)
	}
	if text, err = study.Format(s); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, tr := range served(t, string(text)).Trials {
		want, named := negotiated[tr.Variant]
		if !named || tr.Observed == nil || tr.Saw().Served == nil {
			continue
		}
		seen[tr.Variant] = true
		if got := tr.Saw().Served.Negotiated; !strings.Contains(got, want) || (got == "") != (want == "") || tr.Variant != "http-2" && strings.HasSuffix(got, ", h2") {
			t.Errorf("%s, part %s, negotiated %q, not %q", tr.Variant, tr.Part, got, want)
		}
	}
	if len(seen) != len(negotiated) {
		t.Errorf("only the arms %v were measured", seen)
	}
}
