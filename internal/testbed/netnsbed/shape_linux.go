package netnsbed

import (
	"fmt"
	"sync"

	"github.com/vishvananda/netlink"

	"linerate/internal/testbed"
)

// The ways to implement a link.
const (
	byVeth  = "veth"
	byTBF   = "tbf"
	byNetem = "netem"
)

// linkBy chooses the simplest implementation of a link that suffices.
func linkBy(l testbed.Link) string {
	switch {
	case l.IsWire():
		return byVeth
	case l.Delay == 0 && l.Jitter == 0 && l.Loss == 0 && can(byTBF, probeTBF):
		return byTBF
	case l.Rate == 0 && can(byNetem, probeNetem):
		return byNetem
	}
	return How
}

var probed sync.Map // results by name

// can tries something harmless in a new namespace, once.
func can(what string, try func() error) bool {
	if v, ok := probed.Load(what); ok {
		return v.(bool)
	}
	ok := false
	if ns, err := newNamespace(); err == nil {
		ok = ns.do(try) == nil
		ns.close()
	}
	probed.Store(what, ok)
	return ok
}

func probeTBF() error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	return netlink.QdiscAdd(tbf(lo.Attrs().Index, testbed.Link{Rate: 1e6}))
}

func probeNetem() error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	return netlink.QdiscAdd(netlink.NewNetem(netlink.QdiscAttrs{LinkIndex: lo.Attrs().Index,
		Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT}, netlink.NetemQdiscAttrs{Latency: 1}))
}

// shape gives a device the queueing discipline for a link's end.
func shape(how, device string, l testbed.Link) error {
	if how == byVeth {
		return nil
	}
	link, err := netlink.LinkByName(device)
	if err != nil {
		return fmt.Errorf("find %s: %w", device, err)
	}
	q := tbf(link.Attrs().Index, l)
	if how == byNetem {
		q = netem(link.Attrs().Index, l)
	}
	if err := netlink.QdiscAdd(q); err != nil {
		return fmt.Errorf("give %s the link's %s: %w", device, how, err)
	}
	return nil
}

// netemLimit is netem's largest number of packets, the same as linerate's own link.
const netemLimit = 1 << 17

func netem(index int, l testbed.Link) netlink.Qdisc {
	return netlink.NewNetem(netlink.QdiscAttrs{LinkIndex: index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		netlink.NetemQdiscAttrs{Latency: uint32(l.Delay.Microseconds()), Jitter: uint32(l.Jitter.Microseconds()), Loss: float32(100 * l.Loss), Limit: netemLimit})
}

// tbf returns a token bucket with room for two milliseconds at its rate, or
// at least one segmented packet, plus the link's queue.
func tbf(index int, l testbed.Link) netlink.Qdisc {
	bytes := uint64(l.Rate / 8)
	burst := max(uint32(bytes/500), 68_000)
	return &netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		Rate:       bytes, Buffer: netlink.Xmittime(bytes, burst), Limit: uint32(l.Queue()) + burst,
	}
}

// wireStats returns a veth's statistics, for both directions together.
func wireStats(how string, ns *namespace, device string) testbed.LinkStats {
	s := testbed.LinkStats{How: how}
	_ = ns.do(func() error { // a removed namespace has no statistics
		link, err := netlink.LinkByName(device)
		if err != nil {
			return err
		}
		if n := link.Attrs().Statistics; n != nil {
			s.Packets, s.Bytes = n.RxPackets+n.TxPackets, n.RxBytes+n.TxBytes
		}
		return nil
	})
	return s
}
