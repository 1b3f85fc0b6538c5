package study

import (
	"fmt"

	"linerate/internal/show"
)

// warnClients names the variants whose clients, in a closed loop, used more CPU time than
// the server in every trial of a part. They share the CPUs, so such a rate measures the
// clients more than the server, differences look smaller than they are, and the server's
// maximum is not known. In an open loop, late requests show the same problem.
func warnClients(r *Results, s Spec) {
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

// inClosedLoop reports whether a part's clients ask again when they were answered.
func inClosedLoop(p Part) bool { return isServed(p) && RequestsOf(p).Rate == 0 }

// busyShare is the share of the machine that clients and server must have used
// together for it to be CPU time that limits them.
const busyShare = 0.5

// clientsLimit reports whether in all valid trials the machine was busy with
// clients and server, and with the clients most. Unseen in both is what the kernel
// does for them elsewhere.
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
