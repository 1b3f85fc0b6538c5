// Package fleets sweeps a fleet: it puts connections over SSH, inspection, audit and
// ledger together as `linerate audit ssh://host` does for one host.
package fleets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"linerate/catalogue"
	"linerate/internal/assemble/audits"
	"linerate/internal/assemble/hosts"
	"linerate/internal/audit"
	"linerate/internal/fact"
	"linerate/internal/fleet"
	"linerate/internal/fleet/inventory"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/host/bundlehost"
	"linerate/internal/host/sshhost"
	"linerate/internal/inspect"
	"linerate/internal/ledger"
	"linerate/internal/role"
	"linerate/internal/sweep"
	"linerate/internal/tunable"
)

const (
	// largeAtOnce is how many captures over sshhost.LargeOutput are held at a time.
	largeAtOnce = 4
	// maxCapture bounds a capture of a sweep, in bytes: one that no gzip(1) of the
	// host's packed has some megabytes.
	maxCapture = 16 << 20
	// memory is where the collector of garbage begins to work harder, in bytes.
	memory = 400 << 20
)

// Sweep is one audit of a fleet.
type Sweep struct {
	sweep.Options
	ID      string
	From    string // where the targets are from, for the record
	Targets []inventory.Target
	Remote  hosts.Remote
	// Suppressions hide findings; Version is that of the program: other code finds
	// something else.
	Suppressions []audit.Suppression
	Version      string
	Store        ledger.FleetStore
	Progress     func(sweep.Progress)
	// Changed hears of what was stored, from one goroutine; nil: nobody does.
	Changed func([]fleet.Change)
}

// Run sweeps the targets that the sweep has not done yet, and ends it when all are
// through. Interrupted, it can go on by its ID.
func (s *Sweep) Run(ctx context.Context) (fleet.Sweep, error) {
	e, err := s.examiner()
	if err != nil {
		return fleet.Sweep{}, err
	}
	w, err := s.Store.BeginSweep(ctx, fleet.Sweep{ID: s.ID, Start: time.Now(), From: s.From, Hosts: len(s.Targets), Knowledge: e.knowledge})
	if err != nil {
		return w, err
	}
	done, err := s.Store.Swept(ctx, s.ID)
	if err != nil {
		return w, err
	}
	debug.SetMemoryLimit(min(debug.SetMemoryLimit(-1), memory))
	left := slices.DeleteFunc(slices.Clone(s.Targets), func(t inventory.Target) bool { return done[t.Name] })
	s.Remote.Shared, s.Remote.Room, s.Remote.Most = sshhost.NewShared(), make(sshhost.Room, largeAtOnce), maxCapture
	s.Remote.Timeout = s.Timeout
	_, err = sweep.Run(ctx, sweep.Task{
		Options: s.Options, Targets: left, Fetch: s.fetch, Final: final, Examine: e.examine, Progress: s.Progress,
		Done: func(data []byte) { s.Remote.Room.Leave(len(data)) },
		Store: func(ctx context.Context, seen []fleet.Observation) error {
			changes, err := s.Store.Observe(ctx, s.ID, seen...)
			if err == nil && s.Changed != nil && len(changes) > 0 {
				s.Changed(changes)
			}
			return err
		},
	})
	if err != nil {
		return w, err
	}
	return s.Store.EndSweep(ctx, s.ID, time.Now())
}

// final reports errors that another try cannot mend.
func final(err error) bool {
	return errors.Is(err, sshhost.ErrRefused) || hint.IsUsage(err) || errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission)
}

// fetch captures one host, or reads its bundle.
func (s *Sweep) fetch(ctx context.Context, t *inventory.Target) ([]byte, error) {
	if !hosts.IsRemote(t.Source) {
		data, err := host.ReadFile(t.Source, maxCapture)
		if err == nil && len(data) >= sshhost.LargeOutput {
			s.Remote.Room <- struct{}{}
		}
		return data, err
	}
	remote := s.Remote
	if t.Become != "" {
		remote.Become = t.Become
	}
	return remote.Bundle(ctx, t.Source)
}

// examiner makes observations of captures.
type examiner struct {
	in        audit.Input
	knowledge string
}

func (s *Sweep) examiner() (*examiner, error) {
	in, err := audits.Input()
	if err != nil {
		return nil, err
	}
	in.Suppressions = s.Suppressions
	files, err := tunable.Digest(catalogue.Files())
	if err != nil {
		return nil, err
	}
	for _, t := range s.Targets {
		if t.Role == "" {
			continue
		}
		if err := role.Check(t.Role); err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return &examiner{in, fleet.Digest(s.Version, files, fmt.Sprint(s.Suppressions))}, nil
}

// examine inspects and audits what was captured of a host.
func (e *examiner) examine(ctx context.Context, t *inventory.Target, data []byte) (fleet.Observation, error) {
	var r host.Reader
	var err error
	if hosts.IsRemote(t.Source) {
		r, err = hosts.ReadOverSSH(data, t.Source)
	} else {
		r, err = bundlehost.Read(bytes.NewReader(data), t.Source)
	}
	if err != nil {
		return fleet.Observation{}, err
	}
	defer r.Close()
	in := e.in
	if in.Facts, err = inspect.Host(ctx, r, inspect.Options{}); err != nil {
		return fleet.Observation{}, err
	}
	if err := audits.GiveRole(&in, t.Role, "given by the list of hosts"); err != nil {
		return fleet.Observation{}, err
	}
	report, err := audit.Run(in)
	if err != nil {
		return fleet.Observation{}, err
	}
	f := in.Facts
	return fleet.Observation{
		Name: t.Name, Time: time.Now(), ID: f.MachineID, Hostname: f.Hostname, OS: f.OS, Release: f.Release.String(), Role: in.Role,
		Facts: fleet.FactsDigest(f, e.settable(f)), Knowledge: e.knowledge, Findings: fleet.Of(report),
	}, nil
}

// settable reports names that the catalogue knows as set by people.
func (e *examiner) settable(f *fact.Facts) func(string) bool {
	return func(name string) bool {
		rec, ok := e.in.Catalogue.Lookup(f.OS, name)
		return ok && rec.At(f.Release).Settable != tunable.ReadOnly
	}
}

// Bundles are the captures of a directory as targets, by their names.
func Bundles(dir string) ([]inventory.Target, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("bundles: %w", err)
	}
	var out []inventory.Target
	for _, e := range entries {
		for _, suffix := range []string{".tar.gz", ".tgz", ".tar"} {
			if name, ok := strings.CutSuffix(e.Name(), suffix); ok && e.Type().IsRegular() && name != "" {
				out = append(out, inventory.Target{Name: name, Source: filepath.Join(dir, e.Name()), Groups: []string{}})
				break
			}
		}
	}
	if len(out) == 0 {
		return nil, hint.With(hint.Usagef("bundles: %s holds none", dir), "a bundle is a file NAME.tar.gz that linerate capture wrote")
	}
	return out, nil
}

// List reads a list of hosts: one host a line, or an inventory of Ansible's.
func List(file string, read func(file, text string) ([]inventory.Target, error)) ([]inventory.Target, error) {
	text, err := host.ReadFile(file, inventory.MaxBytes)
	if err != nil {
		return nil, hint.With(fmt.Errorf("read the list of hosts: %w", err), "a list is a file with one ssh://[user@]host[:port] a line, or an inventory of Ansible")
	}
	return read(file, string(text))
}
