package cputime

import (
	"bytes"
	"encoding/binary"
	"time"
)

// The fields of FreeBSD's struct kinfo_proc (sys/user.h) that are read, on its
// 64-bit machines. The structure has kept its size since FreeBSD 5.
const (
	kinfoSize    = 1088
	kinfoStart   = 336 // struct timeval
	kinfoRuntime = 328 // µs
	kinfoStat    = 388
	kinfoName    = 394
	kinfoNameLen = 17
	kinfoMore    = 502
	kinfoMoreLen = 4
	kinfoTID     = 600
)

// sleeping is SSLEEP of sys/proc.h: the thread waits for work.
const sleeping = 3

// KernelThread is what the kernel of FreeBSD tells of one of its threads.
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
			Asleep: b[kinfoStat] == sleeping,
		})
	}
	return all
}

func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
