package hosts

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"linerate/catalogue"
	"linerate/internal/apply/record"
	"linerate/internal/audit"
	"linerate/internal/fact"
	"linerate/internal/fleet"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/host/filehost"
	"linerate/internal/host/sshhost"
	"linerate/internal/inspect"
	"linerate/internal/ledger"
	"linerate/internal/tunable"
)

const (
	// largeAtOnce is how many captures over sshhost.LargeOutput are held at a time.
	largeAtOnce = 4
	// maxSwept is the maximum size of a capture in a sweep, in bytes: without gzip(1) on the host
	// it has some megabytes.
	maxSwept = 16 << 20
	// memory is the heap size from which the garbage collector works harder, in bytes.
	memory = 400 << 20
)

// Sweep is one audit of a fleet.
type Sweep struct {
	Pace
	ID      string
	From    string // source of the targets, for the record
	Targets []fleet.Target
	Remote  Remote
	// Suppressions hide findings; Version is that of the program: another version may have other
	// findings.
	Suppressions []audit.Suppression
	Version      string
	Store        ledger.FleetStore
	Progress     func(Progress)
	// Changed, unless nil, receives the stored changes, from one goroutine.
	Changed func([]fleet.Change)
}

// Run visits the sweep's remaining targets, and ends the sweep when all are done. An interrupted
// sweep can be resumed by ID.
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
	left := slices.DeleteFunc(slices.Clone(s.Targets), func(t fleet.Target) bool { return done[t.Name] })
	_, err = visits[fleet.Observation]{
		Pace: s.Pace, targets: left, do: captured(&s.Remote, e.examine), final: final, progress: s.Progress,
		lost: func(t *fleet.Target, at time.Time, why error) fleet.Observation {
			return fleet.Observation{Name: t.Name, Time: at, Failure: why.Error()}
		},
		store: func(ctx context.Context, seen []fleet.Observation) error {
			changes, err := s.Store.Observe(ctx, s.ID, seen...)
			if err == nil && s.Changed != nil && len(changes) > 0 {
				s.Changed(changes)
			}
			return err
		},
	}.run(ctx)
	if err != nil {
		return w, err
	}
	return s.Store.EndSweep(ctx, s.ID, time.Now())
}

// final reports errors that a retry cannot fix.
func final(err error) bool {
	var made unplannable
	return errors.As(err, &made) || errors.Is(err, sshhost.ErrRefused) || hint.IsUsage(err) || errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission)
}

// captured returns a function that turns captures into results, as many concurrently as there are CPUs.
func captured[T any](r *Remote, examine func(context.Context, *fleet.Target, []byte) (T, error)) func(context.Context, *fleet.Target) (T, error) {
	r.Room, r.Most = make(sshhost.Room, largeAtOnce), maxSwept
	fetch := fetchBy(r)
	cpus := make(chan struct{}, runtime.GOMAXPROCS(0))
	return func(ctx context.Context, t *fleet.Target) (got T, err error) {
		data, err := fetch(ctx, t)
		if err != nil {
			return got, err
		}
		defer r.Room.Leave(len(data))
		select {
		case cpus <- struct{}{}:
		case <-ctx.Done():
			return got, context.Cause(ctx)
		}
		defer func() { <-cpus }()
		return examine(ctx, t, data)
	}
}

func fetchBy(r *Remote) func(context.Context, *fleet.Target) ([]byte, error) {
	return func(ctx context.Context, t *fleet.Target) ([]byte, error) {
		if !IsRemote(t.Source) {
			data, err := host.ReadFile(t.Source, maxSwept)
			if err == nil && len(data) >= sshhost.LargeOutput {
				r.Room <- struct{}{}
			}
			return data, err
		}
		remote := *r
		if t.Become != "" {
			remote.Become = t.Become
		}
		return remote.Bundle(ctx, t.Source)
	}
}

// examiner turns captures into observations.
type examiner struct {
	in        audit.Input
	knowledge string
}

func (s *Sweep) examiner() (*examiner, error) {
	in, err := Input()
	if err != nil {
		return nil, err
	}
	in.Suppressions = s.Suppressions
	for _, t := range s.Targets {
		if err := CheckRole(t.Role); err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return &examiner{in: in, knowledge: fleet.Digest(s.Version, catalogue.Version(), fmt.Sprint(s.Suppressions))}, nil
}

// examine inspects and audits the capture of a host.
func (e *examiner) examine(ctx context.Context, t *fleet.Target, data []byte) (fleet.Observation, error) {
	f, a, err := factsOf(ctx, t, data)
	if err != nil {
		return fleet.Observation{}, err
	}
	in := e.in
	in.Facts = f
	report, err := audited(&in, t.Role, "given by the list of hosts")
	if err != nil {
		return fleet.Observation{}, err
	}
	o := fleet.Observation{
		Name: t.Name, Time: time.Now(), ID: f.MachineID, Hostname: f.Hostname, OS: f.OS, Release: f.Release.String(), Role: in.Role,
		Facts: fleet.FactsDigest(f, func(name string) bool {
			rec, ok := e.in.Catalogue.Lookup(f.OS, name)
			return ok && rec.At(f.Release).Settable != tunable.ReadOnly
		}), Knowledge: e.knowledge, Findings: fleet.Of(report),
	}
	applied(&o, record.Parse(string(a.Entry("out/applied"))))
	return o, nil
}

// applied adds differences from what linerate applied.
func applied(o *fleet.Observation, r record.Record) {
	if !r.Known() {
		o.Unread = cmp.Or(unread[r.State], "a change is "+r.State)
		return
	}
	o.Record = r.State
	for _, d := range r.Drift {
		found := d.Now
		if d.Changed != "" {
			found += ", written " + d.Changed
		}
		o.Findings = append(o.Findings, fleet.DriftFinding(d.What, d.Name(), d.Confirmed, found, cmp.Or(d.ID, r.State)))
	}
}

// unread maps states of a record to the reason why a host was not compared with it.
var unread = map[string]string{
	"": "its capture does not tell", record.Unreadable: "linerate's record there is root's alone", record.Live: "a live study has the host",
}

// factsOf inspects the capture of a host.
func factsOf(ctx context.Context, t *fleet.Target, data []byte) (*fact.Facts, *filehost.Archive, error) {
	a, err := filehost.Unpack(bytes.NewReader(data), t.Source)
	if err != nil {
		return nil, nil, err
	}
	b, err := a.Bundle()
	if err != nil {
		return nil, nil, err
	}
	if IsRemote(t.Source) {
		b.OverSSH()
	}
	f, err := inspect.Host(ctx, b, inspect.Options{})
	if err != nil {
		return nil, nil, err
	}
	f, err = withWriters(f)
	return f, a, err
}

// Bundles returns the captures in a directory as targets, by name.
func Bundles(dir string) ([]fleet.Target, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("bundles: %w", err)
	}
	var out []fleet.Target
	for _, e := range entries {
		for _, suffix := range []string{".tar.gz", ".tgz", ".tar"} {
			if name, ok := strings.CutSuffix(e.Name(), suffix); ok && e.Type().IsRegular() && name != "" {
				out = append(out, fleet.Target{Name: name, Source: filepath.Join(dir, e.Name()), Groups: []string{}})
				break
			}
		}
	}
	if len(out) == 0 {
		return nil, hint.With(hint.Usagef("bundles: %s holds none", dir), "a bundle is a file NAME.tar.gz that linerate capture wrote")
	}
	return out, nil
}

// List reads a list of hosts: one host per line, or an Ansible inventory.
func List(file string, read func(file, text string) ([]fleet.Target, error)) ([]fleet.Target, error) {
	text, err := host.ReadFile(file, fleet.MaxList)
	if err != nil {
		return nil, hint.With(fmt.Errorf("read the list of hosts: %w", err), "a list is a file with one ssh://[user@]host[:port] a line, or the JSON of ansible-inventory")
	}
	return read(file, string(text))
}
