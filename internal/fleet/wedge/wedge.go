// Package wedge is a rollout as an experiment, a stepped wedge: the order in which hosts get
// their plans is drawn by chance within strata, half of each wave is held back while the other
// half has its plan, and half of those that are held back get an empty change meanwhile. What
// the plans do is the difference between hosts that have them and hosts that do not, at the
// same time, each less its own baseline. The test leans on the draw alone: it asks what other
// draws of the same schedule would have shown (Fisher 1935; Hughes et al., Contemporary
// Clinical Trials 45, 2015; Ji, Fink, Robyn & Small, arXiv 1610.07127).
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

// Trial is the design of a rollout and what was read meanwhile. It is the whole record: what is
// decided follows from it.
type Trial struct {
	Metric string          `json:"metric"`
	Better stats.Direction `json:"better"`
	// Harm is the least harm, in percent of the metric, that ends the rollout.
	Harm float64 `json:"harm_percent"`
	// Hold is how long a period is measured.
	Hold float64 `json:"hold_s"`
	Seed uint64  `json:"seed"`
	// Strata are the facts by which hosts are compared with their like only.
	Strata []string `json:"strata"`
	Waves  int      `json:"waves"`
	Hosts  []Host   `json:"hosts"`
	// Changes are what the plans change on the running hosts, Unchanged how many hosts keep all as it is, On
	// what all hosts have in common.
	Changes   []Change `json:"changes,omitempty"`
	Unchanged int      `json:"unchanged,omitempty"`
	On        System   `json:"on,omitzero"`
	// Periods are as they were measured: Baselines of them before the first wave.
	Periods []Period `json:"periods,omitempty"`
}

// Change is a setting that plans change on running hosts.
type Change struct {
	Setting string `json:"setting"`
	Before  string `json:"before"` // "" of what had none, or none that is known
	After   string `json:"after"`
	Hosts   int    `json:"hosts"`
}

// System is a host's; "" is what hosts do not share.
type System struct {
	OS       string `json:"os,omitempty"`
	Release  string `json:"release,omitempty"`
	Hardware string `json:"hardware,omitempty"`
}

// Host is where the draw put a host.
type Host struct {
	Name    string `json:"name"`
	Stratum string `json:"stratum"`
	Wave    int    `json:"wave"` // from 1; 0: in none
	// Held hosts wait a wave longer; Sham ones get an empty change while they wait.
	Held bool `json:"held,omitempty"`
	Sham bool `json:"sham,omitempty"`
}

// Step is the step of the rollout in which a host gets its plan: the half of a wave that was
// held back goes together with the first half of the next.
func (h Host) Step() int {
	if h.Held {
		return h.Wave + 1
	}
	return h.Wave
}

// Period is a time in which every host was measured.
type Period struct {
	Wave  int       `json:"wave"` // the one whose first half has the plan; 0: a baseline
	Begin time.Time `json:"begin"`
	// Values are in the order of the hosts, null of one that gave none.
	Values []stats.Number `json:"values"`
}

// Baselines are the periods before the first wave: the scatter between them is what a wave has
// to be told from.
const Baselines = 2

// Patience is how many periods a wave waits at most to exclude harm.
const Patience = 3

// alpha is the chance, over the whole rollout, to stop for harm that is none.
const alpha = 0.05

// level is that of one look: each wave may be looked at Patience times.
func (t *Trial) level() float64 { return alpha / float64(max(1, t.Waves)*Patience) }

// Draw puts hosts into waves that end at the given numbers, by chance: each stratum's hosts are
// shuffled and spread evenly over the waves, and halved within each wave.
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

// mostLooked bounds hosts × waves × periods of a record from elsewhere, and so how long a look takes.
const mostLooked = 100_000_000

// Fits refuses a record from elsewhere that no trial can have.
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

// Check refuses a design that could show nothing: hosts that have none to be compared with,
// and schedules of which so few exist that none is improbable.
func (t *Trial) Check() error {
	if !(t.Harm > 0 && t.Harm < 100) {
		return hint.Usagef("harm of %g %% is not between 0 and 100", t.Harm)
	}
	for _, s := range blocks(len(t.Hosts), func(i int) string { return t.Hosts[i].Stratum }) {
		if len(s) == 1 {
			return hint.With(hint.Usagef("only one host is %s: it has none to be compared with", cmp.Or(t.Hosts[s[0]].Stratum, "there")), "compare by fewer facts: %s, or %s", hint.Option("strata", "role"), hint.Option("strata", "none"))
		}
	}
	orders := orders(t.Hosts, Host.Step)
	if need := math.Log(1 / t.level()); orders < need {
		return hint.With(hint.Usagef("%s can be put in order in %.0f ways, and a verdict needs %.0f", show.Plural(len(t.Hosts), "host"), math.Exp(orders), math.Ceil(math.Exp(need))), "add hosts, or compare by fewer facts: %s", hint.Option("strata", "none"))
	}
	return nil
}

// orders counts the ways in which hosts can be put into their slots within their strata, as a
// logarithm.
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

// Stratum names what a host is by some facts, as "router, EPYC".
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

// worse turns values so that up is worse, as logarithms: NaN of what has none.
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

// Limit is the harm that ends the rollout, for people.
func (t *Trial) Limit() string { return fmt.Sprintf("%g %%", t.Harm) }

// limit is the least harm that counts, as a logarithm that is worse above 0.
func (t *Trial) limit() float64 { return t.sign() * math.Log1p(t.sign()*t.Harm/100) }

// Design says how hosts were drawn, for people.
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
