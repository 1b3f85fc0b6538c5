package knob

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"time"
	"unsafe"

	"linerate/internal/show"
	"linerate/internal/wait"

	"golang.org/x/sys/unix"

	"linerate/internal/setting"
)

// routes adds a table behind the egress through a routing socket of the jail:
// route(8) would have to run a million times.
func (t *Target) routes(ctx context.Context, s setting.Setting) (string, error) {
	if t.RouteSocket == nil {
		return "", unavailable(s, "no routing socket is available here")
	}
	socket, err := t.RouteSocket()
	if err != nil {
		return "", fmt.Errorf("load %s: %w", s, err)
	}
	defer socket.Close()
	start := time.Now()
	message := newRouteMessage(workloadNetwork.Addr().Next())
	for i, p := range Routes(*s.Table) {
		if i%1000 == 0 && ctx.Err() != nil {
			return "", ctx.Err()
		}
		// Half of the receiver's network may already be routed, via the same gateway.
		if _, err := socket.Write(message.add(p)); err != nil && !errors.Is(err, unix.EEXIST) {
			return "", fmt.Errorf("load %s: route to %s: %w", s, p, err)
		}
	}
	took := time.Since(start)
	return fmt.Sprintf("%s loaded in %s%s", s, show.Brief(took), t.lookup(ctx)), nil
}

// lookup describes the kernel's route lookup algorithm; "" before FreeBSD 13.
// After a burst of changes the kernel delays its choice, by a second by default.
func (t *Target) lookup(ctx context.Context) string {
	const most = 5000
	said, err := t.Run(ctx, "", "/sbin/sysctl", "-n", "net.route.algo.fib_max_sync_delay_ms")
	ms, wrong := strconv.Atoi(folded(said))
	if err != nil || wrong != nil {
		return ""
	}
	if wait.For(ctx, time.Duration(min(ms, most))*time.Millisecond*5/4) != nil {
		return ""
	}
	by, err := t.Run(ctx, "", "/sbin/sysctl", "-n", "net.route.algo.inet.algo")
	if err != nil {
		return ""
	}
	return ", looked up by " + folded(by)
}

// OpenRouteSocket opens a routing socket (route(4)) of the calling process's
// network stack that receives nothing.
func OpenRouteSocket() (int, error) {
	fd, err := unix.Socket(unix.AF_ROUTE, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.AF_INET)
	if err != nil {
		return -1, fmt.Errorf("open a routing socket: %w", err)
	}
	if err := errors.Join(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_USELOOPBACK, 0), unix.Shutdown(fd, unix.SHUT_RD)); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("set up a routing socket: %w", err)
	}
	return fd, nil
}

// routeMessage is RTM_ADD with a destination, a gateway and a mask (net/route.h).
// Routes are marked as a routing daemon's: after each static one the kernel would
// rebuild its lookup tables (fib_algo.c, need_immediate_sync).
type routeMessage struct {
	unix.RtMsghdr
	destination, gateway, mask unix.RawSockaddrInet4
}

func newRouteMessage(gateway netip.Addr) *routeMessage {
	m := &routeMessage{}
	m.Version, m.Type = unix.RTM_VERSION, unix.RTM_ADD
	m.gateway = inet4(gateway.As4())
	return m
}

// add returns the message for one prefix. A host route has no mask.
func (m *routeMessage) add(p netip.Prefix) []byte {
	size := unsafe.Sizeof(*m)
	m.Flags, m.Addrs = unix.RTF_UP|unix.RTF_GATEWAY|unix.RTF_PROTO1, unix.RTA_DST|unix.RTA_GATEWAY|unix.RTA_NETMASK
	if p.IsSingleIP() {
		size -= unsafe.Sizeof(m.mask)
		m.Flags, m.Addrs = m.Flags|unix.RTF_HOST, unix.RTA_DST|unix.RTA_GATEWAY
	}
	m.Seq++
	m.Msglen = uint16(size)
	m.destination, m.mask = inet4(p.Addr().As4()), inet4(netmask(p.Bits()))
	return unsafe.Slice((*byte)(unsafe.Pointer(m)), size)
}

func inet4(a [4]byte) unix.RawSockaddrInet4 {
	return unix.RawSockaddrInet4{Len: unix.SizeofSockaddrInet4, Family: unix.AF_INET, Addr: a}
}

// netmask returns the network mask for a prefix length of 0 to 32.
func netmask(bits int) [4]byte {
	v := ^uint32(0) << (32 - bits)
	return [4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}
}
