package load

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"linerate/internal/hint"
	"linerate/internal/port"
)

// fakeEngine fails as configured.
type fakeEngine struct {
	name                                    string
	available, generator, probing, receiver error
	closed                                  *int
}

func (f fakeEngine) Name() string     { return f.name }
func (f fakeEngine) Available() error { return f.available }
func (f fakeEngine) NewGenerator(Spec, port.Place) (Generator, error) {
	if f.generator != nil {
		return nil, f.generator
	}
	return fakeGenerator{f}, nil
}
func (f fakeEngine) NewReceiver(string, port.Place, Watch) (Receiver, error) {
	return nil, f.receiver
}

type fakeGenerator struct{ of fakeEngine }

func (g fakeGenerator) Probe(context.Context) error { return g.of.probing }
func (g fakeGenerator) Run(context.Context, Offer) (Sent, error) {
	return Sent{Engine: g.of.name}, nil
}
func (g fakeGenerator) Close() error { *g.of.closed++; return nil }

func TestAutoTakesTheFirstEngineThatWorks(t *testing.T) {
	absent := NotHere(hint.With(errors.New("no such thing in this kernel"), "boot another"))
	broken := errors.New("broken")
	for _, c := range []struct {
		name         string
		fast         fakeEngine
		want         string // engine used, "" with an error
		said         string
		leftBehind   int // generators closed
		nameOfEngine string
	}{
		{"all works", fakeEngine{}, "fast", "", 0, "fast"},
		{"not on this machine", fakeEngine{available: absent}, "slow", "because no such thing in this kernel\nhint: boot another", 0, "slow"},
		{"not with this device", fakeEngine{generator: absent}, "slow", "sending with slow", 0, "fast"},
		{"not with this far end", fakeEngine{probing: absent}, "slow", "sending with slow", 1, "fast"},
		{"a fault is no reason for another engine", fakeEngine{generator: broken}, "", "", 0, "fast"},
	} {
		t.Run(c.name, func(t *testing.T) {
			closed, said := 0, ""
			c.fast.name, c.fast.closed = "fast", &closed
			a := Auto(func(s string) { said += s }, c.fast, fakeEngine{name: "slow", closed: &closed})
			g, err := a.NewGenerator(Spec{}, port.Here)
			got := ""
			if err == nil {
				sent, _ := g.Run(context.Background(), Offer{})
				got = sent.Engine
			}
			if got != c.want || (err != nil) != (c.want == "") || !strings.Contains(said, c.said) || c.said == "" && said != "" {
				t.Errorf("sends with %q (%v), said %q", got, err, said)
			}
			if closed != c.leftBehind || a.Name() != c.nameOfEngine {
				t.Errorf("closed %d generators, named %q", closed, a.Name())
			}
		})
	}
}

func TestAutoSaysWhyNothingWorks(t *testing.T) {
	none := func(why string) fakeEngine {
		return fakeEngine{name: "x", available: NotHere(errors.New(why)), receiver: NotHere(errors.New(why))}
	}
	a := Auto(nil, none("first"), none("second"))
	if err := a.Available(); !errors.Is(err, ErrNotHere) || !strings.Contains(fmt.Sprint(err), "first") || !strings.Contains(fmt.Sprint(err), "second") {
		t.Errorf("available: %v", err)
	}
	if _, err := a.NewReceiver("eth0", port.Here, Watch{}); !errors.Is(err, ErrNotHere) || !strings.Contains(fmt.Sprint(err), "second") {
		t.Errorf("receiver: %v", err)
	}
	if a.Name() != "none" {
		t.Errorf("named %q", a.Name())
	}
}
