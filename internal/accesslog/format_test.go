package accesslog

import (
	"context"
	"strings"
	"testing"

	"linerate/internal/hint"
)

// readOne reads one log given as text, any status.
func readOne(t *testing.T, format, log string) *Tally {
	t.Helper()
	o := &Options{Timeline: true, Failed: true}
	if format != "" {
		f, err := ParseFormat(format)
		if err != nil {
			t.Fatal(err)
		}
		o.Format = f
	}
	tally, _, err := Read(context.Background(), []string{"-"}, strings.NewReader(log), o)
	if err != nil {
		t.Fatal(err)
	}
	return tally
}

// TestFormats reads one line in every way servers write it. The lines are as
// nginx 1.22 and Apache 2.4 wrote them.
func TestFormats(t *testing.T) {
	const ua = `"Mozilla/5.0 (X11; FreeBSD amd64; rv:128.0)"`
	for _, c := range []struct {
		name, format, line string
		us                 int64
		status             int
		path               string
	}{
		{"nginx combined + time, found", "", `192.0.2.1 - - [10/Oct/2025:13:55:36 +0200] "GET /a?b=1 HTTP/1.1" 200 612 "-" ` + ua + ` 0.123`, 123000, 200, "/a?b=1"},
		{"nginx, user and escaped quote", "", `192.0.2.1 - al\x22ice [10/Oct/2025:13:55:36 +0200] "GET /a\x22b HTTP/1.1" 404 0 "-" "x y" 1.000`, 1000000, 404, `/a\x22b`},
		{"apache escapes quotes by backslash", "", `192.0.2.1 - - [10/Oct/2025:13:55:36 +0200] "GET /a\"b HTTP/1.1" 200 5 "-" "say \"hi\" 9" 2500`, 2500, 200, `/a\"b`},
		{"keyed times, found", "", `192.0.2.1 - - [10/Oct/2025:13:55:36 +0200] "GET / HTTP/2.0" 200 612 "-" ` + ua + ` rt=0.004 uct="0.000" urt="0.004"`, 4000, 200, "/"},
		{"keyed, not first", "", `192.0.2.1 - - [10/Oct/2025:13:55:36 +0200] "GET / HTTP/2.0" 200 612 "-" ` + ua + ` host=a.example request_time=0.050`, 50000, 200, "/"},
		{"common + microseconds", "", `192.0.2.1 - - [10/Oct/2025:13:55:36 +0200] "GET /c HTTP/1.1" 304 - 1234`, 1234, 304, "/c"},
		{"log_format", `$remote_addr [$time_iso8601] $status $request_time "$request"`, `192.0.2.1 [2025-10-10T13:55:36+02:00] 200 0.007 "GET /d HTTP/1.1"`, 7000, 200, "/d"},
		{"log_format with msec and names", `${msec} $request_method $request_uri $status $request_time`, `1760097336.123 GET /e 200 12.500`, 12500000, 200, "/e"},
		{"upstream time only", `$remote_addr [$time_local] "$request" $status $upstream_response_time`, `192.0.2.1 [10/Oct/2025:13:55:36 +0200] "GET /f HTTP/1.1" 200 0.010, 0.020`, 30000, 200, "/f"},
		{"escaped as in a file", `$status \"$request\" $request_time`, `200 "GET /g HTTP/1.1" 0.001`, 1000, 200, "/g"},
		{"LogFormat %D", `%h %l %u %t \"%r\" %>s %b %D`, `192.0.2.1 - - [10/Oct/2025:13:55:36 +0200] "GET /h HTTP/1.1" 200 5 1500`, 1500, 200, "/h"},
		{"LogFormat %T", `%t "%r" %>s %T %{Host}i`, `[10/Oct/2025:13:55:36 +0200] "GET /i HTTP/1.1" 200 2 example.org`, 2000000, 200, "/i"},
		{"LogFormat %{ms}T", `%v %{ms}T %s %m %U%q %t`, `a.example 17 200 POST /j?x=1 [10/Oct/2025:13:55:36 +0200]`, 17000, 200, "/j?x=1"},
		{"json, found", "", `{"time_iso8601":"2025-10-10T13:55:36+02:00","request":{"method":"GET","uri":"/k"},"status":200,"request_time":0.25}`, 250000, 200, "/k"},
		{"caddy", "", `{"level":"info","ts":1760097336.5,"request":{"method":"GET","host":"a","uri":"/l","headers":{"X":["a\"}",1]}},"duration":0.0005,"size":5,"status":200}`, 500, 200, "/l"},
		{"traefik", "", `{"DownstreamStatus":200,"Duration":1500000,"RequestMethod":"GET","RequestPath":"/m","StartUTC":"2025-10-10T11:55:36Z"}`, 1500, 200, "/m"},
		{"json strings", "", `{"time":"10/Oct/2025:13:55:36 +0200","status":"200","uri":"/n","duration_ms":"35"}`, 35000, 200, "/n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tally := readOne(t, c.format, c.line+"\r\n"+c.line)
			if tally.Lines != 2 || tally.Selected != 2 {
				t.Fatalf("%d lines, %d selected; bad %v %q", tally.Lines, tally.Selected, tally.Bad, tally.Example)
			}
			one := NewTally(&Options{Format: tally.opts.Format, Timeline: true, Filter: Filter{Statuses: []StatusRange{{c.status, c.status}}, Path: "/"}})
			one.line([]byte(c.line))
			path := string(one.at[Path])
			if tally.Max != c.us || one.Selected != 1 || path != c.path && !strings.HasPrefix(c.path, path) {
				t.Errorf("read %d µs, %q, %d selected; want %d µs, %d, %s", tally.Max, path, one.Selected, c.us, c.status, c.path)
			}
			if tally.opts.Format.Has(Time) && tally.timeline[1760097336].TotalCount() != 2 {
				t.Errorf("times %v, want 1760097336", tally.timeline)
			}
		})
	}
}

func TestFormatsThatCannotWork(t *testing.T) {
	for _, c := range []struct{ format, want, hint string }{
		{"combind", `unknown log format "combind"`, "did you mean combined?"},
		{"$remote_addr$status $request_time", "two variables touch", "separator"},
		{"%h %{X-Y i %D", "a %{ without its }", ""},
		{"%t %{lightyears}T", "Apache knows the units", ""},
		{"$ $request_time", "without a variable's name", ""},
	} {
		_, err := ParseFormat(c.format)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(hint.Of(err), c.hint) {
			t.Errorf("%q: %v (hint %q), want %q", c.format, err, hint.Of(err), c.want)
		}
	}
	o := &Options{}
	_, _, err := Read(context.Background(), []string{"-"}, strings.NewReader(
		`192.0.2.1 - - [10/Oct/2025:13:55:36 +0200] "GET / HTTP/1.1" 200 612 "-" "curl"`+"\n"), o)
	if err == nil || !strings.Contains(err.Error(), "no request time") || hint.Of(err) == "" {
		t.Errorf("a combined log without a time: %v", err)
	}
}

// TestBrokenLines: each kind of bad line is counted under its reason, once.
func TestBrokenLines(t *testing.T) {
	good := `h - - [10/Oct/2025:13:55:36 +0200] "GET / HTTP/1.1" 200 5 "-" "ua" 0.100`
	log := strings.Join([]string{good,
		"\x00\xff\xfe binary",
		`h - - [10/Oct/2025:13:55:36 +0200] "GET / HTTP/1.1" 2x0 5 "-" "ua" 0.100`,
		`h - - [10/Oct/2025:13:55:36 +0200] "GET / HTTP/1.1" 200 5 "-" "ua" -`,
		`h - - [10/Oct/2025:13:55:36 +0200] "GET / HTTP/1.1" 200 5 "-" "ua" -0.100`,
		`h - - [10/Oct/2025:13:55:36 +0200] "GET / HTTP/1.1" 200 5 "-" "ua" 99999999.000`,
		`h - - [99/Oct/2025:13:55:36 +0200] "GET / HTTP/1.1" 200 5 "-" "ua" 0.100`,
		"", strings.Repeat("x", MaxLine+10), good}, "\n")
	tally := readOne(t, nginxCombined+" $request_time", log)
	want := [numReasons]int64{TooLong: 1, Shape: 2, BadStatus: 1, NoLatency: 1, Negative: 1, OutOfRange: 1, BadTime: 1}
	if tally.Bad != want || tally.Selected != 2 || tally.Lines != 10 {
		t.Errorf("bad %v, selected %d, lines %d; want %v, 2, 10", tally.Bad, tally.Selected, tally.Lines, want)
	}
}

func TestClockJumpsAreCounted(t *testing.T) {
	line := func(at string) string { return `h - - [` + at + `] "GET / HTTP/1.1" 200 5 "-" "ua" 0.1` }
	tally := readOne(t, "", strings.Join([]string{line("10/Oct/2025:13:55:36 +0200"), line("10/Oct/2025:13:50:00 +0200"),
		line("10/Oct/2025:13:50:30 +0200"), line("10/Oct/2025:13:50:00 +0200")}, "\n")+"\n")
	if tally.Backward != 1 {
		t.Errorf("%d jumps, want 1: half a minute back is reordering", tally.Backward)
	}
}

func TestParseLatency(t *testing.T) {
	for _, c := range []struct {
		in   string
		unit Unit
		us   int64
		ok   bool
	}{
		{"0.000", Seconds, 0, true}, {"0.001", Seconds, 1000, true}, {"12", Seconds, 12000000, true},
		{"0.1234567", Seconds, 123456, true}, {".5", Seconds, 500000, true}, {"5.", Seconds, 5000000, true},
		{"1500", Microseconds, 1500, true}, {"1.5", Milliseconds, 1500, true}, {"1999", Nanoseconds, 1, true},
		{"0.1, 0.2 : 0.3", Seconds, 600000, true}, {"-, 0.2", Seconds, 200000, true},
		{"-", Seconds, 0, false}, {"", Seconds, 0, false}, {".", Seconds, 0, false}, {"1e3", Seconds, 0, false},
		{"0.1.2", Seconds, 0, false}, {"99999999999999999999", Seconds, MaxLatency + 1, true},
	} {
		us, ok := parseLatency([]byte(c.in), c.unit)
		if ok != c.ok || ok && us != c.us {
			t.Errorf("parseLatency(%q, %g) = %d, %v; want %d, %v", c.in, c.unit, us, ok, c.us, c.ok)
		}
	}
}

func TestFilters(t *testing.T) {
	log := `h - - [10/Oct/2025:12:00:00 +0000] "GET /static/a.css HTTP/1.1" 200 5 "-" "ua" 0.1
h - - [10/Oct/2025:13:00:00 +0000] "POST /api/v1 HTTP/1.1" 201 5 "-" "ua" 0.2
h - - [10/Oct/2025:14:00:00 +0000] "GET /api/v2 HTTP/1.1" 503 5 "-" "ua" 0.3
`
	for _, c := range []struct {
		name string
		f    Filter
		want int64
	}{
		{"all", Filter{}, 3},
		{"2xx", Filter{Statuses: []StatusRange{{200, 299}}}, 2},
		{"prefix", Filter{Path: "/api/"}, 2},
	} {
		o := &Options{Filter: c.f}
		tally, _, err := Read(context.Background(), []string{"-"}, strings.NewReader(log), o)
		if err != nil || tally.Selected != c.want {
			t.Errorf("%s: selected %d (%v), want %d", c.name, tally.Selected, err, c.want)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add(`h - - [10/Oct/2025:13:55:36 +0200] "GET / HTTP/1.1" 200 5 "-" "ua" 0.100`, nginxCombined+" $request_time")
	f.Add(`{"status":200,"request_time":0.1,"a":{"b":[1,"x\""]}}`, "json")
	f.Add(`[x] "GET" 200 5`, `%t "%r" %>s %D`)
	f.Fuzz(func(t *testing.T, line, format string) {
		parsed, err := ParseFormat(format)
		if err != nil || !parsed.Has(Latency) {
			return
		}
		o := &Options{Format: parsed, Failed: parsed.Has(Status), Timeline: true}
		w := NewTally(o)
		w.line([]byte(line))
		if w.Selected+w.BadLines() != w.Lines {
			t.Errorf("%d selected + %d bad of %d lines", w.Selected, w.BadLines(), w.Lines)
		}
	})
}

func FuzzDetect(f *testing.F) {
	f.Add([]byte("h - - [10/Oct/2025:13:55:36 +0200] \"GET / HTTP/1.1\" 200 5 \"-\" \"ua\" rt=0.100 x\n"))
	f.Add([]byte(`{"duration":1}` + "\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		if format, _, err := Detect(log); err == nil {
			NewTally(&Options{Format: format}).line(log)
		}
	})
}
