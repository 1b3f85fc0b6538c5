package study

import (
	"linerate/internal/drop"
	"linerate/internal/stats"
	"linerate/internal/testbed"
)

// Curve is how a metric runs over a swept parameter.
type Curve struct {
	Parameter string `json:"parameter"`
	Label     string `json:"label"` // of the parameter
	Metric    string `json:"metric"`
	Part      string `json:"part"` // "" where the parts are the points
	Name      string `json:"name"` // a curve of variants, or one variant
	// Offered says that the points are measured offered loads, in frames/s.
	Offered bool    `json:"offered,omitempty"`
	Points  []Spot  `json:"points"` // by X
	Fit     *PerOne `json:"fit,omitempty"`
	Knee    *Knee   `json:"knee,omitempty"`
}

// Spot is one point of a curve: the mean over blocks with its 95 % interval, of
// a variant that of its distance from the control.
type Spot struct {
	X     float64      `json:"x"`
	Name  string       `json:"name"` // the variant's or the part's
	Value float64      `json:"value"`
	Low   stats.Number `json:"low"`
	High  stats.Number `json:"high"`
	N     int          `json:"n"`
	// Loss is the mean loss ratio, of points that are offered loads.
	Loss stats.Number `json:"loss_ratio"`
}

// PerOne is a straight line with a step before it: what none costs, having any at
// all, and each one.
type PerOne struct {
	Base float64      `json:"base"`
	Each float64      `json:"each"`
	Low  stats.Number `json:"each_low"` // 95 % interval, over blocks
	High stats.Number `json:"each_high"`
	// Any is the step: by how much the line through the others begins above
	// what was measured of none. Unknown where none was not measured, or fewer
	// than three others.
	Any     stats.Number `json:"any"`
	AnyLow  stats.Number `json:"any_low"` // as Low, High
	AnyHigh stats.Number `json:"any_high"`
	// Off is the largest distance of a point from the line, in percent.
	Off float64 `json:"largest_deviation_percent"`
}

const (
	// KneeLoss is the loss ratio up to which a load counts as carried: the
	// partial drop rate that the search for throughput uses by default.
	KneeLoss = 0.005
	// Collapsed is the share of its best rate below which a router beyond its
	// knee has collapsed.
	Collapsed = 0.8
)

// Knee is where loss begins, and what comes after.
type Knee struct {
	// Load is the largest offered load up to which hardly a frame was lost
	// (KneeLoss), in frames/s; Best is the largest forwarding rate.
	Load float64 `json:"load"`
	Best float64 `json:"best"`
	// Beyond is the forwarding rate at the largest load, as a share of Best.
	Beyond float64 `json:"beyond"`
	// Most is how many times Best was offered.
	Most float64 `json:"most"`
}

// At is what n cost.
func (f PerOne) At(n float64) float64 {
	if any, known := f.Any.Get(); known && n > 0 {
		return f.Base + any + f.Each*n
	}
	return f.Base + f.Each*n
}

// WireRate is what a variant forwards in a part, told at the levels that people
// compare: frames, bits of Ethernet frames and of IP packets, and the share of a
// wire's line rate.
type WireRate struct {
	Part    string `json:"part"`
	Variant string `json:"variant"`
	// Directions is the part's; with "both", rates are the sum of the two directions.
	Directions string  `json:"directions"`
	Frame      float64 `json:"frame_bytes"` // mean, with FCS
	PPS        float64 `json:"pps"`
	// EthernetBPS counts frames with FCS, IPBPS the packets in them (RFC 1242
	// §3.17 counts frames; the talk's slides bits of Ethernet).
	EthernetBPS float64 `json:"ethernet_bps"`
	IPBPS       float64 `json:"ip_bps"`
	// LinkShare is of the most frames of this size that the stated link
	// carries, preamble and gap counted: one way, or both, as the part's traffic
	// goes.
	LinkShare stats.Number `json:"link_share"`
}

// States say what connection tracking did with an arm's frames in a part: means
// over its valid trials, of what was counted while the traffic ran.
type States struct {
	Part    string `json:"part"`
	Variant string `json:"variant"`
	Trials  int    `json:"trials"`
	// Made is by how many states the table grew, PerSecond at what rate.
	Made      float64 `json:"made"`
	PerSecond float64 `json:"made_per_second"`
	// ObjectBytes is what one state takes in the kernel's cache of states. SlabBytes is the
	// growth of all of the kernel's caches per state; it includes the state's extensions
	// and whatever else the machine did meanwhile. Both count the whole machine: null where
	// another arm made states at the same time, where too few were made, or where they
	// could not be read.
	ObjectBytes stats.Number `json:"object_bytes"`
	SlabBytes   stats.Number `json:"slab_bytes"`
	// Counted is what the kernel counted, per frame offered.
	Counted map[string]float64 `json:"counted_per_frame"`
}

// CarryOver is how much an arm changes the time per packet of the arm that follows it, by
// what it leaves in caches or in the kernel's queues. The random order spreads it over all
// arms alike, so it does not bias the difference between two of them; but none of them is
// then measured on an idle machine.
type CarryOver struct {
	Variant string `json:"variant"`
	N       int    `json:"n"` // instances
	stats.Effect
}

// Drops say where the frames offered to an arm went, in all trials of a part. Invalid
// trials count too, because the loss may be what made them invalid.
type Drops struct {
	Part    string       `json:"part"`
	Mode    testbed.Mode `json:"mode"`
	Variant string       `json:"variant"`
	Trials  int          `json:"trials"`
	drop.Account
}
