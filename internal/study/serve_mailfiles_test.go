package study

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"linerate/internal/load/request"
	"linerate/internal/testbed"
)

const mailSpec = `name: m
question: q?
workload:
  smtp: {messages: [2kB, 10kB], accounts: 50, sessions: 4}
variants:
  - name: a
  - name: b
    settings: [{postfix: in_flow_delay, value: "0"}, {filesystem: {type: ext4, options: "noatime,data=journal"}}]
parts:
  - {name: one, seconds: 1, blocks: 3}
  - {name: two, seconds: 1, blocks: 2, smtp: {rate: 50, per_session: 0}}
metrics:
  - {metric: settled_per_second, part: one, primary: true}
`

const filesSpec = `name: f
question: q?
workload:
  files: {count: 100, size: 1kB-2kB}
variants:
  - name: a
  - name: b
    settings: [{filesystem: {type: tmpfs, size: 64MiB}}]
parts:
  - {name: one, seconds: 1, blocks: 3, files: {fsync: true}}
`

func TestMailAndFilesAreRead(t *testing.T) {
	s, err := Parse("m.yaml", []byte(mailSpec))
	if err != nil {
		t.Fatal(err)
	}
	one, two := s.Parts[0], s.Parts[1]
	if one.Mode != testbed.Serve || one.SMTP.Accounts != 50 || one.SMTP.PerSession != 1 || two.SMTP.PerSession != 0 || two.SMTP.Rate != 50 || two.SMTP.Sessions != 4 {
		t.Errorf("%+v, %+v", *one.SMTP, *two.SMTP)
	}
	if r := RequestsOf(one); r != (Requests{Kind: "smtp", Targets: 2, Clients: 10}) {
		t.Errorf("%+v", r)
	}
	if a, b := s.Interleaving(one), s.Interleaving(two); a != Alternating || b != Together {
		t.Errorf("a closed loop is %s, an open one %s", a, b)
	}
	v, _ := s.Variant("b")
	if set := v.Apply(); set[0].String() != "postfix in_flow_delay=0" || set[1].String() != "ext4, mounted noatime,data=journal" {
		t.Errorf("%v", set)
	}
	f, err := Parse("f.yaml", []byte(filesSpec))
	if err != nil {
		t.Fatal(err)
	}
	if p := f.Parts[0]; !p.Files.Fsync || p.Files.Lanes != 1 || RequestsOf(p).Targets != filesTargets {
		t.Errorf("%+v", *p.Files)
	}
	w, _ := f.Variant("b")
	if d := w.Apply()[0].Disk; d.Type != "tmpfs" || d.Size != 64<<20 {
		t.Errorf("%+v", d)
	}
}

func TestMailAndFilesRefuse(t *testing.T) {
	for _, c := range []struct{ text, from, to, want string }{
		{mailSpec, "accounts: 50", "accounts: 0", "accounts: 0"},
		{mailSpec, "2kB", "2GB", `a message of "2GB"`},
		{mailSpec, "sessions: 4", "sessions: 5000", "sessions: 5000"},
		{mailSpec, "in_flow_delay", "in_flow_dely", "unknown parameter of Postfix"},
		{mailSpec, "in_flow_delay", "relayhost", "unknown parameter of Postfix"},
		{mailSpec, "type: ext4", "type: ext9", "unknown file system"},
		{mailSpec, "data=journal", "data=journal;rm", "not a mount option"},
		{mailSpec, "smtp: {messages", "http: {}\n  smtp: {messages", "one of http, smtp and files"},
		{mailSpec, "smtp: {rate: 50, per_session: 0}", "files: {rate: 50}", "the part's workload is not the study's"},
		{filesSpec, "count: 100", "count: 9999999", "count: 9999999"},
		{filesSpec, "1kB-2kB", "2kB-1kB", `files of "2kB-1kB"`},
		{filesSpec, "fsync: true", "lanes: 0", "lanes: 0"},
		{filesSpec, "64MiB", "64GiB", "a file system of"},
	} {
		if !strings.Contains(c.text, c.from) {
			t.Fatalf("no %q in the study", c.from)
		}
		if _, err := Parse("s.yaml", []byte(strings.Replace(c.text, c.from, c.to, 1))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s → %s: %v, want %q", c.from, c.to, err, c.want)
		}
	}
}

func TestWhatIsTakenIsNotDelivered(t *testing.T) {
	p := Part{Mode: testbed.Serve}
	o := observed(func(v *Served) {
		v.SettledRate, v.Queue, v.Mail = 40, &request.Queue{Peak: 7}, &Mail{Taken: 10, Delivered: 10}
	})
	m, why := serveJudge(p, DefaultGates(), o, 0)
	if m[SettledRate] != 40 || m[QueuePeak] != 7 || len(why) > 0 {
		t.Errorf("%v, %q", m, why)
	}
	for want, change := range map[string]func(*Served){
		"queue: 3 messages":    func(v *Served) { v.Queue = &request.Queue{Waiting: 3} },
		"delivery: 2 messages": func(v *Served) { v.Mail = &Mail{Bounced: 2} },
	} {
		if _, why := serveJudge(p, DefaultGates(), observed(change), 0); len(why) != 1 || !strings.HasPrefix(why[0], want) {
			t.Errorf("want %q, got %q", want, why)
		}
	}
}

func TestBursts(t *testing.T) {
	s, err := Parse("m.yaml", []byte(strings.Replace(mailSpec, "sessions: 4}", "sessions: 4, burst: 40}", 1)))
	if err == nil || !strings.Contains(err.Error(), "burst: 40") {
		t.Fatalf("a burst together with a rate is accepted: %+v, %v", s, err)
	}
	s, err = Parse("m.yaml", []byte(strings.Replace(mailSpec, "{rate: 50,", "{rate: 0, burst: 7,", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := RequestsOf(s.Parts[0]).Burst, RequestsOf(s.Parts[1]).Burst; a != 0 || b != 7 {
		t.Errorf("bursts of %d and %d", a, b)
	}
	if n := Bursts(s.Parts[1]); n != 7 {
		t.Errorf("%d bursts in a second", n)
	}
	// A disk that stalls in one of eight bursts does not affect the settled rate.
	var all []Burst
	for i := range 8 {
		all = append(all, Burst{Answered: 40, Seconds: 0.1, Settle: 0.1})
		if i == 3 {
			all[i].Settle = 9
		}
	}
	v := &Served{Bursts: all}
	m := map[string]float64{}
	if settledMetrics(m, v); !(math.Abs(m[RequestRate]-400) <= 1e-6) || !(math.Abs(m[SettledRate]-200) <= 1e-6) {
		t.Errorf("%v", m)
	}
}

// TestServersOfHostSettings: a setting that is global to the kernel makes arms alternate.
func TestServersOfHostSettings(t *testing.T) {
	const text = `{name: x, question: "?", workload: {files: {rate: %d}}, variants: [{name: a}, {name: b, settings: [{%s, scope: host}]}],
parts: [{name: p}], metrics: [{metric: requests_per_second, primary: true}]%s}`
	for _, c := range []struct {
		rate           int
		setting, extra string
		want           Interleaving
	}{
		{0, `sysctl: vm.dirty_ratio, value: "5"`, "", Alternating},
		{0, `sysctl: vm.dirty_ratio, value: "5"`, ", interleave: false", InSequence},
		{0, `command: ["true"]`, "", InSequence},
		{50, `sysctl: vm.dirty_ratio, value: "5"`, "", InSequence},
	} {
		s, err := Parse("x.yaml", fmt.Appendf(nil, text, c.rate, c.setting, c.extra))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Interleaving(s.Parts[0]); got != c.want {
			t.Errorf("%d/s, %s%s: %s, want %s", c.rate, c.setting, c.extra, got, c.want)
		}
	}
}
