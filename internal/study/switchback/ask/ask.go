// Package ask makes the study that linerate prove runs: of a question (do these settings
// help on this host?) and of what its user says of windows, pairs and limits.
package ask

import (
	"fmt"
	"regexp"
	"strings"

	"linerate/internal/list"
	"linerate/internal/plan"
	"linerate/internal/setting"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// Question is what a study is to answer.
type Question struct {
	Host     string // ssh://…; "" is this machine
	Become   string // sudo, doas or ""
	Settings []study.Setting
	LeaveOut bool // each of the settings in turn, from all of them
}

// assigned is NAME=VALUE of a setting.
var assigned = regexp.MustCompile(`^([A-Za-z0-9_.\-/%:*]+)=(.*)$`)

// offload is DEVICE:FEATURE of an interface.
var offload = regexp.MustCompile(`^([A-Za-z0-9_.@-]+):([a-z][a-z0-9-]*)$`)

// Setting reads NAME=VALUE: of an interface's feature (DEVICE:FEATURE) or of a sysctl.
func Setting(text string) (s study.Setting, ok bool) {
	m := assigned.FindStringSubmatch(text)
	if m == nil {
		return s, false
	}
	value := strings.TrimSpace(m[2])
	if link := offload.FindStringSubmatch(m[1]); link != nil {
		return study.LinkTo(link[1], link[2], value), true
	}
	return study.SysctlTo(m[1], value), true
}

// NameOf is a setting's name as Setting reads it.
func NameOf(s study.Setting) string {
	if s.Is(setting.Link) {
		return s.Device + ":" + s.Setting().Name
	}
	return s.Setting().Name
}

// Planned are the settings of a plan that a running host has.
func Planned(p plan.Plan) (settings []study.Setting) {
	for _, step := range p.Settings {
		switch {
		case step.Mechanism == setting.Sysctl && step.Where.Runtime && step.Device == "":
			settings = append(settings, study.SysctlTo(step.Name, step.Value))
		case step.Mechanism == setting.Offload && step.Where.Runtime:
			settings = append(settings, study.LinkTo(step.Device, step.Name, step.Value))
		}
	}
	return settings
}

// Text is the question in words.
func (q Question) Text() string {
	where := "this host"
	if q.Host != "" {
		where = q.Host
	}
	titles := strings.Join(list.Map(q.Settings, func(s study.Setting) string { return NameOf(s) + "=" + s.Value }), ", ")
	if q.LeaveOut {
		return fmt.Sprintf("Which of %s does %s need, under its own traffic?", titles, where)
	}
	return fmt.Sprintf("Does %s help on %s, under its own traffic?", titles, where)
}

// Variants are what is compared, the control first: the host as it is and with the
// settings, or all settings and all but one.
func (q Question) Variants() []study.Variant {
	if !q.LeaveOut {
		return []study.Variant{{Name: "as-is", Summary: "the host as it is"}, {Name: "setting", Settings: q.Settings}}
	}
	out := []study.Variant{{Name: "all", Summary: "all settings of the plan", Settings: q.Settings}}
	for i, s := range q.Settings {
		v := study.Variant{Name: withoutName(i, s), Summary: "all but " + NameOf(s)}
		v.Settings = append(append(v.Settings, q.Settings[:i]...), q.Settings[i+1:]...)
		out = append(out, v)
	}
	return out
}

var noName = regexp.MustCompile(`[^a-z0-9._-]+`)

// withoutName is a variant's name, unlike any other's of its study.
func withoutName(i int, s study.Setting) string {
	name := noName.ReplaceAllString(strings.ToLower(NameOf(s)), "-")
	return fmt.Sprintf("without-%d-%s", i+1, name[max(0, len(name)-40):])
}

// IsBetter reports whether the primary metric got better by every variant.
func IsBetter(r study.Results) bool {
	primary := list.Filter(r.Verdicts, func(v study.Verdict) bool { return v.Primary })
	worse := list.Filter(primary, func(v study.Verdict) bool { return v.Verdict != stats.Better })
	return len(primary) > 0 && len(worse) == 0
}

// need is what a verdict on all settings but one says of that one.
var need = map[stats.Verdict]string{
	stats.Worse: "needed: worse without it", stats.Better: "does harm: better without it",
	stats.Equivalent: "not needed: the same without it", stats.Stopped: "not known: a guardrail ended the study without it",
}

// Needed says, a line a setting, whether the others need it: what is worse without it does.
func (q Question) Needed(r study.Results) (lines []string) {
	for i, s := range q.Settings {
		for _, v := range r.Verdicts {
			if !v.Primary || v.Variant != withoutName(i, s) {
				continue
			}
			what, known := need[v.Verdict]
			if !known {
				what = "not known: " + string(v.Verdict)
			}
			lines = append(lines, fmt.Sprintf("%s=%s  %s", NameOf(s), s.Value, what))
		}
	}
	return lines
}
