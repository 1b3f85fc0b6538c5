package main

import (
	"io"
	"net"
	"testing"

	"github.com/vishvananda/netlink"

	"linerate/internal/labtest"
)

// TestAQuickLoopbackIsOnesOwn: its routes acknowledge at once, it carries, and the
// machine's loopback is as it was.
func TestAQuickLoopbackIsOnesOwn(t *testing.T) {
	labtest.Namespaces(t)
	quick := func() (n int) {
		routes, err := netlink.RouteListFiltered(netlink.FAMILY_V4, &netlink.Route{Table: localTable}, netlink.RT_FILTER_TABLE)
		if err != nil {
			t.Error(err)
		}
		for _, r := range routes {
			n += r.QuickACK
		}
		return n
	}
	before, within, carried := quick(), make(chan int, 1), make(chan error, 1)
	go func() {
		err := quickLoopback()
		if err == nil {
			err = greetOverLoopback()
		}
		carried <- err
		within <- quick()
	}()
	if err := <-carried; err != nil {
		t.Error(err)
	}
	if n := <-within; n != 2 {
		t.Errorf("%d routes within acknowledge at once, want 2", n)
	}
	if n := quick(); n != before {
		t.Errorf("%d routes of the machine acknowledge at once, before it were %d", n, before)
	}
}

// greetOverLoopback sends a byte from one socket of this thread's namespace to another.
func greetOverLoopback() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return err
	}
	defer c.Close()
	s, err := l.Accept()
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := s.Write([]byte("x")); err != nil {
		return err
	}
	_, err = io.ReadFull(c, make([]byte, 1))
	return err
}
