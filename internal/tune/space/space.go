// Package space determines which settings a search by experiment may try, and why not the
// others, and turns experiments into studies on a given study's testbed and workload.
package space

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/tunable"
	"linerate/internal/tune"
)

// Level is one value of a factor to try.
type Level struct {
	Value    string          `yaml:"value" json:"value"`
	Source   string          `yaml:"source,omitempty" json:"source,omitempty"`
	Settings []study.Setting `yaml:"settings,omitempty" json:"-"`
}

// Entry is a setting that was considered, whether in the space or not, and why.
type Entry struct {
	Name string `json:"name"`
	// In is set if it is a factor of the search.
	In  bool   `json:"in"`
	Why string `json:"why"`
	// Now is its value before the search; "" if unknown.
	Now    string  `json:"now,omitempty"`
	Levels []Level `json:"levels"`
	// Shared is set if it is global to the kernel, so that the arms take turns with it.
	Shared bool `json:"shared,omitempty"`
	// Catalogue is set if it is a setting of the catalogue, under this name.
	Catalogue bool `json:"catalogue"`
	// Base are the settings of arms without it.
	Base []study.Setting `yaml:"base,omitempty" json:"-"`
	// traits are the traits that a workload must have; instead are the catalogue's
	// tunables that it replaces.
	traits, instead []string
}

// Query describes the search for which a space is built.
type Query struct {
	Catalogue *tunable.Catalogue
	Facts     *fact.Facts // of the host that runs the lab
	Role      string
	Study     study.Spec
	Base      study.Variant // the configuration to be tuned
	// Workloads are factors of servers and of paths to their clients, in addition to the
	// catalogue's tunables (catalogue.Spaces).
	Workloads []Entry
	// AllowHost lets the search change settings that are global to the kernel.
	AllowHost bool
	// Only, if not empty, lists all settings that may enter; Without lists those that may not.
	Only, Without []string
}

// Of returns every tunable for which the catalogue has levels on this system, and
// the settings of the workload's server; the factors of the space are among them.
func Of(q Query) ([]Entry, error) {
	env := q.Catalogue.NewEnv(q.Facts, q.Role)
	var out []Entry
	for _, r := range q.Catalogue.Records {
		if r.OS != q.Facts.OS || len(r.Levels) == 0 || !r.Exists(q.Facts.Release) {
			continue
		}
		e := Entry{Name: r.Name, Catalogue: true, Levels: []Level{}, Now: env.Text(r.Name)}
		if err := e.fill(q, env, r); err != nil {
			return nil, fmt.Errorf("%s:%d: %s: %w", r.File, r.Line, r.Name, err)
		}
		out = append(out, e)
	}
	for _, e := range q.ofWorkload() {
		for i := range out {
			if o := &out[i]; e.In && o.In && slices.Contains(e.instead, o.Name) {
				o.In, o.Why = false, e.Name+" takes its place in this study"
			}
		}
		out = append(out, e)
	}
	if err := forbid(q, env, out); err != nil {
		return nil, err
	}
	list.Sort(out, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return out, q.choose(out)
}

// fill determines whether a record is in the space, and at which levels.
func (e *Entry) fill(q Query, env tunable.Env, r *tunable.Record) error {
	conditions := 0
	for _, l := range r.Levels {
		holds, err := env.Holds(l.When)
		if err != nil {
			return err
		}
		if !holds {
			conditions++
			continue
		}
		value := l.Value
		if l.Formula != "" {
			if value, err = env.Formula(l.Formula); err != nil {
				return err
			}
		}
		if e.Now != "" && r.SameValue(e.Now, value) || r.RejectOn(q.Facts.Release, value) != nil {
			continue
		}
		e.Levels = append(e.Levels, Level{Value: value, Source: l.Source})
	}
	switch why := e.outside(q, r); {
	case why != "":
		e.Why = why
	case len(e.Levels) == 0 && conditions > 0:
		e.Why = fmt.Sprintf("its levels are for other roles or hardware than %s here", q.Role)
	case len(e.Levels) == 0:
		e.Why = "it has the value worth trying already: " + e.Now
	default:
		e.In, e.Why = true, "worth trying: "+e.Levels[0].Source
	}
	return nil
}

// outside returns why the testbed cannot try a record, or "" and fills in the levels' settings.
func (e *Entry) outside(q Query, r *tunable.Record) string {
	feature, isFeature := strings.CutPrefix(r.Name, "ethtool -K IF ")
	for i, l := range e.Levels {
		switch {
		case r.Mechanism == setting.Sysctl && !strings.Contains(r.Name, "IF") && r.At(q.Facts.Release).Reversible():
			s := study.SysctlTo(r.Name, l.Value)
			if e.Shared = r.Scope.WholeKernel() && !q.Study.OnMachines(); e.Shared {
				s.Scope = study.ScopeHost
			}
			e.Levels[i].Settings = []study.Setting{s}
		case q.Study.Reset == study.ResetReboot && q.Facts.OS == fact.FreeBSD && (r.Mechanism == setting.Sysctl || r.Mechanism == setting.Loader):
			e.Levels[i].Settings = []study.Setting{{Loader: r.Name, Value: l.Value}}
		case r.Mechanism == setting.Sysctl && !strings.Contains(r.Name, "IF"), r.Mechanism == setting.Loader:
			return "a boot reads it: a study on machines with reset: reboot can try it"
		case isFeature && !q.serves():
			for _, device := range []string{"ingress", "egress"} {
				e.Levels[i].Settings = append(e.Levels[i].Settings, study.LinkTo(device, feature, l.Value))
			}
		case isFeature:
			return "servers in the lab have no device of their own to set it on"
		default:
			return fmt.Sprintf("the lab has nothing to set it on (%s)", r.Mechanism)
		}
	}
	state := r.At(q.Facts.Release)
	switch {
	case state.Module != "" && !q.Facts.HasModule(state.Module) && e.Now == "":
		return "module " + state.Module + " is not loaded"
	case len(r.Cautions) > 0 && slices.ContainsFunc(r.Cautions, func(c tunable.Caution) bool { return c.When == "" && (c.Kind == "harmful" || c.Kind == "security") }):
		return "risky: the catalogue cautions against it always"
	case slices.Contains(q.traits(), "files") && strings.HasPrefix(r.Name, "net."):
		return "files on this machine are not asked for over a network"
	case q.sets(r.Name):
		return "the study's own variant " + q.Base.Name + " sets it"
	case e.Shared && !q.AllowHost:
		return "it is global to the kernel, and this search may not change host settings"
	}
	return ""
}

func (q Query) serves() bool {
	part, _ := q.Study.Part(q.Study.Primary().Part)
	return study.KindOf(part) == study.KindServe
}

// sets reports whether the base sets a sysctl itself.
func (q Query) sets(name string) bool {
	return slices.ContainsFunc(q.Base.Settings, func(s study.Setting) bool { return s.Is(setting.Sysctl) && s.Setting().Name == name })
}

// choose applies the wanted and unwanted names.
func (q Query) choose(all []Entry) error {
	known := list.Map(all, func(e Entry) string { return e.Name })
	for _, n := range slices.Concat(q.Only, q.Without) {
		if !slices.Contains(known, n) {
			return hint.Unknown("setting with levels to try", n, known)
		}
	}
	for i := range all {
		e := &all[i]
		switch {
		case e.In && len(q.Only) > 0 && !slices.Contains(q.Only, e.Name):
			e.In, e.Why = false, "not asked for"
		case e.In && slices.Contains(q.Without, e.Name):
			e.In, e.Why = false, "left out on request"
		}
	}
	oneBoot(all)
	return nil
}

// Factors returns the entries that are in the space.
func Factors(all []Entry) (in []Entry) {
	return list.Filter(all, func(e Entry) bool { return e.In })
}

// Levels returns the number of levels of each factor, in addition to the base's.
func Levels(factors []Entry) (n []int) {
	return list.Map(factors, func(f Entry) int { return len(f.Levels) })
}

// Settings returns the settings of a configuration.
func Settings(factors []Entry, c tune.Config) (out []study.Setting) {
	for i, f := range factors {
		if c[i] == 0 {
			out = append(out, f.Base...)
		} else {
			out = append(out, f.Levels[c[i]-1].Settings...)
		}
	}
	return out
}

// Words describes the settings of a configuration.
func Words(factors []Entry, c tune.Config) string {
	var out []string
	for i, f := range factors {
		if i < len(c) && c[i] > 0 {
			out = append(out, f.Name+"="+f.Levels[c[i]-1].Value)
		}
	}
	if len(out) == 0 {
		return "the base"
	}
	return strings.Join(out, ", ")
}
