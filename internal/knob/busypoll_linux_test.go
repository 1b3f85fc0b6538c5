package knob

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"linerate/internal/cputime"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// TestBusyPoll: the netlink family reaches a device's NAPI; to poll without
// rest is granted, or refused with the reason.
func TestBusyPoll(t *testing.T) {
	target := fresh(t)
	apply(t, target, setting.Setting{Mechanism: setting.Link, Device: "ingress", Name: "gro", Value: "on"})
	// Neither skipped nor failed in there: that thread is not the test's.
	var ids []uint32
	var set error
	var before, now int
	inside(t, target, func() error {
		family, err := netlink.GenlFamilyGet(netdevFamily)
		if err != nil {
			return nil //nolint:nilerr // a kernel without it: nothing to try
		}
		link, err := netlink.LinkByName("gen0")
		if err != nil {
			return err
		}
		if ids, err = napiIDs(family.ID, link.Attrs().Index); err == nil && len(ids) > 0 {
			// Another lab has a gen0, too; an instance's number is the machine's.
			thread := fmt.Sprintf("napi/gen0-%d", ids[0])
			before = len(cputime.KernelThreads(thread))
			set = setThreaded(family.ID, ids[0], 1)
			now = len(cputime.KernelThreads(thread))
		}
		return err
	})
	t.Logf("NAPI instances %v, a thread by netlink: %v", ids, set)
	if len(ids) > 0 && set == nil && (before != 0 || now != 1) {
		t.Errorf("%d threads of gen0, %d before one was asked for", now, before)
	}
	_, err := target.Apply(context.Background(), setting.Setting{Mechanism: setting.NAPI, Device: "ingress", Name: "threaded", Value: "busy-poll"})
	var gone *testbed.ErrUnavailable
	if err != nil && (!errors.As(err, &gone) || len(ids) > 0 && !strings.Contains(err.Error(), "cannot busy-poll")) {
		t.Error(err)
	}
	if err == nil {
		inside(t, target, func() error { return polls("gen0", len(ids)) })
	}
}

// polls wants the kernel to say that a device's NAPI instances have threads that
// poll without rest.
func polls(device string, n int) error {
	family, err := netlink.GenlFamilyGet(netdevFamily)
	if err != nil {
		return err
	}
	link, err := netlink.LinkByName(device)
	if err != nil {
		return err
	}
	req := nl.NewNetlinkRequest(int(family.ID), unix.NLM_F_DUMP)
	req.AddData(&nl.Genlmsg{Command: cmdNAPIGet, Version: netdevVersion})
	req.AddData(nl.NewRtAttr(attrNAPIIfindex, nl.Uint32Attr(uint32(link.Attrs().Index))))
	msgs, err := req.Execute(unix.NETLINK_GENERIC, 0)
	for _, m := range msgs {
		attrs, _ := nl.ParseRouteAttr(m[nl.SizeofGenlmsg:])
		if slices.ContainsFunc(attrs, func(a syscall.NetlinkRouteAttr) bool {
			return a.Attr.Type == attrNAPIThreaded && nl.NativeEndian().Uint32(a.Value) == 2
		}) {
			n--
		}
	}
	if err == nil && n != 0 {
		err = fmt.Errorf("%d NAPI instances do not poll without rest: %v", n, msgs)
	}
	return err
}
