package responsive

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/knob"
	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/port"
	"linerate/internal/study"
)

// strangers are the source addresses of the flood's segments: a documentation prefix (RFC
// 5737), which no host uses.
var strangers = netip.MustParsePrefix("203.0.113.0/24")

// Flood sends SYN segments to the DUT's service and never completes a connection.
type Flood struct {
	in   port.Place
	sock int
	cpu  int
	frame
}

// Flood prepares to flood the DUT at the far end of from, with a thread on cpu.
// It adds a route for the sources to the DUT, so that the DUT can answer.
func (Local) Flood(from, dut port.Port, cpu int) (study.Flooder, error) {
	f := &Flood{in: from.In, sock: -1, cpu: cpu, frame: synFrame(way{from: from, to: dut, source: strangers.Addr()})}
	back := func() error {
		return knob.AddRoutes(context.Background(), []netip.Prefix{strangers}, dut.Device, from.IPv4.Addr())
	}
	if err := dut.In(back); err != nil {
		return nil, fmt.Errorf("route a flood's sources in the DUT: %w", err)
	}
	if err := from.In(func() error { return f.open(from.Device) }); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s for a flood: %w", from.Device, err), f.Close())
	}
	return f, nil
}

func (f *Flood) open(device string) error {
	var err error
	// Protocol 0: the socket only sends.
	if f.sock, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
		return err
	}
	index, err := indexOf(f.sock, device)
	if err != nil {
		return err
	}
	return errors.Join(knob.SetOffload(device, "tso", false), // as in openSocket
		unix.SetsockoptInt(f.sock, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1),
		unix.Bind(f.sock, &unix.SockaddrLinklayer{Ifindex: index}))
}

// rest is how long a flood that is ahead of its rate sleeps.
const rest = 50 * time.Microsecond

// Run floods for the duration of the offer.
func (f *Flood) Run(ctx context.Context, o load.Offer) (load.Sent, error) {
	sent := load.Sent{Engine: "af_packet", TargetPPS: float64(o.Rate.PPS)}
	err := f.in(func() error {
		return wire.OnCPU(f.cpu, func(int) error { return f.send(ctx, o.Limit.Duration, &sent) })
	})
	sent.TxBytes = sent.TxPackets * 64
	sent.Pace()
	return sent, err
}

func (f *Flood) send(ctx context.Context, limit time.Duration, sent *load.Sent) error {
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	start := time.Now()
	for ctx.Err() == nil {
		passed := time.Since(start)
		if sent.Seconds = passed.Seconds(); passed >= limit {
			break
		}
		if due := uint64(sent.TargetPPS * sent.Seconds); sent.TargetPPS > 0 && sent.TxPackets >= due {
			time.Sleep(rest)
			continue
		}
		// A full ring counts as sent: the DUT is to blame for it.
		_, err := unix.Write(f.sock, f.next(rng.Uint64()))
		if err != nil && !errors.Is(err, unix.ENOBUFS) && !errors.Is(err, unix.EAGAIN) {
			return fmt.Errorf("flood: %w", err)
		}
		sent.TxPackets++
	}
	if due := uint64(sent.TargetPPS * limit.Seconds()); due > sent.TxPackets {
		sent.Unsent = due - sent.TxPackets
	}
	return nil
}

// Close closes the flood's socket.
func (f *Flood) Close() error {
	if f.sock < 0 {
		return nil
	}
	sock := f.sock
	f.sock = -1
	return unix.Close(sock)
}

// frame is a SYN frame, with its checksums before the varying fields are added.
type frame struct {
	bytes   []byte
	ip, tcp uint32
}

func synFrame(w way) frame {
	b := w.segment(0, 0, 0, flagSYN)
	b = append(b, make([]byte, 60-len(b))...) // minimum frame size without FCS
	be := binary.BigEndian
	f := frame{bytes: b}
	last := uint32(be.Uint16(b[28:]))
	f.ip = uint32(^be.Uint16(b[24:])) + (0xffff - last)
	f.tcp = uint32(^be.Uint16(b[50:])) + (0xffff - last)
	return f
}

// next returns the frame with a source address, port and sequence number
// derived from the random number chance.
func (f frame) next(chance uint64) []byte {
	be, b := binary.BigEndian, f.bytes
	b[29] = byte(chance)
	from, high, low := uint16(chance>>8)|1024, uint16(chance>>24), uint16(chance>>40)
	be.PutUint16(b[34:], from)
	be.PutUint16(b[38:], high)
	be.PutUint16(b[40:], low)
	last := uint32(be.Uint16(b[28:]))
	be.PutUint16(b[24:], ^fold(f.ip+last))
	be.PutUint16(b[50:], ^fold(f.tcp+last+uint32(from)+uint32(high)+uint32(low)))
	return b
}
