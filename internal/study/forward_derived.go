package study

import (
	"fmt"
	"slices"

	"linerate/internal/drop"
	"linerate/internal/load"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// Bytes that Ethernet adds to a packet: header and FCS; preamble and gap.
const (
	aroundPacket = 18
	betweenFrame = 20
)

// wireRates returns the rates of all parts, if the study states a link.
func wireRates(s Spec, trials []Trial) (out []WireRate) {
	link, err := load.ParseRate(s.Workload.Link)
	if s.Workload.Link == "" || err != nil {
		return nil
	}
	for _, p := range s.Parts {
		sizes := s.Offers(p).FrameSizes()
		if len(sizes) == 0 || !offersFrames(p) {
			continue
		}
		metric := ForwardingRate
		if InOverload(p) {
			metric = OverloadRate
		}
		sum := 0
		for _, size := range sizes {
			sum += size
		}
		frame := float64(sum) / float64(len(sizes))
		for _, v := range s.Variants {
			if x := sortedValues(byBlock(trials, p.Name, v.Name, metric)); len(x) > 0 {
				pps := stats.Mean(x)
				out = append(out, WireRate{Part: p.Name, Variant: v.Name, Directions: p.Directions, Frame: frame, PPS: pps,
					EthernetBPS: 8 * frame * pps, IPBPS: 8 * (frame - aroundPacket) * pps,
					LinkShare: stats.Num(pps * 8 * (frame + betweenFrame) / float64(link.BPS) / float64(DirectionCount(p)))})
			}
		}
	}
	return out
}

// stateCounters are the counters that explain why a table takes no more states.
var stateCounters = []struct{ name, words string }{
	{"conntrack.early_drop", "the table was full: states were evicted for new ones"},
	{"conntrack.drop", "the table was full: no state could be evicted"},
	{"conntrack.chain_too_long", "hash chains grew too long: the table has too few buckets"},
	{"conntrack.insert_failed", "states could not be inserted"},
}

// enoughStates is the least number of states whose memory can be told from the machine's other use.
const enoughStates = 50_000

// statesOf returns the states of all parts and arms that tracked connections.
func statesOf(s Spec, trials []Trial) (out []States) {
	for _, p := range s.Parts {
		for _, arm := range s.Arms() {
			if st, ok := statesIn(trials, p.Name, arm); ok {
				out = append(out, st)
			}
		}
	}
	return out
}

func statesIn(trials []Trial, part, arm string) (st States, ok bool) {
	st = States{Part: part, Variant: arm, Counted: map[string]float64{}}
	var made, object, slab, seconds, offered float64
	alone := true
	for _, t := range trials {
		if t.Part != part || t.Variant != arm || !t.Valid || t.Observed == nil || t.Observed.Sent.TxPackets == 0 {
			continue
		}
		o := t.Observed
		st.Trials++
		alone = alone && !othersMade(trials, t)
		made, seconds = made+float64(o.Drops[drop.States]), seconds+o.Sent.Seconds
		object, slab = object+float64(o.Drops[drop.StateObjectBytes]), slab+float64(o.Drops[drop.SlabBytes])
		offered += float64(o.Sent.TxPackets)
		for _, c := range stateCounters {
			if n := o.Drops[c.name]; n > 0 {
				st.Counted[c.name] += float64(n)
			}
		}
	}
	if made == 0 && len(st.Counted) == 0 || seconds == 0 {
		return st, false
	}
	for name := range st.Counted {
		st.Counted[name] /= offered
	}
	n := float64(st.Trials)
	st.Made, st.PerSecond = made/n, made/seconds
	if st.Made >= enoughStates && alone {
		st.ObjectBytes, st.SlabBytes = perState(object, made), perState(slab, made)
	}
	return st, true
}

// othersMade reports whether other arms of a trial's instance made so many states that
// this arm's memory use cannot be told from theirs.
func othersMade(trials []Trial, t Trial) bool {
	return slices.ContainsFunc(trials, func(o Trial) bool {
		return t.Attempt() > 0 && o.Part == t.Part && o.Block == t.Block && o.Attempt() == t.Attempt() && o.Variant != t.Variant &&
			100*o.Observed.Drops[drop.States] > t.Observed.Drops[drop.States]
	})
}

func perState(bytes, made float64) stats.Number {
	if bytes == 0 {
		return stats.Number{}
	}
	return stats.Num(bytes / made)
}

// rare is the share of the offered frames below which a counter is not worth reporting.
const rare = 0.001

// StatesWhy explains what kept frames or states out of the table.
func StatesWhy(st States) (out []string) {
	for _, c := range stateCounters {
		if share := st.Counted[c.name]; share > rare {
			out = append(out, fmt.Sprintf("%s (%s %s of the frames offered)", c.words, c.name, show.Percent(100*share)))
		}
	}
	return out
}

// DropAccount accounts for a trial's frames. ok is false if drops were not counted.
func DropAccount(o *Observation) (a drop.Account, ok bool) {
	if o == nil || o.Drops == nil || o.Flooded || o.Sent.TxPackets == 0 {
		return drop.Account{}, false
	}
	sent, got, dropped := o.Sent.TxPackets, o.Received.RxPackets, o.Received.Dropped
	if again := o.Redone; again != nil {
		sent, got, dropped = sent+again.Sent, got+again.Received, dropped+again.Dropped
	}
	return drop.Attribute(sent, got, dropped, o.Drops), true
}

// dropsOf adds up the accounts of all trials by part and arm.
func dropsOf(s Spec, trials []Trial) []Drops {
	out := []Drops{}
	for _, p := range s.Parts {
		if !offersFrames(p) { // a search causes loss on purpose
			continue
		}
		for _, arm := range s.Arms() {
			d := Drops{Part: p.Name, Mode: p.Mode, Variant: arm}
			for _, t := range trials {
				if t.Part != p.Name || t.Variant != arm {
					continue
				}
				if a, ok := DropAccount(t.Observed); ok {
					d.Account = d.Plus(a)
					d.Trials++
				}
			}
			if d.Trials > 0 {
				out = append(out, d)
			}
		}
	}
	return out
}

// warnDrops names the arms that lost too many frames at places without a counter.
func warnDrops(r *Results) {
	for _, d := range r.Drops {
		if u := d.UnknownPercent(); u > drop.Doubt {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s of the frames offered to %s in part %s died where no counter of the kernel tells (limit %g %%)",
				show.Percent(u), d.Variant, d.Part, drop.Doubt))
		}
	}
}

// around returns the 95 % interval of per-block estimates; unknown if it does
// not contain the estimate from the means, which use other blocks.
func around(mean float64, values []float64) (low, high stats.Number) {
	t := stats.OneSample(values, 0.95)
	if t.Low > mean || t.High < mean {
		return stats.Number{}, stats.Number{}
	}
	return stats.Num(t.Low), stats.Num(t.High)
}

// relativeLine fits a line by least squares of relative deviations: points of
// hundreds of nanoseconds weigh as much as points of tens of thousands.
func relativeLine(x, y []float64) (base, each float64) {
	var w, wx, wy, wxx, wxy float64
	for i := range x {
		k := 1 / (y[i] * y[i])
		w, wx, wy, wxx, wxy = w+k, wx+k*x[i], wy+k*y[i], wxx+k*x[i]*x[i], wxy+k*x[i]*y[i]
	}
	d := w*wxx - wx*wx
	if d == 0 {
		return wy / w, 0
	}
	each = (w*wxy - wx*wy) / d
	return (wy - each*wx) / w, each
}
