package trend

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/setting"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/study/record"
	"linerate/internal/tunable"
)

// The arms of a study that lets both states take turns.
const (
	BeforeArm = "before"
	AfterArm  = "after"
)

// RerunPrefix begins the names of such studies, which are no series themselves.
const RerunPrefix = "changed-"

// Status is what a change counts for.
type Status string

// The statuses of a change. Only an interleaved re-run makes more of a suspicion.
const (
	Suspected Status = "suspected"
	Confirmed Status = "confirmed" // a re-run shows it, in the same direction
	Refuted   Status = "refuted"   // a re-run shows that there is none, or the opposite
	Open      Status = "open"      // a re-run showed neither
)

// State is what is known of a change beside the series.
type State struct {
	Status Status `json:"status"`
	// Turns is in what both states differ and can take turns on one machine; Beside is what
	// else differs between the two runs, and is as today in both arms of a re-run.
	Turns  []string `json:"takes_turns"`
	Beside []string `json:"beside"`
	// Rerun names the study that lets them take turns; "": there is none, and Why says why.
	Rerun string `json:"rerun,omitempty"`
	Why   string `json:"not_provable,omitempty"`
	// Claim is what that study came to.
	Claim *Claim `json:"claim,omitempty"`
}

// Claim is the verdict of a re-run.
type Claim struct {
	Study   string        `json:"study"`
	Verdict stats.Verdict `json:"verdict"`
	stats.Effect
}

func suspected() State { return State{Status: Suspected, Turns: []string{}, Beside: []string{}} }

// Settle takes a re-run's verdict: it decides what the change counts for.
func (c *Change) Settle(claim Claim) {
	c.Claim = &claim
	switch {
	case claim.Verdict.Differs() && (claim.Verdict == stats.Worse) == c.Worse:
		c.Status = Confirmed
	case claim.Verdict.Differs(), claim.Verdict == stats.Equivalent:
		c.Status = Refuted
	default:
		c.Status = Open
	}
}

// Interleave compares the records of the runs on both sides of a change, notes in what they
// differ, and makes the study that lets both states take turns; ok is false where there
// can be none, and the change says why.
func (c *Change) Interleave(of Of, before, after *record.Record, known *tunable.Catalogue) (_ study.Spec, ok bool) {
	was, haveWas := before.Spec.Variant(of.Variant)
	is, haveIs := after.Spec.Variant(of.Variant)
	if !haveWas || !haveIs {
		c.Why = fmt.Sprintf("the records have no variant %s", of.Variant)
		return study.Spec{}, false
	}
	c.Turns = append(c.Turns, named(sets(was), sets(is))...)
	if len(c.Turns) == 0 && !bytes.Equal(text(was), text(is)) {
		c.Turns = append(c.Turns, "the variant's own keys")
	}
	wasHost, isHost, told := hostSettings(before, after, known)
	c.Turns = append(c.Turns, told...)
	c.Beside = append(c.Beside, beside(of.Part, before, after)...)
	if c.Why = c.unprovable(after.Spec); c.Why != "" {
		return study.Spec{}, false
	}
	was.Settings, is.Settings = slices.Concat(wasHost, was.Settings), slices.Concat(isHost, is.Settings)
	s := after.Spec
	s.Seed, s.Sweep, s.Profile = nil, nil, false
	s.Name = rerunName(s.Name, was, is)
	s.Question = fmt.Sprintf("Does what changed in %s of study %s between %s and %s change its %s?", of.Variant, after.Spec.Name, c.from(), c.to(), of.Metric)
	s.Summary = fmt.Sprintf("Both states of a change that compare changes suspects between the runs %s and %s take turns; they differ in: %s.", short(c.Before.ID), short(c.After.ID), strings.Join(c.Turns, "; "))
	s.Control, s.Variants = BeforeArm, []study.Variant{arm(was, BeforeArm, c.from()), arm(is, AfterArm, c.to())}
	s.Parts = slices.Clone(s.Parts)
	for i := range s.Parts {
		s.Parts[i].At = nil
	}
	s.Metrics = goals(s, of)
	if err := usable(&s); err != nil {
		c.Why = "the study of both states cannot be made: " + err.Error()
		return study.Spec{}, false
	}
	c.Rerun = s.Name
	return s, true
}

// unprovable says why both states cannot take turns; "": they can.
func (c *Change) unprovable(s study.Spec) string {
	switch {
	case s.OnLiveHost():
		return "the study is of a live host, which is switched by its own study alone"
	case len(c.Turns) > 0:
		return ""
	case len(c.Beside) == 0:
		return "nothing that the records know of differs between the runs: both states would be the same here"
	}
	return "what differs cannot take turns on one machine: " + strings.Join(c.Beside, "; ")
}

// arm is a variant as it was, under a name that says when.
func arm(v study.Variant, name, when string) study.Variant {
	v.Summary = fmt.Sprintf("%s as of %s", v.Name, when)
	v.Name, v.At, v.Curve = name, nil, ""
	return v
}

// goals are a study's, the one of the change primary.
func goals(s study.Spec, of Of) []study.Goal {
	primary := study.Goal{Metric: of.Metric, Part: of.Part}
	var rest []study.Goal
	for _, g := range s.Metrics {
		if g.Metric == of.Metric && g.Part == of.Part {
			primary = g
			continue
		}
		g.Primary = false
		rest = append(rest, g)
	}
	primary.Primary = true
	return append([]study.Goal{primary}, rest...)
}

// usable makes a study what its file says, as its runner reads it.
func usable(s *study.Spec) error {
	data, err := study.Format(*s)
	if err != nil {
		return err
	}
	parsed, wrong, err := study.Made(data)
	switch {
	case wrong != nil:
		return hint.With(fmt.Errorf("%s: %s", wrong.Path(), wrong.What()), "%s", wrong.Hint())
	case err != nil:
		return err
	}
	*s = parsed
	return nil
}

// rerunName is the same for the same two states, whichever nights they are found on.
func rerunName(name string, was, is study.Variant) string {
	sum := sha256.Sum256(slices.Concat(text(was), []byte{0}, text(is)))
	name = strings.TrimRight(name[:min(len(name), 40)], "-._")
	return RerunPrefix + name + "-" + hex.EncodeToString(sum[:4])
}

// text is all of a variant but what it is called.
func text(v study.Variant) []byte {
	v.Name, v.Summary, v.At, v.Curve = "", "", nil, ""
	data, err := yaml.Marshal(v)
	if err != nil {
		return []byte(err.Error())
	}
	return data
}

// sets are what a variant sets, by the names that evidence has.
func sets(v study.Variant) map[string]string {
	out := study.Sets(v)
	for _, set := range v.Settings {
		maps.Copy(out, set.Names())
	}
	return out
}

// named lists what differs between two tables, in the order of the names.
func named(was, is map[string]string) (out []string) {
	all := maps.Clone(was)
	maps.Copy(all, is)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if a, b := was[name], is[name]; a != b {
			out = append(out, fmt.Sprintf("%s was %s, is %s", name, cmp.Or(a, "not set"), cmp.Or(b, "not set")))
		}
	}
	return out
}

// hostSettings are the values that the machine itself ran with in both runs, of what a
// variant may set on it: the whole kernel's, which no namespace has for itself.
func hostSettings(before, after *record.Record, known *tunable.Catalogue) (was, is []study.Setting, told []string) {
	if len(before.Facts) == 0 || len(after.Facts) == 0 || after.Spec.OnMachines() || after.Spec.OnLiveHost() || known == nil {
		return nil, nil, nil
	}
	f := after.Facts[0]
	for _, name := range differing(before.Facts[0], f) {
		rec, ok := known.Lookup(f.OS, name)
		if !ok || !wholeKernels(rec.At(f.Release)) {
			continue
		}
		a, _ := before.Facts[0].LiveValue(name)
		b, _ := f.LiveValue(name)
		for _, add := range []struct {
			to    *[]study.Setting
			value string
		}{{&was, a}, {&is, b}} {
			set := study.SysctlTo(name, add.value)
			set.Scope = study.ScopeHost
			*add.to = append(*add.to, set)
		}
		told = append(told, fmt.Sprintf("%s was %s, is %s on the machine", name, a, b))
	}
	return was, is, told
}

// differing are the names that have another value in one snapshot than in the other.
func differing(was, is *fact.Facts) (names []string) {
	for _, s := range is.Settings {
		old, ok := was.LiveValue(s.Name)
		if ok && s.Live != nil && *s.Live != "" && old != "" && old != *s.Live {
			names = append(names, s.Name)
		}
	}
	return names
}

// beside is in what two runs differ that no variant can take along.
func beside(part string, before, after *record.Record) (out []string) {
	out = append(out, after.Environment.Since(before.Environment)...)
	a, _ := before.Spec.Part(part)
	b, _ := after.Spec.Part(part)
	a.Blocks = b.Blocks
	if !same(a, b) || !same(before.Spec.Workload, after.Spec.Workload) {
		out = append(out, "what the study offers in part "+part+" is another")
	}
	return append(out, named(before.Environment.Mitigations, after.Environment.Mitigations)...)
}

func same(a, b any) bool {
	x, err := yaml.Marshal(a)
	y, other := yaml.Marshal(b)
	return err == nil && other == nil && bytes.Equal(x, y)
}

// from and to tell when a change was: the days, with hours where it is one.
func (c *Change) from() string { return c.day(c.Before.Started) }
func (c *Change) to() string   { return c.day(c.After.Started) }

func (c *Change) day(t time.Time) string {
	if c.Before.Started.UTC().Format(time.DateOnly) == c.After.Started.UTC().Format(time.DateOnly) {
		return t.UTC().Format("2006-01-02 15:04")
	}
	return t.UTC().Format(time.DateOnly)
}

func short(id string) string { return show.KeepStart(id, 12) }

// wholeKernels reports a sysctl that a variant can set, and that no namespace has for itself.
func wholeKernels(s tunable.State) bool {
	return s.Mechanism == setting.Sysctl && s.Scope.WholeKernel() && s.Settable.AtRuntime()
}
