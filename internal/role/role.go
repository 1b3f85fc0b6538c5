// Package role guesses what a host is for, from its facts. What speaks for a
// role is data (catalogue/roles/roles.yaml); the guess carries its reasons,
// so that a person can see why and overrule it.
package role

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/goccy/go-yaml"

	"linerate/catalogue/roles"
	"linerate/internal/fact"
	"linerate/internal/fact/factexpr"
	"linerate/internal/hint"
)

// Guess is what a host seems to be for.
type Guess struct {
	Role string `json:"role"`
	// Reasons speak for it, strongest first.
	Reasons []string `json:"role_reasons"`
	// Others are the roles that something else speaks for, likeliest first.
	Others []Candidate `json:"other_roles,omitempty"`
}

// Candidate is a role that lost.
type Candidate struct {
	Role    string   `json:"role"`
	Weight  int      `json:"weight"`
	Reasons []string `json:"reasons"`
}

// File is the shape of roles.yaml.
type File struct {
	Roles []Role `yaml:"roles"`
}

// Role is one record of roles.yaml.
type Role struct {
	Name    string `yaml:"name"`
	Summary string `yaml:"summary"`
	// Forwards: what is measured of forwarded packets is about the role.
	Forwards bool       `yaml:"forwards"`
	Evidence []Evidence `yaml:"evidence"`
}

// Evidence speaks for a role when its expression holds.
type Evidence struct {
	When   string `yaml:"when"`
	Weight int    `yaml:"weight"`
	Reason string `yaml:"reason"`
}

// language is that of the evidence: the names of a host's facts alone.
var language = sync.OnceValue(factexpr.NewLanguage[factexpr.Host])

// Load reads and compiles the built-in roles, once.
var Load = sync.OnceValues(func() ([]Role, error) { return Parse(roles.YAML) })

// Parse reads roles from YAML and checks every expression.
func Parse(text []byte) ([]Role, error) {
	var file File
	if err := yaml.UnmarshalWithOptions(text, &file, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("roles: %w", err)
	}
	for i, r := range file.Roles {
		if r.Name == "" || r.Summary == "" || len(r.Evidence) == 0 {
			return nil, fmt.Errorf("roles: role %d (%q) lacks its name, summary or evidence", i+1, r.Name)
		}
		for j := range r.Evidence {
			e := r.Evidence[j]
			if err := language().CheckCondition(e.When); err != nil {
				return nil, fmt.Errorf("roles: %s: %w", r.Name, err)
			}
			if e.Weight == 0 || e.Reason == "" {
				return nil, fmt.Errorf("roles: %s: %q lacks its weight or reason", r.Name, e.When)
			}
		}
	}
	return file.Roles, nil
}

// Forwards reports a role whose hosts forward packets.
func Forwards(name string) bool {
	known, _ := Load()
	return slices.ContainsFunc(known, func(r Role) bool { return r.Name == name && r.Forwards })
}

// Names lists the roles there are.
func Names() []string {
	known, err := Load()
	if err != nil {
		return nil
	}
	names := make([]string, len(known))
	for i, r := range known {
		names[i] = r.Name
	}
	return names
}

// Check refuses an unknown role.
func Check(name string) error {
	if names := Names(); !slices.Contains(names, name) {
		return hint.Unknown("role", name, names)
	}
	return nil
}

// Of guesses a host's role by the built-in roles.
func Of(f *fact.Facts) (Guess, error) {
	known, err := Load()
	if err != nil {
		return Guess{}, err
	}
	return guess(known, f)
}

// guess weighs the evidence for each role.
func guess(known []Role, f *fact.Facts) (Guess, error) {
	host := factexpr.Of(f)
	var candidates []Candidate
	for _, r := range known {
		c, err := r.weigh(&host)
		if err != nil {
			return Guess{}, err
		}
		if c.Weight > 0 {
			candidates = append(candidates, c)
		}
	}
	if len(candidates) == 0 {
		return Guess{Role: "endpoint", Reasons: []string{}}, nil
	}
	slices.SortStableFunc(candidates, func(a, b Candidate) int { return cmp.Compare(b.Weight, a.Weight) })
	return Guess{Role: candidates[0].Role, Reasons: candidates[0].Reasons, Others: candidates[1:]}, nil
}

// weigh sums what holds for a role.
func (r Role) weigh(host *factexpr.Host) (Candidate, error) {
	c := Candidate{Role: r.Name, Reasons: []string{}}
	var held []Evidence
	for _, e := range r.Evidence {
		yes, err := language().Holds(e.When, host)
		if err != nil {
			return c, fmt.Errorf("role %s: %w", r.Name, err)
		}
		if yes {
			c.Weight += e.Weight
			held = append(held, e)
		}
	}
	slices.SortStableFunc(held, func(a, b Evidence) int { return cmp.Compare(b.Weight, a.Weight) })
	for _, e := range held {
		c.Reasons = append(c.Reasons, e.Reason)
	}
	return c, nil
}
