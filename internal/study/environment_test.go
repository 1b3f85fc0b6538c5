package study

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/fact"
)

func TestEnvironmentOf(t *testing.T) {
	live := func(name, value string) fact.Tunable {
		return fact.Tunable{Name: name, Namespace: fact.Kernel, Live: &value}
	}
	linux := fact.Facts{OS: fact.Linux, Hostname: "r1", Kernel: "Linux version 6.18.0 (builder) #1 SMP", Arch: "x86_64", Machine: "Dell R630", Hypervisor: "none",
		Clocksource: "tsc", CPU: fact.CPU{Model: "EPYC", Count: 8, Governor: "performance", Mitigations: map[string]string{"l1tf": "Not affected", "mds": "Vulnerable"}},
		Memory: fact.Memory{Physical: 1 << 34}, Settings: []fact.Tunable{live("kernel.osrelease", "6.18.0"), live("kernel.version", "#1 SMP Tue")}}
	bare := Environment{OS: "linux", Hostname: "r1", Kernel: "6.18.0 #1 SMP Tue", Arch: "x86_64", Machine: "Dell R630", Clocksource: "tsc", CPU: "EPYC", CPUs: 8,
		Governor: "performance", MemoryBytes: 1 << 34, Mitigations: map[string]string{"mds": "Vulnerable"}}
	if diff := cmp.Diff(bare, EnvironmentOf(&linux)); diff != "" {
		t.Error(diff)
	}
	for kind, want := range map[string]string{"": "", "none": "", "kvm": "kvm", "unknown": "virtual machine"} {
		if e := EnvironmentOf(&fact.Facts{OS: fact.FreeBSD, Kernel: "FreeBSD 14.3", Hypervisor: kind}); e.Hypervisor != want || e.Kernel != "FreeBSD 14.3" || e.Mitigations == nil {
			t.Errorf("%q: %+v", kind, e)
		}
	}
}

func TestResumeKeepsTheFirstFacts(t *testing.T) {
	old := Environment{Kernel: "6.18", Clocksource: "tsc", Facts: []FactsRef{{"facts.json", "aa"}}, Resumed: []string{"before"}}
	now := Environment{Kernel: "6.19", Facts: []FactsRef{{"facts-2.json", "bb"}}}
	got := now.Resume(old)
	if diff := cmp.Diff([]FactsRef{{"facts.json", "aa"}, {"facts-2.json", "bb"}}, got.Facts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"before", "kernel was 6.18, is 6.19", "clock source was tsc, is not known"}, got.Resumed); diff != "" {
		t.Error(diff)
	}
	if len(old.Facts) != 1 {
		t.Error("resuming modified the earlier facts")
	}
}
