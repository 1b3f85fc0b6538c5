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
	"linerate/internal/plan"
	"linerate/internal/role"
	"linerate/internal/tunable"
)

// Input is what audits of any host need.
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

// Rules are the audit's rules as they are packed with the catalogue, read once.
var Rules = sync.OnceValues(func() (*audit.RuleSet, error) { return audit.UnpackRules(catalogue.PackedRules()) })

// Planner has all that plans of hosts rest on but the hosts.
type Planner struct {
	known      audit.Input
	library    *plan.Library
	evidence   []evidence.Row
	unmeasured bool
}

// NewPlanner is a planner by evidence; unmeasured includes advice that was not measured.
func NewPlanner(evidence []evidence.Row, unmeasured bool) (*Planner, error) {
	in, err := Input()
	if err != nil {
		return nil, err
	}
	library, err := plan.Unpack(catalogue.PackedPlans())
	return &Planner{in, library, evidence, unmeasured}, err
}

// Input is what the plan of a host is made of. Its role was given, which why says, or is
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

// audited is the audit of a host for the role that was given, which why says, or is guessed.
func audited(in *audit.Input, given, why string) (*audit.Report, error) {
	if err := GiveRole(in, given, why); err != nil {
		return nil, err
	}
	return audit.Run(*in)
}

// CheckRole refuses a role that there is not; "" is to be guessed.
func CheckRole(given string) error {
	if given == "" {
		return nil
	}
	return role.Check(given)
}

// GiveRole takes the role that somebody gave, which why says, or guesses it from the
// facts.
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

// Judge is the judge of a host by its own audit and the evidence that ships with
// linerate, for the role that its facts suggest.
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

// OfValue is what an audit says of one value of a tunable: on a host, or, without its facts, on
// any of a release.
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
	for _, x := range found {
		says = append(says, strings.TrimSuffix(x.Message, ".")+". "+x.Why)
	}
	return says, err
}

// Harms judges a plan on a host, as apply.Options wants it; without a source on this machine.
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

// SARIFHost is a report as a log has it. Files below the working directory lie in a
// tree of sources, a repository for example, whose reader wants to be led to them.
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

// Shorter is a file without what an audit's fixes take out of it.
type Shorter struct {
	Path     string
	Old, New string
	Cuts     []plan.Removal
}

// Shorten takes a plan's cuts out of the host's files. A file that cannot be read whole
// stays as it is.
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
