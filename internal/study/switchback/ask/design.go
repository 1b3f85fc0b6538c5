package ask

import (
	"fmt"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"linerate/internal/hint"
	"linerate/internal/show"
	"linerate/internal/study"
)

// Design is how a question's study is to be run.
type Design struct {
	Terms     study.Terms   // times in seconds; BurnIn and Pilot of 0 follow from Window
	Pairs     int           // of windows with the setting
	Time      time.Duration // as many pairs as fit in it; 0: Pairs
	Margin    float64       // percent, or a hundredth of a point of a share
	Precision float64       // percent: end when the interval is so narrow; 0: do not look
	Seed      uint64
	// Open is how much of a stretch of time, which begins so long from now, the host may
	// be changed in; nil: all of it.
	Open func(after, length time.Duration) time.Duration
	// Names are what the user calls keys of the study; others are called as they are there.
	Names map[string]string
	// Metric reads a metric's source; an error refuses it before anything is on disk.
	Metric func(source string) error
}

// part is the part of the study that asks a question.
const part = "live"

// Spec is the study that answers a question, with its defaults and checked as one from a
// file.
func (q Question) Spec(d *Design) (study.Spec, error) {
	s := study.Spec{Name: "prove", Testbed: study.Testbed{Kind: study.KindLive, Host: q.Host, Become: q.Become}, Question: q.Text(), Variants: q.Variants()}
	if len(d.Terms.Watch) == 0 {
		return s, hint.With(hint.Usagef("no metric"), "say what is to get better: %s, cpu-per-packet, probe:URL … (linerate help prove)", hint.Option("metric", "log:/var/log/nginx/access.log"))
	}
	d.Terms.Watch = study.Beside(d.Terms.Watch)
	if d.Terms.BurnIn <= 0 {
		d.Terms.BurnIn = d.Terms.Window / 5
	}
	if d.Terms.Pilot == 0 {
		d.Terms.Pilot = min(max(2*d.Terms.Window, 10), 600)
	}
	d.Terms.Imbalance = 2
	s.Parts = []study.Part{{Name: part, Mode: study.SwitchbackMode, Live: &d.Terms}}
	s.Control, s.Seed = s.Variants[0].Name, &d.Seed
	plan := study.PlanOf(s, s.Parts[0])
	if err := d.size(plan, q.LeaveOut); err != nil {
		return s, err
	}
	if err := d.goals(&s); err != nil {
		return s, err
	}
	s.Parts[0].Blocks = plan.BlocksFor(d.Pairs)
	s, err := d.parsed(s)
	if err == nil {
		s.Looks = plan.LooksOf(d.Pairs, d.Precision)
	}
	return s, err
}

// size settles how many pairs there are: at least so many that they can decide.
func (d *Design) size(plan study.WindowPlan, leaveOut bool) error {
	pilot := time.Duration(d.Terms.Pilot * float64(time.Second))
	if d.Time > 0 {
		free := d.Time - pilot
		if d.Open != nil {
			free = d.Open(pilot, free)
		}
		d.Pairs = plan.PairsIn(free)
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

// goals are the metrics, the first of which decides.
func (d *Design) goals(s *study.Spec) error {
	for _, m := range d.Terms.Watch {
		if err := d.Metric(m); err != nil {
			return hint.Usage(err)
		}
		name := study.MetricOf(m, d.Terms.Better)
		if name == "" {
			return hint.Usagef("metric %s: not known", m)
		}
		g := study.Goal{Metric: name, Part: part, Primary: len(s.Metrics) == 0}
		if metric, _ := study.MetricNamed(name); metric.Share {
			g.MarginPoints = d.Margin / 100
		} else {
			g.MarginPercent = d.Margin
		}
		s.Metrics = append(s.Metrics, g)
	}
	return nil
}

// parsed is the study as one from a file: with its defaults, and checked.
func (d *Design) parsed(s study.Spec) (study.Spec, error) {
	type parts struct {
		Name   string       `yaml:"name"`
		Blocks int          `yaml:"blocks"`
		Live   *study.Terms `yaml:"live"`
	}
	data, err := yaml.Marshal(struct {
		Version  int             `yaml:"version"`
		Name     string          `yaml:"name"`
		Question string          `yaml:"question"`
		Testbed  study.Testbed   `yaml:"testbed"`
		Seed     *uint64         `yaml:"seed"`
		Variants []study.Variant `yaml:"variants"`
		Parts    []parts         `yaml:"parts"`
		Metrics  []study.Goal    `yaml:"metrics"`
	}{study.SpecVersion, s.Name, s.Question, s.Testbed, s.Seed, s.Variants, []parts{{part, s.Parts[0].Blocks, &d.Terms}}, s.Metrics})
	if err != nil {
		return s, fmt.Errorf("make the study: %w", err)
	}
	out, wrong, err := study.Made(data)
	if wrong != nil {
		err = hint.Usagef("%s", d.message(wrong))
		if wrong.Hint() != "" {
			err = hint.With(err, "%s", wrong.Hint())
		}
	}
	return out, hint.Usage(err)
}

// message is what is wrong with such a study in the words of its user, in seconds where they
// are a study's.
func (d *Design) message(p *study.Problem) string {
	key := p.Path()[strings.LastIndexByte(p.Path(), '.')+1:]
	name, ok := d.Names[key]
	if !ok {
		return p.What()
	}
	return name + ": " + strings.TrimPrefix(p.What(), key+": ")
}
