package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// sourcesOf returns the root of the source tree.
func sourcesOf(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func readYAML(t *testing.T, name string, into any) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(sourcesOf(t), name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return text
}

// TestAction: the environment variables that the action sets are exactly those that its
// script reads, and every input is used.
func TestAction(t *testing.T) {
	var action struct {
		Inputs map[string]struct{ Description, Default string }
		Runs   struct {
			Using string
			Steps []struct {
				ID, Uses, Run, Shell string
				Env                  map[string]string
			}
		}
	}
	text := readYAML(t, "action.yml", &action)
	script, err := os.ReadFile(filepath.Join(sourcesOf(t), ".ci/audit-changed"))
	if err != nil {
		t.Fatal(err)
	}
	steps := action.Runs.Steps
	if action.Runs.Using != "composite" || len(steps) != 3 || !strings.Contains(steps[2].Run, ".ci/audit-changed") {
		t.Fatalf("steps: %+v", steps)
	}
	read := map[string]bool{}
	for _, name := range regexp.MustCompile(`\bLINERATE(_[A-Z]+)*\b`).FindAllString(strings.SplitN(string(script), "set -eu", 2)[1], -1) {
		read[name] = true
	}
	for name := range steps[2].Env {
		if !read[name] {
			t.Errorf("the script does not read %s", name)
		}
		delete(read, name)
	}
	for name := range read {
		t.Errorf("the action does not set %s", name)
	}
	for name, in := range action.Inputs {
		if !strings.Contains(string(text), "inputs."+name) || in.Description == "" {
			t.Errorf("input %s is not used, or not described", name)
		}
	}
	for _, s := range steps {
		if s.Uses == "" && s.Shell == "" {
			t.Errorf("step %q has no shell", s.Run)
		}
	}
}

// TestPreCommitHooks: the hooks match the files that an audit recognises by name, and no others.
func TestPreCommitHooks(t *testing.T) {
	var hooks []struct{ ID, Name, Entry, Language, Files string }
	readYAML(t, ".pre-commit-hooks.yaml", &hooks)
	if len(hooks) != 2 {
		t.Fatalf("%d hooks", len(hooks))
	}
	for _, h := range hooks {
		if !strings.HasPrefix(h.Entry, "linerate audit --each") {
			t.Errorf("%s runs %q", h.ID, h.Entry)
		}
		for name, wanted := range map[string]bool{
			"etc/sysctl.conf": true, "sysctl.conf": true, "roles/x/files/sysctl.d/90-x.conf": true, "fw/boot/loader.conf": true, "fw/boot/loader.conf.d/x": true,
			"etc/rc.conf": true, "etc/pf.conf": true, "etc/modprobe.d/nic.conf": true, "network/10-x.link": true, "etc/default/grub": true,
			"talos/cp1.yaml": true, "hosts/fw.nix": true, "group_vars/web.yml": true, "aks.tf": true,
			"README.md": false, "sysctl.conf.md": false, "my-sysctl.conf": false, "sysctl.d/README": false, "etc/default/locale": false,
		} {
			if got := regexp.MustCompile(h.Files).MatchString(name); got != wanted {
				t.Errorf("%s: matches %s: %v, want %v", h.ID, name, got, wanted)
			}
		}
	}
}
