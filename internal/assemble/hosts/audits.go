package hosts

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"linerate/catalogue"
	"linerate/internal/audit"
	"linerate/internal/evidence"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/host"
	"linerate/internal/judge"
	"linerate/internal/list"
	"linerate/internal/plan"
	"linerate/internal/role"
	"linerate/internal/tunable"
)

// Input returns the input that audits of all hosts share.
func Input() (audit.Input, error) {
	in := audit.Input{Today: time.Now()}
	var err error
	if in.Catalogue, err = catalogue.Load(); err != nil {
		return in, fmt.Errorf("catalogue: %w", err)
	}
	if in.Rules, err = Rules(); err != nil {
		return in, fmt.Errorf("rules: %w", err)
	}
	return in, nil
}

// Rules returns the audit's rules packed with the catalogue; they are read once.
var Rules = sync.OnceValues(func() (*audit.RuleSet, error) { return audit.UnpackRules(catalogue.PackedRules()) })

// Planner holds all inputs of plans except the host.
type Planner struct {
	known      audit.Input
	library    *plan.Library
	evidence   []evidence.Row
	unmeasured bool
}

// NewPlanner returns a planner that uses the evidence; unmeasured includes advice that was not measured.
func NewPlanner(evidence []evidence.Row, unmeasured bool) (*Planner, error) {
	in, err := Input()
	if err != nil {
		return nil, err
	}
	library, err := plan.Unpack(catalogue.PackedPlans())
	return &Planner{in, library, evidence, unmeasured}, err
}

// Input returns the input for a host's plan. The role is the given one, with why as reason, or
// guessed.
func (p *Planner) Input(f *fact.Facts, given, why string, needs plan.Needs) (plan.Input, error) {
	known := p.known
	known.Facts = f
	report, err := audited(&known, given, why)
	if err != nil {
		return plan.Input{}, err
	}
	return plan.Input{Facts: f, Catalogue: known.Catalogue, Library: p.library, Role: known.Role, Needs: needs, Findings: report.Findings, Judge: plan.By(known), Evidence: p.evidence, Unmeasured: p.unmeasured}, nil
}

// audited audits a host for the given role, with why as reason, or a guessed one.
func audited(in *audit.Input, given, why string) (*audit.Report, error) {
	if err := GiveRole(in, given, why); err != nil {
		return nil, err
	}
	return audit.Run(*in)
}

// CheckRole returns an error for an unknown role; "" means to guess it.
func CheckRole(given string) error {
	if given == "" {
		return nil
	}
	return role.Check(given)
}

// GiveRole sets the given role, with why as reason, or guesses it from the facts.
func GiveRole(in *audit.Input, given, why string) error {
	if given != "" {
		in.Role, in.RoleReasons = given, []string{why}
		return nil
	}
	g, err := role.Of(in.Facts)
	if err != nil {
		return err
	}
	in.Role, in.RoleReasons = g.Role, g.Reasons
	return nil
}

// Judge returns a judge of a host, using an audit and the measured evidence, for the role guessed
// from its facts.
func Judge(f *fact.Facts, measured []evidence.Row) (*judge.Judge, error) {
	in, err := Input()
	if err != nil {
		return nil, err
	}
	in.Facts = f
	report, err := audited(&in, "", "")
	if err != nil {
		return nil, err
	}
	return judge.New(judge.Input{Facts: f, Catalogue: in.Catalogue, Rules: in.Rules, Role: in.Role, Findings: report.Findings, Evidence: measured}), nil
}

// OfValue returns an audit's findings about one value of a tunable: on a host, or, without facts,
// on any host of a release.
func OfValue(f *fact.Facts, r *tunable.Record, rel release.Release, name, value string) (says []string, err error) {
	in, err := Input()
	if err != nil {
		return nil, err
	}
	if in.Facts = f; f == nil {
		in.Facts = &fact.Facts{OS: r.OS, Release: rel, From: fact.Origin{Kind: fact.KindTree, Alone: true}}
	} else if err := GiveRole(&in, "", ""); err != nil {
		return nil, err
	}
	found, err := audit.OfValue(in, r, name, value)
	return list.Map(found, func(x audit.Finding) string { return strings.TrimSuffix(x.Message, ".") + ". " + x.Why }), err
}

// Harms returns a function for apply.Options that judges a plan on a host, by default this machine.
func (r *Remote) Harms(source ...string) func(context.Context, plan.Plan) ([]string, error) {
	return func(ctx context.Context, p plan.Plan) ([]string, error) {
		s := Source{Remote: *r}
		f, err := s.Facts(ctx, source)
		if err != nil {
			return nil, err
		}
		in, err := Input()
		if err != nil {
			return nil, err
		}
		in.Role = p.Role
		return p.Harms(f, plan.By(in))
	}
}

// SARIFHost prepares a report for a log. Files below the working directory are in a source tree,
// such as a repository, and get paths relative to it.
func SARIFHost(r *audit.Report, name, root string) audit.SARIFHost {
	h := audit.SARIFHost{Report: r, Name: name}
	here, err := os.Getwd()
	if err != nil {
		return h
	}
	h.Sources = here
	if root == "" {
		return h
	}
	if h.Root, err = filepath.Abs(root); err != nil {
		h.Root = root
		return h
	}
	if rel, err := filepath.Rel(here, h.Root); err == nil && !strings.HasPrefix(rel, "..") {
		h.Prefix = filepath.ToSlash(rel)
	}
	return h
}

// Shorter is a file with the lines removed that an audit's fixes remove.
type Shorter struct {
	Path     string
	Old, New string
	Cuts     []plan.Removal
}

// Shorten applies a plan's cuts to the host's files. A file that cannot be read in full stays
// unchanged.
func Shorten(ctx context.Context, base host.Reader, p plan.Plan) []Shorter {
	byFile := map[string][]plan.Removal{}
	for _, c := range p.Cuts() {
		byFile[c.File] = append(byFile[c.File], c)
	}
	var all []Shorter
	for _, path := range slices.Sorted(maps.Keys(byFile)) {
		if text, err := base.ReadFile(ctx, path); err == nil {
			cuts := byFile[path]
			all = append(all, Shorter{path, string(text), plan.Shorten(string(text), cuts), cuts})
		}
	}
	return all
}
