package jailbed

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"linerate/internal/labtest"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// TestWays: every path layout forwards both families from end to end.
func TestWays(t *testing.T) {
	b := up(t, testbed.Cost)
	for name, s := range map[string]setting.Setting{
		"vlan":      {Mechanism: setting.Hops, Name: "vlan", Value: "1"},
		"vlan of 3": {Mechanism: setting.Hops, Name: "vlan", Value: "2"},
		"gif":       {Mechanism: setting.Hops, Name: "ipip", Value: "1"},
		"gre":       {Mechanism: setting.Hops, Name: "gre", Value: "1"},
		"bridge":    {Mechanism: setting.Forward, Name: setting.ForwardBridge},
		"hits":      {Mechanism: setting.Routes, Table: &setting.Table{Count: 2000, Mix: setting.MixFull}},
		"misses":    {Mechanism: setting.Routes, Table: &setting.Table{Count: 2000, Mix: setting.MixFull, Miss: true}},
		"hosts":     {Mechanism: setting.Routes, Table: &setting.Table{Count: 500}},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := b.Reset(context.Background(), []setting.Setting{s})
			var un *testbed.ErrUnavailable
			if errors.As(err, &un) {
				labtest.Lacking(t, "%v", un)
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Log(a.Notes)
			for _, family := range [][2]netip.Addr{v4, v6} {
				if _, got := send(t, b, b.DUT().Generator, b.DUT().Receiver, family, 40); got.RxPackets != 40 {
					t.Errorf("of 40 frames from %s %d arrived", family[0], got.RxPackets)
				}
			}
			if s.Mechanism != setting.Routes {
				return
			}
			table, err := b.dut.dut.first().run(context.Background(), "/usr/bin/netstat", "-rnf", "inet")
			if n := strings.Count(table, " "+sinkPort.IPv4.Addr().String()+" "); err != nil || n < s.Table.Count {
				t.Errorf("%d routes lead to the receiver, want %d: %v", n, s.Table.Count, err)
			}
		})
	}
}

// TestWaysNotHad: layouts that cannot be created are unavailable, and the DUT stays a plain router.
func TestWaysNotHad(t *testing.T) {
	b := up(t, testbed.Cost)
	for _, s := range []setting.Setting{
		{Mechanism: setting.Hops, Name: "ipsec", Value: "1"},
		{Mechanism: setting.Forward, Name: setting.ForwardXDP},
		{Mechanism: setting.PolicyRules, Value: "3"},
	} {
		_, err := b.Reset(context.Background(), []setting.Setting{s})
		var un *testbed.ErrUnavailable
		if !errors.As(err, &un) {
			t.Errorf("%s: %v", s, err)
		}
		if _, got := send(t, b, b.DUT().Generator, b.DUT().Receiver, v4, 20); got.RxPackets != 20 {
			t.Errorf("after %s %d of 20 arrived", s, got.RxPackets)
		}
	}
}
