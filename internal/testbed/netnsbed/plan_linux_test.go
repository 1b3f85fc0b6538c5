package netnsbed

import (
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"linerate/internal/testbed"
)

// These tests cover what a lab decides without touching the machine.

// TestLinkBy: a link is emulated by the simplest means that does what is asked.
func TestLinkBy(t *testing.T) {
	for _, kernel := range []struct{ tbf, netem bool }{{true, true}, {false, false}} {
		probed.Store(byTBF, kernel.tbf)
		probed.Store(byNetem, kernel.netem)
		for _, c := range []struct {
			link    testbed.Link
			with    string
			without string
		}{
			{testbed.Link{}, byVeth, byVeth},
			{testbed.Link{Rate: 1e9}, byTBF, How},
			{testbed.Link{Delay: time.Millisecond}, byNetem, How},
			{testbed.Link{Loss: 0.01}, byNetem, How},
			{testbed.Link{Rate: 1e9, Delay: time.Millisecond}, How, How},
			{testbed.Link{Rate: 1e9, Loss: 0.01}, How, How},
		} {
			want := c.without
			if kernel.tbf {
				want = c.with
			}
			if got := linkBy(c.link); got != want {
				t.Errorf("%s by %+v: %s, want %s", c.link, kernel, got, want)
			}
		}
	}
	probed.Delete(byTBF)
	probed.Delete(byNetem)
}

// TestQdiscs: a link's rate, delay and loss in the units of the kernel's queueing disciplines.
func TestQdiscs(t *testing.T) {
	q := tbf(7, testbed.Link{Rate: 1e9, Delay: 10 * time.Millisecond}).(*netlink.Tbf)
	if q.Rate != 125_000_000 || q.LinkIndex != 7 || q.Limit != 2_500_000+250_000 || q.Buffer != netlink.Xmittime(125_000_000, 250_000) {
		t.Errorf("%+v", q)
	}
	if q := tbf(7, testbed.Link{Rate: 1e6}).(*netlink.Tbf); q.Buffer != netlink.Xmittime(125_000, 68_000) || q.Limit != 150_000+68_000 {
		t.Errorf("a slow link's queue has no room for a GSO packet: %+v", q)
	}
	l := testbed.Link{Delay: 40 * time.Millisecond, Jitter: 2 * time.Millisecond, Loss: 0.005}
	want := netlink.NewNetem(netlink.QdiscAttrs{LinkIndex: 7, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT}, netlink.NetemQdiscAttrs{Latency: 40_000, Jitter: 2000, Loss: 0.5, Limit: netemLimit})
	if got := netem(7, l).(*netlink.Netem); got.Latency != want.Latency || got.Jitter != want.Jitter || got.Loss != want.Loss || got.Limit != netemLimit || got.Latency == 0 {
		t.Errorf("%+v, want %+v", got, want)
	}
}
