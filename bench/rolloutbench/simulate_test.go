package rolloutbench

import "testing"

// TestRollouts: rollouts to small fleets of different hosts with a trend: a plan without effect passes, the
// interval covers a gain, and great harm is stopped on few hosts.
func TestRollouts(t *testing.T) {
	for _, w := range Worlds() {
		if w.Name != "trend" && w.Name != "uneven strata" {
			continue
		}
		row := w.row(20, 40, 5)
		if row.FalseStops > 0.15 || row.Coverage < 0.8 || row.Bias < -1.5 || row.Bias > 1.5 || row.Found < 0.5 {
			t.Errorf("%+v", row)
		}
		if great := row.Harms[2]; great.Stopped < 0.95 || great.Harmed > 0.2 {
			t.Errorf("%+v", row)
		}
	}
}
