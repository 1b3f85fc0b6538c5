package provebench

import "testing"

// TestConnections: studies by connection keep their level, detect a large gain, and do not attribute it to a
// host whose connections take it from each other.
func TestConnections(t *testing.T) {
	const studies = 20
	for i, c := range Crowds() {
		if c.Name != "clients" && c.Name != "all shared" {
			continue
		}
		row := c.row(studies, uint64(i+1))
		if row.FalsePositiveRate > 0.2 || row.Coverage < 0.8 {
			t.Errorf("%+v: beyond three standard errors", row)
		}
		if shared := c.Shared == 1; shared && (row.Better > 0.2 || row.Refused < 0.7) || !shared && row.Better < 0.9 {
			t.Errorf("%+v", row)
		}
	}
}
