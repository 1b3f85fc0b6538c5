package ledger

import (
	"time"

	"linerate/internal/stats"
)

// Study is a question and how it was measured.
type Study struct {
	ID       string        `json:"id"`
	Kind     string        `json:"kind"` // "study" (linerate's own) or "netbenches"
	Name     string        `json:"name"`
	Place    string        `json:"place"` // what it is the study of, whatever its content: a later one replaces an earlier
	Path     string        `json:"path"`  // where it was read
	Question string        `json:"question"`
	Answer   string        `json:"answer,omitempty"`
	Design   string        `json:"design"` // "blocks" or "independent"
	Metric   string        `json:"metric"` // the primary one
	Control  string        `json:"control,omitempty"`
	Seed     uint64        `json:"seed,omitempty"`
	Started  *time.Time    `json:"started,omitempty"`
	Label    string        `json:"label,omitempty"` // what its numbers are not
	Facts    []string      `json:"facts,omitempty"` // what its author says of the testbed
	Notes    []string      `json:"notes,omitempty"` // what could not be read or is doubtful
	Tool     string        `json:"tool"`            // who made the record
	AA       stats.Verdict `json:"aa,omitempty"`    // of the A/A arm
}

// Environment is what a trial's DUT was.
type Environment struct {
	ID       string            `json:"id"`
	OS       string            `json:"os"`
	Release  string            `json:"release"`
	Revision string            `json:"revision,omitempty"`
	Arch     string            `json:"arch,omitempty"`
	Hardware string            `json:"hardware"` // the archive's name of the machine, or the host's
	CPU      string            `json:"cpu"`
	Cores    int               `json:"cores,omitempty"`
	NIC      string            `json:"nic"`
	Driver   string            `json:"driver"`
	Uname    string            `json:"uname,omitempty"`
	Label    string            `json:"label,omitempty"`
	Extra    map[string]string `json:"extra,omitempty"`
}

// Ref points at the bytes a number came from.
type Ref struct {
	SHA256 string `json:"sha256"`
	Path   string `json:"path"`
	Role   string `json:"role"`
	First  int    `json:"first_line,omitempty"`
	Last   int    `json:"last_line,omitempty"`
}

// Trial is one measured run of one variant under one workload.
type Trial struct {
	ID          string             `json:"id"`
	Study       string             `json:"study"`
	Environment string             `json:"environment"`
	Variant     string             `json:"variant"`
	Workload    string             `json:"workload"`
	Block       int                `json:"block"`
	Order       int                `json:"order,omitempty"`
	Start       *time.Time         `json:"start,omitempty"`
	Valid       bool               `json:"valid"`
	Reasons     []string           `json:"reasons,omitempty"` // why it is not valid
	Flags       []string           `json:"flags,omitempty"`   // what limits it: generator-bound, drift …
	Metrics     map[string]float64 `json:"metrics"`
	Sources     []Ref              `json:"sources"`
}

// Samples are the values inside a trial, in time order: diagnostics, never
// replicates.
type Samples struct {
	ID     string    `json:"id"`
	Trial  string    `json:"trial"`
	Series string    `json:"series"`
	Unit   string    `json:"unit"`
	Values []float64 `json:"values"`
	Source Ref       `json:"source"`
}

// Change is what a variant sets otherwise than the control.
type Change struct {
	Tunable string   `json:"tunable"`
	Related []string `json:"related,omitempty"`
	Before  string   `json:"before"` // "" for the system's default
	After   string   `json:"after"`
	File    string   `json:"file,omitempty"`
}

// Published is what somebody else concluded from the same trials.
type Published struct {
	Source       string  `json:"source"` // README and line
	Verdict      string  `json:"verdict"`
	Percent      float64 `json:"percent"`
	PercentError float64 `json:"percent_error"`
	Agrees       bool    `json:"agrees"` // with linerate's verdict
}

// Verdict is the outcome of comparing a variant with a control.
type Verdict struct {
	ID          string          `json:"id"`
	Study       string          `json:"study"`
	Environment string          `json:"environment"`
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
	Family   int           `json:"family"` // comparisons that Holm corrected together
	Verdict  stats.Verdict `json:"verdict"`
	// MarginPercent is the equivalence margin, PEquivalent the p-value of
	// "differs by the margin or more", corrected by Holm.
	MarginPercent float64      `json:"margin_percent,omitempty"`
	MarginPoints  float64      `json:"margin_points,omitempty"`
	PEquivalent   stats.Number `json:"p_equivalent_holm,omitzero"`
	ControlMean   stats.Number `json:"control_mean"`
	VariantMean   stats.Number `json:"variant_mean"`
	MDE           stats.Number `json:"minimum_detectable_effect_percent"`
	Method        string       `json:"method"`
	Flags         []string     `json:"flags,omitempty"`
	Warnings      []string     `json:"warnings,omitempty"`
	Changes       []Change     `json:"changes"`
	ControlTrials []string     `json:"control_trials,omitempty"`
	VariantTrials []string     `json:"variant_trials,omitempty"`
	Published     *Published   `json:"published,omitempty"`
}

// Exclusion takes a trial, a study or a verdict out of what is concluded,
// without touching it.
type Exclusion struct {
	ID     string    `json:"id"`
	Target string    `json:"target"`
	Reason string    `json:"reason"`
	By     string    `json:"by"`
	Time   time.Time `json:"time"`
}

// Source is one file that a study was read from.
type Source struct {
	ID      string `json:"id"`
	Study   string `json:"study"`
	Path    string `json:"path"`
	SHA256  string `json:"sha256"`
	Size    int64  `json:"size"`
	Role    string `json:"role"`
	Problem string `json:"problem,omitempty"` // why it was not read or not understood
}

// Blob is the bytes of a file, kept under their SHA-256.
type Blob struct {
	SHA256   string
	Size     int64
	Encoding string // "zstd" or "raw"
	Data     []byte
}

// Evidence is a verdict with what it holds for.
type Evidence struct {
	Verdict     Verdict     `json:"verdict"`
	Study       Study       `json:"study"`
	Environment Environment `json:"environment"`
	Entry       int64       `json:"entry"`
	Excluded    string      `json:"excluded,omitempty"` // reason, when all of it is
	Without     *Verdict    `json:"without,omitempty"`  // the verdict without excluded trials
	Dropped     int         `json:"dropped,omitempty"`  // how many those are
}
