package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFleetDrift sweeps hosts that linerate changed: a running value and a file that somebody
// edits afterwards are reported as drift, drift further, and end; neither the first sweep nor
// linerate's own changes raise an alert.
func TestFleetDrift(t *testing.T) {
	t.Parallel()
	f := newSmallFleet(t, 2)
	with := func(args ...string) []string {
		return append(args, "--ssh-config", filepath.Join(f.dir, "config"))
	}
	sweep := with("fleet", "sweep", "--hosts", "hosts", "--fail-on", "drift")
	set := func(host int, value string) {
		t.Helper()
		if out, err := exec.Command("ip", "netns", "exec", f.ns[host-1], "sysctl", "-w", "net.ipv4.ip_forward="+value).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	f.write(filepath.Join(f.dir, "hosts"), "h1 role=router\nh2 role=router\n")
	f.linerate(false, "2 reached", sweep...)
	f.linerate(false, "applied        nothing by linerate", "fleet", "status", "h1")

	f.linerate(false, "2 with a plan", with("plan", "--hosts", "hosts", "--out", "plans", "--tries", "1")...)
	f.harmless(filepath.Join(f.dir, "plans"))
	f.linerate(false, "confirmed     2", with("apply", "plans", "--yes", "--waves", "100%")...)
	f.linerate(false, "2 reached", sweep...)
	f.linerate(false, "linerate applied something on 2 hosts, 0 drifted from it", "fleet", "status", "--fail-on", "drift")
	f.linerate(false, "No changes", "fleet", "changes", "--kind", "drift")

	set(1, "0")
	f.linerate(true, "1 for the worse|h1 |drift |LR-APPLIED: sysctl net.ipv4.ip_forward is 0; linerate applied 1 (000001-", sweep...)
	f.linerate(true, "2 hosts, 1 drifted|h1 drifted from what linerate applied (000001-", "fleet", "status", "--fail-on", "drift")
	f.linerate(false, `"expected": "1"|"found": "0"|"since": "20|"drifts": 1`, "fleet", "status", "h1", "--json")
	f.linerate(false, "h1|1 of 2 hosts", "fleet", "status", "LR-APPLIED")
	known := f.changesBut("facts")
	f.linerate(false, "0 for the worse", sweep...)
	// Other processes on the test's machine appear in its hosts' facts.
	if now := f.changesBut("facts"); now != known {
		t.Errorf("a second sweep sees changes: %s\nbefore: %s", now, known)
	}

	// A file drifts too, and then the value is restored.
	set(1, "1")
	f.write(filepath.Join(f.dir, "h1/etc/sysctl.d/90-linerate.conf"), "net.ipv4.ip_forward=0\n")
	f.linerate(true, "/etc/sysctl.d/90-linerate.conf is another text, written 20", append(sweep, "--prometheus", "metrics")...)
	f.linerate(false, "drift-ended", "fleet", "changes", "--kind", "drift-ended")
	if text, err := os.ReadFile(filepath.Join(f.dir, "metrics")); err != nil || !strings.Contains(string(text), "linerate_fleet_drifted_hosts{role=\"router\"") || !strings.Contains(string(text), "linerate_fleet_applied_hosts 2\n") {
		t.Errorf("%v: %s", err, text)
	}
	// linerate rolls its change back: nothing is applied, so nothing drifts.
	f.linerate(false, "rolled back", with("rollback", "ssh://h1", "--force")...)
	f.linerate(false, "0 for the worse", sweep...)
	f.linerate(false, "applied        nothing by linerate", "fleet", "status", "h1")
	f.linerate(false, "applied something on 1 host, 0 drifted", "fleet", "status", "--fail-on", "drift")
}

// changesBut returns the hosts' changes except those of one kind.
func (f *smallFleet) changesBut(kind string) string {
	var all strings.Builder
	for _, k := range []string{"first-seen", "came", "went", "drift", "drift-ended", "facts", "unreachable", "reachable", "gone"} {
		if k != kind {
			all.WriteString(f.linerate(false, "", "fleet", "changes", "--kind", k))
		}
	}
	return all.String()
}
