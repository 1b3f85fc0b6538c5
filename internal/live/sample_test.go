package live

import (
	"context"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/hint"
	"linerate/internal/host/localhost"
	"linerate/internal/labtest"
	"linerate/internal/stats"
	"linerate/internal/study"
)

const linuxSample = `clock 1763820000
boot 0e1ab7d5-7d1c-4a8d-9d2e-3f1d7a6f0a11
uptime 1000.50
hz 100
cpu 1000 0 500 90000 10 20 80 0 0 0
core
core
running 3
memory 1000000
available 400000
dev lo 100 100 0 0 0 0 0 0 100 100 0 0 0 0 0 0
dev eth0 5000 50 0 2 0 0 0 0 7000 70 0 1 0 0 0 0
softnet 00001000 00000004 00000000
snmp Ip: Forwarding InDiscards OutDiscards
snmp Ip: 1 5 6
snmp Tcp: RtoAlgorithm OutSegs RetransSegs
snmp Tcp: 1 2000 30
snmp TcpExt: SyncookiesSent ListenDrops
snmp TcpExt: 0 7
states 50 200
conn 192.0.2.1:80>198.51.100.1:4711 12.5 100 3 94184bps
conn 192.0.2.1:80>198.51.100.2:4712 20.5 50 0 11.6Mbps
owner study-0badcafe
service 812 4711
end
`

func TestParseLinuxSample(t *testing.T) {
	s, err := parseSample(linuxSample)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"kernel", s.Kernel, 6}, {"interrupts", s.Interrupts, 1}, {"of them by ticks", s.InterruptsTicked, 1}, {"busy", s.Busy, 16}, {"CPUs", float64(s.CPUs), 2}, {"running", s.Running, 3},
		{"available", s.Available, 0.4}, {"packets", s.Packets, 120}, {"drops", s.Drops, 2 + 1 + 4 + 5 + 6 + 7},
		{"segments", s.Segments, 2000}, {"again", s.Again, 30}, {"states", s.States, 0.25},
		{"round trip", s.Connections[0].RoundTrip, 0.0125}, {"sent again", s.Connections[0].Again, 3},
		{"rate", s.Connections[1].Rate, 11.6e6}, {"uptime", s.Uptime, 1000.5},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s is %g, want %g", c.what, c.got, c.want)
		}
	}
	if want := map[string]float64{atInterfaces: 3, atBacklog: 4, atListen: 7, atSockets: 0, atInput: 5, atOutput: 6}; !maps.Equal(s.DroppedAt, want) {
		t.Errorf("dropped at %v, want %v", s.DroppedAt, want)
	}
	if s.Owner != "study-0badcafe" {
		t.Errorf("owner %q", s.Owner)
	}
	if len(s.Services) != 1 || s.Services[0] != "812 4711" {
		t.Errorf("services %v", s.Services)
	}
}

const freebsdSample = `clock 1763820000
boot 17638190001
uptime 1000
hz 127
cp_time 1270 0 127 254 100000
cores 4
running 0.52 0.40 0.30
memory 1000
available 250
link em0 1500 <Link#1> 52:54:00:12:34:56 100 1 2 9000 60 3 8000 0 4
link lo0 16384 <Link#2> lo0 900 0 0 9000 900 0 9000 0 0
tcp 500 packets sent
tcp 400 data packets (1000 bytes)
tcp 12 data packets (300 bytes) retransmitted
tcp 3 data packets unnecessarily retransmitted
tcp 5 listen queue overflows
ip 700 packets sent from this host
ip 6 output packets dropped due to no bufs, etc.
entries 30
entries-limit 100
end
`

func TestParseFreeBSDSample(t *testing.T) {
	s, err := parseSample(freebsdSample)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"kernel", s.Kernel, 3}, {"interrupts", s.Interrupts, 2}, {"of them by ticks", s.InterruptsTicked, 2}, {"busy", s.Busy, 13}, {"CPUs", float64(s.CPUs), 4}, {"available", s.Available, 0.25},
		{"packets", s.Packets, 160}, {"drops", s.Drops, 1 + 2 + 3 + 4 + 5 + 6}, {"segments", s.Segments, 500},
		{"again", s.Again, 12}, {"states", s.States, 0.3},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s is %g, want %g", c.what, c.got, c.want)
		}
	}
}

func TestParseSampleRefusesWhatIsCutOff(t *testing.T) {
	if _, err := parseSample(strings.Replace(linuxSample, "boot 0e1ab7d5-7d1c-4a8d-9d2e-3f1d7a6f0a11", "boot ", 1)); err == nil || !strings.Contains(err.Error(), "no boot identifier") {
		t.Errorf("without a boot id: %v", err)
	}
	for _, text := range []string{"", "end\n", linuxSample[:len(linuxSample)-4], "boot x\nend\n", "nonsense\nend"} {
		if s, err := parseSample(text); err == nil {
			t.Errorf("%.20q: %+v", text, s)
		}
	}
}

func FuzzParseSample(f *testing.F) {
	f.Add(linuxSample)
	f.Add(freebsdSample)
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := parseSample(text); err == nil && (s.Boot == "" || s.Tick <= 0) {
			t.Errorf("%+v", s)
		}
	})
}

// TestLookAtThisMachine reads the machine that the test runs on.
func TestLookAtThisMachine(t *testing.T) {
	l := looker{Runner: &localhost.Runner{}}
	a, err := l.look(t.Context())
	if err != nil {
		labtest.Lacking(t, "this machine cannot be read: %v", err)
	}
	time.Sleep(20 * time.Millisecond)
	b, err := l.look(t.Context())
	if err != nil || b.Boot != a.Boot || b.Uptime <= a.Uptime || b.Busy < a.Busy || b.Kernel > b.Busy || a.CPUs < 1 || a.Available <= 0 || a.Available > 1 {
		t.Errorf("%+v\n%+v\n%v", a, b, err)
	}
}

// TestConnectionTable: the size of the table is the kernel's number; a shell's read of it returns only the
// first digit.
func TestConnectionTable(t *testing.T) {
	limit, err := os.ReadFile("/proc/sys/net/netfilter/nf_conntrack_max")
	if err != nil {
		labtest.Lacking(t, "no connection tracking here: %v", err)
	}
	out, err := (&localhost.Runner{}).Run(t.Context(), sampleScript, []string{"look", "", ""}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := regexp.MustCompile(`(?m)^states [0-9]+ ` + strings.TrimSpace(string(limit)) + `$`); !want.Match(out) {
		t.Errorf("no line %s in\n%s", want, out)
	}
	for text, want := range map[string]float64{"states 50 200\n": 0.25, "states 50 0\n": 0, "states 50\n": 0} {
		if s, err := parseSample(strings.Replace(linuxSample, "states 50 200\n", text, 1)); err != nil || s.States != want {
			t.Errorf("%s is %g, %v", text, s.States, err)
		}
	}
}

func line(took string, status string) string {
	return `198.18.0.9 - - [22/Nov/2026:10:00:00 +0000] "GET /a HTTP/1.1" ` + status + ` 10 "-" "-" ` + took + "\n"
}

// TestLogIsReadForward: a log is read on through incomplete lines, rotation and truncation.
func TestLogIsReadForward(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	write := func(text string, flags int) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|flags, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteString(text)
		if f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	o := &Options{Conn: &localhost.Runner{}}
	m, err := o.ParseMetric("log:" + path + "#p50")
	if err != nil {
		t.Fatal(err)
	}
	tick := func() float64 {
		t.Helper()
		v, err := m.from.Tick(t.Context(), Sample{})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	write(line("9.000", "200"), os.O_APPEND)
	if v := tick(); !math.IsNaN(v) {
		t.Errorf("lines before the start are counted: %g", v)
	}
	whole := line("0.100", "200")
	write(whole+whole+whole[:20], os.O_APPEND)
	if v := tick(); v < 99e6 || v > 101e6 || m.from.Traffic() != 2 {
		t.Errorf("p50 %g of %g", v, m.from.Traffic())
	}
	write(whole[20:], os.O_APPEND)
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	write(line("0.300", "200"), 0)
	for range 2 { // the rest of the old file, then the new one
		tick()
	}
	if n := m.from.Traffic(); n != 4 {
		t.Errorf("%g requests over a rotation, want 4", n)
	}
	write(line("0.200", "200"), os.O_TRUNC)
	tick()
	m.from.Begin()
	write(line("0.400", "200"), os.O_APPEND)
	if tick(); math.Abs(m.from.Value()-400e6) > 1e6 || m.from.Traffic() != 1 {
		t.Errorf("since Begin: %g of %g", m.from.Value(), m.from.Traffic())
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := m.from.Tick(t.Context(), Sample{}); err == nil {
		t.Error("a missing log is not reported as an error")
	}
}

func TestLogErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	o := &Options{Conn: &localhost.Runner{}}
	m, err := o.ParseMetric("log:" + path + "#errors")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = m.from.Tick(t.Context(), Sample{})
	probe := strings.Replace(line("0.1", "502"), "\n", " \"linerate-probe\"\n", 1) // the study's own requests do not count
	text := strings.Repeat(line("0.1", "200"), 3) + line("0.1", "502") + probe
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if v, err := m.from.Tick(t.Context(), Sample{}); err != nil || v != 0.25 {
		t.Errorf("%g, %v", v, err)
	}
	if own, others := m.from.(*logged).ownLines(); own != 1 || others != 4 {
		t.Errorf("%g own, %g others", own, others)
	}
}

// TestFailuresBesideTheTime: a log counts failures whatever is watched in it, because failing at once is fast.
func TestFailuresBesideTheTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	o := &Options{Conn: &localhost.Runner{}}
	m, err := o.ParseMetric("log:" + path)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, lines := range []string{"", line("0.1", "200"), "", line("0.1", "200") + line("0.0", "503")} {
		text += lines
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := m.from.Tick(t.Context(), Sample{}); err != nil {
			t.Fatal(err)
		}
		want := errorShareOf(lines)
		if got := m.from.(fallible).failing(); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("after %q: %g failed, want %g", lines, got, want)
		}
	}
}

func errorShareOf(lines string) float64 {
	return ratio(float64(strings.Count(lines, `" 503 `)), float64(strings.Count(lines, "\n")))
}

// TestOverdueProbe: a probe without an answer counts as late before it ends, and lateness before a window
// does not count in it.
func TestOverdueProbe(t *testing.T) {
	answer := make(chan error)
	b := &background{every: time.Millisecond, once: func(context.Context) (float64, error) { return 1, <-answer }}
	defer func() { close(answer); _ = b.Close() }()
	tick := func() float64 { v, _ := b.Tick(t.Context(), Sample{}); return v }
	if v := tick(); !math.IsNaN(v) && v < float64(time.Microsecond) {
		t.Errorf("%g failed before any was late", v)
	}
	answer <- nil
	if !labtest.Eventually(func() bool { return tick() > float64(50*time.Millisecond) }) {
		t.Error("an overdue probe is not late")
	}
	b.Begin()
	answer <- errors.New("refused") // the answer to the probe in flight
	if !labtest.Eventually(func() bool { tick(); return b.failing() == 1 }) {
		t.Errorf("%g failed", b.failing())
	}
	if long := time.Now().Add(-time.Hour); time.Since(b.began(long)) > time.Minute {
		t.Error("a probe counts as late because of an hour of suspend")
	}
}

// TestPauseAfterARun: back-to-back probes pause for as long as they ran, at least for their source's pause.
func TestPauseAfterARun(t *testing.T) {
	for least, took := range map[time.Duration]time.Duration{commandPause: 0, 2 * commandPause: 2 * commandPause} {
		var begun, ended []time.Time
		enough := make(chan bool)
		b := &background{pause: commandPause, once: func(context.Context) (float64, error) {
			begun = append(begun, time.Now())
			time.Sleep(took)
			if ended = append(ended, time.Now()); len(ended) == 3 {
				close(enough)
			}
			return 1, nil
		}}
		_, _ = b.Tick(t.Context(), Sample{})
		<-enough
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			if pause := begun[i+1].Sub(ended[i]); pause < least {
				t.Errorf("a pause of %v after a run of %v", pause, took)
			}
		}
	}
	if _, source, err := fromCommand(&Options{Better: stats.LowerIsBetter}, "true"); err != nil || source.(*command).pause != commandPause {
		t.Errorf("a command has no pause: %v", err)
	}
}

func TestParseMetric(t *testing.T) {
	for text, want := range map[string]string{
		"cpu-per-packet": study.CPUPerPacket, "softirq-per-packet": study.SoftirqPerPacket, "retransmits": study.Retransmits, "rtt": study.RoundTrip,
		"drops": study.DropsPerPacket, "log:/var/log/a": study.LogP95, "log:/var/log/a#p99": study.LogP99,
		"log:/var/log/a?path=/api/*#p50": study.LogP50, "cpu-per-request:/var/log/a": study.CPUPerRequest,
		"probe:http://198.18.0.2/": study.ProbeLatency, "probe:tcp://198.18.0.2:25": study.ProbeLatency,
		"probe:icmp://198.18.0.2": study.ProbeLatency, "log:/var/log/a#rate": study.LogRate,
		"command:true": study.WatchedLower, "prometheus:http://198.18.0.2:9090#up": study.WatchedLower,
	} {
		o := &Options{Conn: &localhost.Runner{}, Better: stats.LowerIsBetter}
		if m, err := o.ParseMetric(text); err != nil || m.Metric != want || m.Watched.Source != text {
			t.Errorf("%s: %+v, %v", text, m.Watched, err)
		}
	}
	for text, want := range map[string]string{
		"lgo:/x": "did you mean log", "log:relative": "does not begin with /", "log:/x#p12": "part of a log", "cpu-per-request:/x#rate": "takes the log without it", "log:/x,y": "does not begin with /", "command:true#(": "missing closing", "command:/no/such": "no such file",
		"probe:gopher://x": "not a URL", "probe:icmp://-f": "not an address", "probe:tcp://x": "HOST:PORT", "prometheus:http://x": "no query", "rtt:x": "more than",
	} {
		o := &Options{Conn: &localhost.Runner{}, Better: stats.LowerIsBetter}
		if _, err := o.ParseMetric(text); err == nil || !strings.Contains(err.Error()+hint.Of(err), want) {
			t.Errorf("%s: %v %s", text, err, hint.Of(err))
		}
	}
	if _, err := (&Options{}).ParseMetric("command:true"); err == nil || !strings.Contains(err.Error(), "better") {
		t.Errorf("a metric without a direction: %v", err)
	}
}

// TestConnectionsOfFreeBSD: FreeBSD has no per-connection statistics: metrics that need them are refused
// with an alternative, or note that they count all connections.
func TestConnectionsOfFreeBSD(t *testing.T) {
	o := &Options{Conn: &localhost.Runner{}, OS: "FreeBSD", NewConnections: true}
	for _, metric := range []string{"rtt", "delivery-rate"} {
		if _, err := o.ParseMetric(metric); err == nil || !strings.Contains(hint.Of(err), "retransmits") {
			t.Errorf("%s: %v", metric, err)
		}
	}
	if m, err := o.ParseMetric("retransmits"); err != nil || !strings.Contains(m.How, "older than the window are counted too") || o.connections {
		t.Errorf("%+v, %v", m.Watched, err)
	}
}

// TestCommandWithAPattern: a pattern finds the number in a command's longer output.
func TestCommandWithAPattern(t *testing.T) {
	path := filepath.Join(t.TempDir(), "metric")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho 'up 3 days, load: 0.25'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]float64{"#load: ([0-9.]+)": 0.25, "#[0-9]+": 3, "#no": math.NaN(), "": math.NaN()} {
		m, err := (&Options{Better: stats.LowerIsBetter}).ParseMetric("command:" + path + pattern)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := m.from.(*command).run(t.Context()); (err != nil) != math.IsNaN(want) || err == nil && v != want {
			t.Errorf("%q finds %g, %v", pattern, v, err)
		}
	}
}

// TestSeveralLogs: several logs form one metric, and each is read on by itself.
func TestSeveralLogs(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	o := &Options{Conn: &localhost.Runner{}}
	m, err := o.ParseMetric("log:" + a + "," + b + "#rate")
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for i, want := range []float64{math.NaN(), 3, 1} {
		for _, path := range []string{a, b} {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		text += strings.Repeat(line("0.1", "200"), 3)
		now := Sample{Boot: "b", CPUs: 2, Passed: float64(4 * i * i)} // 2 s, then 6 s on the host
		if v, err := m.from.Tick(t.Context(), now); err != nil || v != want && !(math.IsNaN(v) && math.IsNaN(want)) {
			t.Errorf("look %d: %g, want %g: %v", i, v, want, err)
		}
		if i == 0 {
			m.from.Begin()
		}
	}
	if v := m.from.Value(); v != 1.5 || m.from.Traffic() != 12 {
		t.Errorf("in all %g of %g requests", v, m.from.Traffic())
	}
	// An unreadable log does not affect the others.
	if err := errors.Join(os.WriteFile(a, []byte(text), 0o644), os.Remove(b)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.from.Tick(t.Context(), Sample{}); err == nil || m.from.Traffic() != 15 {
		t.Errorf("%v after %g requests", err, m.from.Traffic())
	}
}

// TestEcho: the time of an echo is taken from ping(8), run in English; no answer is a failure.
func TestEcho(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for text, want := range map[string]float64{
		"64 bytes from 198.18.0.2: icmp_seq=1 ttl=64 time=0.031 ms": 31e3, "64 bytes from 198.18.0.2: seq=0 ttl=64 time=12.5 ms": 12.5e6,
	} {
		if err := os.WriteFile(filepath.Join(dir, "ping"), []byte("#!/bin/sh\n[ $LC_ALL = C ] && echo '"+text+"' || echo 'Zeit=1 ms'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if v, err := echoTime(t.Context(), "198.18.0.2"); err != nil || math.Abs(v-want) > 1 {
			t.Errorf("%q is %g, %v", text, v, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "ping"), []byte("#!/bin/sh\necho '1 packets transmitted, 0 received'\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if v, err := echoTime(t.Context(), "198.18.0.2"); err == nil || !strings.Contains(err.Error(), "0 received") {
		t.Errorf("%g, %v", v, err)
	}
}

func TestScalarOf(t *testing.T) {
	good := `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1763820000,"2.5"]}]}}`
	if v, err := scalarOf(strings.NewReader(good)); err != nil || v != 2.5 {
		t.Errorf("%g, %v", v, err)
	}
	if v, err := scalarOf(strings.NewReader(`{"status":"success","data":{"resultType":"scalar","result":[1,"4"]}}`)); err != nil || v != 4 {
		t.Errorf("%g, %v", v, err)
	}
	for _, bad := range []string{``, `{}`, `{"status":"error","error":"x"}`, `{"status":"success","data":{"resultType":"vector","result":[]}}`,
		`{"status":"success","data":{"resultType":"scalar","result":[1,"NaN"]}}`, `<html>`} {
		if v, err := scalarOf(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is %g", bad, v)
		}
	}
}

// failing is a host whose looks never answer.
type failing struct{ *localhost.Runner }

func (failing) Run(ctx context.Context, _ string, _ []string, _ []byte) ([]byte, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func TestLookIsBounded(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := (&looker{Runner: failing{}}).look(ctx); err == nil {
		t.Error("a host that never answers was read")
	}
}

// TestFailsAtTheFirstRun: a command that fails from the start is reported at once, in its own words, before
// the host is read.
func TestFailsAtTheFirstRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "metric")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho no such database >&2\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for metric, want := range map[string]string{
		"command:" + path: path + ": exit status 3: no such database", "log:/no/such.log": "not a readable file",
		"probe:tcp://127.0.0.1:1": "refused", "prometheus:http://127.0.0.1:1#up": "refused",
	} {
		o := Options{Conn: &localhost.Runner{}, Metrics: []string{metric}, Better: stats.LowerIsBetter, DryRun: true, Pilot: time.Hour,
			Plan: study.WindowPlan{Window: time.Minute}}
		if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), metric) {
			t.Errorf("%s: %v", metric, err)
		}
	}
}

// fakes are FreeBSD's commands as shell functions, put before the script.
const fakes = `
date() { echo 1763820000; }
uname() { echo FreeBSD; }
sysctl() { [ "$1" = -o ] || return 1; echo "kern.boot_id: Format: Length:16 Dump:0x736978746565
kern.boottime: { sec = 1763819000, usec = 41 } Sat Nov 22 13:43:20 2025
kern.clockrate: { hz = 100, tick = 10000, profhz = 8128, stathz = 127 }
kern.cp_time: 1270 0 127 254 100000
hw.ncpu: 4
vm.loadavg: { 0.52 0.40 0.30 }
vm.stats.vm.v_page_count: 1000
vm.stats.vm.v_free_count: 200
vm.stats.vm.v_inactive_count: 30
vm.stats.vm.v_laundry_count: 20"; }
netstat() { case $* in *tcp) printf '\t500 packets sent\n\t\t12 data packets (300 bytes) retransmitted\n' ;; esac; }
pfctl() { case $1 in -si) echo "  current entries                       30               " ;; -sm) echo "states        hard limit      100" ;; esac; }
`

// TestFreeBSDScript: the parser reads what the script makes of FreeBSD's output.
func TestFreeBSDScript(t *testing.T) {
	out, err := (&localhost.Runner{}).Run(t.Context(), fakes+sampleScript, []string{"look", "", ""}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := parseSample(string(out))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"uptime", s.Uptime, 1000}, {"kernel", s.Kernel, 3}, {"CPUs", float64(s.CPUs), 4}, {"running", s.Running, 0.52}, {"available", s.Available, 0.25},
		{"segments", s.Segments, 500}, {"again", s.Again, 12}, {"states", s.States, 0.3}, {"passed", s.Passed, (1270 + 127 + 254 + 100000) / 127.0},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s is %g, want %g\n%s", c.what, c.got, c.want, out)
		}
	}
	if s.Boot != "0x736978746565" { // by nothing that a clock moves
		t.Errorf("boot %q", s.Boot)
	}
}

// TestSlowHostsMayBeSlow: the guardrail on the response time follows the host's time without treatment.
func TestSlowHostsMayBeSlow(t *testing.T) {
	g := guarding{rails: (&Options{}).guardrails()}
	slow := Sample{Boot: "a", Took: 20 * time.Second, Passed: 1, CPUs: 1, Available: 1}
	if rail, _, is := g.beyond(slow); is {
		t.Errorf("a pilot was ended by the guardrail %s", rail.Name)
	}
	later := slow
	later.Passed++
	for limit, trips := range map[time.Duration]bool{leastAnswer: true, 30 * time.Second: false} {
		g.answers(limit)
		if trip := g.check(true, later, slow, nil); (trip != nil) != trips {
			t.Errorf("limit %s: %+v", limit, trip)
		}
	}
}

// TestPieceOfNothing: a log without a new line is read without arguments that FreeBSD's head(1) refuses.
func TestPieceOfNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(path, []byte("a line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	piece := func(inode string) []string {
		t.Helper()
		script := "head() { [ \"$2\" != 0 ] && command head \"$@\"; }\n" + sampleScript
		out, err := (&localhost.Runner{}).Run(t.Context(), script, []string{"piece", path, inode, "7", "100"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(out))
	}
	first := piece("0")
	if again := piece(first[1]); !slices.Equal(again, first) {
		t.Errorf("%q, want %q", again, first)
	}
}
