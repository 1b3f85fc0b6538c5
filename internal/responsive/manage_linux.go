package responsive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/knob"
	"linerate/internal/load"
	"linerate/internal/port"
	"linerate/internal/study"
)

// Local probes DUTs on this machine.
type Local struct{}

// Probe sends probes to a DUT from a port of the generator, once it is started.
type Probe struct {
	way    way
	sock   int
	greet  int // socket of the greeter
	listen sync.WaitGroup

	stop, done chan struct{}
	next       uint16
	sent       map[key]time.Time
	account    study.Management
	failed     error
}

// key identifies a probe that waits for its answer.
type key struct {
	kind byte
	n    uint16
}

// The kinds of probe.
const (
	kindEcho = iota
	kindConnect
	kindGreeting
)

// Open prepares to probe the DUT at the far end of from; cpu is where the
// greeter runs on the DUT, −1 for anywhere.
func (Local) Open(from, dut port.Port, cpu int) (study.Prober, error) {
	p := &Probe{way: way{from: from, to: dut, source: proberOf(from)}, sock: -1, greet: -1, next: 1, sent: map[key]time.Time{}}
	if err := dut.In(p.openGreeter); err != nil {
		return nil, errors.Join(fmt.Errorf("listen in the DUT: %w", err), p.Close())
	}
	p.listen.Add(1)
	go p.greetAll(cpu)
	if err := from.In(p.openSocket); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s for the management probe: %w", from.Device, err), p.Close())
	}
	return p, nil
}

func (p *Probe) openGreeter() (err error) {
	if p.greet, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return err
	}
	// Connections of an earlier greeter may still be closing on this port.
	return errors.Join(unix.SetsockoptInt(p.greet, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1), unix.Bind(p.greet, &unix.SockaddrInet4{Port: greeterPort}), unix.Listen(p.greet, 128))
}

// greetAll runs the greeter, in a thread on the DUT's CPU.
func (p *Probe) greetAll(cpu int) {
	defer p.listen.Done()
	runtime.LockOSThread() // never unlocked: the pinned thread ends with the goroutine
	if cpu >= 0 {
		var set unix.CPUSet
		set.Set(cpu)
		_ = unix.SchedSetaffinity(0, &set)
	}
	for {
		fd, _, err := unix.Accept4(p.greet, unix.SOCK_CLOEXEC)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.ECONNABORTED) {
			continue
		}
		if err != nil {
			return
		}
		_, _ = unix.Write(fd, []byte(greeting))
		unix.Close(fd)
	}
}

func htons(v uint16) uint16 { return v<<8 | v>>8 }

func (p *Probe) openSocket() error {
	var err error
	if p.sock, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(htons(unix.ETH_P_IP))); err != nil {
		return err
	}
	index, err := indexOf(p.sock, p.way.from.Device)
	if err != nil {
		return err
	}
	// A veth with TSO passes packets from sockets straight to its peer's
	// stack on the sender's CPU, bypassing the ring in which the load waits.
	if err := knob.SetOffload(p.way.from.Device, "tso", false); err != nil {
		return err
	}
	return errors.Join(unix.SetsockoptInt(p.sock, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1),
		unix.Bind(p.sock, &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_IP), Ifindex: index}))
}

func indexOf(sock int, device string) (int, error) {
	req, err := unix.NewIfreq(device)
	if err != nil {
		return 0, err
	}
	err = unix.IoctlIfreq(sock, unix.SIOCGIFINDEX, req)
	return int(req.Uint32()), err
}

// Start starts sending probes.
func (p *Probe) Start() {
	p.stop, p.done = make(chan struct{}), make(chan struct{})
	go p.ask(p.stop, p.done)
}

// Stop stops sending probes, and waits briefly for the last answers.
func (p *Probe) Stop() {
	close(p.stop)
	<-p.done
}

// Account returns the results of all probes so far.
func (p *Probe) Account() (study.Management, error) { return p.account, p.failed }

// grace is how long Stop waits for answers.
const grace = 100 * time.Millisecond

func (p *Probe) ask(stop, done chan struct{}) {
	defer close(done)
	next, end := time.Now(), time.Time{}
	for p.failed == nil {
		now := time.Now()
		select {
		case <-stop:
			if stop, end = nil, now.Add(grace); len(p.sent) == 0 {
				return
			}
		default:
		}
		switch {
		case !end.IsZero() && (now.After(end) || len(p.sent) == 0):
			p.sent = map[key]time.Time{} // the rest stay unanswered
			return
		case end.IsZero() && !now.Before(next):
			p.probe()
			next = now.Add(every)
			continue
		}
		until := next
		if !end.IsZero() {
			until = end
		}
		p.failed = p.listenFor(until.Sub(now))
	}
}

// probe sends an echo request and opens a connection.
func (p *Probe) probe() {
	n := p.next
	if p.next++; p.next >= most {
		p.next = 1
	}
	p.account.Echo.Sent++
	p.account.Connect.Sent++
	p.account.Greeting.Sent++
	p.send(key{kindEcho, n}, p.way.echo(n))
	p.send(key{kindConnect, clientPort(n)}, p.way.segment(clientPort(n), uint32(n)<<8, 0, flagSYN))
	p.sent[key{kindGreeting, clientPort(n)}] = p.sent[key{kindConnect, clientPort(n)}]
}

// clientPort returns the prober's port for connection n.
func clientPort(n uint16) uint16 { return 1<<15 + n }

// send records the time and sends; with a full queue, the probe counts as unanswered.
func (p *Probe) send(k key, frame []byte) {
	p.sent[k] = time.Now()
	_, err := unix.Write(p.sock, frame)
	if err != nil && !errors.Is(err, unix.ENOBUFS) && !errors.Is(err, unix.EAGAIN) {
		p.failed = fmt.Errorf("send a management probe: %w", err)
	}
}

// listenFor receives answers for a duration.
func (p *Probe) listenFor(d time.Duration) error {
	fds := []unix.PollFd{{Fd: int32(p.sock), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(d.Milliseconds())+1)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("wait for the DUT's answers: %w", err)
	}
	var frame, control [256]byte
	for n > 0 {
		size, oob, _, _, err := unix.Recvmsg(p.sock, frame[:], control[:], unix.MSG_DONTWAIT)
		if err != nil {
			return nil //nolint:nilerr // no more for now
		}
		if a, ok := p.way.read(frame[:size]); ok {
			p.answered(a, arrival(control[:oob]))
		}
	}
	return nil
}

// arrival returns when the kernel received a frame (SO_TIMESTAMPNS), or now.
func arrival(control []byte) time.Time {
	messages, err := unix.ParseSocketControlMessage(control)
	if err == nil {
		for _, m := range messages {
			if m.Header.Type == unix.SO_TIMESTAMPNS && len(m.Data) >= 16 {
				return time.Unix(int64(binary.NativeEndian.Uint64(m.Data)), int64(binary.NativeEndian.Uint64(m.Data[8:])))
			}
		}
	}
	return time.Now()
}

// answered counts an answer, and continues a connection.
func (p *Probe) answered(a answer, at time.Time) {
	switch {
	case a.echo:
		p.count(kindEcho, a.n, &p.account.Echo, at)
	case a.flags&(flagSYN|flagACK) == flagSYN|flagACK:
		p.count(kindConnect, a.n, &p.account.Connect, at)
		_, _ = unix.Write(p.sock, p.way.segment(a.n, a.ack, a.seq+1, flagACK))
	case a.data > 0:
		p.count(kindGreeting, a.n, &p.account.Greeting, at)
		_, _ = unix.Write(p.sock, p.way.segment(a.n, a.ack, a.seq+uint32(a.data), flagRST|flagACK))
	}
}

// count records the first answer to a probe.
func (p *Probe) count(kind byte, n uint16, of *study.Answers, at time.Time) {
	k := key{kind, n}
	sent, waiting := p.sent[k]
	if !waiting {
		return
	}
	delete(p.sent, k)
	of.Answered++
	if of.Delays == nil {
		of.Delays = &load.Histogram{}
	}
	// Kernel timestamps have no monotonic reading, so both are compared as wall-clock times.
	of.Delays.Count(uint64(max(0, at.Round(0).Sub(sent.Round(0)))))
	of.RTT = of.Delays.Latency()
}

// Close ends the probe and the greeter.
func (p *Probe) Close() error {
	if p.greet >= 0 {
		_ = unix.Shutdown(p.greet, unix.SHUT_RDWR) // makes accept return
		p.listen.Wait()
		unix.Close(p.greet)
	}
	if p.sock >= 0 {
		unix.Close(p.sock)
	}
	p.greet, p.sock = -1, -1
	return nil
}
