package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"linerate/internal/document"
	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// deriveFlows tests whether the arms disturb each other, and whether flows
// agree with routers that have one arm alone.
func deriveFlows(r *Results, s Spec) {
	if !slices.ContainsFunc(s.Parts, func(p Part) bool { return KindOf(p) == KindFlows }) {
		return
	}
	deriveConnections(r, s)
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if why := r.doubtFlows(s, *v); why != "" {
			v.Warnings = append(v.Warnings, why)
			v.Verdict = stats.Inconclusive
		}
	}
}

// doubtFlows returns why the latency of flows should not be believed, or "".
func (r *Results) doubtFlows(s Spec, v Verdict) string {
	if v.Metric != FlowLatency {
		return ""
	}
	if s.Workload.Order != trains {
		if v.Verdict == stats.Equivalent {
			return "frames of all flows are mixed, so that each waits for the others: flows that are alike say nothing of their arms"
		}
		return ""
	}
	if alone, ok := r.alone(v); ok && v.Verdict.Differs() {
		return apart(v, alone)
	}
	return ""
}

// alone returns the verdict of the same study on routers with one arm each,
// which is the reference for flows.
func (r *Results) alone(v Verdict) (Verdict, bool) {
	if v.Metric != FlowLatency {
		return Verdict{}, false
	}
	return list.Find(r.Verdicts, func(o Verdict) bool { return o.Metric == CostNS && o.Variant == v.Variant && o.EffectNS.Known() })
}

// Flows may differ from the reference by apartSE standard errors plus apartShare of the larger: a train
// waits for its own frames only, and a router that forwards without pause has warmer caches.
const (
	apartSE    = 3
	apartShare = 0.2
)

// apart says how flows contradict the routers with one arm alone; "" if they do not.
func apart(v, alone Verdict) string {
	flow, router := v.EffectNS.Float()/Train, alone.EffectNS.Float()
	se := math.Hypot((v.NSHigh.Float()-v.NSLow.Float())/Train, alone.NSHigh.Float()-alone.NSLow.Float()) / (2 * 1.96)
	if !(math.Abs(flow-router) > apartSE*se+apartShare*max(math.Abs(flow), math.Abs(router))) {
		return ""
	}
	return fmt.Sprintf("by its flows the difference is %s per packet, by routers with one arm alone %s: believe the latter", signedNS(flow), signedNS(router))
}

func signedNS(v float64) string { return show.Signed(v, 1) + " ns" }

func flowsMethod(s Spec, p Part) string {
	of := "each window another"
	if s.Workload.Order == trains {
		of += fmt.Sprintf("; flows sent trains of %d frames, which one CPU made, forwarded and received before it made the next", Train)
	}
	return fmt.Sprintf("Each flow through one router drew its arm in the router's ruleset, by nft's jhash of its addresses and ports with a seed, %s. "+
		"Both arms were there at once, in %d windows of %s; 10, 50 or 90 %% of the flows were drawn in each, in random order. "+
		"The unit is the flow, with the median of its last %d trains or frames, weighted by its chance of being in its arm, and divided by its window's speed, half way between the medians of both arms; a flow's windows are one cluster. A second coin splits the control's flows for the A/A comparison.",
		of, p.Blocks, span(Seconds(p.Seconds)), keptTrains)
}

// keptTrains equals KEPT in bpf/receive.bpf.c.
const keptTrains = 32

// flowSections returns a report's sections on flows, in addition to the verdicts.
func flowSections(s Spec, r Results) []document.Block {
	t := document.Table{Header: []string{"metric", "variant", "by", "effect", "95 % interval", "ns per packet", ""},
		Note: "Flows queue behind one another, so what one saves helps the others too. How the metric of all flows moves with the share that is drawn shows what the router gains; the last rows compare routers in which all flows are in one arm."}
	for _, v := range r.Verdicts {
		if v.Host == nil || !strings.HasPrefix(v.Metric, "flow_") {
			continue
		}
		t.Rows = append(t.Rows, flowRows(s, r, v)...)
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return section("The whole router", "", t)
}

func flowRows(s Spec, r Results, v Verdict) [][]string {
	m, _ := r.Metric(v.Metric)
	perPacket := ""
	if v.Metric == FlowLatency && s.Workload.Order == trains && v.Effect == v.Host.Between {
		perPacket = show.Signed(v.EffectNS.Float()/Train, 1)
	}
	says := ""
	if v.Host.Apart || v.Effect != v.Host.Between {
		says = "helps the router, not the flow alone"
	}
	rows := [][]string{
		{m.Label, v.Variant, "flows of one router", v.Host.Between.Text(), v.Host.Between.Bounds(), perPacket, ""},
		{"", "", "the share of flows", v.Host.Text(), v.Host.Bounds(), "", says},
	}
	if alone, ok := r.alone(v); ok {
		rows = append(rows, []string{"cost", v.Variant, "routers with one arm alone", alone.Effect.Text(), alone.Effect.Bounds(), show.Signed(alone.EffectNS.Float(), 1), ""})
	}
	return rows
}
