package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"linerate/internal/hint"
	"linerate/internal/lab"
	"linerate/internal/load/wire"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/internal/testbed/jailbed"
)

// openMachineLab wires the testbed of jails and a traffic engine.
func openMachineLab(ctx context.Context, o labOptions) (*openedLab, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	var bed *jailbed.Bed
	engine, err := labEngine(o.engine, func(order wire.Order) (wire.Opened, error) {
		if bed == nil {
			return wire.Opened{}, errors.New("no testbed is up")
		}
		return bed.Door(order)
	})
	if err != nil {
		return nil, err
	}
	facts, err := (&source{}).facts(ctx, nil)
	if err != nil {
		return nil, err
	}
	up := func(ctx context.Context, mode testbed.Mode) (testbed.Bed, error) {
		made, err := jailbed.Up(ctx, jailbed.Options{Mode: mode, AllowHostSettings: o.allowHost, Helper: []string{self, helperVerb}})
		if err != nil {
			return nil, err
		}
		bed = made
		return made, nil
	}
	l := &lab.Lab{Up: up, Engine: engine, Machine: lab.Local{}, AllowHost: o.allowHost}
	return &openedLab{lab: l, facts: facts, label: jailbed.Label}, nil
}

// inLab runs f where jails can be made: here, or nowhere, which is said before
// anything is announced.
func inLab(_ context.Context, f func() error) error {
	if err := jailbed.Needed(); err != nil {
		return err
	}
	return f()
}

// demoBed is what the demo's packets pass through.
const demoBed = "vnet jails"

// carries refuses what this machine's lab has no part for.
func carries(s study.Spec) error {
	if slices.ContainsFunc(s.Parts, func(p study.Part) bool { return p.Mode == testbed.Serve }) {
		return hint.With(fmt.Errorf("study %s asks servers, which the lab of jails has none of yet", s.Name),
			"run it on a Linux machine; your own server is asked by linerate load")
	}
	return nil
}

// labSystem is the operating system of the lab's DUTs.
const labSystem = "freebsd"

// bedLacks is why the lab cannot have a setting; "": it can be tried.
func bedLacks(s study.Setting) string { return jailbed.Lacks(s.Setting()) }

// helperVerb is what a lab runs in its jails, to have a port opened there.
const helperVerb = "open-port"

// helpers are the commands that are not for people.
func helpers() []*cobra.Command {
	return []*cobra.Command{{
		Use: helperVerb + " ORDER", Short: "open a port of a lab in its jail, and hand it out", Hidden: true,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return jailbed.Serve(args[0], openHere) },
	}}
}
