package netnsbed

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"linerate/internal/drop"
	"linerate/internal/knob"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

var _ testbed.Multi = (*Bed)(nil)

// arm is a DUT, or one of several. Inside, all have the same devices and
// addresses; with several, their ends in the generator's and receiver's namespaces
// differ by name, and have no addresses, since nothing is routed there.
type arm struct {
	dut       routers // empty for a bypass
	thread    int     // thread of its ingress, in mode overload
	gen, sink end
}

// newArm names the ends of the n-th arm. To the DUT they look like the
// neighbours in a bed with one DUT.
func newArm(n int) *arm {
	a := single()
	a.gen.Device, a.sink.Device = fmt.Sprintf("gen0-%d", n), fmt.Sprintf("sink0-%d", n)
	a.gen.IPv4, a.gen.IPv6, a.sink.IPv4, a.sink.IPv6 = netip.Prefix{}, netip.Prefix{}, netip.Prefix{}, netip.Prefix{}
	return a
}

// single returns the arm of a bed with one DUT.
func single() *arm {
	a := &arm{gen: genPort, sink: sinkPort}
	a.gen.Group, a.sink.Group = armGroup, armGroup
	return a
}

// Raise replaces all DUTs by new ones.
func (b *Bed) Raise(ctx context.Context, wanted []testbed.Settings) ([]testbed.Arm, error) {
	if err := b.clear(); err != nil {
		return nil, err
	}
	return testbed.RaiseEach(ctx, wanted, func(_ int, w testbed.Settings) (testbed.Applied, error) {
		b.raised++
		return b.raise(ctx, newArm(b.raised), w, nil) // nil, because host settings would affect all arms
	}, func(i int, applied testbed.Applied, unavailable error) testbed.Arm {
		return b.arms[i].describe(b, applied, unavailable)
	})
}

// raise builds one arm and sets it. host applies settings global to the kernel; it may be nil.
func (b *Bed) raise(ctx context.Context, a *arm, w testbed.Settings, host *knob.HostSysctls) (applied testbed.Applied, err error) {
	b.arms = append(b.arms, a)
	p, rest, err := testbed.PathOf(w.Settings)
	if err != nil {
		return applied, err
	}
	if err := a.build(b, w.Bypass, p); err != nil {
		return applied, err
	}
	if a.dut.first != nil {
		if b.mode == testbed.Overload {
			if a.thread, err = b.thread(a.dut.first); err != nil {
				return applied, err
			}
		}
		t := &knob.Target{In: a.dut.first.do, InSys: a.dut.first.doSys, Host: host, Spare: b.spare(),
			Devices: map[string]string{"ingress": ingress.Device, "egress": egress.Device}}
		applied, err = t.ApplyAll(ctx, rest)
	}
	applied.Digest = setting.Digest(w.Settings)
	return applied, err
}

// Global switches the host's settings, with the journal.
func (b *Bed) Global(_ context.Context, settings []setting.Setting) error {
	return b.host.Switch(settings)
}

// build connects a new DUT to the two outer namespaces, or these to each
// other.
func (a *arm) build(b *Bed, bypass bool, p testbed.HopPath) (err error) {
	if bypass {
		return wire(b.gen, a.gen, b.sink, a.sink)
	}
	if a.dut, err = newRouters(b.gen, a.gen, b.sink, a.sink, p); err != nil {
		return err
	}
	if err := b.open(&a.dut); err != nil || !a.gen.IPv4.IsValid() {
		return err
	}
	return errors.Join(b.gen.do(func() error { return introduceHost(genPort, ingress, sinkPort) }),
		b.sink.do(func() error { return introduceHost(sinkPort, egress, genPort) }))
}

// describe returns the arm for measurements. Its ports have the addresses
// that the DUT expects.
func (a *arm) describe(b *Bed, applied testbed.Applied, unavailable error) testbed.Arm {
	out := testbed.Arm{Applied: applied, Thread: a.thread, Unavailable: unavailable,
		Way: testbed.Way{Generator: portOn(b.gen, a.gen, ingress), Receiver: portOn(b.sink, a.sink, egress)}}
	out.Generator.IPv4, out.Generator.IPv6 = genPort.IPv4, genPort.IPv6
	out.Receiver.IPv4, out.Receiver.IPv6 = sinkPort.IPv4, sinkPort.IPv6
	if a.dut.first != nil {
		out.Inside = portOn(a.dut.first, ingress, genPort)
		out.Counters = func() (testbed.Counters, error) { return readCounters(a.dut) }
		out.Drops = func() (drop.Counters, error) { return ownDrops(b.gen, a.gen.Device, a.dut) }
		out.Machine = func() (drop.Counters, error) { return machineDrops(), nil }
	}
	return out
}

// clear removes every DUT and restores the host's settings.
func (b *Bed) clear() error {
	if err := b.host.Restore(); err != nil {
		return err
	}
	return b.raze()
}

// raze removes all arms. All wires of a side are deleted with one request, because the
// kernel waits for all CPUs after each. Connections are flushed first: a namespace
// with a million of them would keep a kernel thread busy into the next trial.
func (b *Bed) raze() error {
	if len(b.arms) == 0 {
		return nil
	}
	for _, a := range b.arms {
		if a.dut.first != nil {
			_ = a.dut.first.do(func() error { return netlink.ConntrackTableFlush(netlink.ConntrackTable) })
		}
	}
	err := errors.Join(b.gen.do(deleteGroup), b.sink.do(deleteGroup))
	for _, a := range b.arms {
		a.dut.first.close()
		for _, n := range a.dut.more {
			n.close()
		}
	}
	b.arms = nil
	return err
}

// armGroup is the interface group of all arms' ends.
const armGroup = 0x11a7e

// deleteGroup removes the devices of armGroup, and their peers.
func deleteGroup() error {
	links, err := netlink.LinkList()
	if err != nil || !slices.ContainsFunc(links, func(l netlink.Link) bool { return l.Attrs().Group == armGroup }) {
		return err // the kernel returns an error for an empty group
	}
	req := nl.NewNetlinkRequest(unix.RTM_DELLINK, unix.NLM_F_ACK)
	req.AddData(nl.NewIfInfomsg(unix.AF_UNSPEC))
	req.AddData(nl.NewRtAttr(unix.IFLA_GROUP, nl.Uint32Attr(armGroup)))
	if _, err := req.Execute(unix.NETLINK_ROUTE, 0); err != nil {
		return fmt.Errorf("remove the arms' wires: %w", err)
	}
	return nil
}
