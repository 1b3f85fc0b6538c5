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

// Spec is a study: a question, and how it is put to a testbed.
type Spec struct {
	// Version is that of the format: SpecVersion, which is also what a study
	// that does not say has.
	Version  int     `yaml:"version"`
	Name     string  `yaml:"name"`
	Question string  `yaml:"question"`
	Summary  string  `yaml:"summary,omitempty"`
	Source   string  `yaml:"source,omitempty"` // where the question comes from
	Topic    string  `yaml:"topic,omitempty"`  // what it is about, by which studies are listed
	Seed     *uint64 `yaml:"seed,omitempty"`   // of the schedule; nil: drawn when run
	Testbed  Testbed `yaml:"testbed"`
	Reset    string  `yaml:"reset"` // what makes trials independent
	// Design is the order of the trials: Blocks, Switchback or Concurrent.
	Design   string    `yaml:"design"`
	Workload Workload  `yaml:"workload"`
	Link     *Link     `yaml:"link,omitempty"` // between clients and server
	Sweep    []Sweep   `yaml:"sweep,omitempty"`
	Control  string    `yaml:"control"` // the variant that all others are compared with
	Variants []Variant `yaml:"variants"`
	Blocks   int       `yaml:"blocks"` // of every part that does not say
	Parts    []Part    `yaml:"parts"`
	Metrics  []Goal    `yaml:"metrics"`
	Gates    Gates     `yaml:"gates"`
	// Retries is how many more trials an invalid one is given, at the end
	// of its block; all of them stay in the record.
	Retries int `yaml:"retries"`
	// Looks lets the study end before all blocks of the primary metric's part.
	Looks *Looks `yaml:"looks,omitempty"`
	// Interleave false asks for one trial after the other where the arms of
	// a block could take turns: for variants that would disturb each other.
	Interleave *bool `yaml:"interleave,omitempty"`
	// Profile asks for a look into every variant after the trials, by
	// instruments that disturb what they watch (Telemetry).
	Profile bool `yaml:"profile,omitempty"`
}

// Testbed names the kind of testbed a study runs on.
type Testbed struct {
	Kind string `yaml:"kind"` // "netns", "ssh" or "ports"
	// File describes the machines of kinds ssh and ports; it is relative to the study.
	File string `yaml:"file,omitempty"`
	// Host is the live host of kind live, ssh://[user@]host; "" is this machine.
	Host string `yaml:"host,omitempty"`
	// Become is how scripts become root there: sudo, doas or not at all.
	Become string `yaml:"become,omitempty"`
}

// Workload is what all parts of a study offer.
type Workload struct {
	Asks   `yaml:",inline"`
	Family string `yaml:"family"` // "ipv4" or "ipv6", always UDP
	// Sizes are frame sizes with FCS, repeated in order; IMIX is "simple" (7:4:1)
	// instead.
	Sizes []int  `yaml:"sizes,omitempty,flow"`
	IMIX  string `yaml:"imix,omitempty"`
	Flows int    `yaml:"flows"`
	Order string `yaml:"order"` // "round-robin", "random" or "trains" (64 frames of a random flow in a row)
	// Elephant is the share of all frames that the first flow sends; 0: as many
	// as each of the others.
	Elephant float64 `yaml:"elephant,omitempty"`
	// Directions is OneWay or BothWays.
	Directions string `yaml:"directions,omitempty"`
	// Sources and Destinations are how many consecutive addresses the flows
	// are spread over; ports make up the rest.
	Sources      int `yaml:"sources,omitempty"`
	Destinations int `yaml:"destinations,omitempty"`
	// Link is the rate of the wire that rates are given as a share of.
	Link string `yaml:"link,omitempty"`
	// Queues are of older records; nothing is computed from them.
	Queues []int `yaml:"queues,omitempty,flow"`
}

// The directions of a workload. BothWays is RFC 2544 §14's bidirectional traffic:
// the flows go from the generator's port to the receiver's, and their replies
// the other way at the same time, as many of them at the same rate. Rates are
// offered in each direction; what is received is counted over both.
const (
	OneWay   = "one"
	BothWays = "both"
)

// Variant is one treatment of the DUT.
type Variant struct {
	Name    string `yaml:"name"`
	Summary string `yaml:"summary,omitempty"`
	// At is where it lies in the study's sweeps, and Curve the name of the
	// line that its points make.
	At    Point  `yaml:"at,omitempty,flow"`
	Curve string `yaml:"curve,omitempty"`
	// OS is the operating system that the DUT must have; "" is any.
	OS       string    `yaml:"os,omitempty"`
	Settings []Setting `yaml:"settings,omitempty"`
	HTTP     *Asking   `yaml:"http,omitempty,flow"` // what its clients ask otherwise
}

// Part is one way of measuring every variant: a mode and an offered load.
type Part struct {
	Name    string       `yaml:"name"`
	Mode    testbed.Mode `yaml:"mode"`
	Rate    Rate         `yaml:"rate"`
	Blocks  int          `yaml:"blocks"`
	Seconds float64      `yaml:"seconds"`           // measured time of one trial
	Warmup  float64      `yaml:"warmup"`            // seconds of traffic before it
	At      Point        `yaml:"at,omitempty,flow"` // in the study's sweeps
	// Flows, Elephant, Sizes or IMIX, and Family, where given, replace the workload's.
	Flows    int     `yaml:"flows,omitempty"`
	Elephant float64 `yaml:"elephant,omitempty"`
	Sizes    []int   `yaml:"sizes,omitempty,flow"`
	IMIX     string  `yaml:"imix,omitempty"`
	Family   string  `yaml:"family,omitempty"`
	// Directions are the workload's where the part says none.
	Directions string `yaml:"directions,omitempty"`

	// Usable asks the DUT during the load whether it is still usable.
	Usable bool `yaml:"management,omitempty"`
	// Flood, where given, is what is offered instead of the workload: FloodSYN.
	Flood string `yaml:"flood,omitempty"`

	// Search makes the part's trials searches for throughput.
	Search *Search `yaml:"search,omitempty"`

	// Asks are the requests to a server, and Link what they cross if not the study's.
	Asks `yaml:",inline"`
	Link *Link `yaml:"link,omitempty"`

	// Live is how a live host is studied.
	Live *Terms `yaml:"live,omitempty"`
}

// Goal is a metric that the study wants a verdict on.
type Goal struct {
	Metric  string `yaml:"metric"`
	Part    string `yaml:"part"`
	Primary bool   `yaml:"primary,omitempty"`
	// MarginPercent is the equivalence margin: two variants whose effect is
	// shown to be within it are equivalent (TOST).
	MarginPercent float64 `yaml:"margin_percent,omitempty"`
	// MarginPoints is the margin of a share, in percentage points, and goes
	// before MarginPercent, of the control's share.
	MarginPoints float64 `yaml:"margin_points,omitempty"`
}

// Margin is the goal's margin of equivalence for people.
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

// Offers is what a part offers: the workload, with the part's own wishes.
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
	for _, g := range s.Metrics {
		if g.Primary {
			return g
		}
	}
	return Goal{}
}

// AA is the name of the arm that repeats the control: what the study says of
// it is what the study says of nothing at all.
const AA = "aa"

// Arms are the variants' names and the A/A arm: what every block tries once.
func (s *Spec) Arms() []string {
	arms := make([]string, 0, len(s.Variants)+1)
	for _, v := range s.Variants {
		arms = append(arms, v.Name)
	}
	return append(arms, AA)
}

// Limits of what a study may ask for: beyond them a typing error is likelier
// than an intention.
const (
	maxVariants  = 64
	maxBlocks    = 10_000
	MaxSeconds   = 3600
	MaxFlows     = load.MaxFlows
	maxAddresses = 50_000 // of a /16, whose end is the DUT's
	minFrameSize = 64
	maxFrameSize = 9216
)

// FrameSizes are the workload's repeating sequence of frame sizes.
func (w Workload) FrameSizes() []int {
	if w.IMIX == "" {
		return w.Sizes
	}
	return load.SimpleIMIX()
}

// Smallest is the least frame that holds a stamp: 64 bytes for IPv4 (RFC
// 2544's smallest), 84 for IPv6, whose headers alone are 62.
func Smallest(family string) int {
	if family == "ipv6" {
		return 84
	}
	return minFrameSize
}

// Gates are the limits beyond which a trial is invalid.
type Gates struct {
	// DriftPercent is how much a CPU's calibration spin may differ between
	// before and after the trial.
	DriftPercent float64 `yaml:"drift_percent"`
	// StealPercent is how much CPU time the hypervisor may have taken.
	StealPercent float64 `yaml:"steal_percent"`

	// ContentionPercent is how much of a cost trial's time the measuring CPU may
	// have worked for other programs. That time is subtracted; too much of
	// it cannot be.
	ContentionPercent float64 `yaml:"foreign_percent"`
	// StarvedPercent is how much of an overload trial's time the DUT's
	// thread may have waited for its CPU: the rate is then not the DUT's.
	StarvedPercent float64 `yaml:"starved_percent"`
	// UnsentPercent of the due frames, and PacingPercent of the rate, may
	// be missed by the generator of a part with a rate.
	UnsentPercent float64 `yaml:"unsent_percent"`
	PacingPercent float64 `yaml:"pacing_percent"`
	// Headroom is how many times the forwarded rate must have been offered
	// for a rate under overload to be the DUT's and not the generator's.
	Headroom float64 `yaml:"headroom"`
	// CostLossPercent is the loss allowed in mode cost, where nothing can
	// be overloaded and so nothing should be lost.
	CostLossPercent float64 `yaml:"cost_loss_percent"`
	// GoodRoundsPercent of the rounds of an interleaved trial must have been
	// undisturbed.
	GoodRoundsPercent float64 `yaml:"good_rounds_percent"`

	// FailedPercent of the requests to a server may fail.
	FailedPercent float64 `yaml:"failed_percent"`
}

// Looks plans when a study may stop: after so many blocks of the primary
// metric's part it is looked at, and ends there once every variant is decided
// or its interval is narrow enough. The levels of the looks are such that all
// of them together keep the study's error rate (stats.Sequential). They are
// spent late (O'Brien & Fleming): what ends a study early is beyond doubt, and the last look is
// nearly as sharp as that of a study without.
type Looks struct {
	Blocks []int `yaml:"blocks,flow"` // ascending; the last is the full study
	// PrecisionPercent is the half-width at which an interval is narrow
	// enough; 0: only decisions end the study early.
	PrecisionPercent float64 `yaml:"precision_percent,omitempty"`
	// Alpha is the level of the variants' verdicts at all looks together; 0 is that
	// of every study, 5 %.
	Alpha float64 `yaml:"alpha,omitempty"`
}

// Sweep is a parameter and its values: every variant, part or metric that
// mentions it, as $parameter, stands for one of each value.
type Sweep struct {
	Parameter string `yaml:"parameter"`
	// Label is what the axis of its chart says.
	Label  string    `yaml:"label,omitempty"`
	Values []float64 `yaml:"values,flow"`
	// Quick are those of the values that Spec.Quick keeps; none: all.
	Quick []float64 `yaml:"quick,omitempty,flow"`
	// Fit is the law that its curves are held against: FitLinear or "".
	Fit string `yaml:"fit,omitempty"`
}

// Point is where something lies in a study's sweeps: a value for each
// parameter that it mentions.
type Point map[string]float64

// Rate is an offered load as a study writes it: "max", frames per second
// ("300kpps"), bits per second of frames with FCS ("2.5Gbps"), or a share of
// the control's capacity ("80%").
type Rate string

// MaxRate offers as much as the engine can.
const MaxRate Rate = "max"

// Parse reads the rate. A share is no rate until Spec.Resolve gives it one.
func (r Rate) Parse() (load.Rate, error) { return load.ParseRate(string(r)) }

// IsMax reports whether the rate is the engine's maximum.
func (r Rate) IsMax() bool { return strings.EqualFold(strings.TrimSpace(string(r)), string(MaxRate)) }

// Share is the rate as a share of the control's capacity; ok is false where it
// is none.
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

// Words say what is offered, for people.
func (r Rate) Words() string {
	if share, ok := r.Share(); ok {
		return show.Percent(100*share) + " of the control's capacity"
	}
	return string(r)
}
