package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"linerate/internal/fleet/wedge"
	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// KindRollout is the kind of measured rollouts.
const KindRollout = "rollout"

// rolloutFile names the record of a rollout.
const rolloutFile = "rollout.json"

// Rollout is the record of a measured rollout, from which its verdict follows.
type Rollout struct {
	Wave  string    `json:"wave"`
	Start time.Time `json:"start"`
	// Skipped hosts should have had the plan when the last wave was measured, and count as if they had.
	Skipped int `json:"skipped,omitempty"`
	// Harm says why the rollout was ended as harmful, "" if it was not.
	Harm  string      `json:"harm,omitempty"`
	Trial wedge.Trial `json:"trial"`
}

// OfRollout converts the record of a rollout to a batch with one verdict, on all changes of its
// plans together. It returns ErrUnfinished if no wave was measured.
func OfRollout(r Rollout) (*Batch, error) {
	last, measured := r.Trial.Last()
	if !measured && r.Harm == "" {
		return nil, fmt.Errorf("rollout %s: %w", r.Wave, ErrUnfinished)
	}
	doc, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("rollout %s: %w", r.Wave, err)
	}
	hash := sha256.Sum256(doc)
	sha, start, on := hex.EncodeToString(hash[:]), r.Start.UTC(), r.Trial.On
	id, hosts := IDOf(KindRollout, sha), show.Plural(len(r.Trial.Hosts), "host")
	env := Environment{OS: title(on.OS), Release: on.Release, Hardware: hosts, CPU: on.Hardware}
	env.ID = IDOf("environment", KindRollout, env.OS, env.Release, hosts, env.CPU)
	st := Study{ID: id, Kind: KindRollout, Name: "rollout-" + r.Wave, Place: "rollout/" + r.Wave, Path: "rollout " + r.Wave, Design: "stepped wedge",
		Question: fmt.Sprintf("What do the plans of %s do to %s?", hosts, r.Trial.Metric), Metric: r.Trial.Metric, Control: "without", Seed: r.Trial.Seed,
		Started: &start, Label: "the mean of " + hosts, Facts: []string{r.Trial.Design(), "A/A: an empty change " + last.Sham.TextWithBounds()}, Tool: "linerate"}
	if low, high := last.Sham.CILow.Float(), last.Sham.CIHigh.Float(); low > 0 || high < 0 {
		st.AA = stats.Judge(last.Sham.EffectPercent.Float(), 0, 1, 0.05, r.Trial.Better)
	}
	v := r.verdict(last)
	v.ID, v.Study, v.Environment = id.Part("verdict"), id, env.ID
	return &Batch{Kind: KindRollout, Ref: string(id), Time: start, Studies: []Study{st}, Environments: []Environment{env}, Verdicts: []Verdict{v},
		Sources: []Source{{ID: id.Part(rolloutFile, sha), Study: id, Path: rolloutFile, SHA256: sha, Size: int64(len(doc)), Role: roleRecord}}, Blobs: []Blob{Pack(sha, doc)}}, nil
}

// rolloutOf parses an untrusted record and derives its batch.
func rolloutOf(doc []byte) (*Batch, error) {
	var r Rollout
	err := json.Unmarshal(doc, &r)
	if err == nil {
		err = r.Trial.Fits()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", rolloutFile, err)
	}
	return OfRollout(r)
}

// verdict returns the last look's verdict, without settings if some hosts change nothing: the mean covers them too.
func (r *Rollout) verdict(last wedge.Look) Verdict {
	t := &r.Trial
	v := Verdict{Metric: t.Metric, Primary: true, Better: t.Better, Workload: "its own traffic", Control: "without", Variant: "with the plan",
		N: last.Treated + last.Others, NControl: last.Others, NVariant: last.Treated, Effect: last.Effect, P: last.P, PHolm: last.P, Family: 1, MDE: last.Sees,
		Method:  fmt.Sprintf("stepped wedge over %s, randomisation test of the draw, after wave %d of %d", show.Plural(len(t.Hosts), "host"), last.Wave, t.Waves),
		Verdict: stats.Judge(last.Effect.EffectPercent.Float(), last.P.Float(), 1, 0.05, t.Better), Changes: []Change{}}
	if t.Unchanged == 0 {
		v.Changes = list.Map(t.Changes, func(c wedge.Change) Change {
			return Change{Tunable: c.Setting, Related: relatedTo(c.Setting), Before: c.Before, After: c.After}
		})
	}
	if r.Harm != "" {
		v.Verdict, v.Flags = stats.Stopped, []string{"guardrail harm: " + show.Clean(r.Harm)}
	}
	warn := func(n int, what string) {
		if n > 0 {
			v.Warnings = append(v.Warnings, show.Plural(n, "host")+" "+what)
		}
	}
	warn(r.Skipped, "skipped, and counted as if they had the plan")
	warn(last.LeftOut, "left out, without a reading")
	warn(t.Unchanged, "with a plan that changes nothing before a boot")
	return v
}
