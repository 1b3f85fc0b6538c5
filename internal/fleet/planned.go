package fleet

import (
	"cmp"
	"strings"
	"time"

	"linerate/internal/list"
	"linerate/internal/plan"
)

// Planned is the result of planning one host: a line in the index of a directory of plans.
type Planned struct {
	Version int       `json:"version"`
	Time    time.Time `json:"time"`
	// Name is its name in the list of hosts; Source and Become say how it is reached.
	Name   string `json:"name"`
	Source string `json:"source"`
	Become string `json:"become,omitempty"`
	// Host is the machine's identifier, "" if it reports none.
	Host     string `json:"host,omitempty"`
	Hostname string `json:"hostname,omitempty"`
	OS       string `json:"os,omitempty"`
	Release  string `json:"release,omitempty"`
	Role     string `json:"role,omitempty"`
	// Hardware is the CPU model, or the vendor's name of the machine; Site is from the list.
	Hardware string `json:"hardware,omitempty"`
	Site     string `json:"site,omitempty"`
	// File is the plan's path below the directory, and Digest the plan's digest.
	File    string          `json:"file,omitempty"`
	Digest  string          `json:"digest,omitempty"`
	Changes []PlannedChange `json:"changes,omitempty"`
	// Unmet lists requirements that no setting can meet on this host.
	Unmet []string `json:"unmet,omitempty"`
	// Failure says why there is no plan, Hint what to do about it.
	Failure string `json:"failure,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

// PlannedVersion is the version of the index.
const PlannedVersion = 1

// PlannedChange is one setting of a plan.
type PlannedChange struct {
	Setting string `json:"setting"`
	// Was is the running value, nil if there is none or it is unknown; Value is what
	// the plan sets. If they are equal, the plan makes the value persistent.
	Was   *string `json:"was"`
	Value string  `json:"value"`
}

// ChangesOf lists the settings of a plan.
func ChangesOf(p plan.Plan) []PlannedChange {
	return list.Map(p.Settings, func(s plan.Step) PlannedChange { return PlannedChange{s.Title(), s.Current.Value, s.Value} })
}

// GroupedChange is a change that is the same on several hosts.
type GroupedChange struct {
	PlannedChange
	Hosts int `json:"hosts"`
}

// PlanSummary counts how many hosts of a fleet make which changes.
type PlanSummary struct {
	Hosts int `json:"hosts"`
	// Planned counts hosts whose plan sets something, Right those with nothing to set,
	// Failed those without a plan.
	Planned int `json:"planned"`
	Right   int `json:"nothing_to_do"`
	Failed  int `json:"failed"`
	// Changes are the changes, most frequent first.
	Changes []GroupedChange `json:"changes"`
	// Failures lists the hosts without a plan.
	Failures []Planned `json:"failures"`
}

// Summarise sums up the results of planning hosts.
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
	list.Sort(s.Changes, func(a, b GroupedChange) int {
		return cmp.Or(cmp.Compare(b.Hosts, a.Hosts), strings.Compare(a.Setting, b.Setting), strings.Compare(a.Value, b.Value))
	})
	return s
}
