package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"linerate/internal/instrument"
	"linerate/internal/lab"
	"linerate/internal/manage"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/internal/testbed/netnsbed"
)

// openMachineLab wires the namespace testbed and a traffic engine.
func openMachineLab(ctx context.Context, o labOptions) (*openedLab, error) {
	engine, err := engineNamed(o.engine, os.Stderr)
	if err != nil {
		return nil, err
	}
	facts, err := (&source{}).facts(ctx, nil)
	if err != nil {
		return nil, err
	}
	up := func(ctx context.Context, mode testbed.Mode) (testbed.Bed, error) {
		return netnsbed.Up(ctx, netnsbed.Options{Mode: mode, AllowHostSettings: o.allowHost})
	}
	sites := func(ctx context.Context) (testbed.Sites, error) { return netnsbed.UpSites(ctx, o.allowHost) }
	l := &lab.Lab{Up: up, Engine: engine, Machine: lab.Local{}, Sites: sites, Service: services{}, AllowHost: o.allowHost, Instruments: instrument.Local{}, Manager: manage.Local{}}
	return &openedLab{lab: l, facts: facts, label: netnsbed.Label}, nil
}

// inLab runs f where network namespaces can be made: here, or, without the
// right to, by this program started again as root of a user namespace.
func inLab(ctx context.Context, f func() error) error {
	if !netnsbed.NeedsUserNamespace() {
		return f()
	}
	code, err := netnsbed.Enter(ctx)
	if err != nil {
		return err
	}
	if code != exitOK {
		return exitWith(code)
	}
	return nil
}

// demoBed is what the demo's packets pass through.
const demoBed = "network namespaces"

// carries refuses what this machine's lab has no part for: nothing.
func carries(study.Spec) error { return nil }

// labSystem is the operating system of the lab's DUTs.
const labSystem = "linux"

// bedLacks is why the lab cannot have a setting: what this kernel has is known
// only once it is tried.
func bedLacks(study.Setting) string { return "" }

// helpers are the commands that are not for people: none here.
func helpers() []*cobra.Command { return nil }
