// Package assemble connects interfaces to implementations according to the user's options:
// only it and the commands know implementations.
package assemble

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"

	"linerate/internal/assemble/testbeds"
	"linerate/internal/fact"
	"linerate/internal/lab"
	"linerate/internal/lab/forward"
	"linerate/internal/lab/search"
	"linerate/internal/lab/serve"
	"linerate/internal/study"
	"linerate/internal/studydir"
	"linerate/internal/testbed"
	"linerate/internal/testbed/sshbed"
)

// Testbed is a lab ready to run studies, with a description of its environment.
type Testbed struct {
	Lab    *lab.Lab
	Engine string      // name of the traffic engine
	Facts  *fact.Facts // of the host
	Label  string      // a limitation of its numbers
	close  func() error
}

// Close releases what the lab runs elsewhere.
func (t *Testbed) Close() {
	if t.close != nil {
		_ = t.close() // it ends with its connections anyway
	}
}

// Options control how a lab is opened.
type Options struct {
	Engine    string // name
	AllowHost bool   // variants may change kernel-global settings
	// For studies on machines: the study, the path of its record, and the ssh configuration.
	Spec      study.Spec
	Record    string
	SSHConfig string
	// Owner identifies who holds the machines; "" means the study, by the path of its record.
	Owner string
}

// Runners returns the runners for each kind of part; a new kind run by a lab must be added here.
func Runners(packets *forward.Runner, servers serve.Runner) []lab.Runner {
	return []lab.Runner{packets, search.Runner{Runner: packets}, forward.Flows{Runner: packets}, servers}
}

// Here returns which variants this machine's lab can try.
func Here() study.Availability {
	return study.Availability{Place: "this lab", System: system, Lacks: lacks}
}

// Open opens the lab for the study: on its machines, or on this machine.
func Open(ctx context.Context, o Options) (*Testbed, error) {
	if o.Spec.OnMachines() {
		return openMachines(ctx, o)
	}
	return Local(ctx, o)
}

// openMachines opens a testbed of machines for the study recorded at o.Record.
func openMachines(ctx context.Context, o Options) (*Testbed, error) {
	file, _, err := testbeds.ReadFile(filepath.Join(o.Record, studydir.TestbedFile))
	if err != nil {
		return nil, err
	}
	m := &testbeds.Machines{File: file, Config: o.SSHConfig, Talk: os.Stderr}
	sets, err := studydir.ReadSets(o.Record)
	if err != nil {
		return nil, err
	}
	engine, err := m.Engine()
	if err != nil {
		return nil, err
	}
	if err := engine.Available(); err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	facts, err := m.FactsOf(ctx, o.Spec)
	if err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	owner := cmp.Or(o.Owner, testbeds.OwnerOf(o.Record))
	up := func(ctx context.Context, _ testbed.Mode) (testbed.Bed, error) {
		return m.Bed(ctx, sshbed.Options{Reset: o.Spec.Reset, Window: testbeds.WindowOf(o.Spec, file), Owner: owner, Tree: testbeds.TreesOf(sets)})
	}
	l := &lab.Lab{Machine: testbeds.Onlooker{}, AllowHost: true, Runners: Runners(&forward.Runner{Bed: up, Engine: engine}, serve.Runner{})}
	label := sshbed.Label
	if file.Hosts.DUT == nil {
		label = sshbed.PortsLabel
	}
	return &Testbed{Lab: l, Engine: engine.Name(), Facts: facts, Label: label, close: engine.Close}, nil
}
