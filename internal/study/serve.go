package study

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"linerate/internal/hint"
	"linerate/internal/show"
	"linerate/internal/yamlfile"
)

// checkAsks requires that either all parts of a study send requests to servers or none.
func checkAsks(s *Spec) *yamlfile.Problem {
	asks := asks(s.Workload)
	if i := slices.IndexFunc(s.Parts, func(p Part) bool { return isServed(p) != asks }); i >= 0 {
		return yamlfile.Wrong(PartPath(i)+".mode", "mode serve needs a workload of requests").Advise("give the study workload: {http: …} and all its parts mode: serve, or none")
	}
	if asks {
		return nil
	}
	if s.Link != nil || slices.ContainsFunc(s.Parts, func(p Part) bool { return p.Link != nil }) {
		return yamlfile.Wrong("link", "a link is between clients and a server").Advise("give the study workload: {http: …}")
	}
	if i := slices.IndexFunc(s.Variants, func(v Variant) bool { return v.HTTP != nil }); i >= 0 {
		return yamlfile.Wrong(fmt.Sprintf("variants[%d].http", i), "only clients of a server ask").Advise("give the study workload: {http: …}")
	}
	return nil
}

// checkServe refuses an invalid part of mode serve.
func checkServe(s *Spec, p Part, path string) *yamlfile.Problem {
	switch {
	case s.OnMachines():
		return yamlfile.Wrong(path+".mode", "machines are measured in mode overload: mode %s needs one CPU that does everything", p.Mode).Advise("remove mode, or write overload")
	case !p.Rate.IsMax():
		return yamlfile.Wrong(path+".rate", "requests have a rate of their own").Advise("write http: {rate: 100}")
	case GoesBothWays(p):
		return yamlfile.Wrong(path+".directions", "directions apply to packets, not to requests")
	}
	if _, err := LinkOf(s, p).Parse(); err != nil {
		at := "link"
		if p.Link != nil {
			at = path + ".link"
		}
		return yamlfile.Wrong(at, "%v", err).Advise("%s", hint.Of(err))
	}
	return cmp.Or(checkForms(s, path, p), checkAsking(s, p))
}

// Sets returns how a variant's clients differ from the rest, by keys other than its settings,
// named as settings are. Never nil.
func Sets(v Variant) map[string]string {
	out := map[string]string{}
	a := v.HTTP
	if a == nil {
		return out
	}
	for name, value := range map[string]any{"keepalive": a.Keepalive, "tls": a.TLS, "http": a.Version} {
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

// interleavingOfServers runs open loops together, and closed loops in turns. A setting
// that is global to the kernel has one value at a time: in a closed loop a sysctl is
// written before each turn; anything else runs in sequence.
func interleavingOfServers(s *Spec, p Part) Interleaving {
	open := RequestsOf(p).Rate > 0
	switch {
	case s.OnMachines(), s.Interleave != nil && !*s.Interleave, s.HostScope() && (open || !s.Switches()):
		return InSequence
	case open:
		return Together
	}
	return Alternating
}

// doubt returns why an equivalence of arms in a metric proves nothing, or "": where the
// clients are the bottleneck, servers look alike.
func (s Spec) doubt(part, metric string, trials []Trial, arms ...string) string {
	p, _ := s.Part(part)
	if inClosedLoop(p) && slices.Contains(paced, metric) && slices.ContainsFunc(arms, func(arm string) bool { return clientsLimit(trials, p.Name, arm) }) {
		return "the clients used more CPU time than the server: a difference of servers looks smaller than it is"
	}
	return ""
}

// workload selects the labels of metrics (Metric.Words); "" selects the usual ones.
func (s Spec) workload() string {
	switch asks := s.Workload.Asks; {
	case asks.SMTP != nil:
		return "smtp"
	case asks.Files != nil:
		return "files"
	}
	return ""
}

// Workload does the same from the trials alone: only mail has a queue, and web trials
// have no settled rate.
func (r Results) Workload() string {
	workload := ""
	for _, t := range r.Trials {
		if _, ok := t.Metrics[QueuePeak]; ok {
			return "smtp"
		}
		if _, ok := t.Metrics[SettledRate]; ok {
			workload = "files"
		}
	}
	return workload
}

// timelineOfServers returns latency for an open loop, whose rate is given,
// and the rate for a closed one.
func timelineOfServers(p Part) (Metric, bool) {
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

// asks reports whether a workload consists of requests to a server.
func asks(w Workload) bool { return w.Asks != Asks{} }

// warnClients names the variants whose clients, in a closed loop, used more CPU time than
// the server in every trial of a part. They share the CPUs, so such a rate measures the
// clients more than the server, differences look too small, and the server's maximum is
// unknown. In an open loop, late requests show the same problem.
func warnClients(r *Results, s Spec) {
	var servers []string // formatted, in the order of the parts
	parts := map[string][]string{}
	for _, p := range s.Parts {
		if !inClosedLoop(p) {
			continue
		}
		var named []string
		for _, v := range s.Variants {
			if clientsLimit(r.Trials, p.Name, v.Name) {
				named = append(named, v.Name)
			}
		}
		if len(named) == 0 {
			continue
		}
		list := show.List(named)
		if parts[list] == nil {
			servers = append(servers, list)
		}
		parts[list] = append(parts[list], p.Name)
	}
	for _, list := range servers {
		word := "part"
		if len(parts[list]) > 1 {
			word = "parts"
		}
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s %s: the clients used more CPU time than the server of %s: rates there are more the clients' than the server's, and differences look smaller than they are (no two are called equivalent)",
			word, show.List(parts[list]), list))
	}
}

// paced are the metrics that slow clients distort: by Little's law the latency
// of a closed loop is inversely proportional to its rate.
var paced = []string{RequestRate, RequestBits, SettledRate, RequestMean, RequestP50, RequestP90, RequestP99}

// inClosedLoop reports whether a part's clients send the next request only after an answer.
func inClosedLoop(p Part) bool { return isServed(p) && RequestsOf(p).Rate == 0 }

// busyShare is the share of the machine's CPU time that clients and server
// must use together for CPU time to be the limit.
const busyShare = 0.5

// clientsLimit reports whether, in all valid trials, the machine was busy with
// clients and server, and mostly with clients. Neither includes work that the
// kernel does for them elsewhere.
func clientsLimit(trials []Trial, part, variant string) (limit bool) {
	for _, t := range trials {
		if t.Part != part || t.Variant != variant || !t.Valid || t.Saw().Served == nil {
			continue
		}
		v := t.Saw().Served
		g := v.Generator
		all := float64(g.CPUs) * (v.Seconds + v.SettleSeconds)
		if g.CPUSeconds <= v.ServerCPU || g.CPUSeconds+v.ServerCPU < busyShare*all {
			return false
		}
		limit = true
	}
	return limit
}
