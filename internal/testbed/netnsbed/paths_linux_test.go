package netnsbed

import (
	"errors"
	"testing"

	"linerate/internal/labtest"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// TestPaths sends through every way a DUT can be laid out that this kernel has:
// what is sent arrives.
func TestPaths(t *testing.T) {
	labtest.Need(t)
	b := up(t, Options{Mode: testbed.Cost})
	for _, s := range []setting.Setting{
		{Mechanism: setting.Hops, Value: "1"},
		{Mechanism: setting.Hops, Value: "3"},
		{Mechanism: setting.Hops, Value: "1", Name: "vlan"},
		{Mechanism: setting.Hops, Value: "1", Name: "vxlan"},
		{Mechanism: setting.Hops, Value: "1", Name: "gre"},
		{Mechanism: setting.Hops, Value: "1", Name: "ipip"},
		{Mechanism: setting.Hops, Value: "1", Name: "wireguard"},
		{Mechanism: setting.Hops, Value: "1", Name: "ipsec"},
	} {
		t.Run(s.String(), func(t *testing.T) {
			_, err := b.Reset(t.Context(), []setting.Setting{s})
			var un *testbed.ErrUnavailable
			if errors.As(err, &un) {
				t.Skip(un)
			}
			if err != nil {
				t.Fatal(err)
			}
			if n := offer(t, b, 10, false); n != 10 {
				t.Errorf("%d of 10 datagrams arrived", n)
			}
		})
	}
}
