package report

import (
	"strings"
	"testing"

	"linerate/internal/show"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// TestReportOfMachines: a report of machines makes no claims that are true only for namespaces, and
// shows the DUT's own counters.
func TestReportOfMachines(t *testing.T) {
	s, r := results(t)
	r.Environment.Testbeds = map[string]study.BedNotes{"overload": {Kind: testbed.KindSSH}}
	r.Environment.Label = "real machines over SSH"
	s.Testbed.Kind, s.Reset = testbed.KindSSH, study.ResetReboot
	part := r.Measured()[0]
	for i := range r.Trials {
		if r.Trials[i].Part == part && r.Trials[i].Variant == r.Control {
			o := &study.Observation{}
			r.Trials[i].Observed = o
			o.Applied.Boot = &testbed.Boot{Seconds: 31 + float64(r.Trials[i].Block)}
			o.DUT = map[string]float64{"cpu0.idle_ticks": 100, "cpu0.softirq_ticks": 300, "cpu1.idle_ticks": 400, "ix0.rx_missed_errors": 12, "softnet.time_squeeze": 3, "ix0.rx_packets": 9,
				"thermal_zone0_celsius": 40 + float64(r.Trials[i].Block), "cpu0_mhz": 2600}
		}
	}
	page := pageOf(t, s, r)
	for _, want := range []string{"The DUT&#39;s own counters", "ix0.rx_missed_errors 12.0, softnet.time_squeeze 3.00", "boot-time settings, and boots", "The numbers are valid for these machines"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, not := range []string{"network namespaces on one machine", "namespace is rebuilt", "has a CPU of its own", "network card"} {
		if strings.Contains(page, not) {
			t.Errorf("the page says %q", not)
		}
	}
	var out strings.Builder
	if err := Terminal(&out, s, r, show.Style{}); err != nil || !strings.Contains(out.String(), "The DUT's own counters") || !strings.Contains(out.String(), " × 3") {
		t.Errorf("%v\n%s", err, out.String())
	}
	r.Environment.Testbeds["overload"] = study.BedNotes{Kind: testbed.KindPorts}
	if said := measuredOn(r.Environment); !strings.Contains(said, "(generator and receiver: 6.18") {
		t.Error(said)
	}
	for design, want := range map[string]string{study.Switchback: "one of a variant or a sham", study.Blocks: "and the control twice, in an order drawn from seed 7"} {
		s.Design = design
		if said := ordered(s, 7); !strings.Contains(said, want) {
			t.Errorf("%s: %s", design, said)
		}
	}
}

// TestNothingSaid: a DUT without counters has no table.
func TestNothingSaid(t *testing.T) {
	_, r := results(t)
	if table := dutTable(r); len(table.Rows) > 0 {
		t.Error(table.Rows)
	}
}

// TestWhatResetsMachines: a report says what each way of resetting did to the DUT.
func TestWhatResetsMachines(t *testing.T) {
	for _, c := range []struct{ kind, reset, want string }{
		{testbed.KindPorts, "", "nothing of the DUT is set or reset"},
		{testbed.KindSSH, study.ResetReboot, "and boots"},
		{testbed.KindSSH, study.ResetServices, "restarts its services"},
		{testbed.KindSSH, study.ResetSettings, "gets the variant's settings"},
		{testbed.KindNetns, "", "the router's namespace is rebuilt"},
	} {
		s := study.Spec{Testbed: study.Testbed{Kind: c.kind}, Reset: c.reset}
		if said := resets(s, study.Environment{}); !strings.HasSuffix(said, c.want) {
			t.Errorf("%s, %s: %s", c.kind, c.reset, said)
		}
	}
}
