package main

import (
	"os"
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
	var config strings.Builder
	for name, ns := range map[string]string{"dut": b.DUT, "generator": b.Generator, "receiver": b.Receiver} {
		s := sshtest.Start(t, sshtest.Options{Namespace: ns, Listen: b.Addresses[ns], Env: []string{"LINERATE_ROOT=" + root, "LINERATE_INIT=sysv"}})
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
