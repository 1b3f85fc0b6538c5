package load

import (
	"context"
	"errors"
	"fmt"

	"linerate/internal/hint"
	"linerate/internal/port"
)

// auto combines several engines.
type auto struct {
	engines []Engine
	say     func(string)
}

// Auto returns an engine that uses, for each generator and receiver, the
// first of several that works, best first. say is called with the reason if
// it is not the first; it may be nil.
func Auto(say func(string), engines ...Engine) Engine {
	if say == nil {
		say = func(string) {}
	}
	return &auto{engines, say}
}

// Name returns the name of the first engine that this machine can run. The
// engine of a particular trial is in Sent.Engine and Received.Engine.
func (a *auto) Name() string {
	for _, e := range a.engines {
		if e.Available() == nil {
			return e.Name()
		}
	}
	return "none"
}

// Available returns why no engine can run, or nil.
func (a *auto) Available() error {
	var all []error
	for _, e := range a.engines {
		err := e.Available()
		if err == nil {
			return nil
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

// NewGenerator uses the first engine whose frames the other end of the device
// accepts.
func (a *auto) NewGenerator(spec Spec, in port.Place) (Generator, error) {
	return first(a, "sending", func(e Engine) (Generator, error) {
		g, err := e.NewGenerator(spec, in)
		if err != nil {
			return nil, err
		}
		if err := g.Probe(context.Background()); err != nil {
			return nil, errors.Join(err, g.Close())
		}
		return g, nil
	})
}

// NewReceiver uses the first engine that can receive from the device.
func (a *auto) NewReceiver(device string, in port.Place, w Watch) (Receiver, error) {
	return first(a, "receiving", func(e Engine) (Receiver, error) { return e.NewReceiver(device, in, w) })
}

// first calls make for each engine until it does not fail with ErrNotHere.
func first[T any](a *auto, doing string, make func(Engine) (T, error)) (made T, err error) {
	var why error // why the previous engine failed
	for _, e := range a.engines {
		err = e.Available()
		if err == nil {
			made, err = make(e)
		}
		if err == nil {
			a.explain(doing, e.Name(), why)
			return made, nil
		}
		if !errors.Is(err, ErrNotHere) {
			return made, err
		}
		why = err
	}
	return made, err
}

func (a *auto) explain(doing, name string, why error) {
	if why == nil {
		return
	}
	text := fmt.Sprintf("%s with %s, because %v", doing, name, why)
	if h := hint.Of(why); h != "" {
		text += "\nhint: " + h
	}
	a.say(text)
}
