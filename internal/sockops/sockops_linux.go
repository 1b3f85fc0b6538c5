package sockops

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"linerate/internal/hint"
)

// Splitter splits the connections of a cgroup until it is closed.
type Splitter struct {
	objs  connectionsObjects
	link  link.Link
	ended *ringbuf.Reader
	plan  connectionsPlan
}

// windows is the number of windows that the program counts separately (WINDOWS in C).
const windows = 64

// Cgroup returns the cgroup v2 directory of a service: that of the process with this name,
// or the root for "".
func Cgroup(service string) (string, error) {
	root, err := cgroupRoot()
	if err != nil || service == "" {
		return root, err
	}
	comms, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		return "", err
	}
	for _, comm := range comms {
		if name, err := os.ReadFile(comm); err != nil || strings.TrimSpace(string(name)) != service {
			continue
		}
		groups, err := os.ReadFile(filepath.Join(filepath.Dir(comm), "cgroup"))
		if err != nil {
			continue // the process has ended
		}
		for line := range strings.Lines(string(groups)) {
			if path, ok := strings.CutPrefix(line, "0::"); ok {
				return filepath.Join(root, strings.TrimSpace(path)), nil
			}
		}
	}
	return "", hint.With(fmt.Errorf("no process %s runs on this machine", service), "name it as ps -e -o comm prints it, or leave it out for all services")
}

func cgroupRoot() (string, error) {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return "", fmt.Errorf("find the cgroup v2: %w", err)
	}
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 2 && f[2] == "cgroup2" {
			return f[1], nil
		}
	}
	return "", hint.With(errors.New("this machine has no cgroup v2, which the hooks for connections and sysctls need"), "mount -t cgroup2 none /sys/fs/cgroup/unified, or boot with systemd.unified_cgroup_hierarchy=1")
}

// Try sets an option on an unconnected socket, and returns an error if this kernel does not support
// it or has not loaded the module. Options that only BPF programs can set are not tried.
func Try(o Option) error {
	const ofBPF = 1000 // TCP_BPF_IW and above
	if o.Name >= ofBPF {
		return nil
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if o.Text != "" {
		return unix.SetsockoptString(fd, o.Level, o.Name, o.Text)
	}
	return unix.SetsockoptInt(fd, o.Level, o.Name, int(o.Value))
}

// Attach starts splitting the connections that the cgroup's processes accept. No
// connection is treated before Set.
func Attach(cgroup string, key Key, options []Option) (_ *Splitter, err error) {
	s := &Splitter{plan: connectionsPlan{Key: key}}
	if len(options) > len(s.plan.Option) {
		return nil, fmt.Errorf("%d options for a connection: the program sets at most %d", len(options), len(s.plan.Option))
	}
	for i, o := range options {
		if err := s.plan.set(i, o); err != nil {
			return nil, err
		}
	}
	if err := loadConnectionsObjects(&s.objs, nil); err != nil {
		return nil, refused("load", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	group, err := os.Open(cgroup)
	if err != nil {
		return nil, fmt.Errorf("open the cgroup: %w", err)
	}
	defer group.Close()
	// A link rather than an attachment, so that the kernel removes it when this process ends.
	if s.link, err = link.AttachRawLink(link.RawLinkOptions{Target: int(group.Fd()), Program: s.objs.Split, Attach: ebpf.AttachCGroupSockOps}); err != nil {
		return nil, refused("attach", err)
	}
	if s.ended, err = ringbuf.NewReader(s.objs.Ended); err != nil {
		return nil, fmt.Errorf("read ended connections: %w", err)
	}
	return s, s.Set(0, 0, All)
}

func (p *connectionsPlan) set(i int, o Option) error {
	to := &p.Option[i]
	to.Level, to.Name, to.Length = uint32(o.Level), uint32(o.Name), 4
	value := binary.NativeEndian.AppendUint32(nil, uint32(o.Value))
	if o.Text != "" {
		value, to.Length = []byte(o.Text), uint32(len(to.Value))
	}
	if len(value) >= len(to.Value) {
		return fmt.Errorf("value %q of a socket option is longer than %d bytes", o.Text, len(to.Value)-1)
	}
	for j, b := range value {
		to.Value[j] = int8(b)
	}
	p.Options = uint32(i + 1)
	return nil
}

func refused(what string, err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return hint.With(fmt.Errorf("%s the program for connections: %w", what, unix.EPERM), "it needs root, or CAP_BPF and CAP_NET_ADMIN")
	}
	return hint.With(fmt.Errorf("%s the program for connections: %w", what, err), "it needs Linux 5.10 or later with CONFIG_CGROUP_BPF and BTF")
}

// Set starts a window in which the given share (0 to 1) of connections is treated and keep of
// each arm's are reported, and clears the counts of the earlier window in the same slot.
func (s *Splitter) Set(window uint32, share float64, keep Shares) error {
	cpus, err := ebpf.PossibleCPU()
	if err != nil {
		return err
	}
	for arm, share := range keep {
		if err := s.objs.Tallies.Put(window%windows*uint32(arms)+uint32(arm), make([]connectionsTally, cpus)); err != nil {
			return fmt.Errorf("begin a window: %w", err)
		}
		s.plan.Keep[arm] = kept(share)
	}
	s.plan.Window, s.plan.Below = window, below(share)
	if err := s.objs.Plans.Put(uint32(0), &s.plan); err != nil {
		return fmt.Errorf("set the share of treated connections: %w", err)
	}
	return nil
}

// Tallies returns the counts of a window, by arm.
func (s *Splitter) Tallies(window uint32) (out [arms]Tally, err error) {
	for arm := range out {
		var per []connectionsTally
		if err := s.objs.Tallies.Lookup(window%windows*uint32(arms)+uint32(arm), &per); err != nil {
			return out, fmt.Errorf("count connections: %w", err)
		}
		for _, c := range per {
			t := &out[arm]
			t.Opened, t.Kept, t.Closed = t.Opened+c.Opened, t.Kept+c.Kept, t.Closed+c.Closed
			t.Refused, t.Lost = t.Refused+c.Refused, t.Lost+c.Lost
			t.Errno = min(t.Errno, c.Errno)
		}
	}
	return out, nil
}

// Read returns the connections that have ended since the last call, without waiting.
func (s *Splitter) Read() (out []Closed, err error) {
	now := time.Now()
	s.ended.SetDeadline(now)
	var clock unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &clock); err != nil {
		return nil, fmt.Errorf("read ended connections: %w", err)
	}
	boot := now.Add(-time.Duration(clock.Nano()))
	var r ringbuf.Record
	for {
		if err := s.ended.ReadInto(&r); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return out, nil
			}
			return out, fmt.Errorf("read ended connections: %w", err)
		}
		if len(r.RawSample) < int(unsafe.Sizeof(connectionsClosed{})) {
			return out, fmt.Errorf("read an ended connection: %d bytes are too few", len(r.RawSample))
		}
		out = append(out, closedOf((*connectionsClosed)(unsafe.Pointer(unsafe.SliceData(r.RawSample))), boot))
	}
}

func closedOf(c *connectionsClosed, boot time.Time) Closed {
	out := Closed{
		Window: c.Window, Arm: Arm(c.Arm), Remote: endpoint(c.Remote, c.RemotePort), Local: endpoint(c.Local, c.LocalPort),
		Ended: boot.Add(time.Duration(c.Closed)), Duration: time.Duration(c.Closed - c.Opened), BytesSent: c.BytesAcked,
		FirstRTT: micros(c.FirstRttUs), RTT: micros(c.RttUs), Segments: c.Segments, Again: c.Again,
	}
	if c.IntervalUs > 0 {
		out.Rate = float64(c.Delivered) * float64(c.Mss) / (float64(c.IntervalUs) / 1e6)
	}
	return out
}

// unmeasured is the kernel's value of a minimum round-trip time that was not measured.
const unmeasured = ^uint32(0)

func micros(v uint32) time.Duration {
	if v == unmeasured {
		return 0
	}
	return time.Duration(v) * time.Microsecond
}

func endpoint(words [4]uint32, port uint32) netip.AddrPort {
	var b [16]byte
	for i, w := range words {
		binary.NativeEndian.PutUint32(b[4*i:], w)
	}
	return netip.AddrPortFrom(netip.AddrFrom16(b).Unmap(), uint16(port))
}

// Clock makes the kernel time its BPF programs until it is closed.
type Clock struct {
	io.Closer
	each time.Duration // what it counts for a program that does nothing
}

// NewClock starts a clock.
func NewClock() (c Clock, err error) {
	if c.Closer, err = ebpf.EnableStats(uint32(unix.BPF_STATS_RUN_TIME)); err != nil {
		return c, fmt.Errorf("time the program for connections: %w", err)
	}
	if c.each, err = timeNothing(); err != nil {
		return c, errors.Join(fmt.Errorf("time a program that does nothing: %w", err), c.Close())
	}
	return c, nil
}

func timeNothing() (time.Duration, error) {
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.SocketFilter, Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()}})
	if err != nil {
		return 0, err
	}
	defer p.Close()
	const frame, runs = 64, 10_000
	if _, _, err := p.Benchmark(make([]byte, frame), runs, nil); err != nil {
		return 0, err
	}
	s, err := p.Stats()
	if err != nil {
		return 0, err
	}
	return s.Runtime / runs, nil
}

// Cost returns how long the program ran while a clock did, without what the clock itself takes,
// and in how many calls.
func (s *Splitter) Cost(c Clock) (took time.Duration, calls uint64, err error) {
	info, err := s.objs.Split.Stats()
	if err != nil {
		return 0, 0, fmt.Errorf("time the program for connections: %w", err)
	}
	return info.Runtime - time.Duration(info.RunCount)*c.each, info.RunCount, nil
}

// Close detaches the program from the cgroup.
func (s *Splitter) Close() (err error) {
	if s.link != nil {
		err = s.link.Close()
	}
	if s.ended != nil {
		err = errors.Join(err, s.ended.Close())
	}
	return errors.Join(err, s.objs.Close())
}
