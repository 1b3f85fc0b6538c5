package wire

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/port"
)

// Socket is a raw packet socket that sends through one device and receives
// nothing.
type Socket struct{ fd int }

// Open opens a Socket. The place matters only here: a socket stays in the
// namespace in which it was opened.
func Open(d Device, in port.Place) (s *Socket, err error) {
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

// NotPermitted adds advice to an error from missing privileges.
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

const sendTries = 500 // 1 ms apart

// Send sends one frame, retrying while the device has no room for it.
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
