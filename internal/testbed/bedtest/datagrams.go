package bedtest

import (
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"linerate/internal/port"
)

// Datagrams sends n UDP datagrams from one address to another and counts those that
// arrive by a time; at holds the places in which to open the two sockets.
func Datagrams(t testing.TB, from, to netip.Addr, at [2]port.Place, n int, until time.Time) int {
	t.Helper()
	const discard = 9 // RFC 863
	var in, out *net.UDPConn
	listen := func(a netip.Addr, c **net.UDPConn) func() error {
		return func() (err error) {
			*c, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, discard)))
			return err
		}
	}
	if err := errors.Join(at[1](listen(to, &in)), at[0](listen(from, &out))); err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	for range n {
		if _, err := out.WriteToUDPAddrPort([]byte("linerate"), netip.AddrPortFrom(to, discard)); err != nil {
			t.Fatal(err)
		}
	}
	got := 0
	_ = in.SetReadDeadline(until)
	for buf := make([]byte, 64); got < n; got++ {
		if _, _, err := in.ReadFromUDP(buf); err != nil {
			break
		}
	}
	return got
}
