package main

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/assemble"
	"linerate/internal/labtest"
	"linerate/internal/port"
	"linerate/internal/server"
	"linerate/internal/study"
	"linerate/internal/testbed/netnsbed"
)

// filesTruths is a study whose answers are known beforehand.
const filesTruths = `name: files-truths
question: Does the lab of files find what is known?
workload:
  files: {count: 60, size: 1kB-4kB, fsync: true}
control: ext4
variants:
  - name: ext4
  - name: sync
    settings: [{filesystem: {type: ext4, options: sync}}]
  - name: tmpfs
    settings: [{filesystem: {type: tmpfs}}]
parts:
  - {name: fsync, seconds: 0.4, warmup: 0, blocks: 2}
  - {name: plain, seconds: 0.4, warmup: 0, blocks: 2, files: {fsync: false}}
metrics:
  - {metric: requests_per_second, part: fsync, primary: true}
`

// eachArmWritesToItsOwnDisk: an arm's disk is mounted with its variant's options, and data that
// must reach the disk is written to it: every file creation on a disk mounted sync, every file
// that is followed by fsync(2). A memory file system writes to no device.
func eachArmWritesToItsOwnDisk(t *testing.T) {
	r, w := servedOnDisks(t, filesTruths)
	w.asMounted()
	for _, s := range slices.Concat(w.of("fsync", "ext4", ""), w.of("fsync", "ext4", "sync"), w.of("plain", "ext4", "sync")) {
		if s.answered == 0 || s.writes < s.answered/4 { // a quarter of the transactions only read and delete
			t.Errorf("part %s, %s: %d writes of %d transactions", s.part, s.wanted, s.writes, s.answered)
		}
	}
	for _, s := range slices.Concat(w.of("fsync", "tmpfs", ""), w.of("plain", "tmpfs", "")) {
		if s.answered == 0 || s.writes > 0 {
			t.Errorf("part %s, %s: %d writes of %d transactions", s.part, s.wanted, s.writes, s.answered)
		}
	}
	for _, tr := range r.Trials {
		if tr.Observed == nil {
			t.Errorf("%s, %s: %v", tr.Part, tr.Variant, tr.Reasons)
		} else if o := tr.Saw().Served; o.Failed > 0 || o.SettledRate <= 0 || o.SettledRate > o.RequestRate {
			t.Errorf("%s, %s: %d failed, %.0f/s settled of %.0f/s", tr.Part, tr.Variant, o.Failed, o.SettledRate, o.RequestRate)
		}
	}
}

// servedOnDisks returns a server study's results and what the kernel saw of its disks.
func servedOnDisks(t *testing.T, text string) (study.Results, *diskWatch) {
	t.Helper()
	labtest.Need(t)
	var w *diskWatch
	_, r := serveStudyOf(t, text, assemble.Options{Engine: "auto"}, func(bed *assemble.Testbed) { w = watchDisks(t, bed) })
	return r, w
}

// mailTruths is a study whose answers are known beforehand.
const mailTruths = `name: mail-truths
question: Does the lab of mail find what is known?
workload:
  smtp: {messages: [2kB], accounts: 20, sessions: 8, burst: 20}
control: memory
variants:
  - name: memory
    settings: [{filesystem: {type: tmpfs}}]
  - name: sync
    settings: [{filesystem: {type: ext4, options: sync}}]
  - name: few
    settings:
      - {filesystem: {type: tmpfs}}
      - {postfix: default_process_limit, value: "2"}
      - {sysctl: net.ipv4.tcp_syncookies, value: 0}
parts:
  - {name: mail, seconds: 0.5, warmup: 0, blocks: 1}
gates: {failed_percent: 100}
metrics:
  - {metric: settled_per_second, primary: true}
`

// mailThatWasTakenIsDelivered: Postfix's log shows as many deliveries as the clients counted,
// plus the uncounted burst, each from its arm's own disk. A Postfix with two processes has a
// backlog of two: a client whose SYN is dropped retries a second later, and its message waits
// that long.
func mailThatWasTakenIsDelivered(t *testing.T) {
	if err := server.MailInstalled(); err != nil {
		labtest.Lacking(t, "%v", err)
	}
	r, w := servedOnDisks(t, mailTruths)
	w.asMounted()
	for _, tr := range r.Trials {
		if tr.Observed == nil {
			t.Errorf("%s: %v", tr.Variant, tr.Reasons)
			continue
		}
		v := tr.Saw().Served
		if v.Answered == 0 || v.Mail == nil || v.Queue == nil || len(v.Bursts) == 0 {
			t.Errorf("%s: %d taken, %+v", tr.Variant, v.Answered, v)
			continue
		}
		if v.Unfinished > 0 || v.Failed == 0 && v.Mail.Delivered != v.Answered+20 || v.Queue.Waiting > 0 || v.SettleSeconds <= 0 {
			t.Errorf("%s: %d taken, %d unfinished, %+v, queue %+v", tr.Variant, v.Answered, v.Unfinished, v.Mail, v.Queue)
		}
		if v.ServerCPU <= 0 || v.ServerCPU > 3600 {
			t.Errorf("%s: %v s of CPU", tr.Variant, v.ServerCPU)
		}
	}
	for _, s := range w.of("mail", "ext4", "sync") {
		if s.writes < s.answered {
			t.Errorf("%s: %d writes of %d messages", s.wanted, s.writes, s.answered)
		}
	}
	for _, s := range w.of("mail", "tmpfs", "") {
		if s.writes > 0 {
			t.Errorf("%s: %d writes", s.wanted, s.writes)
		}
		if s.drops > 0 && s.slowest < int64(900*time.Millisecond) {
			t.Errorf("%d connections were dropped, and the slowest message took only %v", s.drops, time.Duration(s.slowest))
		}
	}
}

// settingsOfTheMachineComeBack: a variant may set vm.*. It is set while its arm runs and not
// while the others do, in alternating turns. After the study every value is restored, even for
// a pair (bytes, ratio) of which one reads 0 and cannot be written.
func settingsOfTheMachineComeBack(t *testing.T) {
	const name, pair = "/proc/sys/vm/dirty_background_bytes", "/proc/sys/vm/dirty_background_ratio"
	value := func(of string) string {
		data, err := os.ReadFile(of)
		if err != nil {
			t.Error(err)
		}
		return strings.TrimSpace(string(data))
	}
	labtest.Need(t)
	if err := netnsbed.Sweep(); err != nil { // clean up after an earlier run that was killed
		t.Fatal(err)
	}
	const asked = "12345344"
	before, beside := value(name), value(pair)
	text := strings.Replace(filesTruths, "settings: [{filesystem: {type: ext4, options: sync}}]", "settings: [{sysctl: vm.dirty_background_bytes, value: "+asked+", scope: host}]", 1)
	var w *diskWatch
	_, r := serveStudyOf(t, text, assemble.Options{Engine: "auto", AllowHost: true}, func(bed *assemble.Testbed) {
		w = watchDisks(t, bed)
		w.also = func(port.Place) string { return value(name) }
	})
	during := 0
	for _, tr := range r.Trials {
		if tr.Observed == nil || tr.Observed.Interleaved == nil || tr.Observed.Interleaved.How != study.Alternating {
			t.Errorf("%s did not alternate: %v", tr.Variant, tr.Reasons)
		} else if tr.Variant == "sync" && tr.Saw().Served.Answered > 0 {
			during++
		}
	}
	set := 0
	for _, arm := range w.seen {
		if slices.Equal(arm.also, []string{asked}) {
			set++
		} else if !slices.Equal(arm.also, []string{before}) {
			t.Errorf("part %s, an arm was measured while the value was %q", arm.part, arm.also)
		}
	}
	if set != during || during < 4 { // two parts of two blocks each
		t.Errorf("the value was set in %d arms, want %d", set, during)
	}
	if after, then := value(name), value(pair); after != before || then != beside {
		t.Errorf("bytes and ratio were %s and %s before the study, and are now %s and %s", before, beside, after, then)
	}
}
