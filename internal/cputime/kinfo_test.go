package cputime

import (
	"encoding/binary"
	"testing"
	"time"
)

// TestParseThreads parses a kernel's answer that is laid out by hand.
func TestParseThreads(t *testing.T) {
	thread := func(tid uint32, name, more string, us uint64, stat byte) []byte {
		b := make([]byte, kinfoSize)
		binary.LittleEndian.PutUint32(b, kinfoSize)
		binary.LittleEndian.PutUint64(b[kinfoRuntime:], us)
		binary.LittleEndian.PutUint32(b[kinfoTID:], tid)
		copy(b[kinfoName:], name)
		copy(b[kinfoMore:], more)
		b[kinfoStat] = stat
		return b
	}
	got := parseThreads(append(thread(100034, "epair_task", "", 1234, sleeping), thread(7, "a_name_of_16_byt", "es+", 5, 2)...))
	want := []KernelThread{{100034, "epair_task", 1234 * time.Microsecond, true}, {7, "a_name_of_16_bytes+", 5 * time.Microsecond, false}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%+v, want %+v", got, want)
	}
	other := thread(1, "x", "", 1, 1)
	binary.LittleEndian.PutUint32(other, 816)
	for _, b := range [][]byte{nil, other, other[:100]} {
		if got := parseThreads(b); got != nil {
			t.Errorf("of %d bytes of another layout it read %+v", len(b), got)
		}
	}
}

// TestPidOf finds a process by its name.
func TestPidOf(t *testing.T) {
	process := func(pid uint32, name string) []byte {
		b := make([]byte, kinfoSize)
		binary.LittleEndian.PutUint32(b[kinfoPID:], pid)
		copy(b[kinfoComm:], name)
		return b
	}
	all := append(process(0, "kernel"), process(11, "intr")...)
	if pid, ok := pidOf("intr", all); !ok || pid != 11 {
		t.Errorf("intr is %d, %v", pid, ok)
	}
	if pid, ok := pidOf("int", all[:len(all)-1]); ok {
		t.Errorf("a process that does not exist has pid %d", pid)
	}
}

// TestTimeOf: every requested kind of thread must exist.
func TestTimeOf(t *testing.T) {
	all := []KernelThread{{Name: "epair_task_0", Ran: 3, Asleep: true}, {Name: "epair_task_1", Ran: 4}, {Name: "swi1: netisr 0", Ran: 5, Asleep: true}}
	if ran, asleep, err := timeOf(all, []string{"epair_task", "swi1: netisr"}); ran != 12 || asleep || err != nil {
		t.Errorf("%v, %v, %v", ran, asleep, err)
	}
	if ran, asleep, err := timeOf(all[2:], []string{"swi1: netisr"}); ran != 5 || !asleep || err != nil {
		t.Errorf("%v, %v, %v", ran, asleep, err)
	}
	if ran, _, err := timeOf(all[2:], []string{"epair_task", "swi1: netisr"}); err == nil {
		t.Errorf("without the thread that moves frames: %v", ran)
	}
}
