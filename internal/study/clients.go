package study

import (
	"fmt"

	"linerate/internal/show"
	"linerate/internal/testbed"
)

// warnClients names the variants whose clients, in a closed loop, used more CPU
// time than the server in every trial of a part. They share the CPUs: such a rate
// is more the clients' than the server's, differences look smaller than they are, and what
// the server does at most is not known. An open loop says so by lateness.
func (r *Results) warnClients(s Spec) {
	for _, p := range s.Parts {
		if p.Mode != testbed.Serve || p.Requests().Rate > 0 {
			continue
		}
		var named []string
		for _, v := range s.Variants {
			if clientsLimit(r.Trials, p.Name, v.Name) {
				named = append(named, v.Name)
			}
		}
		if len(named) > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("part %s: the clients used more CPU time than the server of %s: rates there are more the clients' than the server's, and differences look smaller than they are",
				p.Name, show.List(named)))
		}
	}
}

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
