package assemble

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"linerate/internal/assemble/hosts"
	"linerate/internal/assemble/testbeds"
	"linerate/internal/hint"
	"linerate/internal/lab"
	"linerate/internal/lab/forward"
	"linerate/internal/lab/serve"
	"linerate/internal/load/wire"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/internal/testbed/jailbed"
)

// Local opens this machine's lab, with the jail testbed and a traffic engine.
func Local(ctx context.Context, o Options) (*Testbed, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	var bed *jailbed.Bed
	engine, err := testbeds.LabEngine(o.Engine, func(order wire.Order) (wire.Opened, error) {
		if bed == nil {
			return wire.Opened{}, errors.New("no testbed is up")
		}
		return bed.Door(order)
	})
	if err != nil {
		return nil, err
	}
	facts, err := (&hosts.Source{}).Facts(ctx, nil)
	if err != nil {
		return nil, err
	}
	up := func(ctx context.Context, mode testbed.Mode) (testbed.Bed, error) {
		made, err := jailbed.Up(ctx, jailbed.Options{Mode: mode, AllowHostSettings: o.AllowHost, Helper: []string{self, HelperVerb}})
		if err != nil {
			return nil, err
		}
		bed = made
		return made, nil
	}
	l := &lab.Lab{Machine: lab.Local{}, AllowHost: o.AllowHost, Runners: Runners(&forward.Runner{Bed: up, Engine: engine}, serve.Runner{})}
	return &Testbed{Lab: l, Engine: engine.Name(), Facts: facts, Label: jailbed.Label}, nil
}

// Inside runs f where jails can be created; if they cannot, it returns an error before anything is
// announced.
func Inside(_ context.Context, f func() error) error {
	if err := jailbed.Needed(); err != nil {
		return err
	}
	return f()
}

// Bed names what a demo's packets pass through.
const Bed = "vnet jails"

// Carries returns an error if this machine's lab cannot run a part.
func Carries(s study.Spec) error {
	if slices.ContainsFunc(s.Parts, func(p study.Part) bool { return p.Mode == testbed.Serve }) {
		return hint.With(fmt.Errorf("study %s needs servers, which the lab of jails does not have yet", s.Name),
			"run it on a Linux machine; linerate load measures your own server")
	}
	return nil
}

// system is the operating system of the lab's DUTs.
const system = "freebsd"

// lacks returns why the lab cannot have a setting; "" means that it can be tried.
func lacks(s study.Setting) string { return jailbed.Lacks(s.Setting()) }

// HelperVerb is the command that a lab runs of this program in its jails to open a port: it passes
// its argument to Help.
const HelperVerb = "open-port"

// Help opens the port for an order of a lab, and passes it back.
func Help(order string) error { return jailbed.Serve(order, testbeds.OpenPort) }
