package wire

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/testbed"
)

// Socket is a raw packet socket that sends through one device and receives
// nothing.
type Socket struct{ fd int }

// Open opens a Socket. The place matters here only: a socket keeps the
// namespace it was opened in.
func Open(d Device, in testbed.Place) (s *Socket, err error) {
	err = in(func() error {
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return NotPermitted(fmt.Errorf("open a packet socket: %w", err))
		}
		if err := unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: d.Index}); err != nil {
			unix.Close(fd)
			return fmt.Errorf("bind a packet socket to %s: %w", d.Name, err)
		}
		s = &Socket{fd}
		return nil
	})
	return s, err
}

// NotPermitted adds the advice that a lack of privileges calls for.
func NotPermitted(err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return hint.With(err, "run it as root, or in a user namespace of your own: unshare -rn, with the af_packet engine")
	}
	return err
}

// FD is the socket's file descriptor.
func (s *Socket) FD() int { return s.fd }

// Close closes the socket.
func (s *Socket) Close() error { return unix.Close(s.fd) }

const sendTries = 500 // at a millisecond each

// Send sends one frame, again if the device has no room for it just now.
func (s *Socket) Send(frame []byte) error {
	for tries := 0; ; tries++ {
		err := unix.Sendto(s.fd, frame, 0, nil)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case (errors.Is(err, unix.ENOBUFS) || errors.Is(err, unix.EAGAIN)) && tries < sendTries:
			time.Sleep(time.Millisecond)
		default:
			return fmt.Errorf("send a frame of %d bytes: %w", len(frame), err)
		}
	}
}

// Worker is what one worker of a generator sent, for its end-of-stream frames.
type Worker struct {
	Flows     int
	Total     uint64
	NeverLeft uint64   // as load.Ending's
	Counts    []uint32 // of random order, else nil
}

const (
	endRepeats = 5                     // of a summary
	endChunks  = 3                     // of each message with counts
	endPause   = 10 * time.Millisecond // between repeats, so that a full queue does not lose them all
	endBytes   = 1280 + 14             // an IPv6 link carries this without fragments
)

// SendEnds closes the account of a run: repeated end-of-stream frames, at a
// low rate, under the addresses of several flows in case one is blocked.
func (s *Socket) SendEnds(ctx context.Context, d Device, f *load.Framer, stamp load.Stamp, workers []Worker) error {
	frames := endFrames(d, f, stamp, workers)
	repeats := endRepeats
	if len(frames) > len(workers) {
		repeats = endChunks
	}
	flows := f.Flows().Count
	for r := range repeats {
		if r > 0 {
			time.Sleep(endPause)
		}
		for i, build := range frames {
			if err := s.Send(build((r*flows/repeats + i) % flows)); err != nil {
				return err
			}
			if i%8 == 7 {
				time.Sleep(400 * time.Microsecond) // 20,000 a second
			}
		}
		if ctx.Err() != nil && r >= 2 {
			break
		}
	}
	return nil
}

// endFrames prepares the messages; each is built for the flow whose addresses
// it is to carry.
func endFrames(d Device, f *load.Framer, stamp load.Stamp, workers []Worker) []func(flow int) []byte {
	var frames []func(int) []byte
	room := max(1, f.EndRoom(min(endBytes, d.MTU+14)))
	for w, k := range workers {
		m := load.Ending{
			Random: k.Counts != nil, Worker: uint16(w), Workers: uint16(len(workers)),
			Flows: uint32(k.Flows), Total: k.Total, NeverLeft: k.NeverLeft,
		}
		add := func(m load.Ending) {
			frames = append(frames, func(flow int) []byte { return f.End(flow, stamp, m) })
		}
		for first := 0; first < len(k.Counts); first += room {
			part := m
			part.First, part.Counts = uint32(first), k.Counts[first:min(first+room, len(k.Counts))]
			add(part)
		}
		if k.Counts == nil {
			add(m)
		}
	}
	return frames
}
