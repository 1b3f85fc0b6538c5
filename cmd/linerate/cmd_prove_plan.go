package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/apply"
	"linerate/internal/hint"
	"linerate/internal/setting"
	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/study/ways/kernel"
)

// planned takes the settings of the plan's file that a running host has.
func (f *proveFlags) planned(q *question) error {
	p, err := readPlan(f.plan, os.Stdin)
	if err != nil {
		return err
	}
	q.made = apply.Identity{OS: p.OS, Host: p.Host}
	for _, step := range p.Settings {
		switch {
		case step.Mechanism == setting.Sysctl && step.Where.Runtime && step.Device == "":
			q.settings = append(q.settings, kernel.SysctlTo(step.Name, step.Value))
		case step.Mechanism == setting.Offload && step.Where.Runtime:
			q.settings = append(q.settings, kernel.LinkTo(step.Device, step.Name, step.Value))
		}
	}
	if len(q.settings) == 0 {
		return hint.With(fmt.Errorf("%s sets no sysctl of a running host", f.plan), "a study on a testbed that is out of service can try the rest: linerate study")
	}
	return nil
}

// fitting leaves out what cannot be tried on this host, says so, and gives the study of
// the rest.
func (f *proveFlags) fitting(cmd *cobra.Command, at *liveAt, q *question) (study.Spec, error) {
	if host := at.facts.Hostname; q.made.OS != at.facts.OS || q.made.Host != "" && host != "" && q.made.Host != host {
		return study.Spec{}, hint.With(fmt.Errorf("%s was made for %q (%s), this is %q (%s)", f.plan, q.made.Host, q.made.OS, host, at.facts.OS), "make a plan of this host: another host's facts are not its own")
	}
	var fit []study.Setting
	for _, s := range q.settings {
		if err := at.Fits(at.facts, s); err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "left out: %v\n", err)
			continue
		}
		fit = append(fit, s)
	}
	if len(fit) == 0 {
		return study.Spec{}, hint.With(fmt.Errorf("nothing of %s can be tried on this host while it serves", f.plan), "a study on a testbed that is out of service can: linerate study")
	}
	q.settings = fit
	return f.spec(cmd, *q)
}

// each is the question of which settings all of them need.
func (q question) each() question {
	q.leaveOut = true
	return q
}

// leavingOut are all settings, as the control, and all but one.
func (q question) leavingOut() []study.Variant {
	out := []study.Variant{{Name: "all", Summary: "all settings of the plan", Settings: q.settings}}
	for i, s := range q.settings {
		v := study.Variant{Name: withoutName(i, s), Summary: "all but " + nameOf(s)}
		for j, other := range q.settings {
			if j != i {
				v.Settings = append(v.Settings, other)
			}
		}
		out = append(out, v)
	}
	return out
}

var noName = regexp.MustCompile(`[^a-z0-9._-]+`)

// withoutName is a variant's name, unlike any other's of its study.
func withoutName(i int, s study.Setting) string {
	name := noName.ReplaceAllString(strings.ToLower(nameOf(s)), "-")
	return fmt.Sprintf("without-%d-%s", i+1, name[max(0, len(name)-40):])
}

// isBetter reports whether the primary metric got better by every variant.
func isBetter(r study.Results) bool {
	better := false
	for _, v := range r.Verdicts {
		if v.Primary {
			better = v.Verdict == stats.Better
			if !better {
				return false
			}
		}
	}
	return better
}

// writeNeeded says of each setting whether the plan needs it: what is worse without it
// does.
func writeNeeded(w io.Writer, q question, r study.Results) {
	for i, s := range q.settings {
		for _, v := range r.Verdicts {
			if !v.Primary || v.Variant != withoutName(i, s) {
				continue
			}
			what := map[stats.Verdict]string{
				stats.Worse: "needed: worse without it", stats.Better: "does harm: better without it",
				stats.Equivalent: "not needed: the same without it",
			}[v.Verdict]
			if what == "" {
				what = "not known: " + string(v.Verdict)
			}
			fmt.Fprintf(w, "%s=%s  %s\n", nameOf(s), s.Value, what)
		}
	}
}
