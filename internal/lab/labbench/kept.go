package labbench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"

	"linerate/internal/hint"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// kept is what bench lab has measured so far: the file that it keeps.
type kept struct {
	Version int                `json:"version"`
	Seed    uint64             `json:"seed"`    // of the last study
	Seconds float64            `json:"seconds"` // that all of it took
	Took    map[string]float64 `json:"took"`    // seconds, by study
	AA      ways               `json:"aa"`
	Loaded  ways               `json:"aa_with_a_busy_loop"`
	Planted plants             `json:"planted"`
	Alarms  alarmCounts        `json:"false_alarms"`
}

// numbers are such as may be unknown.
type numbers []stats.Number

func (k *numbers) add(v float64) { *k = append(*k, stats.Num(v)) }

// median takes what is unknown for the given.
func (k numbers) median(unknown float64) float64 {
	values := make([]float64, len(k))
	for i, n := range k {
		if values[i] = unknown; n.Known() {
			values[i] = n.Float()
		}
	}
	return stats.Median(values)
}

// ways are studies of large effects by either method: first slice by slice,
// then one after the other.
type ways struct {
	Half  [2]numbers         `json:"half_width_percent"` // of the A/A interval; unknown: no trial was valid
	Took  [2][]float64       `json:"seconds"`
	Large [2][]study.Verdict `json:"verdicts"` // of the last
}

// plants are studies of planted effects, which are in the order of
// plantedRules.
type plants struct {
	Effects []numbers `json:"effect_percent"`
	Found   []int     `json:"found"`
	Base    numbers   `json:"base_ns"`
	Took    []float64 `json:"seconds"`
}

// alarmCounts are comparisons of nothing.
type alarmCounts struct {
	Studies int     `json:"studies"`
	Found   int     `json:"found"`
	SD      numbers `json:"instance_sd_percent"`
}

const (
	keptVersion = 1
	maxKept     = 8 << 20 // bytes
)

// readKept reads what was kept; nothing was where the file is missing or has no
// name.
func readKept(file string, seed uint64) (kept, error) {
	var raw kept
	info, err := os.Stat(file)
	if file == "" || errors.Is(err, fs.ErrNotExist) {
		raw = kept{Version: keptVersion, Seed: seed, Took: map[string]float64{}}
		raw.Planted.Effects, raw.Planted.Found = make([]numbers, len(plantedRules)), make([]int, len(plantedRules))
		return raw, nil
	}
	if err != nil {
		return raw, err
	}
	notOurs := func(why string) error {
		return hint.With(hint.Usagef("%s: %s", file, why), "give a file that bench lab kept, or one that is not there yet")
	}
	if !info.Mode().IsRegular() || info.Size() > maxKept {
		return raw, notOurs("this is no file that bench lab kept")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return raw, err
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return raw, notOurs(err.Error())
	}
	if raw.Version != keptVersion || raw.Took == nil || !(raw.Seconds >= 0 && raw.Seconds < 1e6) ||
		len(raw.Planted.Effects) != len(plantedRules) || len(raw.Planted.Found) != len(plantedRules) {
		return raw, notOurs("this is no file that bench lab kept, or one of another version")
	}
	return raw, nil
}

// write keeps it, whole or not at all.
func (r *kept) write(file string) error {
	if file == "" {
		return nil
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", data, 0o644); err != nil {
		return fmt.Errorf("keep what was measured: %w", err)
	}
	return os.Rename(file+".new", file)
}

// add takes a study of planted effects in.
func (p *plants) add(r study.Results, seconds float64) {
	p.Took = append(p.Took, seconds)
	p.Base.add(r.Verdicts[0].ControlMean.Float())
	for i, v := range r.Verdicts {
		p.Effects[i].add(v.EffectPercent.Float())
		if v.Verdict.Differs() && v.EffectPercent.Float() > 0 {
			p.Found[i]++
		}
	}
}

// summarise works out what bench lab tells.
func (r *kept) summarise(out *Result) {
	out.AA, out.Loaded = r.AA.widths(), r.Loaded.widths()
	out.Agreement = r.AA.agreement()
	out.Alarms = Alarms{Studies: r.Alarms.Studies, Found: r.Alarms.Found,
		Rate: stats.Num(float64(r.Alarms.Found) / float64(r.Alarms.Studies)), SD: stats.Num(r.Alarms.SD.median(math.Inf(1)))}
	r.Planted.summarise(out)
}

func (w *ways) widths() Widths {
	return Widths{Sequential: stats.Num(w.Half[1].median(math.Inf(1))), Interleaved: stats.Num(w.Half[0].median(math.Inf(1))), SequentialStudies: len(w.Half[1]), Studies: len(w.Half[0]),
		SequentialSeconds: stats.Num(stats.Median(w.Took[1])), Seconds: stats.Num(stats.Median(w.Took[0]))}
}

func (w *ways) agreement() (all []Agreement) {
	for i, v := range w.Large[0] {
		if i >= len(w.Large[1]) {
			break
		}
		o := w.Large[1][i]
		all = append(all, Agreement{Variant: v.Variant, Sequential: o.Effect, Interleaved: v.Effect,
			Agree: o.CILow.Float() <= v.CIHigh.Float() && v.CILow.Float() <= o.CIHigh.Float()})
	}
	return all
}

func (p *plants) summarise(out *Result) {
	out.Smallest = stats.Num(math.NaN())
	if len(p.Took) == 0 {
		return
	}
	out.PlantedSeconds = stats.Median(p.Took)
	last := len(plantedRules) - 1
	percent := p.Effects[last].median(0) / float64(plantedRules[last])
	for i, n := range plantedRules {
		known := percent * float64(n)
		if 10*p.Found[i] >= 9*len(p.Effects[i]) && len(p.Effects[i]) >= 10 && math.IsNaN(out.Smallest.Float()) {
			out.Smallest = stats.Num(known)
		}
		out.Planted = append(out.Planted, Planted{Rules: n, NS: stats.Num(known / 100 * p.Base.median(0)), Effect: stats.Num(known),
			Found: p.Found[i], Of: len(p.Effects[i]), Mean: stats.Num(p.Effects[i].median(0))})
	}
}
