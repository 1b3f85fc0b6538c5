package tune

import (
	"math"

	"linerate/internal/stats"
)

// Result is the outcome of a search.
type Result struct {
	Model Model `json:"model"`
	// Candidate is the configuration put to confirmation; nil if nothing promised to help.
	Candidate    Config  `json:"candidate"`
	Confirmation *Judged `json:"confirmation"`
	// Harm names guardrails on which the candidate was not shown to be harmless.
	Harm []string `json:"harm"`
	// OpenBlocks is about how many more blocks would decide on them, and OpenSeconds
	// their duration; 0 if there are none, or if no number of blocks would.
	OpenBlocks  int     `json:"open_blocks"`
	OpenSeconds float64 `json:"open_seconds"`
	// Ships is the configuration for the plan, or nil: the confirmed candidate without settings
	// that hardly have an effect.
	Ships Config `json:"ships"`
	// ExpectedPercent is the gain over the base that the screening expects, corrected for selection.
	ExpectedPercent stats.Number `json:"expected_percent"`
	// SeenPercent is the smallest detectable effect: of the candidate if there was
	// one, else of any one setting.
	SeenPercent stats.Number `json:"detectable_percent"`
	// Trials counts all trials, including repetitions of invalid ones; Invalid counts
	// those refused, by gate.
	Trials   int            `json:"trials"`
	Invalid  map[string]int `json:"invalid"`
	Seconds  float64        `json:"seconds"`
	Complete bool           `json:"complete"`
}

// Result sums up a search.
func (s *Search) Result(done []Measured) (Result, error) {
	_, more, err := s.Next(done)
	if err != nil {
		return Result{}, err
	}
	st := &state{s, done}
	k := st.learn()
	r := Result{Model: k.model(), ExpectedPercent: stats.Num(math.NaN()), Harm: []string{}, Invalid: map[string]int{}, Complete: !more}
	for i := range done {
		r.Trials += done[i].trials()
		r.Seconds += done[i].Seconds
		for gate, n := range done[i].Invalid {
			r.Invalid[gate] += n
		}
	}
	confirm, ran := st.last(Confirm)
	if !ran {
		r.SeenPercent = stats.Num(math.NaN())
		if len(r.Model.Effects) > 0 {
			r.SeenPercent = stats.Num(stats.Percent(r.Model.Simultaneous))
		}
		return r, nil
	}
	judged, _ := confirm.Judge(0)
	j := judged.detect()
	r.Candidate, r.Confirmation, r.SeenPercent = confirm.Arms[0], j, j.DetectablePercent
	if r.Harm = append(r.Harm, st.harm()...); len(r.Harm) > 0 {
		r.OpenBlocks = st.openBlocks()
		r.OpenSeconds = float64(r.OpenBlocks) * perBlock(confirm)
	}
	if c, ok := st.confirmed(); ok {
		r.Ships = k.stands(c)
		r.ExpectedPercent = stats.Num(stats.Percent(k.gain(r.Ships)))
	}
	return r, nil
}
