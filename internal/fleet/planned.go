package fleet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"linerate/internal/list"
	"linerate/internal/plan"
)

// Planned is the result of planning one host: a line in the index of a directory of plans.
type Planned struct {
	Version int       `json:"version"`
	Time    time.Time `json:"time"`
	// Name is as the list of hosts has it, Source and Become are how it is reached.
	Name   string `json:"name"`
	Source string `json:"source"`
	Become string `json:"become,omitempty"`
	// Host is the machine's identifier, "" where it tells none.
	Host     string `json:"host,omitempty"`
	Hostname string `json:"hostname,omitempty"`
	OS       string `json:"os,omitempty"`
	Release  string `json:"release,omitempty"`
	Role     string `json:"role,omitempty"`
	// Hardware is the processor's model, or the maker's name of the machine; Site is the list's.
	Hardware string `json:"hardware,omitempty"`
	Site     string `json:"site,omitempty"`
	// File is the plan, below the directory, and Digest the plan's.
	File    string          `json:"file,omitempty"`
	Digest  string          `json:"digest,omitempty"`
	Changes []PlannedChange `json:"changes,omitempty"`
	// Unmet is what no setting can give this host.
	Unmet []string `json:"unmet,omitempty"`
	// Failure says why there is no plan, Hint what to do.
	Failure string `json:"failure,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

// PlannedVersion is the version of the index.
const PlannedVersion = 1

// PlannedChange is one setting of a plan.
type PlannedChange struct {
	Setting string `json:"setting"`
	// Was is its running value, nil where it has none or none is known; Value what the
	// plan sets. Where they are the same the plan makes it last.
	Was   *string `json:"was"`
	Value string  `json:"value"`
}

// ChangesOf lists what a plan sets.
func ChangesOf(p plan.Plan) []PlannedChange {
	return list.Map(p.Settings, func(s plan.Step) PlannedChange { return PlannedChange{s.Title(), s.Current.Value, s.Value} })
}

// GroupedChange is a setting that changes alike on several hosts.
type GroupedChange struct {
	PlannedChange
	Hosts int `json:"hosts"`
}

// PlanSummary says how many hosts of a fleet change what.
type PlanSummary struct {
	Hosts int `json:"hosts"`
	// Planned hosts have a plan that sets something, Right ones have nothing to set, of
	// Failed ones there is none.
	Planned int `json:"planned"`
	Right   int `json:"nothing_to_do"`
	Failed  int `json:"failed"`
	// Changes are those of most hosts first.
	Changes []GroupedChange `json:"changes"`
	// Failures are the hosts without a plan.
	Failures []Planned `json:"failures"`
}

// Summarise adds up the results of planning hosts, using the last entry of each host.
func Summarise(all []Planned) PlanSummary {
	s := PlanSummary{Hosts: len(all), Changes: []GroupedChange{}, Failures: []Planned{}}
	at := map[[3]string]int{}
	for _, p := range all {
		switch {
		case p.Failure != "":
			s.Failed++
			s.Failures = append(s.Failures, p)
		case len(p.Changes) == 0:
			s.Right++
		default:
			s.Planned++
		}
		for _, c := range p.Changes {
			key := [3]string{c.Setting, "", c.Value}
			if c.Was != nil {
				key[1] = "=" + *c.Was
			}
			i, ok := at[key]
			if !ok {
				i = len(s.Changes)
				at[key] = i
				s.Changes = append(s.Changes, GroupedChange{PlannedChange: c})
			}
			s.Changes[i].Hosts++
		}
	}
	slices.SortStableFunc(s.Changes, func(a, b GroupedChange) int {
		return cmp.Or(cmp.Compare(b.Hosts, a.Hosts), strings.Compare(a.Setting, b.Setting), strings.Compare(a.Value, b.Value))
	})
	return s
}
