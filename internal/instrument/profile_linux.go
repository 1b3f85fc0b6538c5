package instrument

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/fact/linux"
	"linerate/internal/hint"
	"linerate/internal/profile"
	"linerate/internal/show"
)

// hertz is the sampling rate: high enough to resolve small shares within a
// second, and not in step with the kernel's timers.
const hertz = 3989

// ringPages is the size of each CPU's record ring in pages, a power of two.
const ringPages = 256

// packets are functions at the base of packet processing by the kernel or the
// generator in it. A stack with none of them belongs to another program.
var packets = []string{"net_rx_action", "napi_threaded_poll", "bpf_prog_test_run_xdp", "packet_sendmsg"}

// Profile samples CPUs until end is called: by a counter of CPU cycles if there is
// one, else by the CPU clock, which cannot see code that runs with interrupts off. If
// any samples are of packet processing, only those are kept, and not what the CPUs did
// for other programs.
func Profile(ctx context.Context, cpus []int) (end func() (*profile.Profile, error), err error) {
	r, err := record(cpus)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	followed := make(chan error, 1)
	go func() { followed <- r.follow(ctx) }()
	return func() (*profile.Profile, error) {
		cancel()
		err := <-followed
		for _, one := range r.rings {
			one.close()
		}
		if err != nil {
			return nil, err
		}
		p, err := r.profile()
		if err != nil {
			return nil, err
		}
		return ofPackets(p), nil
	}, nil
}

func ofPackets(p *profile.Profile) *profile.Profile {
	own := profile.Through(p, packets)
	if own == nil {
		return p
	}
	other := 100 - 100*float64(profile.Total(own))/float64(profile.Total(p))
	own.Comments = append(own.Comments, fmt.Sprintf("%s of the time was idle, or other programs', and is left out.", show.Percent(other)))
	return own
}

// record starts sampling CPUs; an empty list means all online CPUs.
func record(cpus []int) (r *recording, err error) {
	file, err := os.Open("/proc/kallsyms")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r = &recording{task: tasks()}
	if r.names, err = readSymbols(file); err != nil {
		return nil, err
	}
	if len(cpus) == 0 {
		if cpus, err = online(); err != nil {
			return nil, err
		}
	}
	var unit string
	if r.rings, r.event, unit, err = open(cpus); err != nil {
		return nil, err
	}
	r.b = profile.NewBuilder(r.event, unit)
	return r, nil
}

// profile returns the profile of the samples taken.
func (r *recording) profile() (*profile.Profile, error) {
	p := r.b.Profile()
	if r.lost > 0 {
		p.Comments = append(p.Comments, fmt.Sprintf("%d samples were lost: the machine was too busy to take them.", r.lost))
	}
	if r.event == "cpu-clock" {
		p.Comments = append(p.Comments, "No counter of CPU cycles here: samples are by the CPU's clock, which counts code that runs with interrupts off where they are turned on again.")
	}
	if len(p.Sample) == 0 {
		return nil, errors.New("no samples: the CPUs were idle")
	}
	return p, nil
}

// follow reads the rings until ctx ends.
func (r *recording) follow(ctx context.Context) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for over := false; !over; {
		select {
		case <-ctx.Done():
			over = true
		case <-tick.C:
		}
		for _, ring := range r.rings {
			if over {
				ring.stop()
			}
			if err := ring.drain(r.record); err != nil {
				return err
			}
		}
	}
	return nil
}

// open starts sampling on each CPU, by cycles if every CPU can.
func open(cpus []int) (rings []*ring, event, unit string, err error) {
	for _, e := range []struct {
		event, unit string
		attr        unix.PerfEventAttr
	}{
		{"cycles", "cycles", unix.PerfEventAttr{Type: unix.PERF_TYPE_HARDWARE, Config: unix.PERF_COUNT_HW_CPU_CYCLES, Sample: hertz, Bits: unix.PerfBitFreq}},
		{"cpu-clock", "nanoseconds", unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Sample: uint64(time.Second) / hertz}},
	} {
		attr := e.attr
		attr.Size = uint32(unsafe.Sizeof(attr))
		attr.Sample_type = unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_PERIOD | unix.PERF_SAMPLE_CALLCHAIN
		attr.Bits |= unix.PerfBitExcludeCallchainUser
		for _, cpu := range cpus {
			var r *ring
			if r, err = openRing(&attr, cpu); err != nil {
				break
			}
			rings = append(rings, r)
		}
		if err == nil {
			return rings, e.event, e.unit, nil
		}
		for _, r := range rings {
			r.close()
		}
		rings = nil
	}
	return nil, "", "", err
}

// ring is a CPU's event and the memory to which the kernel writes samples.
type ring struct {
	fd   int
	mem  []byte
	meta *unix.PerfEventMmapPage
	data []byte
	rec  []byte
}

func openRing(attr *unix.PerfEventAttr, cpu int) (*ring, error) {
	fd, err := unix.PerfEventOpen(attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		err = fmt.Errorf("sample CPU %d: %w", cpu, err)
		if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
			err = hint.With(err, "run as root or with CAP_PERFMON, or lower kernel.perf_event_paranoid to 0")
		}
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ENXIO) {
			err = hint.With(err, "is CPU %d there and online?", cpu)
		}
		return nil, err
	}
	page := os.Getpagesize()
	mem, err := unix.Mmap(fd, 0, (1+ringPages)*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("map the samples of CPU %d: %w", cpu, err)
	}
	return &ring{fd: fd, mem: mem, meta: (*unix.PerfEventMmapPage)(unsafe.Pointer(&mem[0])), data: mem[page:]}, nil
}

func (r *ring) stop() { _ = unix.IoctlSetInt(r.fd, unix.PERF_EVENT_IOC_DISABLE, 0) }

func (r *ring) close() {
	_ = unix.Munmap(r.mem)
	unix.Close(r.fd)
}

// drain passes on the records written since the last call.
func (r *ring) drain(take func(kind uint32, body []byte) error) error {
	head, tail := atomic.LoadUint64(&r.meta.Data_head), r.meta.Data_tail
	size := uint64(len(r.data))
	for tail+8 <= head {
		r.rec = r.copyOut(tail, 8)
		kind, length := uint32(r.rec[0])|uint32(r.rec[1])<<8, uint64(r.rec[6])|uint64(r.rec[7])<<8
		if length < 8 || length > head-tail || length > size {
			return errors.New("the kernel's ring of samples makes no sense")
		}
		body := r.copyOut(tail+8, length-8)
		if err := take(kind, body); err != nil {
			return err
		}
		tail += length
	}
	atomic.StoreUint64(&r.meta.Data_tail, tail)
	return nil
}

// copyOut copies n bytes, which may wrap around the end of the ring.
func (r *ring) copyOut(at, n uint64) []byte {
	size := uint64(len(r.data))
	r.rec = r.rec[:0]
	at %= size
	first := min(n, size-at)
	r.rec = append(r.rec, r.data[at:at+first]...)
	return append(r.rec, r.data[:n-first]...)
}

// online returns the kernel's list of online CPUs, or an error if it cannot be read.
func online() ([]int, error) {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, err
	}
	return linux.ParseList(string(text)), nil
}

// tasks returns a function that names threads. It caches names because threads end.
func tasks() func(tid uint32) string {
	known := map[uint32]string{0: "idle"}
	return func(tid uint32) string {
		name, ok := known[tid]
		if !ok {
			name = "a task that ended"
			if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", tid)); err == nil {
				name = strings.TrimSpace(string(text))
			}
			known[tid] = name
		}
		return name
	}
}
