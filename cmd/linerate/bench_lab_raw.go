package main

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

// labRaw is what bench lab has measured so far: the file that it keeps.
type labRaw struct {
	Version int                `json:"version"`
	Seed    uint64             `json:"seed"`    // of the last study
	Seconds float64            `json:"seconds"` // that all of it took
	Took    map[string]float64 `json:"took"`    // seconds, by study
	AA      labWays            `json:"aa"`
	Loaded  labWays            `json:"aa_with_a_busy_loop"`
	Planted labPlanted         `json:"planted"`
	Alarms  labAlarms          `json:"false_alarms"`
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

// labWays are studies of large effects by either method: first slice by slice,
// then one after the other.
type labWays struct {
	Half  [2]numbers         `json:"half_width_percent"` // of the A/A interval; unknown: no trial was valid
	Took  [2][]float64       `json:"seconds"`
	Large [2][]study.Verdict `json:"verdicts"` // of the last
}

// labPlanted are studies of planted effects, which are in the order of
// plantedRules.
type labPlanted struct {
	Effects []numbers `json:"effect_percent"`
	Found   []int     `json:"found"`
	Base    numbers   `json:"base_ns"`
	Took    []float64 `json:"seconds"`
}

// labAlarms are comparisons of nothing.
type labAlarms struct {
	Studies int     `json:"studies"`
	Found   int     `json:"found"`
	SD      numbers `json:"instance_sd_percent"`
}

const (
	labRawVersion = 1
	maxLabRaw     = 8 << 20 // bytes
)

// readLabRaw reads what was kept; nothing was where the file is missing or has no
// name.
func readLabRaw(file string, seed uint64) (labRaw, error) {
	var raw labRaw
	info, err := os.Stat(file)
	if file == "" || errors.Is(err, fs.ErrNotExist) {
		raw = labRaw{Version: labRawVersion, Seed: seed, Took: map[string]float64{}}
		raw.Planted.Effects, raw.Planted.Found = make([]numbers, len(plantedRules)), make([]int, len(plantedRules))
		return raw, nil
	}
	if err != nil {
		return raw, err
	}
	notOurs := func(why string) error {
		return hint.With(hint.Usagef("%s: %s", file, why), "give a file that bench lab kept, or one that is not there yet")
	}
	if !info.Mode().IsRegular() || info.Size() > maxLabRaw {
		return raw, notOurs("this is no file that bench lab kept")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return raw, err
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return raw, notOurs(err.Error())
	}
	if raw.Version != labRawVersion || raw.Took == nil || !(raw.Seconds >= 0 && raw.Seconds < 1e6) ||
		len(raw.Planted.Effects) != len(plantedRules) || len(raw.Planted.Found) != len(plantedRules) {
		return raw, notOurs("this is no file that bench lab kept, or one of another version")
	}
	return raw, nil
}

// write keeps it, whole or not at all.
func (r *labRaw) write(file string) error {
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
func (p *labPlanted) add(r study.Results, seconds float64) {
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
func (r *labRaw) summarise(out *labBench) {
	out.AA, out.Loaded = r.AA.widths(), r.Loaded.widths()
	out.Agreement = r.AA.agreement()
	out.Alarms = alarms{Studies: r.Alarms.Studies, Found: r.Alarms.Found,
		Rate: stats.Num(float64(r.Alarms.Found) / float64(r.Alarms.Studies)), SD: stats.Num(r.Alarms.SD.median(math.Inf(1)))}
	r.Planted.summarise(out)
}

func (w *labWays) widths() widths {
	return widths{Sequential: stats.Num(w.Half[1].median(math.Inf(1))), Interleaved: stats.Num(w.Half[0].median(math.Inf(1))), SequentialStudies: len(w.Half[1]), Studies: len(w.Half[0]),
		SequentialSeconds: stats.Num(stats.Median(w.Took[1])), Seconds: stats.Num(stats.Median(w.Took[0]))}
}

func (w *labWays) agreement() (all []agreement) {
	for i, v := range w.Large[0] {
		if i >= len(w.Large[1]) {
			break
		}
		o := w.Large[1][i]
		all = append(all, agreement{Variant: v.Variant, Sequential: o.Effect, Interleaved: v.Effect,
			Agree: o.CILow.Float() <= v.CIHigh.Float() && v.CILow.Float() <= o.CIHigh.Float()})
	}
	return all
}

func (p *labPlanted) summarise(out *labBench) {
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
		out.Planted = append(out.Planted, planted{Rules: n, NS: stats.Num(known / 100 * p.Base.median(0)), Effect: stats.Num(known),
			Found: p.Found[i], Of: len(p.Effects[i]), Mean: stats.Num(p.Effects[i].median(0))})
	}
}
