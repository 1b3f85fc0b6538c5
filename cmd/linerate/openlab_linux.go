package main

import (
	"context"
	"os"

	"linerate/internal/lab"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/internal/testbed/netnsbed"
)

// openMachineLab wires the namespace testbed and a traffic engine.
func openMachineLab(_ context.Context, o labOptions) (*lab.Lab, study.Environment, error) {
	engine, err := engineNamed(o.engine, os.Stderr)
	if err != nil {
		return nil, study.Environment{}, err
	}
	env := lab.Environment()
	env.Engine, env.Label = engine.Name(), netnsbed.Label
	up := func(ctx context.Context, mode testbed.Mode) (testbed.Bed, error) {
		return netnsbed.Up(ctx, netnsbed.Options{Mode: mode, AllowHostSettings: o.allowHost})
	}
	return &lab.Lab{Up: up, Engine: engine, Machine: lab.Local{}, AllowHost: o.allowHost}, env, nil
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
