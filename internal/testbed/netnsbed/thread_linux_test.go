package netnsbed

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"linerate/internal/knob"
	"linerate/internal/labtest"
	"linerate/internal/load/wire/wiretest"
)

// TestThread: the NAPI that GRO enables on a veth has its own thread on the requested CPU.
func TestThread(t *testing.T) {
	labtest.Namespaces(t)
	gen, _ := wiretest.New(t)
	if err := gen.In(func() error { return knob.SetOffload(gen.Device, knob.GRO, true) }); err != nil {
		t.Fatal(err)
	}
	before := napiThreads(gen.Device)
	if _, err := Thread(gen.In, gen.Device, 0); err != nil {
		t.Fatal(err)
	}
	pinned := 0
	for pid := range napiThreads(gen.Device) {
		var set unix.CPUSet
		if _, old := before[pid]; !old && unix.SchedGetaffinity(pid, &set) == nil && set.Count() == 1 && set.IsSet(0) {
			pinned++
		}
	}
	if pinned != 1 {
		t.Errorf("%d new threads of the device are pinned to CPU 0, want 1", pinned)
	}
	if _, err := Thread(gen.In, "gen9", 0); err == nil || !strings.Contains(err.Error(), "gen9") {
		t.Errorf("a device that does not exist: %v", err)
	}
}
