// Package assemble puts together what implements an interface, by what a user asked
// for: it and the commands alone know implementations.
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

// Testbed is a lab ready to run studies, and what it stands on.
type Testbed struct {
	Lab    *lab.Lab
	Engine string      // of its traffic, by name
	Facts  *fact.Facts // of the host
	Label  string      // what its numbers are not
	close  func() error
}

// Close ends what the lab had running elsewhere.
func (t *Testbed) Close() {
	if t.close != nil {
		_ = t.close() // it ends with its connections
	}
}

// Options choose how a lab is opened.
type Options struct {
	Engine    string // by its name
	AllowHost bool   // variants may change what is global to the kernel
	// Of studies on machines: the study, where its record is, and how ssh is
	// configured.
	Spec      study.Spec
	Record    string
	SSHConfig string
	// Owner names who holds the machines; "": the study, by the place of its record.
	Owner string
}

// Runners are what runs the parts of each kind: a new kind that a lab runs is one more
// here.
func Runners(packets *forward.Runner, servers serve.Runner) []lab.Runner {
	return []lab.Runner{packets, search.Runner{Runner: packets}, forward.Flows{Runner: packets}, servers}
}

// Here tells which variants this machine's lab can try.
func Here() study.Availability {
	return study.Availability{Place: "this lab", System: system, Lacks: lacks}
}

// Open opens the lab that the study is for: its machines, or this machine's.
func Open(ctx context.Context, o Options) (*Testbed, error) {
	if o.Spec.OnMachines() {
		return openMachines(ctx, o)
	}
	return Local(ctx, o)
}

// openMachines opens a testbed of machines for the study whose record is at o.Record.
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
