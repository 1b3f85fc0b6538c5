package study

import (
	"fmt"
	"slices"

	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/testbed"
)

// warnClients names the variants whose clients, in a closed loop, used more CPU
// time than the server in every trial of a part. They share the CPUs: such a rate
// is more the clients' than the server's, differences look smaller than they are, and what
// the server does at most is not known. An open loop says so by lateness.
func (r *Results) warnClients(s Spec) {
	var servers []string // as they are named, in the order of the parts
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

// paced are the metrics that clients who limit have a part in: by Little's law
// the latency of a closed loop is its rate, inverted.
var paced = []string{RequestRate, RequestBits, SettledRate, RequestMean, RequestP50, RequestP90, RequestP99}

// doubtEquivalence takes back what clients who limit may have made look equal. A
// server's difference is smaller in a rate that its clients limit, and never greater:
// one that is shown is there, but that it is less than the margin is not shown.
func (r *Results) doubtEquivalence(s Spec) {
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if v.Verdict == stats.Equivalent && s.doubted(v.Part, v.Metric, r.Trials, v.Control, v.Variant) {
			v.Verdict = stats.Inconclusive
			v.Warnings = append(v.Warnings, "the clients used more CPU time than the server: a difference of servers looks smaller than it is, and is not shown to be less than "+v.Margin())
		}
	}
}

// doubted reports whether the equivalence of arms in a metric shows nothing,
// because the clients of one of them limit.
func (s Spec) doubted(part, metric string, trials []Trial, arms ...string) bool {
	p, _ := s.Part(part)
	return inClosedLoop(p) && slices.Contains(paced, metric) &&
		slices.ContainsFunc(arms, func(arm string) bool { return clientsLimit(trials, part, arm) })
}

// inClosedLoop reports whether a part's clients ask again when they were answered.
func inClosedLoop(p Part) bool { return p.Mode == testbed.Serve && p.Requests().Rate == 0 }

// busyShare is the share of the machine that clients and server must have used
// together for it to be CPU time that limits them.
const busyShare = 0.5

// clientsLimit reports whether in all valid trials the machine was busy with
// clients and server, and with the clients most. Unseen in both is what the kernel
// does for them elsewhere.
func clientsLimit(trials []Trial, part, variant string) (limit bool) {
	for _, t := range trials {
		if t.Part != part || t.Variant != variant || !t.Valid || t.Observed == nil || t.Observed.Served == nil {
			continue
		}
		v := t.Observed.Served
		g := v.Generator
		all := float64(g.CPUs) * (v.Seconds + v.SettleSeconds)
		if g.CPUSeconds <= v.ServerCPU || g.CPUSeconds+v.ServerCPU < busyShare*all {
			return false
		}
		limit = true
	}
	return limit
}
