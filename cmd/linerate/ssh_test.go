package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"linerate/internal/host/sshhost/sshtest"
)

// TestSSHScripts runs the verbs that read hosts over SSH against a real sshd on this machine.
func TestSSHScripts(t *testing.T) {
	t.Parallel()
	s := sshtest.Start(t, sshtest.Options{})
	stranger := strings.Replace(s.ClientConfig("stranger"), "/known_hosts", "/no_such_file", 1)
	config := filepath.Join(s.Dir, "both")
	if err := os.WriteFile(config, []byte(s.ClientConfig("box also")+stranger), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/ssh",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			fitSchemas(t, e)
			e.Setenv("SSHCONFIG", config)
			return nil
		},
	})
}
