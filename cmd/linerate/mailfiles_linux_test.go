package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"linerate/internal/assemble"
	"linerate/internal/labtest"
	"linerate/internal/load/fileload"
	"linerate/internal/server"
	"linerate/internal/study"
	"linerate/internal/study/serve"
	"linerate/internal/testbed/netnsbed"
)

// filesTruths are a study whose answers are known beforehand.
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
  - {name: fsync, seconds: 0.8, warmup: 0, blocks: 2}
  - {name: plain, seconds: 0.8, warmup: 0, blocks: 2, files: {fsync: false}}
metrics:
  - {metric: requests_per_second, part: fsync, primary: true}
`

// memoryIsFasterThanAnHonestDisk: a tmpfs does more transactions than ext4
// with fsync, and ext4 more than ext4 mounted sync without it. Of what each arm
// did there is more than any noise: a disk is slower by ten times.
func memoryIsFasterThanAnHonestDisk(t *testing.T) {
	r := served(t, filesTruths)
	rate := func(part, arm string) float64 { return best(r, part, arm, serve.RequestRate) }
	if disk, memory := rate("fsync", "ext4"), rate("fsync", "tmpfs"); memory < 3*disk {
		t.Errorf("fsync: %.0f/s on ext4, %.0f/s in memory", disk, memory)
	}
	if lazy, sync := rate("plain", "ext4"), rate("plain", "sync"); sync*2 > lazy {
		t.Errorf("plain: %.0f/s on ext4, %.0f/s mounted sync", lazy, sync)
	}
	for _, tr := range r.Trials {
		if tr.Observed == nil {
			t.Errorf("%s, %s: %v", tr.Part, tr.Variant, tr.Reasons)
		} else if o := serve.In(tr.Observed); o.Failed > 0 || o.SettledRate <= 0 || o.SettledRate > o.RequestRate {
			t.Errorf("%s, %s: %d failed, %.0f/s settled of %.0f/s", tr.Part, tr.Variant, o.Failed, o.SettledRate, o.RequestRate)
		}
	}
}

// postmarkTruths are a study by PostMark whose answer is known beforehand.
const postmarkTruths = `name: postmark-truths
question: Is PostMark driven on each arm's file system?
workload:
  files: {count: 40, size: 1kB-4kB, driver: postmark, burst: 200}
control: ext4
variants:
  - name: ext4
  - name: dirsync
    settings: [{filesystem: {type: ext4, options: dirsync}}]
parts:
  - {name: postmark, seconds: 0.2, warmup: 0, blocks: 1}
metrics:
  - {metric: requests_per_second, primary: true}
`

// postmarkFindsASlowDisk: a creation that waits for the disk is slower by tens
// of times than one that does not.
func postmarkFindsASlowDisk(t *testing.T) {
	if _, err := fileload.FindPostmark(); err != nil {
		labtest.Lacking(t, "%v", err)
	}
	r := served(t, postmarkTruths)
	if lazy, slow := best(r, "postmark", "ext4", serve.RequestRate), best(r, "postmark", "dirsync", serve.RequestRate); slow <= 0 || 2*slow > lazy {
		t.Errorf("%.0f/s on ext4, %.0f/s mounted dirsync", lazy, slow)
	}
	for _, tr := range r.Trials {
		if tr.Observed == nil || serve.In(tr.Observed).Answered == 0 || serve.In(tr.Observed).Failed > 0 || serve.In(tr.Observed).Latency != nil {
			t.Errorf("%s: %v, %+v", tr.Variant, tr.Reasons, tr.Observed)
		}
	}
}

// best is the most that an arm did of a metric in any block: what a busy
// machine takes away is not the arm's.
func best(r study.Results, part, arm, metric string) (most float64) {
	for _, tr := range r.Trials {
		if tr.Variant == arm && tr.Part == part {
			most = max(most, tr.Metrics[metric])
		}
	}
	return most
}

// mailTruths are a study whose answers are known beforehand.
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

// mailThatWasTakenIsDelivered: by Postfix's own log, which has the burst that
// does not count as well, as many as the clients counted; and a disk that writes
// everything at once takes longer than memory. A Postfix of two processes has a
// backlog of two: of eight clients some are dropped, and try again a second later.
func mailThatWasTakenIsDelivered(t *testing.T) {
	if err := server.MailInstalled(); err != nil {
		labtest.Lacking(t, "%v", err)
	}
	r := served(t, mailTruths)
	for _, tr := range r.Trials {
		if tr.Observed == nil {
			t.Errorf("%s: %v", tr.Variant, tr.Reasons)
			continue
		}
		v := serve.In(tr.Observed)
		if v.Answered == 0 || v.Mail == nil || v.Queue == nil || len(v.Bursts) == 0 {
			t.Errorf("%s: %d taken, %+v", tr.Variant, v.Answered, v)
			continue
		}
		if v.Unfinished > 0 || v.Failed == 0 && v.Mail.Delivered != v.Answered+20 || v.Queue.Waiting > 0 || v.SettleSeconds <= 0 {
			t.Errorf("%s: %d taken, %d unfinished, %+v, queue %+v", tr.Variant, v.Answered, v.Unfinished, v.Mail, v.Queue)
		}
		if tr.Variant == "few" && v.Latency.Max < int64(900*time.Millisecond) {
			t.Errorf("none of eight clients of two processes waited for more than %v", time.Duration(v.Latency.Max))
		}
		if v.ServerCPU <= 0 || v.ServerCPU > 3600 {
			t.Errorf("%s: %v s of CPU", tr.Variant, v.ServerCPU)
		}
	}
	if memory, sync := best(r, "mail", "memory", serve.SettledRate), best(r, "mail", "sync", serve.SettledRate); sync > 0.9*memory {
		t.Errorf("%.0f messages/s in memory, %.0f on a disk mounted sync", memory, sync)
	}
}

// settingsOfTheMachineComeBack: vm.* may be a variant. It is set while that is
// asked and is not while others are, in turns; after the study all is as it was,
// also of a pair of which one is 0, which cannot be written.
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
	if err := netnsbed.Sweep(); err != nil { // a run that was killed left it set
		t.Fatal(err)
	}
	const asked = "12345344"
	before, beside := value(name), value(pair)
	text := strings.Replace(filesTruths, "settings: [{filesystem: {type: ext4, options: sync}}]", "settings: [{sysctl: vm.dirty_background_bytes, value: "+asked+", scope: host}]", 1)
	over, seen := make(chan struct{}), make(chan int)
	go func() {
		set, last := 0, before
		for open := true; open; {
			now := value(name)
			if now == asked && last != asked {
				set++
			}
			last = now
			select {
			case <-over:
				open = false
			case <-time.After(5 * time.Millisecond):
			}
		}
		seen <- set
	}()
	_, r := serveStudyOf(t, text, assemble.Options{Engine: "auto", AllowHost: true})
	close(over)
	during := 0
	for _, tr := range r.Trials {
		if tr.Observed == nil || tr.Observed.Interleaved == nil || tr.Observed.Interleaved.How != study.Alternating {
			t.Errorf("%s took no turns: %v", tr.Variant, tr.Reasons)
		} else if tr.Variant == "sync" && serve.In(tr.Observed).Answered > 0 {
			during++
		}
	}
	// Four instances, in each of which it is set for the start and for two turns.
	if set := <-seen; set < 4 || during == 0 {
		t.Errorf("set %d times, in %d trials", set, during)
	}
	if after, then := value(name), value(pair); after != before || then != beside {
		t.Errorf("bytes and ratio were %s and %s, and are %s and %s", before, beside, after, then)
	}
}
