package study

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"linerate/internal/list"
	"linerate/internal/load"
	"linerate/internal/stats"
	"linerate/internal/testbed"
	"linerate/internal/yamlfile"
)

// FlowsMode is the mode of parts in which the ruleset of one DUT draws an arm
// for each flow: both arms are active at once.
const FlowsMode testbed.Mode = "flows"

// coinWord is the placeholder in a ruleset for the condition that a flow is drawn.
const coinWord = "$coin"

// Train is how many consecutive frames of a flow the order "trains" sends: one
// batch of the generator, which one CPU forwards before the next is made.
const Train = 64

// trains is the order of a workload whose flows send trains of frames.
const trains = "trains"

// mostFlows is the most flows that a window's record can hold; leastFlows is
// the fewest for which an arm with a tenth of them is large enough.
const (
	leastFlows = 100
	mostFlows  = 5000
)

// sides is how many values the coin can take.
const sides = 100

func checkFlows(s *Spec, p Part, path string) *yamlfile.Problem {
	w := s.Offers(p)
	switch {
	case s.Testbed.Kind != testbed.KindNetns:
		return yamlfile.Wrong(path+".mode", "mode %s needs a receiver that sees every flow: testbed netns", FlowsMode)
	case len(s.Variants) != 2:
		return yamlfile.Wrong("variants", "%d variants: a flow draws one of two arms", len(s.Variants))
	case !slices.ContainsFunc(s.Variants, func(v Variant) bool {
		return v.Name != s.Control && slices.ContainsFunc(v.Settings, func(s Setting) bool { return strings.Contains(s.NFT, coinWord) })
	}):
		return yamlfile.Wrong("variants", "no ruleset of the variant says what happens to flows that are drawn").Advise("write it as nft: text, with %s where the condition belongs: %s notrack", coinWord, coinWord)
	case p.Family != "" && p.Family != s.Workload.Family:
		return yamlfile.Wrong(path+".family", "the coin is one of %s, the workload's family", s.Workload.Family).Advise("write a study of %s", p.Family)
	case GoesBothWays(p):
		return yamlfile.Wrong(path+".directions", "a flow and its answers would draw two arms").Advise("write directions: one")
	case !p.Rate.IsMax():
		return yamlfile.Wrong(path+".rate", "mode %s has no offered load: one CPU makes, forwards and receives every frame", FlowsMode).Advise("remove rate")
	}
	return yamlfile.Within(path+".flows", w.Flows, leastFlows, mostFlows)
}

// coin returns the condition, in nft's language, that a flow belongs to the drawn share.
func coin(family string, seed uint32, share float64) string {
	ip := map[bool]string{true: "ip6", false: "ip"}[family == "ipv6"]
	below := fmt.Sprintf("< %d", drawn(share))
	if drawn(share) == sides {
		below = fmt.Sprintf("<= %d", sides-1) // nft(8) refuses a comparison that is always true
	}
	return fmt.Sprintf("jhash %s saddr . %s daddr . udp sport . udp dport mod %d seed 0x%x %s", ip, ip, sides, seed, below)
}

// drawn returns how many of the coin's values mean that a flow is drawn.
func drawn(share float64) uint32 { return uint32(share*sides + 0.5) }

// toss returns the variant with a ruleset that draws the given share of flows.
func (s *Spec) toss(v Variant, seed uint32, share float64) Variant {
	v.Settings = slices.Clone(v.Settings)
	for i, set := range v.Settings {
		v.Settings[i].NFT = strings.ReplaceAll(set.NFT, coinWord, coin(s.Workload.Family, seed, share))
	}
	return v
}

// alone returns the variant for a DUT with one arm only: the control's coin draws no flow, the other's draws all.
func (s *Spec) alone(v Variant) Variant {
	if !slices.ContainsFunc(s.Parts, func(p Part) bool { return KindOf(p) == KindFlows }) {
		return v
	}
	if v.Name == s.Control {
		return s.toss(v, 1, 0)
	}
	return s.toss(v, 1, 1)
}

// Toss holds a window's coins: the first draws arms, the second splits the control for the A/A arm.
type Toss struct {
	Treated     Variant // with the coin in its rulesets
	Share       float64
	seed, forAA uint32
	control     string
}

// TossOf returns the coins of a block. They differ between windows, so that no flow always has the same arm.
func TossOf(s *Spec, p Part, seed uint64, block, attempt int) Toss {
	seed ^= NameHash(p.Name)
	rng := rand.New(rand.NewPCG(seed, uint64(block)<<16|uint64(attempt)))
	c := Toss{Share: Shares(seed, block)[block-1], seed: rng.Uint32(), forAA: rng.Uint32(), control: s.Control}
	at := slices.IndexFunc(s.Variants, func(v Variant) bool { return v.Name != s.Control })
	c.Treated = s.toss(s.Variants[at], c.seed, c.Share)
	return c
}

// arm returns the arm of a flow.
func (c Toss) arm(f load.Tuple) string {
	switch {
	case f.Coin(c.seed, sides) < drawn(c.Share):
		return c.Treated.Name
	case f.Coin(c.forAA, 2) == 0:
		return AA
	}
	return c.control
}

// Flows sorts the received flows of a window into arms. The unit is the flow;
// its value is the median over its trains.
func (c Toss) Flows(space load.FlowSpace, got []load.FlowReceived) map[string]*Connections {
	space = space.WithDefaults()
	out := map[string]*Connections{}
	for _, arm := range []string{c.Treated.Name, AA, c.control} {
		out[arm] = &Connections{Share: c.Share, Coin: c.seed}
	}
	for i := range space.Count {
		out[c.arm(space.Tuple(i))].Opened++
	}
	for _, f := range got {
		if f.Flow >= space.Count {
			continue
		}
		of := Connection{Client: uint32(f.Flow), Segments: float64(f.Expected), Again: float64(f.Expected - min(f.Received, f.Expected))}
		if slices.Sort(f.Delays); len(f.Delays) > 0 { // else the clock was read only for frames of other flows
			of.Duration = 1e-9 * float64(f.Delays[len(f.Delays)/2])
		}
		out[c.arm(space.Tuple(f.Flow))].Add(of)
	}
	for _, of := range out {
		of.Lost = of.Opened - len(of.Client)
	}
	return out
}

// OneWindow invalidates all arms of a window if one is invalid: an arm without
// the others would bring the window's speed into the comparison.
func OneWindow(arms []Trial) []Trial {
	bad := slices.IndexFunc(arms, func(t Trial) bool { return !t.Valid })
	for i := range arms {
		if bad >= 0 && arms[i].Valid {
			arms[i].Valid, arms[i].Reasons = false, arms[bad].Reasons
		}
	}
	return arms
}

// ofOneSpeed removes differences of the machine's speed between windows: it divides each
// window's times by the midpoint of both arms' medians, which scales both arms alike.
func ofOneSpeed(s Spec, m unitMetric, trials []Trial) []Trial {
	speed, all := map[int]float64{}, 0.0
	for block, arms := range byBlocks(trials) {
		var drawn, left []stats.Unit
		for _, t := range arms {
			switch c := t.Saw().Connections; {
			case c == nil || !t.Valid:
			case t.Variant == s.Control || t.Variant == AA:
				left = append(left, m.of(*c)...)
			default:
				drawn = append(drawn, m.of(*c)...)
			}
		}
		if len(drawn) > 0 && len(left) > 0 {
			speed[block] = math.Log(m.summary(drawn)*m.summary(left)) / 2
			all += speed[block]
		}
	}
	var out []Trial
	for _, t := range trials {
		own, known := speed[t.Block]
		if c := t.Saw().Connections; c != nil && known {
			same, o := *c, *t.Observed
			by := math.Exp(all/float64(len(speed)) - own)
			same.Duration = list.Map(c.Duration, func(v float64) float64 { return v * by })
			o.Connections, t.Observed = &same, &o
			out = append(out, t)
		}
	}
	return out
}

// FlowLatency and FlowLoss are the metrics of individual flows.
const (
	FlowLatency = "flow_latency_p50_ns"
	FlowLoss    = "flow_loss_ratio"
)

var flowMetrics = []unitMetric{
	{Metric: Metric{Name: FlowLatency, Label: "median latency of flows", Unit: "ns", Mode: FlowsMode, LowerIsBetter: true, Verdict: true, NS: IsTime},
		quantile: 0.5, column: durations, scale: 1e9},
	{Metric: Metric{Name: FlowLoss, Label: "loss of flows", Mode: FlowsMode, LowerIsBetter: true, Verdict: true, Share: true},
		column: func(c Connections) []float64 { return c.Again }, scale: 1},
}

// measureFlows derives the metrics of an arm in a window.
func measureFlows(m map[string]float64, o Observation) {
	if o.Connections == nil {
		return
	}
	for _, of := range flowMetrics {
		if units := of.of(*o.Connections); len(units) > 0 {
			m[of.Name] = of.summary(units)
		}
	}
}

// flowGates are the gates of an arm in a window. Loss is a metric; a flow of which nothing arrived is
// in no metric, whether it was lost or not yet sent in random order, so there may be only few of these.
var flowGates = []Gate{
	{Name: "nothing arrived", Cut: true, Ask: func(a Asked) []string {
		return FaultIf(!arrived(a), "no frame reached the receiver (link down, route missing, or all dropped)")
	}},
	{Name: "drain", Ask: func(a Asked) []string {
		return FaultIf(arrived(a) && a.Observed.Received.Lost == nil, "no end-of-stream frame arrived, so the loss is unknown")
	}},
	{Name: GateLost, Ask: func(a Asked) []string {
		if c := a.Observed.Connections; arrived(a) && c != nil && c.Lost > 5 && 5*c.Lost > c.Opened {
			return []string{fmt.Sprintf("of %d of %d flows nothing arrived (limit 20 %%)", c.Lost, c.Opened)}
		}
		return nil
	}},
}
