package instrument

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Event is one that the CPU's hardware counts, by the kernel's generic name for it
// (perf_event_open(2), PERF_TYPE_HARDWARE).
type Event struct {
	Name   string
	config uint64
}

// Counter is one that runs until it is closed, or the process ends.
type Counter struct {
	event Event
	fd    int
}

// Open starts to count an event of all that runs on a CPU. Its error says why this
// machine does not. exclude_idle is not used: most drivers ignore it, arm64's refuses it.
func (e Event) Open(cpu int) (*Counter, error) {
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_HARDWARE, Config: e.config,
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING}
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("count %s: %w", e.Name, err)
	}
	return &Counter{e, fd}, nil
}

// Read reads it.
func (c *Counter) Read() (Reading, error) {
	var b [24]byte
	if n, err := unix.Read(c.fd, b[:]); err != nil || n != len(b) {
		return Reading{}, fmt.Errorf("read the counter of %s: %d bytes, %w", c.event.Name, n, err)
	}
	return Reading{binary.NativeEndian.Uint64(b[:]), binary.NativeEndian.Uint64(b[8:]), binary.NativeEndian.Uint64(b[16:])}, nil
}

// Close ends it.
func (c *Counter) Close() error { return unix.Close(c.fd) }
