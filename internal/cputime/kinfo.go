package cputime

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The fields of FreeBSD's struct kinfo_proc (sys/user.h) that are read, on its
// 64-bit machines. The structure has kept its size since FreeBSD 5.
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

// The states of sys/proc.h in which a thread waits for work: SSLEEP, and SWAIT
// of interrupt threads.
const (
	sleeping = 3
	awaiting = 6
)

// KernelThread is what FreeBSD's kernel reports about one of its threads.
type KernelThread struct {
	TID    int
	Name   string
	Ran    time.Duration // to the microsecond, until it last left its CPU
	Asleep bool
}

// parseThreads reads what kern.proc.pid_td answers.
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

// named reports whether a thread's name begins so.
func (t KernelThread) named(prefix string) bool { return strings.HasPrefix(t.Name, prefix) }

// timeOf adds up what threads have run, and reports whether all of them wait.
// Each prefix must be that of one: without one of the kinds the sum would stand
// still for ever.
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

// pidOf finds a process by its name in what kern.proc.proc answers.
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
