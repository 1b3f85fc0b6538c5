package provebench

import (
	"math"
	"math/rand/v2"
	"slices"

	"linerate/internal/list"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// Crowd is a population of clients whose connections each draw an arm.
type Crowd struct {
	Name    string  `json:"name"`
	Clients int     `json:"clients"`
	Visits  float64 `json:"visits_shape"`  // shape of the Pareto distribution of a client's visits; 0: all equal
	Apart   float64 `json:"clients_apart"` // scatter of the clients' distances, as a log
	Sizes   float64 `json:"sizes_shape"`   // shape of the Pareto distribution of durations
	Drift   float64 `json:"drift"`         // scatter of the windows' levels, as a log
	Answers float64 `json:"answers"`       // scatter of the clients' effects, as a log
	// Shared is the share of a treated connection's gain that others lose: 1 is an always
	// saturated bottleneck.
	Shared float64 `json:"shared"`
}

// Crowds lists the populations from easy to hard.
func Crowds() []Crowd {
	return []Crowd{
		{Name: "alike", Clients: 12000, Sizes: 3},
		{Name: "clients", Clients: 1000, Visits: 1.5, Apart: 0.7, Sizes: 3},
		{Name: "heavy tails", Clients: 1000, Visits: 1.5, Apart: 0.7, Sizes: 1.2},
		{Name: "drifting", Clients: 1000, Visits: 1.5, Apart: 0.7, Sizes: 1.2, Drift: 0.3},
		{Name: "unlike answers", Clients: 1000, Visits: 1.5, Apart: 0.7, Sizes: 1.2, Drift: 0.3, Answers: 0.1},
		{Name: "half shared", Clients: 1000, Visits: 1.5, Apart: 0.7, Sizes: 1.2, Drift: 0.03, Shared: 0.5},
		{Name: "all shared", Clients: 1000, Visits: 1.5, Apart: 0.7, Sizes: 1.2, Drift: 0.03, Shared: 1},
	}
}

// CrowdRow holds the results of studies by connection for one crowd.
type CrowdRow struct {
	Crowd             string  `json:"crowd"`
	FalsePositiveRate float64 `json:"false_positive_rate"`
	Coverage          float64 `json:"coverage"` // for a gain of 4 % between connections
	Power             float64 `json:"power"`    // for the same
	// Needed is the number of connections for a power of 0.8, from the mean square of the intervals.
	Needed float64 `json:"connections_needed"`
	// Better is the share of studies with a gain of 20 % between connections that call it
	// better; Refused is the share that retract this because the host does not gain.
	Better  float64 `json:"better_of_large"`
	Refused float64 `json:"refused_of_large"`
	// Host is the coverage of the intervals for the gain of the whole host, with the same gain.
	Host float64 `json:"host_coverage_of_large"`
}

// The studies: 20 windows of 600 connections, ten minutes of a server with 20 a second.
const (
	aWindow      = 600
	studyWindows = 20
	seen         = 1.96 + 0.84 // standard errors that are detected with a power of 0.8
	smallGain    = -0.0408     // 4 %, as a log
	largeGain    = -0.2231     // 20 %
)

// Connections simulates studies of each crowd.
func Connections(studies int, seed uint64) []CrowdRow {
	crowds := Crowds()
	return list.Parallel(len(crowds), func(i int) CrowdRow { return crowds[i].row(studies, seed+uint64(i)) })
}

func (c Crowd) row(studies int, seed uint64) CrowdRow {
	r := rand.New(rand.NewPCG(seed, 38))
	s, err := study.Question{Settings: []study.Setting{study.SysctlTo("tcp-congestion", "bbr")}}.PerConnection(&study.Design{Terms: study.Terms{Watch: []string{"duration"}, HarmPercent: 20}, Margin: 1})
	if err != nil {
		panic(err) // the study is a constant
	}
	row, each := CrowdRow{Crowd: c.Name}, 1/float64(studies)
	for range studies {
		if c.study(s, 0, r).Verdict.Differs() {
			row.FalsePositiveRate += each
		}
		small := c.study(s, smallGain, r)
		if low, high := small.CILow.Float(), small.CIHigh.Float(); low <= stats.Percent(smallGain) && stats.Percent(smallGain) <= high {
			row.Coverage += each
		}
		if small.Verdict == stats.Better {
			row.Power += each
		}
		row.Needed += each * needed(small)
		large := c.study(s, largeGain, r)
		if large.Verdict == stats.Better {
			row.Better += each
		}
		if large.Host != nil && large.Host.Apart {
			row.Refused += each
		}
		if gain := stats.Percent((1 - c.Shared) * largeGain); large.Host != nil && large.Host.CILow.Float() <= gain && gain <= large.Host.CIHigh.Float() {
			row.Host += each
		}
	}
	return row
}

// needed scales the connections of a study to the number that detects a small gain.
func needed(v study.Verdict) float64 {
	onScale := func(n stats.Number) float64 { return math.Log1p(n.Float() / 100) }
	se := (onScale(v.CIHigh) - onScale(v.CILow)) / (2 * 1.96)
	ratio := se * seen / smallGain
	return studyWindows * aWindow * ratio * ratio
}

// study simulates a study and returns its verdict.
func (c Crowd) study(s study.Spec, effect float64, r *rand.Rand) study.Verdict {
	seed := r.Uint64()
	base, own, cumulated := make([]float64, c.Clients), make([]float64, c.Clients), make([]float64, c.Clients)
	sum := 0.0
	for i := range base {
		base[i], own[i] = math.Exp(c.Apart*r.NormFloat64()), effect+c.Answers*r.NormFloat64()
		sum++
		if c.Visits > 0 {
			sum += min(50, math.Pow(1-r.Float64(), -1/c.Visits)) - 1
		}
		cumulated[i] = sum
	}
	var trials []study.Trial
	for w, share := range study.Shares(seed, s.Parts[0].Blocks) {
		arms := map[string]*study.Connections{s.Control: {Share: share}, study.AA: {Share: share}, "setting": {Share: share}}
		level := math.Exp(c.Drift * r.NormFloat64())
		for range int(poisson(r, aWindow)) {
			client, _ := slices.BinarySearch(cumulated, sum*r.Float64())
			arm, gain := "setting", own[client]
			if r.Float64() >= share {
				gain = 0
				if arm = s.Control; r.IntN(2) == 0 {
					arm = study.AA
				}
			}
			// At a shared bottleneck, everybody loses what the treated connections gain.
			duration := level * base[client] * math.Pow(1-r.Float64(), -1/c.Sizes) * math.Exp(gain-c.Shared*share*effect)
			arms[arm].Add(study.Connection{Client: uint32(client), FirstRTT: base[client], Duration: duration, Segments: 10})
			arms[arm].Opened++
		}
		for variant, got := range arms {
			trials = append(trials, study.ConnectionTrial(s, study.Window{Pair: w + 1}, variant, *got))
		}
	}
	return study.Analyse(s, seed, study.Environment{}, trials).Verdicts[0]
}
