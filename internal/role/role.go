// Package role guesses the purpose of a host from its facts. The evidence for a
// role is data (catalogue/roles/roles.yaml); the guess includes its reasons, so
// that a person can check and overrule it.
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
	"linerate/internal/list"
)

// Guess is the guessed role of a host.
type Guess struct {
	Role string `json:"role"`
	// Reasons are the evidence for it, strongest first.
	Reasons []string `json:"role_reasons"`
	// Others are roles with other evidence for them, most likely first.
	Others []Candidate `json:"other_roles,omitempty"`
}

// Candidate is a role that was not chosen.
type Candidate struct {
	Role    string   `json:"role"`
	Weight  int      `json:"weight"`
	Reasons []string `json:"reasons"`
}

// File is the structure of roles.yaml.
type File struct {
	Roles []Role `yaml:"roles"`
}

// Role is one record of roles.yaml.
type Role struct {
	Name    string `yaml:"name"`
	Summary string `yaml:"summary"`
	// Forwards means that measurements of forwarded packets are relevant to the role.
	Forwards bool       `yaml:"forwards"`
	Evidence []Evidence `yaml:"evidence"`
}

// Evidence supports a role if its expression holds.
type Evidence struct {
	When   string `yaml:"when"`
	Weight int    `yaml:"weight"`
	Reason string `yaml:"reason"`
}

// language is the expression language of the evidence: only the names of a host's facts.
var language = sync.OnceValue(factexpr.NewLanguage[factexpr.Host])

// Load returns the built-in roles; they are parsed once.
var Load = sync.OnceValues(func() ([]Role, error) { return Parse(roles.YAML) })

// Parse parses roles from YAML and checks every expression.
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

// Forwards reports whether hosts of a role forward packets.
func Forwards(name string) bool {
	known, _ := Load()
	return slices.ContainsFunc(known, func(r Role) bool { return r.Name == name && r.Forwards })
}

// Names returns the known roles.
func Names() []string {
	known, err := Load()
	if err != nil {
		return nil
	}
	return list.Map(known, func(r Role) string { return r.Name })
}

// Check returns an error for an unknown role.
func Check(name string) error {
	if names := Names(); !slices.Contains(names, name) {
		return hint.Unknown("role", name, names)
	}
	return nil
}

// Of guesses a host's role among the built-in roles.
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
	list.Sort(candidates, func(a, b Candidate) int { return cmp.Compare(b.Weight, a.Weight) })
	return Guess{Role: candidates[0].Role, Reasons: candidates[0].Reasons, Others: candidates[1:]}, nil
}

// weigh sums the evidence that holds for a role.
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
	list.Sort(held, func(a, b Evidence) int { return cmp.Compare(b.Weight, a.Weight) })
	for _, e := range held {
		c.Reasons = append(c.Reasons, e.Reason)
	}
	return c, nil
}
