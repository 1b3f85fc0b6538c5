package audit_test

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/audit"
	"linerate/internal/fact"
)

// TestWritersExamples checks every writer on its examples: the line that it overwrites is reported on
// each host under fires, and nothing on each under silent.
func TestWritersExamples(t *testing.T) {
	_, set := known(t)
	for _, w := range set.Writers {
		sysctls := slices.ContainsFunc(w.Writes, func(o audit.Own) bool { return !strings.HasPrefix(o.Names[0], "/") })
		if (len(w.Fires) == 0) != (len(w.Silent) == 0) || len(w.Fires) == 0 && !w.Yields && (sysctls || len(w.Notes) > 0) {
			t.Errorf("%s: needs at least one host on which it overwrites a line and one on which it does not", w.Name)
		}
		for i, x := range w.Fires {
			found := overwritten(t, x, w.Name)
			if len(found) == 0 {
				t.Errorf("%s fires %d %s: silent", w.Name, i+1, x.Note)
			}
			for _, f := range found {
				checkTexts(t, f)
			}
		}
		for i, x := range w.Silent {
			for _, f := range overwritten(t, x, w.Name) {
				t.Errorf("%s silent %d %s: says %s", w.Name, i+1, x.Note, f.Message)
			}
		}
	}
}

func overwritten(t *testing.T, x audit.Example, writer string) (found []audit.Finding) {
	t.Helper()
	for _, f := range run(t, host(t, x), x.Role).Findings {
		if strings.Contains(f.Message, "stick: "+writer) {
			found = append(found, f)
		}
	}
	return found
}

// TestWriterStands: a writer's built-in values count as the host's values after it starts; they are
// not counted as lines, and the given facts are not modified.
func TestWriterStands(t *testing.T) {
	_, set := known(t)
	x := audit.Example{Release: "6.12", CPUs: 8, Services: []string{"kubelet", "docker"}, Files: map[string]string{"/etc/sysctl.d/x.conf": "kernel.panic=60"}}
	f := host(t, x)
	g, err := set.WithWriters(f)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"kubelet", "kube-proxy", "docker", "systemd-sysctl"}; !slices.Equal(g.Writers, want) {
		t.Errorf("writers %q, want %q", g.Writers, want)
	}
	for name, want := range map[string]string{"kernel.panic": "10", "net.netfilter.nf_conntrack_max": "262144", "net.ipv4.ip_forward": "1"} {
		s, _ := g.Tunable(name)
		if l, ok := s.Stands(); !ok || l.Value != want || l.Stage != fact.Agent {
			t.Errorf("%s: %+v", name, l)
		}
	}
	if s, _ := f.Tunable("kernel.panic"); f.Writers != nil || len(s.Lines) != 1 {
		t.Errorf("the facts given changed: %+v", s)
	}
	if again, err := set.WithWriters(g); err != nil || again != g {
		t.Errorf("applying writers twice: %v", err)
	}
	s, _ := g.Tunable("kernel.panic")
	if says := set.Says(fact.Linux, s); !strings.HasPrefix(says, "kubelet writes 10 here: a line in sysctl.d does not stick. kubelet sets six") {
		t.Error(says)
	}
	if r := run(t, f, "web"); r.Lines != 1 {
		t.Errorf("%d lines", r.Lines)
	}
}

// TestWritersHideNoDrift: where file and program agree, a running value that differs from both is
// drift; a value that the program wrote over the file's is not reported again as drift.
func TestWritersHideNoDrift(t *testing.T) {
	for _, c := range []struct{ file, live, want string }{
		{"kernel.panic=10", "0", "LR-DRIFT"},
		{"kernel.panic=10", "10", ""},
		{"kernel.panic=60", "10", "LR-OVERWRITTEN"},
		{"kernel.panic=60", "60", ""},
	} {
		x := audit.Example{Release: "6.12", Services: []string{"kubelet"}, Files: map[string]string{"/etc/sysctl.d/x.conf": c.file}, Live: map[string]string{"kernel.panic": c.live}}
		var got []string
		for _, f := range run(t, host(t, x), "node").Findings {
			if f.Name == "kernel.panic" {
				got = append(got, f.Rule())
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s, running %s: %q, want %q", c.file, c.live, got, c.want)
		}
	}
}

// TestWriterOfProcess: program names take precedence over units, the nearest ancestor over farther
// ones, and a generic tool is named only if nothing else is known.
func TestWriterOfProcess(t *testing.T) {
	_, set := known(t)
	for _, c := range []struct {
		programs, groups, want string
	}{
		{"tuned systemd", "tuned.service", "TuneD"},
		{"sysctl ufw-init systemd", "ufw.service", "ufw"},
		{"sysctl bash sshd systemd", "session-3.scope", "sysctl(8)"},
		{"bash sshd systemd", "session-3.scope", "shell"},
		{"sysctl bash kubelet systemd", "", "kubelet"},
		{"kube-proxy containerd-shim systemd", "cri-containerd-0123.scope", "kube-proxy"},
		{"sysctl sh containerd-shim systemd", "cri-containerd-0123.scope", "container"},
		{"sysctl sh containerd-shim systemd", "0123 pod4567 besteffort kubepods", "container"},
		{"sysctl rc.local systemd", "rc-local.service system.slice", "script at boot"},
		{"systemd-sysctl systemd", "systemd-sysctl.service", "systemd-sysctl"},
		{"mystery systemd", "mystery.service", ""},
		{"systemd", "init.scope", "systemd"},
		{"", "", ""},
	} {
		w, got := set.WriterOfProcess(fact.Linux, strings.Fields(c.programs), strings.Fields(c.groups)), ""
		if w != nil {
			got = w.Name
		}
		if got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.programs, c.groups, got, c.want)
		}
	}
	if w := set.WriterOfProcess(fact.FreeBSD, []string{"tuned"}, []string{"tuned.service"}); w != nil {
		t.Errorf("FreeBSD has %s", w.Name)
	}
}
