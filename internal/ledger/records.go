package ledger

import (
	"slices"
	"time"

	"linerate/internal/evidence"
	"linerate/internal/stats"
)

// Study is a question, and how it was studied.
type Study struct {
	ID       ID            `json:"id"`
	Kind     string        `json:"kind"` // "study" (linerate's own), "rollout" or "netbenches"
	Name     string        `json:"name"`
	Place    string        `json:"place"` // identity independent of content: a later study of a place replaces an earlier one
	Path     string        `json:"path"`  // where it was read from
	Question string        `json:"question"`
	Answer   string        `json:"answer,omitempty"`
	Design   string        `json:"design"` // "blocks" or "independent"
	Metric   string        `json:"metric"` // the primary one
	Control  string        `json:"control,omitempty"`
	Seed     uint64        `json:"seed,omitempty"`
	Started  *time.Time    `json:"started,omitempty"`
	Label    string        `json:"label,omitempty"` // what its numbers do not represent
	Facts    []string      `json:"facts,omitempty"` // its author's statements on the testbed
	Notes    []string      `json:"notes,omitempty"` // what could not be read or is doubtful
	Tool     string        `json:"tool"`            // program that made the record
	AA       stats.Verdict `json:"aa,omitempty"`    // of the A/A arm
}

// Environment describes the DUT of a trial.
type Environment struct {
	ID       ID                `json:"id"`
	OS       string            `json:"os"`
	Release  string            `json:"release"`
	Revision string            `json:"revision,omitempty"`
	Arch     string            `json:"arch,omitempty"`
	Hardware string            `json:"hardware"` // the archive's name for the machine, or the host name
	CPU      string            `json:"cpu"`
	Cores    int               `json:"cores,omitempty"`
	NIC      string            `json:"nic"`
	Driver   string            `json:"driver"`
	Uname    string            `json:"uname,omitempty"`
	Label    string            `json:"label,omitempty"`
	Extra    map[string]string `json:"extra,omitempty"`
}

// Ref refers to the bytes from which a number came.
type Ref struct {
	SHA256 string `json:"sha256"`
	Path   string `json:"path"`
	Role   string `json:"role"`
	First  int    `json:"first_line,omitempty"`
	Last   int    `json:"last_line,omitempty"`
}

// Trial is one measured run of one variant under one workload.
type Trial struct {
	ID          ID                 `json:"id"`
	Study       ID                 `json:"study"`
	Environment ID                 `json:"environment"`
	Variant     string             `json:"variant"`
	Workload    string             `json:"workload"`
	Block       int                `json:"block"`
	Order       int                `json:"order,omitempty"`
	Start       *time.Time         `json:"start,omitempty"`
	Valid       bool               `json:"valid"`
	Reasons     []string           `json:"reasons,omitempty"` // why it is invalid
	Flags       []string           `json:"flags,omitempty"`   // limitations: generator-bound, drift …
	Metrics     map[string]float64 `json:"metrics"`
	Sources     []Ref              `json:"sources"`
}

// Change is a setting in which a variant differs from the control.
type Change struct {
	Tunable string   `json:"tunable"`
	Related []string `json:"related,omitempty"`
	Before  string   `json:"before"` // "" for the system's default
	After   string   `json:"after"`
	File    string   `json:"file,omitempty"`
}

// Verdict is the outcome of comparing a variant with a control. Rows are hashed as JSON, so
// the order of the fields must not change.
type Verdict struct {
	ID          ID              `json:"id"`
	Study       ID              `json:"study"`
	Environment ID              `json:"environment"`
	Metric      string          `json:"metric"`
	Primary     bool            `json:"primary"`
	Unit        string          `json:"unit"`
	Better      stats.Direction `json:"better"`
	Workload    string          `json:"workload"`
	Control     string          `json:"control"`
	Variant     string          `json:"variant"`
	N           int             `json:"n"`
	NControl    int             `json:"n_control"`
	NVariant    int             `json:"n_variant"`
	stats.Effect
	EffectNS stats.Number  `json:"effect_ns"`
	P        stats.Number  `json:"p_value"`
	PHolm    stats.Number  `json:"p_holm"`
	Family   int           `json:"family"` // comparisons corrected together by Holm
	Verdict  stats.Verdict `json:"verdict"`
	// MarginPercent is the equivalence margin; PEquivalent is the p-value of
	// "differs by the margin or more", corrected by Holm.
	MarginPercent float64             `json:"margin_percent,omitempty"`
	MarginPoints  float64             `json:"margin_points,omitempty"`
	PEquivalent   stats.Number        `json:"p_equivalent_holm,omitzero"`
	ControlMean   stats.Number        `json:"control_mean"`
	VariantMean   stats.Number        `json:"variant_mean"`
	MDE           stats.Number        `json:"minimum_detectable_effect_percent"`
	Method        string              `json:"method"`
	Flags         []string            `json:"flags,omitempty"`
	Warnings      []string            `json:"warnings,omitempty"`
	Changes       []Change            `json:"changes"`
	ControlTrials []ID                `json:"control_trials,omitempty"`
	VariantTrials []ID                `json:"variant_trials,omitempty"`
	Published     *evidence.Published `json:"published,omitempty"`
}

// Result returns the outcome of the comparison.
func (v *Verdict) Result() stats.Result {
	return stats.Result{N: v.N, Effect: v.Effect, P: v.P, PHolm: v.PHolm, Verdict: v.Verdict}
}

// comesTo sets the outcome of the comparison.
func (v *Verdict) comesTo(r stats.Result) {
	v.N, v.Effect, v.P, v.PHolm, v.Verdict = r.N, r.Effect, r.P, r.PHolm, r.Verdict
}

// Exclusion excludes a trial, a study or a verdict from conclusions, without
// changing it.
type Exclusion struct {
	ID     ID        `json:"id"`
	Target ID        `json:"target"`
	Reason string    `json:"reason"`
	By     string    `json:"by"`
	Time   time.Time `json:"time"`
}

// Source is a file from which a study was read.
type Source struct {
	ID      ID     `json:"id"`
	Study   ID     `json:"study"`
	Path    string `json:"path"`
	SHA256  string `json:"sha256"`
	Size    int64  `json:"size"`
	Role    string `json:"role"`
	Problem string `json:"problem,omitempty"` // why it was not read or understood
}

// Blob holds the bytes of a file, identified by their SHA-256.
type Blob struct {
	SHA256   string `json:"sha256"`
	Size     int64  `json:"size"`
	Encoding string `json:"encoding"` // "zstd" or "raw"
	Data     []byte `json:"data"`
}

// Evidence is a verdict with its context.
type Evidence struct {
	Verdict     Verdict     `json:"verdict"`
	Study       Study       `json:"study"`
	Environment Environment `json:"environment"`
	Entry       int64       `json:"entry"`
	Excluded    string      `json:"excluded,omitempty"` // the reason, if all of it is excluded
	Without     *Verdict    `json:"without,omitempty"`  // the verdict without excluded trials
	Dropped     int         `json:"dropped,omitempty"`  // number of excluded trials
}

// identified is a record with an identifier.
type identified interface {
	// ids returns its own identifier, then those of the records it refers to;
	// "" for none.
	ids() []ID
}

func (s *Study) ids() []ID       { return []ID{s.ID} }
func (e *Environment) ids() []ID { return []ID{e.ID} }
func (t *Trial) ids() []ID       { return []ID{t.ID, t.Study, t.Environment} }
func (e *Exclusion) ids() []ID   { return []ID{e.ID, e.Target} }
func (s *Source) ids() []ID      { return []ID{s.ID, s.Study} }

func (v *Verdict) ids() []ID {
	return slices.Concat([]ID{v.ID, v.Study, v.Environment}, v.ControlTrials, v.VariantTrials)
}
