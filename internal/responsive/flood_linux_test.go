package responsive

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"linerate/internal/drop"
	"linerate/internal/labtest"
	"linerate/internal/load"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/internal/testbed/netnsbed"
	"linerate/studies"
)

// TestFlood: connection tracking creates a state for every segment of a flood, so their checksums
// are valid; synproxy keeps them out of the table, and still accepts legitimate connections.
func TestFlood(t *testing.T) {
	labtest.Need(t)
	if _, err := os.Stat("/proc/sys/net/netfilter/nf_conntrack_count"); err != nil {
		labtest.Lacking(t, "no connection tracking: %v", err)
	}
	b, err := netnsbed.Up(context.Background(), netnsbed.Options{Mode: testbed.Overload})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	tracked := []setting.Setting{{Mechanism: setting.Firewall, Rules: &setting.Rules{Stateful: true}}}
	everySegmentTracked(t, b, tracked)
	labtest.Program(t, "nft")
	noneTracked(t, b)
}

func everySegmentTracked(t *testing.T, b *netnsbed.Bed, tracked []setting.Setting) {
	states, passed, m := flooded(t, b, tracked)
	if states < passed*9/10 || states > passed+1000 {
		t.Errorf("%d states of %d segments", states, passed)
	}
	if m.Connect.Answered == 0 {
		t.Errorf("nobody got in: %+v", m)
	}
}

func noneTracked(t *testing.T, b *netnsbed.Bed) {
	states, passed, m := flooded(t, b, proxied(t))
	if states > passed/100+1000 || m.Greeting.Answered == 0 {
		t.Errorf("behind synproxy %d states of %d segments, %d of %d greeted", states, passed, m.Greeting.Answered, m.Greeting.Sent)
	}
}

// proxied are the settings of the study's variant.
func proxied(t *testing.T) []setting.Setting {
	t.Helper()
	text, err := studies.Read("syn-flood")
	if err != nil {
		t.Fatal(err)
	}
	s, err := study.Parse("syn-flood.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	v, ok := s.Variant("synproxy")
	if !ok {
		t.Fatal("the study has no variant synproxy")
	}
	return v.Apply()
}

// flooded sets up a bed's DUT and floods it for a moment while probing it.
func flooded(t *testing.T, b *netnsbed.Bed, settings []setting.Setting) (states, passed uint64, m study.Management) {
	t.Helper()
	var gone *testbed.ErrUnavailable
	if _, err := b.Reset(context.Background(), settings); errors.As(err, &gone) {
		labtest.Lacking(t, "%v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	p, err := Local{}.Open(b.DUT().Generator, b.DUT().Inside, b.Describe().CPUs.DUT)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	f, err := Local{}.Flood(b.DUT().Generator, b.DUT().Inside, b.Describe().CPUs.Generator)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before, err := b.DUT().AllDrops()
	if err != nil {
		t.Fatal(err)
	}
	p.Start()
	s, err := f.Run(context.Background(), load.Offer{Rate: load.Rate{PPS: 20_000}, Limit: load.Limit{Duration: 400 * time.Millisecond}})
	p.Stop()
	if err != nil {
		t.Fatal(err)
	}
	if m, err = p.Account(); err != nil {
		t.Fatal(err)
	}
	after, err := b.DUT().AllDrops()
	if err != nil {
		t.Fatal(err)
	}
	c := after.Since(before)
	return c[drop.States], s.TxPackets - c["generator.output_drops"], m
}
