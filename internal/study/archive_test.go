package study_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"linerate/internal/sharedtest"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/studies"
)

// TestCoresOfTheArchive analyses archived measurements of a router with one to four receive queues
// on as many cores (an APU2 with FreeBSD 11.1) as the study of cores: four must forward nearly
// four times as much as one.
func TestCoresOfTheArchive(t *testing.T) {
	dir := sharedtest.Dir(t, "data/netbenches/AMD_GX-412TC_4Cores/Intel_i210AT/hw.igb.num_queues/results/fbsd11.1")
	text, err := studies.Read("cores")
	if err != nil {
		t.Fatal(err)
	}
	s, err := study.Parse("cores.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	var trials []study.Trial
	for n := 1; n <= 4; n++ {
		data, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%d.pps", n)))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Fields(string(data)) {
			pps, err := strconv.ParseFloat(line, 64)
			if err != nil {
				t.Fatal(err)
			}
			trials = append(trials, study.Trial{Part: s.Parts[0].Name, Variant: fmt.Sprintf("cpus-%d", n), Block: i + 1, Valid: true,
				Mode: testbed.Overload, Reasons: []study.Refusal{}, Metrics: map[string]float64{study.OverloadRate: pps}})
		}
	}
	r := study.Analyse(s, 1, study.Environment{}, trials)
	if len(r.Curves) != 1 || len(r.Curves[0].Points) != 4 {
		t.Fatalf("curves %+v", r.Curves)
	}
	if first, last := r.Curves[0].Points[0].Value, r.Curves[0].Points[3].Value; first < 140e3 || first > 200e3 || last < 3.5*first {
		t.Errorf("points %+v", r.Curves[0].Points)
	}
}
