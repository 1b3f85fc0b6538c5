package study

import (
	"fmt"
	"slices"
	"strconv"

	"linerate/internal/hint"
	"linerate/internal/testbed"
)

// Kind is the kind of parts that ask a server: of the web, for mail, or for
// files.
type serveKind struct{ Base }

// Name satisfies Kind.
func (serveKind) Name() string { return KindServe }

// Modes satisfies Kind.
func (serveKind) Modes() []testbed.Mode { return []testbed.Mode{testbed.Serve} }

// Owns satisfies Kind.
func (serveKind) Owns(p Part) bool { return isServed(p) }

// DefaultMode satisfies Kind.
func (serveKind) DefaultMode(s *Spec) testbed.Mode {
	if asks(s.Workload) {
		return testbed.Serve
	}
	return ""
}

// FillStudy satisfies Kind: defaults go into the workload of requests.
func (serveKind) FillStudy(s *Spec, said func(string) bool) {
	for _, f := range forms {
		f.fillStudy(s, said)
	}
}

// FillPart satisfies Kind: the workload goes into the part's.
func (serveKind) FillPart(s *Spec, place int, said func(string) bool) {
	for _, f := range forms {
		f.fillPart(s, place, said)
	}
}

// CheckStudy satisfies Kind: a study asks servers in all of its parts or in none.
func (serveKind) CheckStudy(s *Spec) *Problem {
	asks := asks(s.Workload)
	if i := slices.IndexFunc(s.Parts, func(p Part) bool { return isServed(p) != asks }); i >= 0 {
		return Wrong(PartPath(i)+".mode", "mode serve is of a workload of requests, and of nothing else").Advise("give the study workload: {http: …} and all its parts mode: serve, or none")
	}
	if asks {
		return nil
	}
	if s.Link != nil || slices.ContainsFunc(s.Parts, func(p Part) bool { return p.Link != nil }) {
		return Wrong("link", "a link is between clients and a server").Advise("give the study workload: {http: …}")
	}
	if i := slices.IndexFunc(s.Variants, func(v Variant) bool { return v.HTTP != nil }); i >= 0 {
		return Wrong(fmt.Sprintf("variants[%d].http", i), "only clients of a server ask").Advise("give the study workload: {http: …}")
	}
	return nil
}

// CheckPart satisfies Kind.
func (serveKind) CheckPart(s *Spec, place int, path string) *Problem {
	p := s.Parts[place]
	switch {
	case s.OnMachines():
		return Wrong(path+".mode", "machines are measured in mode overload: mode %s needs one CPU that does everything", p.Mode).Advise("remove mode, or write overload")
	case !p.Rate.IsMax():
		return Wrong(path+".rate", "requests have a rate of their own").Advise("write http: {rate: 100}")
	case GoesBothWays(p):
		return Wrong(path+".directions", "requests have answers: directions are of packets")
	}
	if bad := checkForms(s, path, p); bad != nil {
		return bad
	}
	if _, err := LinkOf(s, p).Parse(); err != nil {
		at := "link"
		if p.Link != nil {
			at = path + ".link"
		}
		return Wrong(at, "%v", err).Advise("%s", hint.Of(err))
	}
	if bad := formIn(p).check(p, path); bad != nil {
		return bad
	}
	return checkAsking(s, p)
}

// Sets satisfies Kind: how a variant's clients ask, where that is its own.
func (serveKind) Sets(v Variant) map[string]string {
	out := map[string]string{}
	a := v.HTTP
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

// Interleaving satisfies Kind. Open loops can run at the same time, closed loops cannot. A
// setting that is global to the kernel has one value at a time: a closed loop writes the
// arm's value before each turn, where the setting is a sysctl.
func (serveKind) Interleaving(s *Spec, p Part) Interleaving {
	open := RequestsOf(p).Rate > 0
	switch {
	case s.OnMachines(), s.Interleave != nil && !*s.Interleave, s.HostScope() && (open || !s.Switches()):
		return InSequence
	case open:
		return Together
	}
	return Alternating
}

// Expected satisfies Kind.
func (serveKind) Expected(s *Spec, p Part) float64 { return expectedOfServers(s, p) }

// Metrics satisfies Kind.
func (serveKind) Metrics() []Metric { return serveMetrics }

// Measure satisfies Kind.
func (serveKind) Measure(_ Part, o Observation, _ []Trial) map[string]float64 {
	m := map[string]float64{}
	measureServed(m, o)
	return m
}

// Gates satisfies Kind.
func (serveKind) Gates() []Gate { return serveGates }

// Warn satisfies Kind.
func (serveKind) Warn(r *Results, s Spec) { warnClients(r, s) }

// Doubt satisfies Kind: clients that limit make servers look alike.
func (serveKind) Doubt(_ Spec, p Part, metric string, trials []Trial, arms ...string) string {
	if inClosedLoop(p) && slices.Contains(paced, metric) && slices.ContainsFunc(arms, func(arm string) bool { return clientsLimit(trials, p.Name, arm) }) {
		return "the clients used more CPU time than the server: a difference of servers looks smaller than it is"
	}
	return ""
}

// Workload satisfies Kind.
func (serveKind) Workload(s Spec) string {
	switch asks := s.Workload.Asks; {
	case asks.SMTP != nil:
		return "smtp"
	case asks.Files != nil:
		return "files"
	}
	return ""
}

// WorkloadOf satisfies Kind: only mail has a queue, and of the web nothing
// settles.
func (serveKind) WorkloadOf(trials []Trial) string {
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
func (serveKind) Timeline(p Part) (Metric, bool) {
	asked, name := RequestsOf(p), RequestMean
	switch {
	case asked.Rate == 0 && asked.Kind == "http":
		name = RequestRate
	case asked.Rate == 0:
		name = SettledRate
	}
	m, ok := MetricNamed(name)
	return m.In(asked.Kind), ok
}

// asks reports whether a workload is requests to a server.
func asks(w Workload) bool { return w.Asks != Asks{} }
