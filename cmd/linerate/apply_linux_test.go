package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"linerate/internal/apply"
	"linerate/internal/host/localhost"
	"linerate/internal/labtest"
	"linerate/internal/plan"
	"linerate/internal/setting"
)

// makePlan writes a plan for this host. NAME=VALUE is a sysctl, NAME:WAS=VALUE also states
// its old value, and MECHANISM,DEVICE,NAME=VALUE changes the running host only.
func makePlan(file string, args []string) {
	id, err := apply.On(&localhost.Runner{}).Hello(context.Background())
	fatal(err)
	p := plan.Plan{OS: id.OS, Release: id.Release, Host: id.Host, Role: "router"}
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		s := plan.Step{Mechanism: setting.Sysctl, Value: value, Reason: "a test of it", Risk: "none",
			Where: plan.Where{File: plan.LinuxSysctl, Runtime: true}, Evidence: plan.Evidence{Kind: plan.Unmeasured}}
		if words := strings.Split(name, ","); len(words) == 3 {
			s.Mechanism, s.Device, s.Name, s.Where.File = setting.Mechanism(words[0]), words[1], words[2], ""
			p.Settings = append(p.Settings, s)
			continue
		}
		name, was, known := strings.Cut(name, ":")
		if s.Name = name; known {
			s.Current.Value = &was
		}
		p.Settings = append(p.Settings, s)
	}
	fatal(p.Check())
	p, err = plan.Seal(p)
	fatal(err)
	doc, err := plan.Marshal(p)
	fatal(err)
	fatal(os.WriteFile(file, doc, 0o644))
}

// hostRoot creates the directories of a test host's root.
func hostRoot(t testing.TB, root string) []string {
	t.Helper()
	for _, d := range []string{"etc/sysctl.d", "etc/rcS.d", "etc/init.d", "var/lib"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"LINERATE_ROOT=" + root, "LINERATE_INIT=sysv"}
}

// TestApplyScripts runs apply, confirm, rollback and status as root, with files under a
// temporary root and sysctls in a network namespace.
func TestApplyScripts(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		labtest.Lacking(t, "needs root: it changes sysctls of a namespace")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/apply",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Condition:           installed,
		Setup: func(e *testscript.Env) error {
			fitSchemas(t, e)
			name := fmt.Sprintf("%s-%d-%s", labtest.Prefix, os.Getpid(), filepath.Base(e.WorkDir))
			if out, err := exec.Command("ip", "netns", "add", name).CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			e.Defer(func() { _ = exec.Command("ip", "netns", "del", name).Run() })
			for _, pair := range append(hostRoot(t, filepath.Join(e.WorkDir, "host")), "NS="+name) {
				k, v, _ := strings.Cut(pair, "=")
				e.Setenv(k, v)
			}
			return nil
		},
	})
}

// installed implements the script condition [has:PROGRAM]. Where the lab is required, a
// missing program fails the script instead of skipping it.
func installed(condition string) (bool, error) {
	program, ok := strings.CutPrefix(condition, "has:")
	if !ok {
		return false, fmt.Errorf("unknown condition %q", condition)
	}
	_, err := exec.LookPath(program)
	if err != nil && os.Getenv(labtest.Required) == "required" {
		return false, fmt.Errorf("required here: %w", err)
	}
	return err == nil, nil
}
