package lab

import (
	"math"
	"slices"
	"testing"

	"linerate/internal/study"
	"linerate/studies"
)

// TestEstimatesAreOfRecords: estimates are within a quarter of the duration of whole runs on two quiet CPUs of
// a virtual machine, from the first trial to the next study's, without repeated trials. gone lists the
// variants that were unavailable.
func TestEstimatesAreOfRecords(t *testing.T) {
	for _, c := range []struct {
		name    string
		quick   bool
		seconds float64
		gone    []string
	}{
		{"bridge", false, 18, nil}, {"bypass", false, 66, nil}, {"early-demux", false, 18, nil},
		{"firewall-rules", false, 78, nil}, {"firewall-tables", false, 149, nil}, {"flowtable", false, 15, []string{"flowtable"}},
		{"firewall-state", false, 660, nil}, {"forwarding", false, 86, nil}, {"jail-hop", false, 20, nil},
		{"nat", false, 18, nil}, {"offloads", false, 21, nil}, {"policy-routing", false, 20, nil}, {"redirects", false, 14, nil},
		{"routes", false, 98, nil}, {"rp-filter", false, 18, nil},
		// Studies of servers, on two CPUs with other load.
		{"http-concurrency", true, 27, nil}, {"release-mirror", true, 13, nil}, {"tls", true, 14, []string{"ktls"}}, {"web-latency", true, 40, nil},
		{"mail", true, 48, nil}, {"loss-curve", false, 60, nil}, {"throughput", false, 154, nil}, {"burst", false, 147, nil},
		{"syn-flood", false, 150, nil}, {"tunnels", false, 22, []string{"ipip", "gre", "wireguard", "ipsec"}},
		{"overload", false, 539, []string{"small-budget", "long-backlog"}},
		{"overload", true, 50, []string{"small-budget", "long-backlog"}},
	} {
		data, err := studies.Read(c.name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := study.Parse(c.name, data)
		if err != nil {
			t.Fatal(err)
		}
		s.Variants = slices.DeleteFunc(s.Variants, func(v study.Variant) bool {
			return slices.Contains(c.gone, v.Name) || v.OS != "" && v.OS != "linux"
		})
		if c.quick {
			s = s.Quick()
		}
		if got := Estimate(Task{Spec: s}).Seconds(); math.Abs(got/c.seconds-1) > 0.25 {
			t.Errorf("%s: estimated %.0f s, but it took %.0f s", c.name, got, c.seconds)
		}
	}
}

// TestTrialsDoneAgainCount: progress is not complete while an invalid trial is to be repeated, and the second
// attempt counts.
func TestTrialsDoneAgainCount(t *testing.T) {
	data, err := studies.Read("overload")
	if err != nil {
		t.Fatal(err)
	}
	s, err := study.Parse("overload", data)
	if err != nil {
		t.Fatal(err)
	}
	task := Task{Spec: s.Quick(), Seed: 1}
	never := func(study.Part) bool { return false }
	slots := study.Schedule(task.Spec, task.Seed)
	for i, slot := range slots {
		task.Done = append(task.Done, study.Trial{Part: slot.Part, Block: slot.Block, Order: slot.Order, Variant: slot.Variant, Valid: i > 0})
	}
	slot, ok := study.Next(task.Spec, task.Seed, task.Done, never)
	if !ok {
		t.Fatal("no trial is repeated")
	}
	done, total, left := pace{}.left(task, never)
	if done != len(slots) || total != done+1 || left <= 0 {
		t.Errorf("%d of %d, %v left; want %d of %d", done, total, left, len(slots), len(slots)+1)
	}
	task.Done = append(task.Done, study.Trial{Part: slot.Part, Block: slot.Block, Order: slot.Order, Variant: slot.Variant, Valid: true})
	if done, total, _ := (pace{}).left(task, never); done != len(slots)+1 || total != done {
		t.Errorf("%d of %d; want %d of %[3]d", done, total, len(slots)+1)
	}
}
