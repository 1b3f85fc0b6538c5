package netbenches

import (
	"math"
	"testing"
)

// FuzzSmallFiles: what stands beside the logs of an archive: medians, tables for
// gnuplot, a lab's and a workload's configuration, names of files and directories.
func FuzzSmallFiles(f *testing.F) {
	f.Add("bench.1.0.receiver", "1488095\n1.5e6\n")
	f.Add("fbsd11-routing.r308000/results/fbsd11", "#index median minimum maximum\n\"1 flow\" 3 1 2\n")
	f.Add("bench-lab-8nodes.config", "MAX_BENCH=5\nDUT_ADMIN=\"dut\"\nis_dut_online () {\n\ttrue\n}\n")
	f.Add("bench.smallest-packet.2k-flow.config", "PKT_TO_SEND=100\nSENDER_START_CMD=\"pkt-gen -i $X -l 60 -d 198.19.10.1:2000-198.19.10.100\"\n")
	f.Add("Xeon_E5-2650-8Cores-Chelsio_T540-CR", "")
	f.Fuzz(func(t *testing.T, name, text string) {
		data := []byte(text)
		if values, ok := ParseValues(data); ok && len(values) == 0 {
			t.Error("a file of values without one")
		}
		for _, r := range first(ParseGnuplot(data)) {
			if !(r.Minimum <= r.Median && r.Median <= r.Max) || math.IsInf(r.Max-r.Minimum, 0) {
				t.Errorf("%q: %+v", text, r)
			}
		}
		ParseLab(data)
		ParseWorkload(data)
		ParseSettings(name, data)
		ParseRawName(name)
		ParsePlace(name)
	})
}

func first[A, B any](a A, _ B) A { return a }
