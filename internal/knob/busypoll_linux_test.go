package knob

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

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
	threads := func() int { return len(cputime.KernelThreads("napi/gen0-")) }
	before := threads()
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
			set = setThreaded(family.ID, ids[0], 1)
		}
		return err
	})
	t.Logf("NAPI instances %v, a thread by netlink: %v", ids, set)
	if now := threads(); len(ids) > 0 && set == nil && now != before+1 {
		t.Errorf("%d threads of gen0, %d before one was asked for", now, before)
	}
	_, err := target.Apply(context.Background(), setting.Setting{Mechanism: setting.NAPI, Device: "ingress", Name: "threaded", Value: "busy-poll"})
	var gone *testbed.ErrUnavailable
	if err != nil && (!errors.As(err, &gone) || len(ids) > 0 && !strings.Contains(err.Error(), "cannot busy-poll")) {
		t.Error(err)
	}
}
