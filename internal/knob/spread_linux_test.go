package knob

import "testing"

func TestCPUMask(t *testing.T) {
	for want, cpus := range map[string][]int{"1": {0}, "6": {1, 2}, "1,00000001": {0, 32}, "80000000": {31}} {
		if got := cpuMask(cpus); got != want {
			t.Errorf("CPUs %v are %s, want %s", cpus, got, want)
		}
	}
}
