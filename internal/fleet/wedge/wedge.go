// Package wedge runs a rollout as an experiment, a stepped wedge: hosts get their plans in an
// order drawn at random within strata, half of each wave is held back while the other half has
// its plan, and half of the hosts held back get an empty change. The effect of the plans is
// the difference between hosts that have them and hosts that do not, at the same time, each
// minus its own baseline. The test relies on the draw alone: it computes what other draws of
// the same schedule would have shown (Fisher 1935; Hughes et al., Contemporary Clinical Trials
// 45, 2015; Ji, Fink, Robyn & Small, arXiv 1610.07127).
package wedge

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"linerate/internal/hint"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// Trial is the design of a rollout and its readings. It is the complete record: all decisions
// follow from it.
type Trial struct {
	Metric string          `json:"metric"`
	Better stats.Direction `json:"better"`
	// Harm is the smallest harm, in percent of the metric, that ends the rollout.
	Harm float64 `json:"harm_percent"`
	// Hold is the duration of a period.
	Hold float64 `json:"hold_s"`
	Seed uint64  `json:"seed"`
	// Strata are the facts in which compared hosts must be equal.
	Strata []string `json:"strata"`
	Waves  int      `json:"waves"`
	Hosts  []Host   `json:"hosts"`
	// Changes are the plans' changes of running hosts, Unchanged is the number of hosts without
	// any, and On is what all hosts have in common.
	Changes   []Change `json:"changes,omitempty"`
	Unchanged int      `json:"unchanged,omitempty"`
	On        System   `json:"on,omitzero"`
	// Periods are the measured periods, beginning with the Baselines before the first wave.
	Periods []Period `json:"periods,omitempty"`
}

// Change is a setting that plans change on running hosts.
type Change struct {
	Setting string `json:"setting"`
	Before  string `json:"before"` // "" if there was none, or if it is unknown
	After   string `json:"after"`
	Hosts   int    `json:"hosts"`
}

// System describes hosts; fields in which they differ are "".
type System struct {
	OS       string `json:"os,omitempty"`
	Release  string `json:"release,omitempty"`
	Hardware string `json:"hardware,omitempty"`
}

// Host is the place of a host in the draw.
type Host struct {
	Name    string `json:"name"`
	Stratum string `json:"stratum"`
	Wave    int    `json:"wave"` // from 1; 0: in no wave
	// Held hosts wait for one more wave; Sham hosts get an empty change while they wait.
	Held bool `json:"held,omitempty"`
	Sham bool `json:"sham,omitempty"`
}

// Step returns the step of the rollout in which a host gets its plan: the held-back half of
// a wave goes together with the first half of the next.
func (h Host) Step() int {
	if h.Held {
		return h.Wave + 1
	}
	return h.Wave
}

// Period is a period in which every host was measured.
type Period struct {
	Wave  int       `json:"wave"` // whose first half has the plan; 0: a baseline
	Begin time.Time `json:"begin"`
	// Values are in the order of the hosts, null if there is no reading.
	Values []stats.Number `json:"values"`
}

// Baselines is the number of periods before the first wave, whose scatter is the noise that
// an effect must exceed.
const Baselines = 2

// Patience is the most periods that a wave waits for harm to be excluded.
const Patience = 3

// alpha is the probability, over the whole rollout, of stopping for harm when there is none.
const alpha = 0.05

// level returns the significance level of one look: each wave may have Patience looks.
func (t *Trial) level() float64 { return alpha / float64(max(1, t.Waves)*Patience) }

// Draw randomly assigns hosts to waves that end at the given numbers: it shuffles each stratum,
// spreads it evenly over the waves, and halves each wave.
func Draw(hosts []Host, ends []int, seed uint64) []Host {
	r := rand.New(rand.NewPCG(seed, uint64(len(hosts))))
	by := map[string][]int{}
	for i, h := range hosts {
		by[h.Stratum] = append(by[h.Stratum], i)
	}
	at, order := make([]float64, len(hosts)), make([]int, 0, len(hosts))
	for _, s := range slices.Sorted(maps.Keys(by)) {
		members, shift := by[s], r.Float64()
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		for i, m := range members {
			at[m] = (float64(i) + shift) / float64(len(members))
		}
		order = append(order, members...)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	out, begin, held := slices.Clone(hosts), 0, 0
	for i := range out {
		out[i].Wave, out[i].Held, out[i].Sham = 0, false, false
	}
	for w, end := range ends {
		wave := order[begin:end]
		begin = end
		slices.SortStableFunc(wave, func(a, b int) int { return cmp.Compare(hosts[a].Stratum, hosts[b].Stratum) })
		for i, m := range wave {
			out[m].Wave, out[m].Held = w+1, i%2 == 1
			if out[m].Held {
				out[m].Sham, held = held%2 == 1, held+1
			}
		}
	}
	return out
}

// mostLooked bounds hosts × waves × periods of an untrusted record, and with it the time of a look.
const mostLooked = 100_000_000

// Fits refuses an untrusted record that is inconsistent.
func (t *Trial) Fits() error {
	bad := t.Waves < 1 || t.Waves > len(t.Hosts) || float64(len(t.Hosts))*float64(t.Waves)*float64(len(t.Periods)) > mostLooked || slices.ContainsFunc(t.Hosts, func(h Host) bool { return h.Wave < 1 || h.Wave > t.Waves })
	for _, p := range t.Periods {
		bad = bad || len(p.Values) != len(t.Hosts) || p.Wave < 0 || p.Wave > t.Waves
	}
	if bad {
		return fmt.Errorf("%s, %s and %s do not make a trial", show.Plural(len(t.Hosts), "host"), show.Plural(t.Waves, "wave"), show.Plural(len(t.Periods), "period"))
	}
	return nil
}

// Check refuses a design that could show nothing: hosts without any to compare with, and
// schedules with too few possible orders.
func (t *Trial) Check() error {
	if !(t.Harm > 0 && t.Harm < 100) {
		return hint.Usagef("harm of %g %% is not between 0 and 100", t.Harm)
	}
	for _, s := range blocks(len(t.Hosts), func(i int) string { return t.Hosts[i].Stratum }) {
		if len(s) == 1 {
			return hint.With(hint.Usagef("only one host is %s: there is none to compare it with", cmp.Or(t.Hosts[s[0]].Stratum, "there")), "compare by fewer facts: %s, or %s", hint.Option("strata", "role"), hint.Option("strata", "none"))
		}
	}
	orders := orders(t.Hosts, Host.Step)
	if need := math.Log(1 / t.level()); orders < need {
		advice := "add hosts"
		if slices.ContainsFunc(t.Hosts, func(h Host) bool { return h.Stratum != t.Hosts[0].Stratum }) {
			advice += ", or compare by fewer facts: " + hint.Option("strata", "none")
		}
		return hint.With(hint.Usagef("%s can be ordered in %.0f ways only; a verdict needs %.0f", show.Plural(len(t.Hosts), "host"), math.Exp(orders), math.Ceil(math.Exp(need))), "%s", advice)
	}
	return nil
}

// orders returns the logarithm of the number of ways to assign hosts to their slots within
// strata.
func orders(hosts []Host, slot func(Host) int) (ways float64) {
	in, of := map[string]int{}, map[string]map[int]int{}
	for _, h := range hosts {
		if of[h.Stratum] == nil {
			of[h.Stratum] = map[int]int{}
		}
		in[h.Stratum]++
		of[h.Stratum][slot(h)]++
	}
	for s, all := range in {
		ways += logFactorial(all)
		for _, n := range of[s] {
			ways -= logFactorial(n)
		}
	}
	return ways
}

func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n + 1))
	return v
}

// Stratum names the stratum given by some facts, such as "router, EPYC".
func Stratum(facts []string) (s string) {
	for _, f := range facts {
		if f != "" {
			s += ", " + f
		}
	}
	if s == "" {
		return ""
	}
	return s[len(", "):]
}

// worse converts a value to a logarithm that is higher if it is worse; NaN if it has none.
func (t *Trial) worse(v float64) float64 {
	if !(v > 0) {
		return math.NaN()
	}
	return t.sign() * math.Log(v)
}

func (t *Trial) sign() float64 {
	if t.Better == stats.HigherIsBetter {
		return -1
	}
	return 1
}

// Limit formats the harm that ends the rollout.
func (t *Trial) Limit() string { return fmt.Sprintf("%g %%", t.Harm) }

// limit returns the smallest harm that counts, as a logarithm on the scale of worse.
func (t *Trial) limit() float64 { return t.sign() * math.Log1p(t.sign()*t.Harm/100) }

// Design describes how the order was drawn.
func (t *Trial) Design() string {
	n, shams := map[string]int{}, 0
	for _, h := range t.Hosts {
		n[h.Stratum]++
		if h.Sham {
			shams++
		}
	}
	order := "in an order drawn by chance"
	if len(n) > 1 {
		order += fmt.Sprintf(" within %s of %s", show.Count(len(n))+" strata", show.List(t.Strata))
	}
	return fmt.Sprintf("%s %s (seed %d); half of each wave waits for one more, and %s of those that wait get an empty change", show.Plural(len(t.Hosts), "host"), order, t.Seed, show.Count(shams))
}
