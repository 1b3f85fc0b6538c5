package hosts

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/capture"
	"linerate/internal/fleet"
	"linerate/internal/host/sshhost"
	"linerate/internal/plan"
)

// maker makes plans in a directory, with unmeasured advice.
func maker(t *testing.T, p *Plans) *Plans {
	t.Helper()
	var err error
	if p.Planner, err = NewPlanner(nil, true); err != nil {
		t.Fatal(err)
	}
	if _, err := p.begin(); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPlanOfACapture: the plan of a host is in the directory as its line of the index says, made for what
// the list says of the host, and nothing is left where it cannot be made or written.
func TestPlanOfACapture(t *testing.T) {
	var bundle bytes.Buffer
	if err := capture.Run(t.Context(), "-", &bundle, io.Discard); err != nil {
		t.Fatal(err)
	}
	data := bundle.Bytes()
	dir := t.TempDir()
	m := maker(t, &Plans{Dir: dir, Role: "web"})
	small, err := m.examine(t.Context(), &fleet.Target{Name: "db 1", Source: "ssh://db1", Become: "sudo", Role: "firewall"}, data)
	if err != nil {
		t.Fatal(err)
	}
	made, err := ReadPlan(dir, small)
	if err != nil {
		t.Fatal(err)
	}
	if made.Digest != small.Digest || small.Role != "firewall" || made.Role != "firewall" || small.Become != "sudo" || small.Source != "ssh://db1" || len(small.Changes) != len(made.Settings) || small.Host == "" || small.OS != "linux" {
		t.Errorf("%+v of %+v", small, made)
	}
	if text, err := os.ReadFile(filepath.Join(dir, small.File)); err != nil || filepath.Dir(small.File) != plansName {
		t.Errorf("%s: %v", small.File, err)
	} else if again, err := plan.Parse(text); err != nil || again.Digest != made.Digest {
		t.Errorf("%v", err)
	}
	usual, err := m.examine(t.Context(), &fleet.Target{Name: "www1", Source: "ssh://www1"}, data)
	if err != nil || usual.Role != "web" || usual.File == small.File {
		t.Errorf("%+v, %v", usual, err)
	}
	large, err := m.examine(t.Context(), &fleet.Target{Name: "fw1", Source: "ssh://fw1", Role: "firewall", Needs: map[string]string{"states": "5M"}}, data)
	if err != nil || large.Digest == small.Digest || !slices.ContainsFunc(large.Changes, func(c fleet.PlannedChange) bool { return strings.Contains(c.Setting, "nf_conntrack") }) && len(large.Unmet) == 0 {
		t.Errorf("five million states change %+v and leave %v, %v", large.Changes, large.Unmet, err)
	}
	for what, c := range map[string]struct {
		target fleet.Target
		data   []byte
		final  bool
	}{
		"half a capture":      {fleet.Target{Name: "x", Source: "ssh://x"}, data[:len(data)/3], false},
		"no such role":        {fleet.Target{Name: "x", Source: "ssh://x", Role: "rooter"}, data, true},
		"needs without sense": {fleet.Target{Name: "x", Source: "ssh://x", Needs: map[string]string{"states": "many"}}, data, true},
	} {
		got, err := m.examine(t.Context(), &c.target, c.data)
		if err == nil || final(err) != c.final || got.File != "" {
			t.Errorf("%s: %+v, %v (final %v)", what, got, err, final(err))
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, plansName)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.examine(t.Context(), &fleet.Target{Name: "y", Source: "ssh://y"}, data); err == nil || !final(err) {
		t.Errorf("a directory that is gone: %v (final %v)", err, final(err))
	}
	if lost := lostPlan(&fleet.Target{Name: "z", Source: "ssh://z"}, time.Unix(7, 0), os.ErrDeadlineExceeded); lost.Failure == "" || lost.Name != "z" || lost.Version == 0 || lost.File != "" {
		t.Errorf("%+v", lost)
	}
}

// TestFetchOfABundle: a target that is a file is read, and a large one takes a place that it leaves again.
func TestFetchOfABundle(t *testing.T) {
	dir := t.TempDir()
	r := &Remote{Room: make(sshhost.Room, 1)}
	fetch := fetchBy(r)
	for name, size := range map[string]int{"small": 10, "large": sshhost.LargeOutput, "huge": maxCapture + 1} {
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		data, err := fetch(t.Context(), &fleet.Target{Source: at})
		if (err == nil) != (name != "huge") || err == nil && len(data) != size || len(r.Room) != map[string]int{"large": 1}[name] {
			t.Errorf("%s: %d bytes, %v, %d places taken", name, len(data), err, len(r.Room))
		}
		r.Room.Leave(len(data))
		if len(r.Room) != 0 {
			t.Errorf("%s: a place is still taken", name)
		}
	}
	if _, err := fetch(t.Context(), &fleet.Target{Source: filepath.Join(dir, "none")}); err == nil || !final(err) {
		t.Errorf("no such file: %v", err)
	}
}
