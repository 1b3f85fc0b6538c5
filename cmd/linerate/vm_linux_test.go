package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestVirtualMachine runs the check, a study of settings and one of boots on a virtual machine
// that really boots, and kills the controller at each stage: the study must continue, and the
// machine be restored. It needs QEMU, an unpacked Debian kernel package, and minutes:
//
//	apt-get download linux-image-…-cloud-amd64; dpkg-deb -x linux-image-….deb k
//	LINERATE_VM=$PWD/k go test ./cmd/linerate -run TestVirtualMachine -v -timeout 60m
func TestVirtualMachine(t *testing.T) {
	v := newVM(t)
	b := &vmBench{vm: v, dir: t.TempDir(), tools: toolsDir(t), config: v.SSHConfig(t)}
	b.boots(t, 1)
	b.lab(t)
	b.write(t, "set/etc/kept.conf", "theirs\n")
	was := b.state(t)
	out := b.run(t, "lab", "check", "lab.yaml")
	t.Logf("%s", out)
	for reset, set := range map[string]string{"settings": "{sysctl: net.ipv4.ip_default_ttl, value: 77}", "reboot": "{files: set}"} {
		b.write(t, reset+".yaml", fmt.Sprintf("name: %s\nquestion: Does it work?\ntestbed: {kind: ssh, file: lab.yaml}\nreset: %s\nvariants:\n  - name: none\n  - name: set\n    settings: [%s]\nparts:\n  - {rate: 500pps, seconds: 3, warmup: 0.5, blocks: 1}\ngates: {headroom: 1, unsent_percent: 100, pacing_percent: 100}\n", reset, reset, set))
	}
	b.run(t, "study", "run", "settings.yaml", "--out", "settings", "--ledger=none", "--seed", "3")
	b.judge(t, "settings", `net.ipv4.ip_default_ttl":"77"`)
	b.same(t, was)
	// The controller is killed when the machine goes down, as it comes up and while traffic runs,
	// and is interrupted by hand; each time the study must continue.
	args := []string{"study", "run", "reboot.yaml", "--out", "reboot", "--ledger=none", "--seed", "3"}
	for _, stage := range []struct {
		name   string
		signal syscall.Signal
		when   func(ups, downs int) bool
		wait   time.Duration
	}{
		{"while it goes down", syscall.SIGKILL, func(_, downs int) bool { return b.downs(t) > downs }, 0},
		{"as it comes up", syscall.SIGKILL, func(ups, _ int) bool { return b.ups(t) > ups }, 0},
		{"during a trial", syscall.SIGKILL, func(ups, _ int) bool { return b.ups(t) > ups }, 12 * time.Second},
		{"by hand during a boot", syscall.SIGINT, func(_, downs int) bool { return b.downs(t) > downs }, 2 * time.Second},
	} {
		start := time.Now()
		text := b.interrupted(t, stage.signal, stage.when, stage.wait, args...)
		t.Logf("interrupted %s after %.0f s:\n%s", stage.name, time.Since(start).Seconds(), text)
		args = []string{"study", "resume", "reboot"}
	}
	t.Logf("%s", b.run(t, args...))
	b.judge(t, "reboot", `"boot":{"before":"`)
	b.same(t, was)
	t.Logf("%d boots", b.ups(t))
}

// TestVirtualMachineImages boots another GRUB entry once for a trial, with grub-reboot, and a
// configuration set that keeps the machine from booting until its power is cycled. In addition
// to what TestVirtualMachine needs, it needs grub-pc-bin and grub2-common.
func TestVirtualMachineImages(t *testing.T) {
	v := newVM(t, [2]string{"always", "entry=always"}, [2]string{"trial", "entry=trial"})
	b := &vmBench{vm: v, dir: t.TempDir(), tools: toolsDir(t), config: v.SSHConfig(t)}
	b.boots(t, 1)
	bed := fmt.Sprintf(`hosts:
  dut: {ssh: ssh://dut, management: eth0}
  generator: {namespace: %s}
  receiver: {namespace: %s}
wires:
  - {from: generator/gen0, to: dut/eth1}
  - {from: dut/eth2, to: receiver/rx0}
power: [/bin/sh, -c, %q]
`, v.Generator, v.Receiver, v.Power()[2])
	b.write(t, "grub.yaml", bed+"reboot: {wait: 10m}\n")
	b.write(t, "power.yaml", bed+"reboot: {wait: 2m, attempts: 4}\n")
	b.write(t, "hang/etc/rcS.d/S99hang", "[ -e /var/hung ] || { : >/var/hung; sync; echo 'vm: hangs'; sleep 100000; }\n")
	was := b.state(t)
	for _, c := range [][3]string{{"grub", "{image: trial}", `"image trial":"yes"`}, {"power", "{files: hang}", `"powered":`}} {
		b.write(t, c[0]+"-study.yaml", fmt.Sprintf("name: %s\nquestion: Does it work?\ntestbed: {kind: ssh, file: %s.yaml}\nreset: reboot\nvariants:\n  - name: none\n  - name: other\n    settings: [%s]\nparts:\n  - {rate: 500pps, seconds: 3, warmup: 0.5, blocks: 1}\ngates: {headroom: 1, unsent_percent: 100, pacing_percent: 100}\n", c[0], c[0], c[1]))
		t.Logf("%s", b.run(t, "study", "run", c[0]+"-study.yaml", "--out", c[0], "--ledger=none", "--seed", "3"))
		b.judge(t, c[0], c[2])
		if now := b.Run(t, "cat /proc/cmdline; cat /boot/grub/grubenv"); !strings.Contains(now, "entry=always") || strings.Contains(now, "next_entry=trial") {
			t.Errorf("%s did not restore the boot entry: %s", c[0], now)
		}
		b.same(t, was)
	}
	t.Logf("%d boots", b.ups(t))
}

// TestVirtualMachineTune searches on a machine that boots before every trial: a GRUB entry and
// two sysctls, none of which has an effect; a configuration set is left out because it cannot
// be tried in one boot with the entry. The search is interrupted during a boot and continues;
// it recommends nothing, and restores the machine.
func TestVirtualMachineTune(t *testing.T) {
	v := newVM(t, [2]string{"always", "entry=always"}, [2]string{"trial", "entry=trial"})
	b := &vmBench{vm: v, dir: t.TempDir(), tools: toolsDir(t), config: v.SSHConfig(t)}
	b.boots(t, 1)
	b.lab(t)
	b.write(t, "boots.yaml", "name: boots\nquestion: What helps?\ntestbed: {kind: ssh, file: lab.yaml}\nreset: reboot\nvariants:\n  - name: none\n  - name: set\n    settings: [{sysctl: net.ipv4.ip_default_ttl, value: 77}]\nparts:\n  - {name: given, rate: 500pps, seconds: 2, warmup: 0.5, blocks: 1}\nmetrics: [{metric: overload_forwarding_rate_pps, part: given, primary: true, margin_percent: 20}]\ngates: {headroom: 1, unsent_percent: 100, pacing_percent: 100}\n")
	b.write(t, "space.yaml", `factors:
  - {name: image, levels: [{value: trial, settings: [{image: trial}]}]}
  - {name: set, levels: [{value: laid, settings: [{files: set}]}]}
  - {name: net.ipv4.ip_default_ttl, levels: [{value: "77", settings: [{sysctl: net.ipv4.ip_default_ttl, value: 77}]}]}
  - {name: net.ipv4.tcp_sack, levels: [{value: "0", settings: [{sysctl: net.ipv4.tcp_sack, value: 0}]}]}
`)
	was := b.state(t)
	t.Logf("%s", b.run(t, "tune", "--study", "boots.yaml", "--role", "router", "--dry-run"))
	args := []string{"tune", "--study", "boots.yaml", "--role", "router", "--space", "space.yaml", "--time", "5m", "--seed", "5", "--ledger=none", "--out", "search"}
	t.Logf("%s", b.interrupted(t, syscall.SIGINT, func(ups, _ int) bool { return b.ups(t) > ups+1 }, 2*time.Second, args...))
	out := b.run(t, "tune", "--resume", "search", "--ledger=none")
	t.Logf("%s", out)
	if !strings.Contains(out, "3 settings on the workload") || !strings.Contains(out, "Nothing ") {
		t.Errorf("the search reported\n%s", out)
	}
	data, err := os.ReadFile(filepath.Join(b.dir, "search/screen-1/trials.jsonl"))
	if err != nil || !bytes.Contains(data, []byte(`"image trial":"yes"`)) || bytes.Contains(data, []byte(`"unavailable":"`)) {
		t.Errorf("no image in the trials, or an unavailable arm: %v\n%s", err, data)
	}
	b.same(t, was)
	t.Logf("%d boots", b.ups(t))
}

// vmBench is a virtual machine with a directory of studies.
type vmBench struct {
	*vm
	dir, tools, config string
}

// lab writes the testbed's file and a configuration set.
func (b *vmBench) lab(t *testing.T) {
	t.Helper()
	b.write(t, "lab.yaml", fmt.Sprintf(`hosts:
  dut: {ssh: ssh://dut, management: eth0}
  generator: {namespace: %s}
  receiver: {namespace: %s}
wires:
  - {from: generator/gen0, to: dut/eth1}
  - {from: dut/eth2, to: receiver/rx0}
power: [/bin/sh, -c, %q]
reboot: {wait: 10m, attempts: 2, online: [ip, link, show, eth2]}
`, b.Generator, b.Receiver, b.Power()[2]))
	b.write(t, "set/etc/sysctl.d/99-set.conf", "net.ipv4.ip_default_ttl=77\n")
}

func (b *vmBench) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// said counts the console lines that begin with words.
func (b *vmBench) said(t *testing.T, words string) int {
	data, err := os.ReadFile(b.Console())
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(data, []byte(words))
}

func (b *vmBench) ups(t *testing.T) int   { return b.said(t, "vm: up") }
func (b *vmBench) downs(t *testing.T) int { return b.said(t, "vm: going down") }

// boots waits until the machine has booted n times.
func (b *vmBench) boots(t *testing.T, n int) {
	t.Helper()
	start := time.Now()
	for b.ups(t) < n {
		if time.Since(start) > 10*time.Minute {
			data, _ := os.ReadFile(b.Console())
			t.Fatalf("the machine did not boot:\n%.4000s", data)
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("up after %.0f s", time.Since(start).Seconds())
}

func (b *vmBench) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(b.tools, "linerate"), append(args, "--ssh-config", b.config)...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "HOME="+b.dir)
	return cmd
}

func (b *vmBench) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := b.command(args...).CombinedOutput()
	if err != nil {
		t.Fatalf("linerate %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// interrupted runs a command and sends it a signal some time after a condition holds.
func (b *vmBench) interrupted(t *testing.T, s syscall.Signal, when func(ups, downs int) bool, wait time.Duration, args ...string) string {
	t.Helper()
	ups, downs := b.ups(t), b.downs(t)
	cmd := b.command(args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for !when(ups, downs) {
		select {
		case err := <-ended:
			t.Fatalf("it ended before it could be interrupted: %v\n%s", err, out.String())
		case <-time.After(50 * time.Millisecond):
		}
	}
	select {
	case err := <-ended:
		t.Fatalf("it ended before it could be interrupted: %v\n%s", err, out.String())
	case <-time.After(wait):
	}
	_ = cmd.Process.Signal(s)
	if err := <-ended; err == nil {
		t.Error("the interrupted command succeeded")
	}
	return out.String()
}

// judge checks that all trials of a study are valid and contain a word.
func (b *vmBench) judge(t *testing.T, record, word string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, record, "trials.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(data, []byte(`"valid":true`)); n != 3 || !bytes.Contains(data, []byte(word)) {
		t.Errorf("%s: %d valid trials\n%s", record, n, data)
	}
	for _, m := range bytes.SplitAfter(data, []byte(`"boot":{`))[1:] {
		end := bytes.IndexByte(m, '}')
		t.Logf("%s: boot %s", record, m[:end])
	}
}

// state returns everything on the machine that a study could change.
func (b *vmBench) state(t *testing.T) string {
	t.Helper()
	return b.Run(t, "cd /etc && find . -type f -exec md5sum {} + | sort; find . | sort | while read -r f; do stat -c '%n %a %u %g' $f; done; sysctl -n net.ipv4.ip_default_ttl net.ipv4.ip_forward; ls -A /var/lib; ip -o link | sed 's/ state .*//'")
}

func (b *vmBench) same(t *testing.T, was string) {
	t.Helper()
	if now := b.state(t); now != was {
		t.Errorf("the machine was not restored; it is\n%s\nand was\n%s", now, was)
	}
}
