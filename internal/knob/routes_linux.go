package knob

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/internal/setting"
)

// workloadNetwork holds the destinations of every workload over IPv4, from its
// first address up (RFC 2544 §C.2.2), and workloadMost is how many it has at most.
var workloadNetwork = netip.MustParsePrefix("198.19.0.0/16")

const workloadMost = 50_000

// fullTable is how many of 10,000 routes of a full IPv4 BGP table have which
// prefix length, about as the public tables of 2023 (bgp.potaroo.net).
var fullTable = []struct{ bits, share int }{
	{24, 5980}, {22, 1130}, {23, 990}, {21, 530}, {20, 460}, {19, 260}, {16, 145}, {18, 143}, {17, 90},
	{15, 20}, {14, 13}, {13, 6}, {12, 4}, {11, 2}, {10, 1}, {8, 1},
}

// Routes are the prefixes of a table: the same ones each time. Of a table that
// is to be hit, hosts cover the workload's destinations from the first up; a
// full table has half of its routes there, up to a half of all addresses, each
// eight bits longer than its like elsewhere, for it is a /16 that they divide.
func Routes(t setting.Table) []netip.Prefix {
	rng := rand.New(rand.NewPCG(uint64(t.Count), 0x40))
	list := make([]netip.Prefix, 0, t.Count)
	seen := make(map[netip.Prefix]bool, t.Count)
	add := func(p netip.Prefix) bool {
		if seen[p] {
			return false
		}
		seen[p], list = true, append(list, p)
		return true
	}
	if !t.Miss && t.Mix != setting.MixFull {
		addr := workloadNetwork.Addr().Next()
		for range min(t.Count, workloadMost) {
			add(netip.PrefixFrom(addr, 32))
			addr = addr.Next()
		}
	}
	inside := 0
	if !t.Miss && t.Mix == setting.MixFull {
		inside = min((t.Count+1)/2, 1<<15)
	}
	for len(list) < t.Count {
		switch {
		case len(list) < inside:
			add(within(workloadNetwork, length(rng)+8, rng))
		case t.Mix == setting.MixFull:
			add(elsewhere(length(rng), rng))
		default:
			add(within(reserved, 32, rng))
		}
	}
	return list
}

// reserved is 240.0.0.0/4, where no workload goes.
var reserved = netip.MustParsePrefix("240.0.0.0/4")

// length draws a prefix length of a full table.
func length(rng *rand.Rand) int {
	n := rng.IntN(10_000)
	for _, l := range fullTable {
		if n -= l.share; n < 0 {
			return l.bits
		}
	}
	return 24
}

// within draws a prefix of a length inside another.
func within(p netip.Prefix, bits int, rng *rand.Rand) netip.Prefix {
	bits = max(bits, p.Bits()+1)
	base := p.Addr().As4()
	v := binary.BigEndian.Uint32(base[:]) | rng.Uint32()>>p.Bits()
	return netip.PrefixFrom(netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, v))), bits).Masked()
}

// elsewhere draws a prefix of the unicast space that no workload uses. Short
// prefixes that would hold the workload's networks are the reserved space's.
func elsewhere(bits int, rng *rand.Rand) netip.Prefix {
	for {
		v := rng.Uint32()
		p := netip.PrefixFrom(netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, v))), bits).Masked()
		first := v >> 24
		if first != 0 && first != 127 && first < 224 && !p.Overlaps(netip.MustParsePrefix("198.18.0.0/15")) {
			return p
		}
	}
}

// routes adds a table of a size behind the egress, in batches of messages.
func (t *Target) routes(ctx context.Context, s setting.Setting) (string, error) {
	start := time.Now()
	list := Routes(*s.Table)
	err := t.In(func() error {
		link, err := netlink.LinkByName(t.Devices["egress"])
		if err != nil {
			return fmt.Errorf("find the egress of %s: %w", s, err)
		}
		return loadRoutes(ctx, list, link.Attrs().Index, workloadNetwork.Addr().Next())
	})
	if err != nil {
		return "", fmt.Errorf("load %s: %w", s, err)
	}
	return fmt.Sprintf("%s loaded in %.0f ms", s, float64(time.Since(start).Microseconds())/1e3), nil
}

// routesPerBatch messages go to the kernel at once. It answers those that fail,
// and the last.
const routesPerBatch = 2000

// loadRoutes adds routes via one gateway on a device of the calling thread's
// namespace.
func loadRoutes(ctx context.Context, list []netip.Prefix, device int, gateway netip.Addr) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("open a route socket: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 30}); err != nil {
		return fmt.Errorf("set up a route socket: %w", err)
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, 1<<20) // only root can; batches fit without
	for at := 0; at < len(list); at += routesPerBatch {
		if err := ctx.Err(); err != nil {
			return err
		}
		batch := list[at:min(at+routesPerBatch, len(list))]
		var out []byte
		for i, p := range batch {
			out = appendRoute(out, p, device, gateway, i == len(batch)-1)
		}
		if err := unix.Send(fd, out, 0); err != nil {
			return fmt.Errorf("send routes: %w", err)
		}
		if err := acknowledged(fd); err != nil {
			return err
		}
	}
	return nil
}

// appendRoute adds the message `ip route replace P via GATEWAY dev DEVICE onlink`.
func appendRoute(out []byte, p netip.Prefix, device int, gateway netip.Addr, ack bool) []byte {
	const size = unix.SizeofNlMsghdr + unix.SizeofRtMsg + 3*(unix.SizeofRtAttr+4)
	flags := uint16(unix.NLM_F_REQUEST | unix.NLM_F_CREATE | unix.NLM_F_REPLACE)
	if ack {
		flags |= unix.NLM_F_ACK
	}
	ne := binary.NativeEndian
	out = ne.AppendUint32(out, size)
	out = ne.AppendUint16(out, unix.RTM_NEWROUTE)
	out = ne.AppendUint16(out, flags)
	out = ne.AppendUint32(ne.AppendUint32(out, 1), 0)
	out = append(out, unix.AF_INET, byte(p.Bits()), 0, 0, unix.RT_TABLE_MAIN, unix.RTPROT_BOOT, unix.RT_SCOPE_UNIVERSE, unix.RTN_UNICAST)
	out = ne.AppendUint32(out, unix.RTNH_F_ONLINK)
	attr := func(kind uint16, value []byte) {
		out = ne.AppendUint16(out, unix.SizeofRtAttr+4)
		out = ne.AppendUint16(out, kind)
		out = append(out, value...)
	}
	attr(unix.RTA_DST, net.IP(p.Addr().AsSlice()))
	attr(unix.RTA_GATEWAY, gateway.AsSlice())
	attr(unix.RTA_OIF, ne.AppendUint32(nil, uint32(device)))
	return out
}

// acknowledged waits for the kernel's answer to a batch.
func acknowledged(fd int) error {
	buf := make([]byte, 1<<16)
	n, _, err := unix.Recvfrom(fd, buf, 0)
	if err != nil {
		return fmt.Errorf("wait for the kernel's answer: %w", err)
	}
	if n < unix.SizeofNlMsghdr+4 || binary.NativeEndian.Uint16(buf[4:]) != unix.NLMSG_ERROR {
		return errors.New("the kernel's answer is none")
	}
	if code := -int32(binary.NativeEndian.Uint32(buf[unix.SizeofNlMsghdr:])); code != 0 {
		return fmt.Errorf("the kernel refused a route: %w", unix.Errno(code))
	}
	return nil
}
