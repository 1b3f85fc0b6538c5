package space

import (
	"slices"

	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/tune"
)

// traits returns the traits of a study's workload, in the words of a space's `for`: the
// kind of its deciding part and, for servers, the kind of requests and their options.
func (q Query) traits() []string {
	part, _ := q.Study.Part(q.Study.Primary().Part)
	out := []string{string(study.KindOf(part))}
	if !q.serves() {
		return out
	}
	out = append(out, study.RequestsOf(part).Kind)
	if h := part.HTTP; h != nil {
		for trait, is := range map[string]bool{"tls": h.TLS, "proxy": h.Proxy} {
			if is {
				out = append(out, trait)
			}
		}
	}
	return out
}

// ofWorkload returns the factors of servers and paths that apply to this study's
// workload, each in the space or with the reason why not.
func (q Query) ofWorkload() (out []Entry) {
	traits := q.traits()
	for _, e := range q.Workloads {
		if !slices.ContainsFunc(e.traits, func(t string) bool { return !slices.Contains(traits, t) }) {
			out = append(out, q.beside(e))
		}
	}
	return out
}

// beside keeps the levels of a factor that differ from the study's base and that the
// study accepts.
func (q Query) beside(e Entry) Entry {
	had, refused := e.Levels, ""
	e.Levels = []Level{}
	for _, l := range had {
		if q.hasAll(l.Settings) {
			e.Now = l.Value
		} else if err := q.probe(e.Name, l); err != nil {
			refused = err.Error()
		} else {
			e.Levels = append(e.Levels, l)
		}
	}
	switch {
	case len(e.Levels) > 0:
		e.Why = "worth trying: " + e.Levels[0].Source
	case refused != "":
		e.In, e.Why = false, "the study refuses it: "+refused
	default:
		e.In, e.Why = false, "the study's own variant "+q.Base.Name+" has it"
	}
	return e
}

// probe returns why the study cannot combine a level with its base, or nil.
func (q Query) probe(name string, l Level) error {
	b := Bench{Study: q.Study, Base: q.Base, Factors: []Entry{{Name: name, Levels: []Level{l}}}, Question: "May it be set?"}
	_, err := b.Put(tune.Experiment{Name: "probe", Phase: tune.Screen, Control: tune.Config{0}, Arms: []tune.Config{{1}}, Blocks: 1})
	return err
}

// hasAll reports whether the base already has all these settings.
func (q Query) hasAll(settings []study.Setting) bool {
	return !slices.ContainsFunc(settings, func(want study.Setting) bool {
		return !slices.ContainsFunc(q.Base.Settings, func(s study.Setting) bool { return covers(s.Setting(), want.Setting()) })
	})
}

// covers reports whether one setting includes another.
func covers(has, want setting.Setting) bool {
	if has.Mechanism != want.Mechanism || has.Path == nil || want.Path == nil {
		return has.String() == want.String()
	}
	p, w := *has.Path, *want.Path
	return (w.InitCwnd == 0 || w.InitCwnd == p.InitCwnd) && (w.InitRwnd == 0 || w.InitRwnd == p.InitRwnd) &&
		(w.Congestion == "" || w.Congestion == p.Congestion) && (w.ULP == "" || w.ULP == p.ULP)
}
