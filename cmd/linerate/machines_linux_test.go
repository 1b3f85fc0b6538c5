package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"linerate/internal/host/sshhost/sshtest"
	"linerate/internal/labtest"
)

// TestMachines runs studies on machines that are network namespaces, each with
// a real sshd.
func TestMachines(t *testing.T) {
	labtest.Namespaces(t)
	b := labtest.NewBench(t)
	root := t.TempDir()
	for _, d := range []string{"etc/init.d", "etc/rcS.d", "etc/sysctl.d"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tools := toolsDir(t)
	var config strings.Builder
	for name, ns := range map[string]string{"dut": b.DUT, "generator": b.Generator, "receiver": b.Receiver} {
		s := sshtest.Start(t, sshtest.Options{Namespace: ns, Listen: b.Addresses[ns], Env: []string{"LINERATE_ROOT=" + root, "LINERATE_INIT=sysv", "PATH=" + tools + ":/usr/sbin:/usr/bin:/sbin:/bin"}})
		config.WriteString(s.ClientConfig(name))
	}
	ssh := filepath.Join(t.TempDir(), "ssh_config")
	if err := os.WriteFile(ssh, []byte(config.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.RunT(oneByOne{t}, testscript.Params{
		Dir:                 "testdata/machines",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SSHCONFIG", ssh)
			e.Setenv("DUTROOT", root)
			e.Setenv("DUTNS", b.DUT)
			e.Setenv("GENNS", b.Generator)
			e.Setenv("RXNS", b.Receiver)
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("LINERATE_LEDGER", filepath.Join(e.WorkDir, "ledger.db"))
			return nil
		},
	})
}

// oneByOne runs scripts in turn: they share the machines, and a machine under
// test has one user at a time.
type oneByOne struct{ *testing.T }

func (oneByOne) Parallel() {}

func (o oneByOne) Verbose() bool { return testing.Verbose() }

func (o oneByOne) Run(name string, f func(testscript.T)) {
	o.T.Run(name, func(t *testing.T) { f(oneByOne{t}) })
}

// pktGen speaks like netmap's pkt-gen: it takes its options, sends by linerate
// until it is interrupted, and closes with its account. As a receiver it counts
// what its interface does.
const pktGen = `#!/bin/sh
dev='' n='' R='' l=60 f='' D=''
while getopts N46f:i:w:l:s:d:S:D:R:n: o; do
	case $o in f) f=$OPTARG ;; i) dev=$OPTARG ;; l) l=$OPTARG ;; s) s=$OPTARG ;; d) d=$OPTARG ;; D) D=$OPTARG ;; R) R=$OPTARG ;; n) n=$OPTARG ;; esac
done
count() { cat "/sys/class/net/$dev/statistics/$1_packets"; }
account() { echo "$1 $2 packets $((60 * $2)) bytes 9 events $l bytes each in $3 seconds."; exit 0; }
before=$(count $f)
echo "001.001 start_threads [2697] Ready..."
if [ $f = rx ]; then
	trap 'account Received $(($(count rx) - before)) 9.99' INT
	while :; do sleep 0.1; done
fi
linerate generate --engine af_packet --json --dev "$dev" --dst-mac "$D" --src "${s%%:*}" --dst "${d%%:*}" --flows 10 --rate "${R:-max}" --size $((l + 4)) ${n:+--count $n} >"/tmp/linerate.$$" 2>&1 &
p=$!
trap 'kill -TERM $p' INT
while kill -0 $p 2>/dev/null; do wait $p; done
tx=$(sed -n 's/.*"tx_packets": \([0-9]*\).*/\1/p' "/tmp/linerate.$$" | head -n 1) t=$(sed -n 's/.*"seconds": \([0-9.]*\).*/\1/p' "/tmp/linerate.$$" | head -n 1)
[ -n "$tx" ] || cat "/tmp/linerate.$$"
rm -f "/tmp/linerate.$$"
account Sent "$tx" "$t"
`

// toolsDir has programs for the machines: this one, and something like pkt-gen.
func toolsDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// No symbolic link: the program finds itself by the name of its file.
	if out, err := exec.Command("cp", "-l", self, filepath.Join(dir, "linerate")).CombinedOutput(); err != nil {
		if out2, err := exec.Command("cp", self, filepath.Join(dir, "linerate")).CombinedOutput(); err != nil {
			t.Fatalf("%s%s", out, out2)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "pkt-gen"), []byte(pktGen), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
