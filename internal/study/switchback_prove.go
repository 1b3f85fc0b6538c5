package study

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"linerate/internal/hint"
	"linerate/internal/lazy"
	"linerate/internal/list"
	"linerate/internal/setting"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/yamlfile"
)

// Question is the question of a study on a live host: do these settings help there?
type Question struct {
	Host     string // ssh://…; "" is the local machine
	Become   string // sudo, doas or ""
	Settings []Setting
	LeaveOut bool // compare all settings with all but one, for each setting
}

// Design says how to run a question's study.
type Design struct {
	Terms     Terms         // times in seconds; if BurnIn or Pilot is 0, it follows from Window
	Pairs     int           // number of pairs of windows with the setting
	Time      time.Duration // run as many pairs as fit in it; 0: Pairs
	Margin    float64       // percent, or hundredths of a percentage point for a share
	Precision float64       // percent: end when the interval is that narrow; 0: no looks
	Plan      bool          // run as many pairs as the pilot shows to be needed for Precision, else for Margin
	Seed      uint64
	// Names maps keys of the study to the user's names for them; other keys keep their names.
	Names map[string]string
	// Metric parses a metric's source; an error refuses it before anything is written to disk.
	Metric func(source string) error
}

var (
	// assigned matches NAME=VALUE of a setting, and offload DEVICE:FEATURE of an interface.
	assigned = lazy.Regexp(`^([A-Za-z0-9_.\-/%:*]+)=(.*)$`)
	offload  = lazy.Regexp(`^([A-Za-z0-9_.@-]+):([a-z][a-z0-9-]*)$`)
)

// ParseSetting parses NAME=VALUE, where NAME is an interface's feature (DEVICE:FEATURE) or a sysctl.
func ParseSetting(text string) (s Setting, ok bool) {
	m := assigned().FindStringSubmatch(text)
	if m == nil {
		return s, false
	}
	value := strings.TrimSpace(m[2])
	if link := offload().FindStringSubmatch(m[1]); link != nil {
		return LinkTo(link[1], link[2], value), true
	}
	return SysctlTo(m[1], value), true
}

// TypedName returns a setting's name in the form that ParseSetting reads.
func (s Setting) TypedName() string {
	if s.Is(setting.Link) {
		return s.Device + ":" + s.Setting().Name
	}
	return s.Setting().Name
}

// Text formulates the question.
func (q Question) Text() string {
	where := "this host"
	if q.Host != "" {
		where = q.Host
	}
	titles := strings.Join(list.Map(q.Settings, func(s Setting) string { return s.TypedName() + "=" + s.Value }), ", ")
	if q.LeaveOut {
		return fmt.Sprintf("Which of %s does %s need, under its own traffic?", titles, where)
	}
	return fmt.Sprintf("Does %s help on %s, under its own traffic?", titles, where)
}

// variants returns the variants to compare, the control first: the host as it is
// and with the settings, or all settings and all but one.
func (q Question) variants() []Variant {
	if !q.LeaveOut {
		return []Variant{{Name: "as-is", Summary: "the host as it is"}, {Name: "setting", Settings: q.Settings}}
	}
	out := []Variant{{Name: "all", Summary: "all settings of the plan", Settings: q.Settings}}
	for i, s := range q.Settings {
		v := Variant{Name: withoutName(i, s), Summary: "all but " + s.TypedName()}
		v.Settings = append(append(v.Settings, q.Settings[:i]...), q.Settings[i+1:]...)
		out = append(out, v)
	}
	return out
}

// withoutName returns a variant name that is unique in its study.
func withoutName(i int, s Setting) string {
	name := notInNames().ReplaceAllString(strings.ToLower(s.TypedName()), "-")
	return fmt.Sprintf("without-%d-%s", i+1, name[max(0, len(name)-40):])
}

// IsBetter reports whether every variant improved the primary metric.
func (r Results) IsBetter() bool {
	primary := list.Filter(r.Verdicts, func(v Verdict) bool { return v.Primary })
	worse := list.Filter(primary, func(v Verdict) bool { return v.Verdict != stats.Better })
	return len(primary) > 0 && len(worse) == 0
}

// need says what a verdict on all settings but one means for that one.
var need = map[stats.Verdict]string{
	stats.Worse: "needed: worse without it", stats.Better: "does harm: better without it",
	stats.Equivalent: "not needed: the same without it", stats.Stopped: "not known: a guardrail ended the study without it",
}

// Needed says for each setting, one per line, whether it is needed: it is if the host is worse without it.
func (q Question) Needed(r Results) (lines []string) {
	for i, s := range q.Settings {
		for _, v := range r.Verdicts {
			if !v.Primary || v.Variant != withoutName(i, s) {
				continue
			}
			what, known := need[v.Verdict]
			if !known {
				what = "not known: " + string(v.Verdict)
			}
			lines = append(lines, fmt.Sprintf("%s=%s  %s", s.TypedName(), s.Value, what))
		}
	}
	return lines
}

// livePart is the name of the study's part.
const livePart = "live"

// Spec returns the study that answers a question, with defaults and checks as for one
// from a file.
func (q Question) Spec(d *Design) (Spec, error) {
	t := &d.Terms
	s := Spec{Name: "prove", Testbed: Testbed{Kind: KindLive, Host: q.Host, Become: q.Become}, Question: q.Text(), Variants: q.variants(),
		Seed: &d.Seed, Parts: []Part{{Name: livePart, Mode: SwitchbackMode, Live: t}}}
	if len(t.Watch) == 0 {
		return s, hint.With(hint.Usagef("no metric"), "say what is to get better: %s, cpu-per-packet, probe:URL … (linerate help prove)", hint.Option("metric", "log:/var/log/nginx/access.log"))
	}
	t.Watch = Beside(t.Watch)
	if t.PlanPercent = 0; d.Plan {
		t.PlanPercent, d.Pairs = cmp.Or(d.Precision, d.Margin), mostPlanned
	}
	fillTerms(&s.Parts[0], func(key string) bool {
		return key == "window" || key == "harm_percent" || key == "burn_in" && t.BurnIn > 0 || key == "pilot" && t.Pilot != 0
	})
	s.Control = s.Variants[0].Name
	plan := PlanOf(s, s.Parts[0])
	if err := d.size(plan, q.LeaveOut); err != nil {
		return s, err
	}
	if err := d.goals(&s); err != nil {
		return s, err
	}
	s.Parts[0].Blocks = plan.BlocksFor(d.Pairs)
	s, bad := Complete(s, func(path string) bool {
		return strings.HasPrefix(path, "parts[0].live.") || path == "parts[0].blocks" || strings.HasPrefix(path, "metrics[")
	})
	if bad != nil {
		return s, d.named(bad).Usage()
	}
	s.Looks = plan.LooksOf(d.Pairs, d.Precision)
	return s, nil
}

// size determines the number of pairs: at least as many as can decide.
func (d *Design) size(plan WindowPlan, leaveOut bool) error {
	pilot := Seconds(d.Terms.Pilot)
	if d.Time > 0 {
		d.Pairs = plan.PairsIn(d.Time - pilot)
	}
	least := plan.LeastPairs()
	if leaveOut {
		d.Pairs = max(d.Pairs, least)
	}
	if d.Pairs >= least {
		return nil
	}
	plan.Pairs = least
	return hint.With(hint.Usagef("%s cannot decide: at least %d are needed", show.Plural(d.Pairs, "pair"), least),
		"with windows of %s give it %s or more, or shorter windows", plan.Window, hint.Option("time", (plan.Duration()+pilot).Round(time.Second).String()))
}

// goals adds the metrics; the first one decides.
func (d *Design) goals(s *Spec) error {
	for _, m := range d.Terms.Watch {
		if err := d.Metric(m); err != nil {
			return hint.Usage(err)
		}
		name := MetricOf(m, d.Terms.Better)
		if name == "" {
			return hint.Usagef("metric %s: not known", m)
		}
		g := Goal{Metric: name, Part: livePart, Primary: len(s.Metrics) == 0}
		if metric, _ := MetricNamed(name); metric.Share {
			g.MarginPoints = d.Margin / 100
		} else {
			g.MarginPercent = d.Margin
		}
		s.Metrics = append(s.Metrics, g)
	}
	return nil
}

// named rephrases a problem in the user's words.
func (d *Design) named(p *yamlfile.Problem) *yamlfile.Problem {
	key := yamlfile.Key(p.Path)
	if name, ok := d.Names[key]; ok {
		p.What = name + ": " + strings.TrimPrefix(p.What, key+": ")
	}
	return p
}
