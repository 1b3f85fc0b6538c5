package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"linerate/internal/fleet"
	"linerate/internal/fleet/wedge"
	"linerate/internal/labtest"
)

// measuredFleet creates eight hosts with plans, and a meter that prints 1,000 for a host with a
// scatter of one percent, plus the number in a file where the host has its plan applied.
func measuredFleet(t *testing.T) (f *smallFleet, with func(...string) []string) {
	f = newSmallFleet(t, 8)
	var list, names strings.Builder
	for i, ns := range f.ns {
		fmt.Fprintf(&list, "h%d role=router site=here\n", i+1)
		fmt.Fprintf(&names, "h%d) ns=%s;;\n", i+1, ns)
		f.write(filepath.Join(f.dir, fmt.Sprintf("h%d.prom", i+1)), "# TYPE load gauge\nload{of=\"cpu\"} 3\nload{of=\"net\"} 4\n")
	}
	f.write(filepath.Join(f.dir, "hosts"), list.String())
	f.write(filepath.Join(f.dir, "meter"), "#!/bin/sh\ncase $LINERATE_HOST in\n"+names.String()+`*) exit 1;; esac
v=1000
[ "$(ip netns exec $ns sysctl -n net.ipv4.ip_forward)" = 0 ] || v=$(cat with)
echo $((v + $(od -An -N1 -tu1 /dev/urandom) % 20))
`)
	if err := os.Chmod(filepath.Join(f.dir, "meter"), 0o755); err != nil {
		t.Fatal(err)
	}
	with = func(args ...string) []string { return append(args, "--ssh-config", filepath.Join(f.dir, "config")) }
	f.linerate(false, "8 with a plan", with("plan", "--hosts", "hosts", "--out", "plans")...)
	f.harmless(filepath.Join(f.dir, "plans"))
	return f, with
}

// measured returns the experiment of a wave.
func (f *smallFleet) measured(id string) (w fleet.Wave, t wedge.Trial, looks []wedge.Look) {
	f.t.Helper()
	raw, err := f.command("fleet", "wave", id, "--json").Output()
	var doc waveDocument
	if err == nil {
		err = json.Unmarshal(raw, &doc)
	}
	if err != nil || doc.Wave.Options.Measure == nil {
		f.t.Fatalf("%v: %s", err, raw)
	}
	return doc.Wave, *doc.Wave.Options.Measure, doc.Looks
}

// TestMeasuredWaves rolls out a harmful plan, which must be stopped and rolled back, and a
// helpful one, whose controller is killed in the middle.
func TestMeasuredWaves(t *testing.T) {
	t.Parallel()
	f, with := measuredFleet(t)
	measured := func(args ...string) []string {
		return with(append([]string{"apply", "plans", "--yes", "--waves", "50%,100%", "--measure", "command:./meter", "--better", "lower", "--hold", "1s"}, args...)...)
	}

	// These are refused before any host is contacted.
	f.linerate(true, "it is not known whether a higher value is better", with("apply", "plans", "--measure", "command:./meter")...)
	f.linerate(true, "--hold needs a metric", with("apply", "plans", "--hold", "1m")...)
	f.linerate(true, `unknown metric "weather"|command, prometheus, node`, measured("--measure", "weather")...)
	f.linerate(true, "4 hosts can be ordered in", measured("--limit", "h1,h2,h3,h4")...)
	f.linerate(true, "8 hosts without the metric, and nothing was changed|has no nothing", measured("--measure", "node:"+f.dir+"/{host}.prom#nothing")...)
	f.linerate(false, "8 hosts in an order drawn by chance (seed |8 hosts could be changed", measured("--measure", "node:"+f.dir+`/{host}.prom#load{of="net"}`, "-n")...)
	f.expect("00000000", "after what was refused")

	f.write(filepath.Join(f.dir, "with"), "1500")
	out := f.linerate(true, "8 hosts: sees 5 % with power 0.8|the plans do harm: +|rolled-back", measured()...)
	f.expect("00000000", "after harm")
	w, trial, looks := f.measured(f.wave(out))
	if last := looks[len(looks)-1]; w.Outcome != fleet.WaveUndone || last.Says != wedge.Harm || last.Effect.EffectPercent.Float() < 45 || last.Effect.EffectPercent.Float() > 55 {
		t.Errorf("%+v %+v", w, last)
	}
	if !strings.Contains(out, "had an empty change") || trial.Strata[0] != "role" {
		t.Errorf("no host had an empty (A/A) change in %s", out)
	}
	f.linerate(false, "command:./meter|0 → 1|n 8|stopped; guardrail harm: the wave is stopped: the plans do harm", "ledger", "query", "--study", "rollout-"+w.ID)
	f.linerate(true, "is rolled back", "apply", "--resume="+w.ID)

	f.write(filepath.Join(f.dir, "with"), "900")
	cmd := f.command(measured()...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	began := func() bool { return strings.Count(f.forwarding(), "1") >= 2 }
	if !labtest.Eventually(began) {
		t.Fatalf("the hosts forward %s", f.forwarding())
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	w, before, _ := f.measured("last")
	f.linerate(true, "was fixed when the wave began", "apply", "--resume="+w.ID, "--harm", "9%")
	f.linerate(false, "confirmed     8|no harm beyond 5 %|A/A: an empty change", "apply", "--resume="+w.ID)
	f.expect("11111111", "after the wave went on")
	_, after, looks := f.measured(w.ID)
	if !reflect.DeepEqual(before.Hosts, after.Hosts) || before.Seed != after.Seed || !reflect.DeepEqual(before.Periods, after.Periods[:len(before.Periods)]) {
		t.Errorf("the resumed experiment was randomised again: %+v, %+v", before, after)
	}
	// The true effect is -9.9 % (909.5 of 1,009.5); one 95 % interval in twenty misses it.
	if last := looks[len(looks)-1]; last.Wave != 2 || last.Effect.EffectPercent.Float() < -11 || last.Effect.EffectPercent.Float() > -9 {
		t.Errorf("%+v", last)
	}

	// Only the setting that was changed has evidence.
	f.linerate(false, "rollout-"+w.ID+"|0 → 1|command:./meter|n 8", "ledger", "query", "--tunable", "net.ipv4.ip_forward", "--verdict", "better")
	f.linerate(false, "evidence on 1 tunable", "ledger", "show")
	f.linerate(false, `"design": "stepped wedge"`, "ledger", "show", "rollout-"+w.ID)
	f.linerate(false, "verified", "ledger", "verify")
	f.linerate(false, "", "ledger", "export", "--out", filepath.Join(f.dir, "all.jsonl"))
	f.linerate(false, "", "import", filepath.Join(f.dir, "all.jsonl"), "--ledger", filepath.Join(f.dir, "copy.db"))
	f.linerate(true, "no trials of study rollout-"+w.ID, "report", "rollout-"+w.ID)
}
