package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"linerate/internal/cli"
	"linerate/internal/host/sshhost/sshtest"
	"linerate/internal/labtest"
)

// farBench is a set of machines that are network namespaces, each with a real sshd.
type farBench struct {
	*labtest.Bench
	servers   map[string]*sshtest.Server
	root, ssh string // the root of the DUT's files; an ssh_config(5)
	tmp       string // the machines' temporary directory
}

func newFarBench(t *testing.T) *farBench {
	t.Helper()
	b := &farBench{Bench: labtest.NewBench(t), servers: map[string]*sshtest.Server{}, root: t.TempDir(), tmp: t.TempDir()}
	for _, d := range []string{"etc/init.d", "etc/rcS.d", "etc/sysctl.d"} {
		if err := os.MkdirAll(filepath.Join(b.root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tools := toolsDir(t)
	var config strings.Builder
	for name, ns := range map[string]string{"dut": b.DUT, "generator": b.Generator, "receiver": b.Receiver} {
		s := sshtest.Start(t, sshtest.Options{Namespace: ns, Listen: b.Addresses[ns],
			Env: []string{"LINERATE_ROOT=" + b.root, "TMPDIR=" + b.tmp, "LINERATE_INIT=sysv", "PATH=" + tools + ":/usr/sbin:/usr/bin:/sbin:/bin"}})
		b.servers[name] = s
		config.WriteString(s.ClientConfig(name))
	}
	b.ssh = filepath.Join(t.TempDir(), "ssh_config")
	if err := os.WriteFile(b.ssh, []byte(config.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestMachines runs each study script on a separate set of machines. The scripts check frame
// counts, not rates, so they can run in parallel with other tests.
func TestMachines(t *testing.T) {
	t.Parallel()
	labtest.Namespaces(t)
	files, err := filepath.Glob("testdata/machines/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			machineScript(t, file)
		})
	}
}

func machineScript(t *testing.T, file string) {
	b := newFarBench(t)
	testscript.RunT(inPlace{t}, testscript.Params{
		Files:               []string{file},
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SSHCONFIG", b.ssh)
			e.Setenv("DUTROOT", b.root)
			e.Setenv("FARTMP", b.tmp)
			e.Setenv("DUTNS", b.DUT)
			e.Setenv("GENNS", b.Generator)
			e.Setenv("RXNS", b.Receiver)
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("LINERATE_LEDGER", filepath.Join(e.WorkDir, "ledger.db"))
			return nil
		},
	})
}

// TestCutConnections cuts every connection to a machine while traffic runs. Losing a generator
// makes the trial invalid, and it is retried; losing the DUT for a moment does not; nothing is
// left on the DUT.
func TestCutConnections(t *testing.T) {
	t.Parallel()
	labtest.Namespaces(t)
	b := newFarBench(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"lab.yaml": `hosts:
  dut: {ssh: ssh://dut, management: mgmt0}
  generator: {ssh: ssh://generator, management: mgmt0}
  receiver: {ssh: ssh://receiver, management: mgmt0}
wires:
  - {from: generator/gen0, to: dut/dut0}
  - {from: dut/dut1, to: receiver/rx0}
`, "cut.yaml": `name: cut
question: Does it go on?
testbed: {kind: ssh, file: lab.yaml}
variants:
  - name: none
  - {name: ttl, settings: [{sysctl: net.ipv4.ip_default_ttl, value: 77}]}
parts:
  - {name: given, rate: 2kpps, blocks: 1, seconds: 4, warmup: 0}
gates: {unsent_percent: 100, pacing_percent: 100}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file, record := filepath.Join(dir, "cut.yaml"), filepath.Join(dir, "record")
	ended := make(chan int, 1)
	var said strings.Builder
	go func() {
		ended <- run([]string{"study", "run", file, "--out", record, "--seed", "3", "--ledger=none", "--ssh-config", b.ssh}, strings.NewReader(""), io.Discard, &said)
	}()
	b.traffic(t, ended, 500)
	b.servers["generator"].Cut(t)
	b.traffic(t, ended, 500)
	b.servers["dut"].Cut(t)
	if code := <-ended; code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, said.String())
	}
	data, err := os.ReadFile(filepath.Join(record, "trials.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	// A busy machine may make a trial invalid too; only those with this reason count as cut.
	const cut = `"reasons":["generator: ssh://generator: the connection was lost`
	if valid := strings.Count(string(data), `"valid":true`); valid != 3 || strings.Count(string(data), cut) != 1 {
		t.Errorf("%d trials, %d valid:\n%s", len(lines), valid, data)
	}
	if !strings.Contains(lines[0], cut) {
		t.Errorf("the trial that was cut: %.600s", lines[0])
	}
	if ttl := b.Run(t, b.DUT, "sysctl", "-n", "net.ipv4.ip_default_ttl"); ttl != "64\n" {
		t.Errorf("the DUT's TTL is %s", ttl)
	}
	if _, err := os.Stat(filepath.Join(b.root, "var/lib/linerate")); err == nil {
		t.Error("the journal is still there")
	}
}

// traffic waits until the DUT has received another n frames.
func (b *farBench) traffic(t *testing.T, ended chan int, n int) {
	t.Helper()
	count := func() (n int) {
		_, _ = fmt.Sscan(b.Run(t, b.DUT, "cat", "/sys/class/net/dut0/statistics/rx_packets"), &n)
		return n
	}
	// Wait first for the current traffic to end.
	before := count()
	for range 100 {
		time.Sleep(100 * time.Millisecond)
		now := count()
		if now-before < 20 {
			break
		}
		before = now
	}
	for before = count(); count()-before < n; time.Sleep(50 * time.Millisecond) {
		select {
		case code := <-ended:
			t.Fatalf("the study ended before its traffic: exit %d", code)
		default:
		}
	}
}

// inPlace runs a script within the given test, so that the machines live until that test ends.
type inPlace struct{ *testing.T }

func (inPlace) Parallel() {}

func (inPlace) Verbose() bool { return testing.Verbose() }

func (p inPlace) Run(_ string, f func(testscript.T)) { f(p) }

// pktGen emulates netmap's pkt-gen: it takes the same options, sends with linerate until it is
// interrupted, and ends with pkt-gen's summary. As a receiver it counts its interface's
// frames, or claims the number given by -n.
const pktGen = `#!/bin/sh
dev='' n='' R='' l=60 f='' D=''
while getopts N46f:i:w:l:s:d:S:D:R:n: o; do
	case $o in f) f=$OPTARG ;; i) dev=$OPTARG ;; l) l=$OPTARG ;; s) s=$OPTARG ;; d) d=$OPTARG ;; D) D=$OPTARG ;; R) R=$OPTARG ;; n) n=$OPTARG ;; esac
done
count() { cat "/sys/class/net/$dev/statistics/$1_packets"; }
account() { echo "$1 $2 packets $((60 * $2)) bytes 9 events $l bytes each in $3 seconds."; exit 0; }
before=$(count $f)
ready() { echo "001.001 start_threads [2697] Ready..."; }
if [ $f = rx ]; then
	trap 'account Received ${n:-$(($(count rx) - before))} 9.99' INT
	ready
	while :; do sleep 0.1; done
fi
linerate load send --engine af_packet --json --dev "$dev" --dst-mac "$D" --src "${s%%:*}" --dst "${d%%:*}" --flows 10 --rate "${R:-max}" --size $((l + 4)) ${n:+--count $n} >"$TMPDIR/linerate.$$" 2>&1 &
p=$!
trap 'kill -TERM $p' INT
# What is interrupted before it heeds signals gives no account.
while kill -0 $p 2>/dev/null && [ "$(count tx)" = "$before" ]; do sleep 0.05; done
ready
while kill -0 $p 2>/dev/null; do wait $p; done
tx=$(sed -n 's/.*"tx_packets": \([0-9]*\).*/\1/p' "$TMPDIR/linerate.$$" | head -n 1) t=$(sed -n 's/.*"seconds": \([0-9.]*\).*/\1/p' "$TMPDIR/linerate.$$" | head -n 1)
[ -n "$tx" ] || cat "$TMPDIR/linerate.$$"
rm -f "$TMPDIR/linerate.$$"
account Sent "$tx" "$t"
`

// sudo runs a command as the current user, who is root already, without a password.
const sudo = `#!/bin/sh
[ "$1" = -n ] && shift
exec "$@"
`

// toolsDir creates a directory of programs for the machines: linerate (this binary) and
// stand-ins for pkt-gen and sudo.
func toolsDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Not a symbolic link: the program recognises itself by its file name.
	if out, err := exec.Command("cp", "-l", self, filepath.Join(dir, "linerate")).CombinedOutput(); err != nil {
		if out2, err := exec.Command("cp", self, filepath.Join(dir, "linerate")).CombinedOutput(); err != nil {
			t.Fatalf("%s%s", out, out2)
		}
	}
	for name, text := range map[string]string{"pkt-gen": pktGen, "sudo": sudo} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
