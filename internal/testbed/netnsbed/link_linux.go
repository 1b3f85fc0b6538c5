package netnsbed

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/internal/port"
	"linerate/internal/testbed"
)

// End is one end of a link: a TUN device to create in a place.
type End struct {
	In     port.Place
	Device string
}

// Link is a link that is up.
type Link struct {
	ends  [2]End
	fds   [2]int
	wake  *os.File // written to at the end
	quit  *os.File
	dirs  [2]*queue // dirs[i] holds what came from ends[i]
	tally tally
	done  chan error
}

// Join creates both devices and connects them. The caller gives them
// addresses; Close removes them. The random numbers for loss and jitter
// follow from seed.
func Join(a, b End, l testbed.Link, seed uint64) (*Link, error) {
	k := &Link{ends: [2]End{a, b}, fds: [2]int{-1, -1}, done: make(chan error, 1)}
	for i, e := range k.ends {
		k.dirs[i] = newQueue(l, seed, uint64(i))
		err := e.In(func() (err error) {
			k.fds[i], err = openTUN(e.Device)
			return err
		})
		if err != nil {
			k.release()
			return nil, fmt.Errorf("make the link's device %s: %w", e.Device, err)
		}
	}
	var err error
	if k.quit, k.wake, err = os.Pipe(); err != nil {
		k.release()
		return nil, fmt.Errorf("make a link: %w", err)
	}
	processors.add(1)
	go func() { k.done <- k.carry() }()
	return k, nil
}

// ringLength is how many packets wait for the link's thread: more than any
// sender has in flight.
const ringLength = 20_000

// openTUN creates a TUN device in the calling thread's network namespace.
func openTUN(name string) (fd int, err error) {
	if fd, err = unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err != nil {
		return -1, &testbed.ErrUnavailable{Setting: "a link with delay", Reason: fmt.Sprintf("/dev/net/tun cannot be opened: %v", err)}
	}
	req, err := unix.NewIfreq(name)
	if err == nil {
		req.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, req)
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("open a TUN device: %w", err)
	}
	link, err := netlink.LinkByName(name)
	if err == nil {
		err = netlink.LinkSetTxQLen(link, ringLength)
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("lengthen the queue of %s: %w", name, err)
	}
	return fd, nil
}

// Stats returns what the link has done so far. What the kernel dropped before
// the link's thread read it counts as missed.
func (k *Link) Stats() testbed.LinkStats {
	s := k.tally.read()
	for _, e := range k.ends {
		_ = e.In(func() error { // a removed namespace adds nothing
			link, err := netlink.LinkByName(e.Device)
			if err == nil && link.Attrs().Statistics != nil {
				s.Missed += link.Attrs().Statistics.TxDropped
			}
			return err
		})
	}
	return s
}

// Close ends the link, and removes its devices.
func (k *Link) Close() error {
	_, err := k.wake.Write([]byte{0})
	err = errors.Join(err, <-k.done)
	processors.add(-1)
	k.release()
	return err
}

func (k *Link) release() {
	for i, fd := range k.fds {
		if fd >= 0 {
			unix.Close(fd)
			k.fds[i] = -1
		}
	}
	if k.quit != nil {
		k.quit.Close()
		k.wake.Close()
	}
}

// turn is how many packets are handled for one end before the other.
const turn = 64

// carry is the link's thread.
func (k *Link) carry() error {
	runtime.LockOSThread() // the thread ends with the goroutine
	punctual()
	start := time.Now()
	polled := []unix.PollFd{{Fd: int32(k.fds[0]), Events: unix.POLLIN}, {Fd: int32(k.fds[1]), Events: unix.POLLIN}, {Fd: int32(k.quit.Fd()), Events: unix.POLLIN}}
	var b batch
	for {
		busy := false
		for i := range k.dirs {
			took, err := k.take(i, start, &b)
			if err != nil {
				return err
			}
			gave, err := k.give(i, start, &b)
			if err != nil {
				return err
			}
			busy = busy || took || gave
		}
		if busy && len(b.late) < 1024 {
			continue
		}
		k.tally.add(&b)
		if busy {
			continue
		}
		if _, err := unix.Ppoll(polled, k.patience(start), nil); err != nil && err != unix.EINTR {
			return fmt.Errorf("wait for packets: %w", err)
		}
		if polled[2].Revents != 0 {
			return nil
		}
	}
}

// processors adjusts GOMAXPROCS: each link adds one processor. A thread that the kernel
// wakes on time would still wait for a Go processor, up to ten milliseconds while
// all are in use, and longer if those threads wait for a CPU themselves.
var processors extra

type extra struct{ sync.Mutex }

func (e *extra) add(n int) {
	e.Lock()
	defer e.Unlock()
	runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)+n))
}

// punctual has the calling thread woken on time, as far as permitted: with
// priority over all ordinary threads (sched(7), SCHED_FIFO), and without
// timer slack (prctl(2)). Late packets are counted in any case.
func punctual() {
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}, 0)
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
}

// patience returns how long nothing is due; nil means forever.
func (k *Link) patience(start time.Time) *unix.Timespec {
	first, any := int64(0), false
	for _, q := range k.dirs {
		if due, ok := q.next(); ok && (!any || due < first) {
			first, any = due, true
		}
	}
	if !any {
		return nil
	}
	t := unix.NsecToTimespec(max(0, first-int64(time.Since(start))))
	return &t
}

// take reads the packets that have arrived at an end.
func (k *Link) take(i int, start time.Time, b *batch) (any bool, err error) {
	q := k.dirs[i]
	for range turn {
		buf := q.buffer()
		n, err := unix.Read(k.fds[i], buf)
		if err == unix.EAGAIN || err == unix.EINTR {
			q.giveBack(buf)
			return any, nil
		}
		if err != nil {
			return any, fmt.Errorf("read from %s: %w", k.ends[i].Device, err)
		}
		any = true
		switch q.arrive(int64(time.Since(start)), buf[:n]) {
		case lost:
			b.lost++
		case overflown:
			b.overflown++
		}
	}
	return any, nil
}

// give writes the packets that are due at the other end.
func (k *Link) give(i int, start time.Time, b *batch) (any bool, err error) {
	q := k.dirs[i]
	for range turn {
		now := int64(time.Since(start))
		due, ok := q.next()
		if !ok || due > now {
			return any, nil
		}
		any = true
		p := q.pop()
		switch _, err := unix.Write(k.fds[1-i], p.data); err {
		case nil:
			b.packets++
			b.bytes += uint64(len(p.data))
			b.late = append(b.late, now-due)
		case unix.EAGAIN, unix.EINTR, unix.ENOBUFS, unix.EIO: // EIO: the device is down
			b.missed++
		default:
			return any, fmt.Errorf("write to %s: %w", k.ends[1-i].Device, err)
		}
		q.giveBack(p.data)
	}
	return any, nil
}
