package provebench

import (
	"math"
	"math/rand/v2"

	"linerate/internal/list"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// Requests is an arrival process of requests in a log that is read every five seconds.
type Requests struct {
	Name   string
	ALook  float64 // mean per look (Poisson)
	Rhythm float64 // ratio between the day's peak and trough; 0: none
	// On and Off are the mean lengths, in looks, of periods with and without requests
	// (exponential); 0: no such periods.
	On, Off float64
	// Flush is the number of looks between flushes of the server's log buffer; 0: unbuffered.
	Flush int
}

// comings are arrival processes, from a request a minute to many per look.
var comings = []Requests{
	{Name: "one a minute", ALook: 1.0 / 12},
	{Name: "one in ten seconds", ALook: 0.5},
	{Name: "one a second", ALook: 5},
	{Name: "a hundred a second", ALook: 500},
	{Name: "one a minute, rhythm of ten", ALook: 1.0 / 12, Rhythm: 10},
	{Name: "one a second, rhythm of ten", ALook: 5, Rhythm: 10},
	{Name: "bursts: a minute of twenty a second, ten minutes apart", ALook: 100, On: 12, Off: 120},
	{Name: "bursts: three minutes of one a second, a minute apart", ALook: 5, On: 36, Off: 12},
	{Name: "one a second, written every minute", ALook: 5, Flush: 12},
}

// Silence holds the results of the guardrails for missing requests.
type Silence struct {
	Requests string `json:"requests"`
	// FalseTrips is the share of studies without harm that a guardrail ended.
	FalseTrips float64 `json:"false_trips"`
	// With a setting that leaves a share Left of the requests: Tripped is the share of
	// studies ended, Minutes the median time for which the host had the setting until then.
	Left    float64      `json:"requests_left"`
	Tripped float64      `json:"tripped"`
	Minutes stats.Number `json:"treated_minutes_to_trip"`
}

// A window lasts five minutes, with a look every five seconds; the pilot is two windows.
const (
	looksAWindow = 60
	looksOfPilot = 120
	looksAMinute = 12
)

// Silences simulates studies without harm, and studies whose setting leaves a tenth of the
// requests, or none.
func Silences(studies int, seed uint64) []Silence {
	return list.Parallel(2*len(comings), func(n int) Silence {
		i, k := n/2, n%2
		return comings[i].study(studies, []float64{0.1, 0}[k], rand.New(rand.NewPCG(seed, uint64(1000*i+k))))
	})
}

func (q Requests) study(studies int, left float64, r *rand.Rand) Silence {
	s := Silence{Requests: q.Name, Left: left}
	var took []float64
	for range studies {
		slots := plan.Schedule(r.Uint64())
		if _, tripped := q.guarded(slots, 1, r); tripped {
			s.FalseTrips += 1 / float64(studies)
		}
		if looks, tripped := q.guarded(slots, left, r); tripped {
			s.Tripped += 1 / float64(studies)
			took = append(took, float64(looks)/looksAMinute)
		}
	}
	s.Minutes = stats.Num(stats.Median(took))
	return s
}

// guarded runs a study until a guardrail ends it, and counts the looks with the setting.
func (q Requests) guarded(slots []study.WindowSlot, left float64, r *rand.Rand) (treated int, tripped bool) {
	c := coming{Requests: q, rand: r, all: looksOfPilot + looksAWindow*len(slots), phase: 2 * math.Pi * r.Float64()}
	apart, none := study.Watch{Guardrail: study.TimeBetween("")}, study.Watch{Guardrail: study.NoRequests("")}
	var spaced study.Spaced
	look := func(under bool, share float64) bool {
		came, nothing := c.look(share), 0.0
		if came == 0 {
			nothing = 1
		}
		treatment := ""
		if under {
			treatment = "it"
		}
		time := spaced.Look(treatment, 1, came)
		if !under {
			apart.Control(time)
			none.Control(nothing)
			return false
		}
		_, fewer := apart.Check(time, 0)
		_, silent := none.Check(nothing, 0)
		return fewer || silent
	}
	for range looksOfPilot {
		look(false, 1)
	}
	for _, slot := range slots {
		for range looksAWindow {
			if !slot.Treated() {
				look(false, 1)
				continue
			}
			if treated++; look(true, left) {
				return treated, true
			}
		}
	}
	return treated, false
}

// coming simulates a log.
type coming struct {
	Requests
	rand    *rand.Rand
	all, at int
	phase   float64
	off     bool
	spell   float64 // looks left in the current period
	kept    float64 // requests not yet written
}

// look returns the number of requests logged since the last look, thinned to a share.
func (c *coming) look(share float64) float64 {
	c.at++
	if c.On > 0 {
		if c.spell--; c.spell < 0 {
			mean := c.Off
			if c.off {
				mean = c.On
			}
			c.off, c.spell = !c.off, mean*c.rand.ExpFloat64()
		}
	}
	mean := share * c.ALook
	if c.Rhythm > 0 {
		mean *= math.Exp(0.5 * math.Log(c.Rhythm) * math.Sin(2*math.Pi*float64(c.at)/float64(c.all)+c.phase))
	}
	if !c.off {
		c.kept += poisson(c.rand, mean)
	}
	if c.Flush > 0 && c.at%c.Flush != 0 {
		return 0
	}
	n := c.kept
	c.kept = 0
	return n
}

// poisson draws a Poisson number, by the normal approximation for means above 100.
func poisson(r *rand.Rand, mean float64) (n float64) {
	if mean > 100 {
		return max(0, math.Round(mean+math.Sqrt(mean)*r.NormFloat64()))
	}
	for left := r.ExpFloat64(); left < mean; left += r.ExpFloat64() {
		n++
	}
	return n
}
