package forward

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"linerate/internal/load"
	"linerate/internal/port"
	"linerate/internal/testbed"
	"linerate/internal/testbed/bedtest"
)

// asked is an engine that records the requested specs.
type asked struct {
	*bedtest.Simulated
	sends, counts []string
}

func (a *asked) NewGenerator(s load.Spec, in port.Place) (load.Generator, error) {
	a.sends = append(a.sends, fmt.Sprintf("%d: %s/%s %s reply %t", s.Stream, s.Side, s.Device, s.Flows.Src, s.Flows.Reply))
	return a.Simulated.NewGenerator(s, in)
}

func (a *asked) NewReceiver(device string, in port.Place, w load.Watch) (load.Receiver, error) {
	a.counts = append(a.counts, fmt.Sprintf("%d: %s/%s", w.Stream, w.Side, device))
	return a.Simulated.NewReceiver(device, in, w)
}

// TestEveryWayIsAStream: each direction of each path is a separate stream, from one machine's port to the
// other's, between the path's own addresses, with an equal share of the load.
func TestEveryWayIsAStream(t *testing.T) {
	s := bedtest.Parse(t, `name: both
question: What do both directions cost?
variants: [{name: none}, {name: rules, settings: [{firewall: {linear: 100}}]}]
parts: [{name: both, mode: overload, rate: 100kpps, directions: both, blocks: 2, seconds: 0.5}]
`)
	sim := &bedtest.Simulated{Seed: 1}
	engine := &asked{Simulated: sim}
	part, _ := s.Part("both")
	l := loading{spec: &s, part: part, bed: sim, engine: engine, paths: 2}
	for i := range 2 {
		from, to := sim.DUT().Generator, sim.DUT().Receiver
		from.Side, to.Side = port.GeneratorSide, port.ReceiverSide
		from.Device, to.Device = fmt.Sprint("a", i), fmt.Sprint("b", i)
		from.IPv4 = netip.MustParsePrefix(fmt.Sprintf("198.18.0.%d/16", i+1))
		if err := l.add(testbed.Way{Generator: from, Receiver: to}, port.Here); err != nil {
			t.Fatal(err)
		}
	}
	sends := []string{"1: generator/a0 198.18.0.1 reply false", "2: receiver/b0 198.18.0.1 reply true", "3: generator/a1 198.18.0.2 reply false", "4: receiver/b1 198.18.0.2 reply true"}
	counts := []string{"1: receiver/b0", "2: generator/a0", "3: receiver/b1", "4: generator/a1"}
	if !slices.Equal(engine.sends, sends) || !slices.Equal(engine.counts, counts) {
		t.Errorf("sent %q, counted %q", engine.sends, engine.counts)
	}
	for i, w := range l.ways {
		want := []string{"generator/a0 → receiver/b0", "receiver/b0 → generator/a0", "generator/a1 → receiver/b1", "receiver/b1 → generator/a1"}[i]
		if w.Name != want || w.Share != 0.5 {
			t.Errorf("way %d: %s with a share of %g", i, w.Name, w.Share)
		}
	}
	if err := l.close(); err != nil {
		t.Error(err)
	}
}
