package factexpr

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"linerate/internal/fact"
)

func BenchmarkCompile(b *testing.B) {
	l := NewLanguage[Host]()
	for b.Loop() {
		if _, err := l.compile("forwarding && (service('frr') || service('bird'))"); err != nil {
			b.Fatal(err)
		}
	}
}

func TestLanguage(t *testing.T) {
	l, h := NewLanguage[Host](), Of(&fact.Facts{OS: fact.FreeBSD, CPU: fact.CPU{Count: 4}, Memory: fact.Memory{Physical: 1 << 20}})
	for code, want := range map[string]string{
		"os": "freebsd", "cpus * 2": "8", "memory / 1024": "1024", "pages": "256", "div(7, 2)": "3", "div(1, 0)": "0",
		"pow2(cpus + 1)": "8", "1 / 3": "0.3333", `[1, "a"]`: "1, a", "drivers": "", "at_least(14, 0)": "false",
	} {
		v, err := l.Value(code, &h)
		if err != nil || Show(v) != want {
			t.Errorf("%s is %s, want %s (%v)", code, Show(v), want, err)
		}
	}
	if yes, err := l.Holds("", &h); err != nil || !yes {
		t.Errorf("an empty condition does not hold: %v, %v", yes, err)
	}
}

// TestLanguageRefuses: mistakes are found when an expression is checked, not when it is evaluated on
// some host.
func TestLanguageRefuses(t *testing.T) {
	l := NewLanguage[Host]()
	for code, want := range map[string]string{
		"nosuch": "unknown name nosuch", "cpus(": "unexpected token", `cpus + "a"`: "invalid operation", "service(1)": "cannot use int",
		"cpus": "want true or false", "Forwarding": "unknown name", `Value("x")`: "unknown name",
	} {
		if err := l.CheckCondition(code); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", code, err, want)
		}
	}
	for _, text := range []string{"${nosuch}", "a ${cpus", "${cpus} ${"} {
		if err := l.CheckText(text); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
	// A mistake does not affect the shared configuration.
	if err := l.CheckCondition("cpus > 2"); err != nil {
		t.Error(err)
	}
}

func TestFill(t *testing.T) {
	l, h := NewLanguage[Host](), Of(&fact.Facts{CPU: fact.CPU{Count: 4}})
	got, err := l.Fill(" ${cpus} CPUs, half of them ${cpus / 2}. ", &h)
	if err != nil || got != "4 CPUs, half of them 2." {
		t.Errorf("%q, %v", got, err)
	}
}

func TestReads(t *testing.T) {
	names, calls := NewLanguage[Host]().Reads(`memory > 1 && rc("x_enable") && service(os)`)
	if !slices.Contains(names, "memory") || !slices.Contains(names, "os") || !slices.Equal(calls, []Call{{"rc", "x_enable"}}) {
		t.Errorf("%v, %v", names, calls)
	}
	if names, _ := NewLanguage[Host]().Reads("("); names != nil {
		t.Errorf("an invalid expression reads %v", names)
	}
}

// TestLanguageInParallel: hosts can be audited concurrently (run with -race).
func TestLanguageInParallel(t *testing.T) {
	l := NewLanguage[Host]()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			h := Of(&fact.Facts{CPU: fact.CPU{Count: i}})
			for _, code := range []string{"cpus", "cpus + 1", "cpus + 2", "memory"} {
				if _, err := l.Value(code, &h); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestHostOfInterfaces(t *testing.T) {
	four := 4
	f := &fact.Facts{
		NICs: []fact.NIC{
			{Name: "ix0", Driver: "ix", Kind: fact.KindEthernet, SpeedBits: 1e10, RXQueues: 4, Options: []string{"LRO"}, IPv4: 1},
			{Name: "igb0", Driver: "igb", ConfigFlags: []string{"tso", "-lro", "-tso", "lro"}},
			{Name: "bridge0", Kind: fact.KindBridge, Members: []string{"ix0", "tap0"}},
		},
		Interrupts: []fact.Interrupt{{Name: "a", Device: "ix0", Queue: "rxq0", Rate: 5, CPU: &four}, {Name: "b", Device: "ix0", Queue: "rxq1", Rate: 9}, {Name: "c", Device: "ix0"}},
	}
	l, h := NewLanguage[Host](), Of(f)
	for code, want := range map[string]string{
		"ports": "2", "drivers": "igb, ix", "link": "10000000000", "nic_queues": "4", "addressed_ports": "1", "bridged_ports": "1",
		`enabled("LRO")`: "true", `driver("bridge")`: "false", "nics[0].busiest_rate": "9", "nics[0].busy_queues": "2",
		`nics[0].offload("TSO4")`: "off", `nics[1].offload("TSO4")`: "off", `nics[1].offload("LRO")`: "on", `nics[2].offload("LRO")`: "default",
		`nics[1].refused("tso")`: "true", `nics[1].asked("LRO")`: "true", `nics[1].asked("tso")`: "false", `nics[1].refused("lro")`: "false", "nics[2].ether": "false", "len(interrupts)": "3",
	} {
		v, err := l.Value(code, &h)
		if err != nil || Show(v) != want {
			t.Errorf("%s is %s, want %s (%v)", code, Show(v), want, err)
		}
	}
}
