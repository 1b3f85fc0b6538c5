package load

import (
	"context"
	"errors"
	"fmt"

	"linerate/internal/hint"
	"linerate/internal/port"
)

// auto is several engines as one.
type auto struct {
	engines []Engine
	say     func(string)
}

// Auto is an engine that takes, for each generator and receiver, the first of
// several that works, best first. say is called when it is not the first, and
// why; it may be nil.
func Auto(say func(string), engines ...Engine) Engine {
	if say == nil {
		say = func(string) {}
	}
	return &auto{engines, say}
}

// Name is the name of the first engine that this machine can run: what it
// used for one trial stands in Sent.Engine and Received.Engine.
func (a *auto) Name() string {
	for _, e := range a.engines {
		if e.Available() == nil {
			return e.Name()
		}
	}
	return "none"
}

// Available says why no engine can run.
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

// NewGenerator takes the first engine whose frames the device's other end
// takes.
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

// NewReceiver takes the first engine that can watch the device.
func (a *auto) NewReceiver(device string, in port.Place, w Watch) (Receiver, error) {
	return first(a, "receiving", func(e Engine) (Receiver, error) { return e.NewReceiver(device, in, w) })
}

// first makes what the first engine can that is not refused by ErrNotHere.
func first[T any](a *auto, doing string, make func(Engine) (T, error)) (made T, err error) {
	var why error // the engine before did not do
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
