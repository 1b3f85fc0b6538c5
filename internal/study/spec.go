package study

import (
	"strconv"
	"strings"

	"linerate/internal/list"
	"linerate/internal/load"
	"linerate/internal/show"
	"linerate/internal/testbed"
)

// SpecVersion is the version of a study's YAML and of the trials stored with it.
const SpecVersion = 1

// Spec is a study: a question, and how a testbed answers it.
type Spec struct {
	// Version is the version of the format: SpecVersion, which is also the
	// default.
	Version  int     `yaml:"version"`
	Name     string  `yaml:"name"`
	Question string  `yaml:"question"`
	Summary  string  `yaml:"summary,omitempty"`
	Source   string  `yaml:"source,omitempty"` // origin of the question
	Topic    string  `yaml:"topic,omitempty"`  // subject, by which studies are listed
	Seed     *uint64 `yaml:"seed,omitempty"`   // of the schedule; nil: drawn at run time
	Testbed  Testbed `yaml:"testbed"`
	Reset    string  `yaml:"reset"` // how trials are made independent
	// Design is the order of the trials: Blocks, Switchback or Concurrent.
	Design   string    `yaml:"design"`
	Workload Workload  `yaml:"workload"`
	Link     *Link     `yaml:"link,omitempty"` // between clients and server
	Sweep    []Sweep   `yaml:"sweep,omitempty"`
	Control  string    `yaml:"control"` // the variant that all others are compared with
	Variants []Variant `yaml:"variants"`
	Blocks   int       `yaml:"blocks"` // default for all parts
	Parts    []Part    `yaml:"parts"`
	Metrics  []Goal    `yaml:"metrics"`
	Gates    Gates     `yaml:"gates"`
	// Retries is how often an invalid trial is repeated at the end of its
	// block; all repetitions stay in the record.
	Retries int `yaml:"retries"`
	// Looks lets the study end before all blocks of the primary metric's part.
	Looks *Looks `yaml:"looks,omitempty"`
	// Interleave is false to run one trial after another where the arms of a
	// block could take turns: for variants that would disturb each other.
	Interleave *bool `yaml:"interleave,omitempty"`
	// Profile requests a profile of every variant after the trials, by
	// instruments that disturb what they observe (Telemetry).
	Profile bool `yaml:"profile,omitempty"`
}

// Testbed names the kind of testbed a study runs on.
type Testbed struct {
	Kind string `yaml:"kind"` // "netns", "ssh" or "ports"
	// File describes the machines of kinds ssh and ports; it is relative to the study.
	File string `yaml:"file,omitempty"`
	// Host is the live host of kind live, ssh://[user@]host; "" is the local machine.
	Host string `yaml:"host,omitempty"`
	// Become is how scripts become root on the host: sudo, doas or "" for not at all.
	Become string `yaml:"become,omitempty"`
}

// Workload is what all parts of a study offer.
type Workload struct {
	Asks   `yaml:",inline"`
	Family string `yaml:"family"` // "ipv4" or "ipv6", always UDP
	// Sizes are frame sizes with FCS, repeated in order; IMIX "simple" (7:4:1)
	// replaces them.
	Sizes []int  `yaml:"sizes,omitempty,flow"`
	IMIX  string `yaml:"imix,omitempty"`
	Flows int    `yaml:"flows"`
	Order string `yaml:"order"` // "round-robin", "random" or "trains" (64 consecutive frames of a random flow)
	// Elephant is the share of all frames that the first flow sends; 0: the
	// same as each of the others.
	Elephant float64 `yaml:"elephant,omitempty"`
	// Directions is OneWay or BothWays.
	Directions string `yaml:"directions,omitempty"`
	// Sources and Destinations are the numbers of consecutive addresses over
	// which the flows are spread; ports provide the rest.
	Sources      int `yaml:"sources,omitempty"`
	Destinations int `yaml:"destinations,omitempty"`
	// Link is the link whose line rate is the reference for shares.
	Link string `yaml:"link,omitempty"`
}

// The directions of a workload. BothWays is the bidirectional traffic of RFC 2544
// §14: the flows go from the generator's port to the receiver's, and their replies
// the other way at the same time, in the same number and at the same rate. Rates are
// offered in each direction; received frames are counted over both.
const (
	OneWay   = "one"
	BothWays = "both"
)

// Variant is one treatment of the DUT.
type Variant struct {
	Name    string `yaml:"name"`
	Summary string `yaml:"summary,omitempty"`
	// At is the variant's point in the study's sweeps, and Curve the name of
	// the line through such points.
	At    Point  `yaml:"at,omitempty,flow"`
	Curve string `yaml:"curve,omitempty"`
	// OS is the operating system that the DUT must have; "" means any.
	OS       string    `yaml:"os,omitempty"`
	Settings []Setting `yaml:"settings,omitempty"`
	HTTP     *Asking   `yaml:"http,omitempty,flow"` // how its clients connect differently
}

// Part is one way of measuring every variant: a mode and an offered load.
type Part struct {
	Name    string       `yaml:"name"`
	Mode    testbed.Mode `yaml:"mode"`
	Rate    Rate         `yaml:"rate"`
	Blocks  int          `yaml:"blocks"`
	Seconds float64      `yaml:"seconds"`           // measured duration of a trial
	Warmup  float64      `yaml:"warmup"`            // seconds of traffic before it
	At      Point        `yaml:"at,omitempty,flow"` // point in the study's sweeps
	// Flows, Elephant, Sizes or IMIX, and Family replace the workload's, where given.
	Flows    int     `yaml:"flows,omitempty"`
	Elephant float64 `yaml:"elephant,omitempty"`
	Sizes    []int   `yaml:"sizes,omitempty,flow"`
	IMIX     string  `yaml:"imix,omitempty"`
	Family   string  `yaml:"family,omitempty"`
	// Directions replaces the workload's, where given.
	Directions string `yaml:"directions,omitempty"`

	// Usable probes whether the DUT is still usable under the load.
	Usable bool `yaml:"management,omitempty"`
	// Flood replaces the workload by a flood, where given: FloodSYN.
	Flood string `yaml:"flood,omitempty"`

	// Search makes the part's trials searches for throughput.
	Search *Search `yaml:"search,omitempty"`

	// Asks are the requests to a server; Link replaces the study's, where given.
	Asks `yaml:",inline"`
	Link *Link `yaml:"link,omitempty"`

	// Live is how a live host is studied.
	Live *Terms `yaml:"live,omitempty"`
}

// Goal is a metric on which the study reports a verdict.
type Goal struct {
	Metric  string `yaml:"metric"`
	Part    string `yaml:"part"`
	Primary bool   `yaml:"primary,omitempty"`
	// MarginPercent is the equivalence margin: two variants are equivalent if
	// the effect is shown to be within it (TOST).
	MarginPercent float64 `yaml:"margin_percent,omitempty"`
	// MarginPoints is the margin of a share, in percentage points. It takes
	// precedence over MarginPercent, which is relative to the control's share.
	MarginPoints float64 `yaml:"margin_points,omitempty"`
}

// Margin formats the goal's equivalence margin.
func (g Goal) Margin() string { return marginText(g.MarginPercent, g.MarginPoints) }

func marginText(percent, points float64) string {
	if points > 0 {
		if points == 1 {
			return "1 point"
		}
		return show.Value(points) + " points"
	}
	return show.Value(percent) + " %"
}

// Variant finds a variant by name; the A/A arm is the control under another
// name.
func (s *Spec) Variant(name string) (Variant, bool) {
	if name == AA {
		name = s.Control
	}
	v, ok := list.Find(s.Variants, func(v Variant) bool { return v.Name == name })
	return s.alone(v), ok
}

// Part finds a part by name.
func (s *Spec) Part(name string) (Part, bool) {
	return list.Find(s.Parts, func(p Part) bool { return p.Name == name })
}

// Offers returns what a part offers: the workload, with the part's overrides.
func (s *Spec) Offers(p Part) Workload {
	w := s.Workload
	if p.Flows > 0 {
		w.Flows = p.Flows
	}
	if p.Elephant != 0 {
		w.Elephant = p.Elephant
	}
	if p.Family != "" && p.Family != w.Family {
		w.Family = p.Family
		if w.IMIX == "" && len(w.Sizes) == 1 && w.Sizes[0] < Smallest(p.Family) {
			w.Sizes = []int{Smallest(p.Family)}
		}
	}
	w.Directions = p.Directions
	if len(p.Sizes) > 0 {
		w.Sizes, w.IMIX = p.Sizes, ""
	}
	if p.IMIX != "" {
		w.Sizes, w.IMIX = nil, p.IMIX
	}
	return w
}

// Primary is the metric that answers the question.
func (s *Spec) Primary() Goal {
	g, _ := list.Find(s.Metrics, func(g Goal) bool { return g.Primary })
	return g
}

// AA is the name of the arm that repeats the control: it shows what the study
// reports where there is no difference.
const AA = "aa"

// Arms returns the names of the variants and the A/A arm: every block tries each once.
func (s *Spec) Arms() []string {
	return append(list.Map(s.Variants, func(v Variant) string { return v.Name }), AA)
}

// Limits on what a study may specify: beyond them a typing error is more
// likely than intent.
const (
	maxVariants  = 64
	maxBlocks    = 10_000
	MaxSeconds   = 3600
	MaxFlows     = load.MaxFlows
	maxAddresses = 50_000 // of a /16, whose last addresses belong to the DUT
	minFrameSize = 64
	maxFrameSize = 9216
)

// FrameSizes returns the workload's repeating sequence of frame sizes.
func (w Workload) FrameSizes() []int {
	if w.IMIX == "" {
		return w.Sizes
	}
	return load.SimpleIMIX()
}

// Smallest returns the smallest frame with room for a stamp: 64 bytes for
// IPv4 (RFC 2544's minimum), 84 for IPv6, whose headers alone take 62.
func Smallest(family string) int {
	if family == "ipv6" {
		return 84
	}
	return minFrameSize
}

// Gates are the limits beyond which a trial is invalid.
type Gates struct {
	// DriftPercent is how much the duration of a CPU's calibration loop may
	// change from before to after the trial.
	DriftPercent float64 `yaml:"drift_percent"`
	// StealPercent is the share of CPU time that the hypervisor may have stolen.
	StealPercent float64 `yaml:"steal_percent"`

	// ContentionPercent is the share of a cost trial's time in which the
	// measuring CPU may have run other programs. That time is subtracted, which
	// becomes too inexact if there is more.
	ContentionPercent float64 `yaml:"foreign_percent"`
	// StarvedPercent is the share of an overload trial's time in which the DUT's
	// thread may have waited for its CPU: beyond it, the rate is not the DUT's.
	StarvedPercent float64 `yaml:"starved_percent"`
	// UnsentPercent of the due frames, and PacingPercent of the rate, is how
	// far the generator may fall short in a part with a rate.
	UnsentPercent float64 `yaml:"unsent_percent"`
	PacingPercent float64 `yaml:"pacing_percent"`
	// Headroom is the multiple of the forwarded rate that must have been
	// offered for an overload rate to be the DUT's and not the generator's.
	Headroom float64 `yaml:"headroom"`
	// CostLossPercent is the loss allowed in mode cost, where nothing can be
	// overloaded, so hardly anything should be lost.
	CostLossPercent float64 `yaml:"cost_loss_percent"`
	// GoodRoundsPercent is the share of an interleaved trial's rounds that
	// must have been undisturbed.
	GoodRoundsPercent float64 `yaml:"good_rounds_percent"`

	// FailedPercent is the share of requests to a server that may fail.
	FailedPercent float64 `yaml:"failed_percent"`
}

// Looks plans when a study may stop: after each given number of blocks of the primary metric's
// part, the study ends if every variant is decided or its interval is narrow enough. All looks
// together keep the study's error rate (stats.Sequential). Most of it is spent late (O'Brien &
// Fleming): a study ends early only on strong evidence, and its last look is nearly as powerful
// as without looks.
type Looks struct {
	Blocks []int `yaml:"blocks,flow"` // ascending; the last is the full study
	// PrecisionPercent is the half-width at which an interval is narrow
	// enough; 0: only decisions end the study early.
	PrecisionPercent float64 `yaml:"precision_percent,omitempty"`
	// Alpha is the significance level of the variants' verdicts over all looks; 0
	// means the usual 5 %.
	Alpha float64 `yaml:"alpha,omitempty"`
}

// Sweep is a parameter and its values: every variant, part or metric that
// mentions it as $parameter is repeated for each value.
type Sweep struct {
	Parameter string `yaml:"parameter"`
	// Label is the label of its axis in charts.
	Label  string    `yaml:"label,omitempty"`
	Values []float64 `yaml:"values,flow"`
	// Quick lists the values that Spec.Quick keeps; none: all.
	Quick []float64 `yaml:"quick,omitempty,flow"`
	// Fit is the law fitted to its curves: FitLinear or "".
	Fit string `yaml:"fit,omitempty"`
}

// Point is a position in a study's sweeps: a value for each parameter that is
// mentioned.
type Point map[string]float64

// Rate is an offered load as a study writes it: "max", frames per second
// ("300kpps"), bits per second of frames with FCS ("2.5Gbps"), or a share of
// the control's capacity ("80%").
type Rate string

// MaxRate offers as much as the generator can send.
const MaxRate Rate = "max"

// Parse parses the rate. A share has no rate until Spec.Resolve provides one.
func (r Rate) Parse() (load.Rate, error) { return load.ParseRate(string(r)) }

// IsMax reports whether the rate is the generator's maximum.
func (r Rate) IsMax() bool { return strings.EqualFold(strings.TrimSpace(string(r)), string(MaxRate)) }

// Share returns the rate as a share of the control's capacity; ok is false if
// it is not one.
func (r Rate) Share() (share float64, ok bool) {
	number, ok := strings.CutSuffix(strings.TrimSpace(string(r)), "%")
	if !ok {
		return 0, false
	}
	percent, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	return percent / 100, err == nil && percent >= 1 && percent <= 1000
}

// IsShare reports whether a rate is a share of the control's capacity.
func (r Rate) IsShare() bool { _, ok := r.Share(); return ok }

// Words describes the offered load.
func (r Rate) Words() string {
	if share, ok := r.Share(); ok {
		return show.Percent(100*share) + " of the control's capacity"
	}
	return string(r)
}
