// Package serve is the kind of a study's parts that ask servers: of the web, for
// mail, or for files.
//
// The kind is in serve.go; what is asked in http.go and mailfiles.go; what is measured
// in metrics.go; what makes a trial invalid, or less than it seems, in gates.go and
// clients.go; how long trials take in expected.go; what reports show in page.go.
package serve

import (
	"fmt"
	"slices"
	"strconv"

	"linerate/internal/hint"
	"linerate/internal/study"
	"linerate/internal/study/forward"
	"linerate/internal/testbed"
)

// Kind is the kind of parts that ask a server: of the web, for mail, or for
// files.
type Kind struct{ study.Base }

// Name satisfies Kind.
func (Kind) Name() string { return "serve" }

// Modes satisfies Kind.
func (Kind) Modes() []testbed.Mode { return []testbed.Mode{testbed.Serve} }

// Owns satisfies Kind.
func (Kind) Owns(p study.Part) bool { return isServed(p) }

// Keys satisfies Kind.
func (Kind) Keys() study.Keys {
	return study.Keys{Study: new(studyKeys), Workload: new(Asks), Variant: new(variantAsks), Part: new(Part)}
}

// Saw satisfies Kind.
func (Kind) Saw() any { return new(serveSaw) }

// DefaultMode satisfies Kind.
func (Kind) DefaultMode(s *study.Spec) testbed.Mode {
	if asks(s.Workload) {
		return testbed.Serve
	}
	return ""
}

// FillStudy satisfies Kind: defaults go into the workload of requests.
func (Kind) FillStudy(s *study.Spec, said func(string) bool) {
	for _, f := range forms {
		f.fillStudy(s, said)
	}
}

// FillPart satisfies Kind: the workload goes into the part's.
func (Kind) FillPart(s *study.Spec, place int, said func(string) bool) {
	s.Parts[place].Own = Of(s.Parts[place]) // where there is none yet
	for _, f := range forms {
		f.fillPart(s, place, said)
	}
}

// CheckStudy satisfies Kind: a study asks servers in all of its parts or in none.
func (Kind) CheckStudy(s *study.Spec) *study.Problem {
	asks := asks(s.Workload)
	if i := slices.IndexFunc(s.Parts, func(p study.Part) bool { return isServed(p) != asks }); i >= 0 {
		return study.Wrong(study.PartPath(i)+".mode", "mode serve is of a workload of requests, and of nothing else").Advise("give the study workload: {http: …} and all its parts mode: serve, or none")
	}
	if asks {
		return nil
	}
	if study.OwnOf[studyKeys](s.Own).Link != nil || slices.ContainsFunc(s.Parts, func(p study.Part) bool { return Of(p).Link != nil }) {
		return study.Wrong("link", "a link is between clients and a server").Advise("give the study workload: {http: …}")
	}
	if i := slices.IndexFunc(s.Variants, func(v study.Variant) bool { return study.OwnOf[variantAsks](v.Own).HTTP != nil }); i >= 0 {
		return study.Wrong(fmt.Sprintf("variants[%d].http", i), "only clients of a server ask").Advise("give the study workload: {http: …}")
	}
	return nil
}

// CheckPart satisfies Kind.
func (Kind) CheckPart(s *study.Spec, place int, path string) *study.Problem {
	p := s.Parts[place]
	switch {
	case s.OnMachines():
		return study.Wrong(path+".mode", "machines are measured in mode overload: mode %s needs one CPU that does everything", p.Mode).Advise("remove mode, or write overload")
	case !p.Rate.IsMax():
		return study.Wrong(path+".rate", "requests have a rate of their own").Advise("write http: {rate: 100}")
	case forward.BothWays(p):
		return study.Wrong(path+".directions", "requests have answers: directions are of packets")
	}
	if bad := checkForms(s, path, p); bad != nil {
		return bad
	}
	if _, err := LinkOf(s, p).Parse(); err != nil {
		at := "link"
		if Of(p).Link != nil {
			at = path + ".link"
		}
		return study.Wrong(at, "%v", err).Advise("%s", hint.Of(err))
	}
	if bad := formIn(p).check(p, path); bad != nil {
		return bad
	}
	return checkAsking(s, p)
}

// Sets satisfies Kind: how a variant's clients ask, where that is its own.
func (Kind) Sets(v study.Variant) map[string]string {
	out := map[string]string{}
	a := study.OwnOf[variantAsks](v.Own).HTTP
	if a == nil {
		return out
	}
	for name, value := range map[string]any{"keepalive": a.Keepalive, "tls": a.TLS, "http": a.Version, "streams": a.Streams} {
		switch value := value.(type) {
		case *bool:
			if value != nil {
				out["clients "+name] = strconv.FormatBool(*value)
			}
		case *int:
			if value != nil {
				out["clients "+name] = strconv.Itoa(*value)
			}
		}
	}
	return out
}

// Interleaving satisfies Kind. An open loop leaves room for others beside it, a
// closed one does not. What is global to the kernel has one value at a time: turns
// of a closed loop write an arm's own before each, where that is a sysctl.
func (Kind) Interleaving(s *study.Spec, p study.Part) study.Interleaving {
	open := RequestsOf(p).Rate > 0
	switch {
	case s.OnMachines(), s.Interleave != nil && !*s.Interleave, s.HostScope() && (open || !s.Switches()):
		return study.InSequence
	case open:
		return study.Together
	}
	return study.Alternating
}

// Expected satisfies Kind.
func (Kind) Expected(s *study.Spec, p study.Part) float64 { return expectedOfServers(s, p) }

// Metrics satisfies Kind.
func (Kind) Metrics() []study.Metric { return metrics }

// Measure satisfies Kind.
func (Kind) Measure(_ study.Part, o study.Observation, _ []study.Trial) map[string]float64 {
	m := map[string]float64{}
	measureServed(m, o)
	return m
}

// Gates satisfies Kind.
func (Kind) Gates() []study.Gate { return gates }

// Limits satisfies Kind.
func (Kind) Limits() any { return &Limits{FailedPercent: 0.5} }

// Warn satisfies Kind.
func (Kind) Warn(r *study.Results, s study.Spec) { warnClients(r, s) }

// Doubt satisfies Kind: clients that limit make servers look alike.
func (Kind) Doubt(_ study.Spec, p study.Part, metric string, trials []study.Trial, arms ...string) string {
	if inClosedLoop(p) && slices.Contains(paced, metric) && slices.ContainsFunc(arms, func(arm string) bool { return clientsLimit(trials, p.Name, arm) }) {
		return "the clients used more CPU time than the server: a difference of servers looks smaller than it is"
	}
	return ""
}

// Workload satisfies Kind.
func (Kind) Workload(s study.Spec) string {
	switch asks := study.OwnOf[Asks](s.Workload.Own); {
	case asks.SMTP != nil:
		return "smtp"
	case asks.Files != nil:
		return "files"
	}
	return ""
}

// WorkloadOf satisfies Kind: only mail has a queue, and of the web nothing
// settles.
func (Kind) WorkloadOf(trials []study.Trial) string {
	workload := ""
	for _, t := range trials {
		if _, ok := t.Metrics[QueuePeak]; ok {
			return "smtp"
		}
		if _, ok := t.Metrics[SettledRate]; ok {
			workload = "files"
		}
	}
	return workload
}

// Timeline satisfies Kind: latency in an open loop, whose rate is given, and what
// was done in a closed one, whose latency is.
func (Kind) Timeline(p study.Part) (study.Metric, bool) {
	asked, name := RequestsOf(p), RequestMean
	switch {
	case asked.Rate == 0 && asked.Kind == "http":
		name = RequestRate
	case asked.Rate == 0:
		name = SettledRate
	}
	m, ok := study.MetricNamed(name)
	return m.In(asked.Kind), ok
}

// asks reports whether a workload is requests to a server.
func asks(w study.Workload) bool { return *study.OwnOf[Asks](w.Own) != Asks{} }
