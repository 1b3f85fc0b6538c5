package cputime

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Offsets of the fields used from FreeBSD's struct kinfo_proc (sys/user.h) on
// 64-bit machines. Its size has not changed since FreeBSD 5.
const (
	kinfoSize    = 1088
	kinfoRuntime = 328 // µs
	kinfoStat    = 388
	kinfoPID     = 72
	kinfoComm    = 447
	kinfoCommLen = 20
	kinfoName    = 394
	kinfoNameLen = 17
	kinfoMore    = 502
	kinfoMoreLen = 4
	kinfoTID     = 600
)

// Thread states in sys/proc.h of threads that wait for work: SSLEEP, and SWAIT
// for interrupt threads.
const (
	sleeping = 3
	awaiting = 6
)

// KernelThread is the state of a FreeBSD kernel thread.
type KernelThread struct {
	TID    int
	Name   string
	Ran    time.Duration // up to when it last left the CPU, in µs resolution
	Asleep bool
}

// parseThreads parses the result of kern.proc.pid_td.
func parseThreads(b []byte) (all []KernelThread) {
	for ; len(b) >= kinfoSize; b = b[kinfoSize:] {
		if int(binary.LittleEndian.Uint32(b)) != kinfoSize {
			return all
		}
		all = append(all, KernelThread{
			TID:    int(int32(binary.LittleEndian.Uint32(b[kinfoTID:]))),
			Name:   cString(b[kinfoName:kinfoName+kinfoNameLen]) + cString(b[kinfoMore:kinfoMore+kinfoMoreLen]),
			Ran:    time.Duration(binary.LittleEndian.Uint64(b[kinfoRuntime:])) * time.Microsecond,
			Asleep: b[kinfoStat] == sleeping || b[kinfoStat] == awaiting,
		})
	}
	return all
}

// named reports whether the name of the thread has this prefix.
func (t KernelThread) named(prefix string) bool { return strings.HasPrefix(t.Name, prefix) }

// timeOf sums the run time of threads, and reports whether all of them sleep.
// It returns an error if no thread has one of the prefixes, because the sum
// would then never change.
func timeOf(all []KernelThread, prefixes []string) (ran time.Duration, asleep bool, err error) {
	asleep = true
	for _, p := range prefixes {
		if !slices.ContainsFunc(all, func(t KernelThread) bool { return t.named(p) }) {
			return 0, false, fmt.Errorf("the kernel has no thread %s", p)
		}
	}
	for _, t := range all {
		ran, asleep = ran+t.Ran, asleep && t.Asleep
	}
	return ran, asleep, nil
}

// pidOf finds the PID of a process by name in the result of kern.proc.proc.
func pidOf(name string, b []byte) (pid int, ok bool) {
	for ; len(b) >= kinfoSize; b = b[kinfoSize:] {
		if cString(b[kinfoComm:kinfoComm+kinfoCommLen]) == name {
			return int(int32(binary.LittleEndian.Uint32(b[kinfoPID:]))), true
		}
	}
	return 0, false
}

func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
