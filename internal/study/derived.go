package study

import (
	"linerate/internal/drop"
	"linerate/internal/stats"
	"linerate/internal/testbed"
)

// Curve is a metric as a function of a swept parameter.
type Curve struct {
	Parameter string `json:"parameter"`
	Label     string `json:"label"` // the parameter's
	Metric    string `json:"metric"`
	Part      string `json:"part"` // "" if each point is a part
	Name      string `json:"name"` // of a series of variants, or of one variant
	// Offered is set if the points lie at measured offered loads, in frames/s.
	Offered bool    `json:"offered,omitempty"`
	Points  []Spot  `json:"points"` // by X
	Fit     *PerOne `json:"fit,omitempty"`
	Knee    *Knee   `json:"knee,omitempty"`
}

// Spot is one point of a curve: the mean over blocks. The 95 % interval of a
// variant is that of its difference from the control.
type Spot struct {
	X     float64      `json:"x"`
	Name  string       `json:"name"` // of the variant or the part
	Value float64      `json:"value"`
	Low   stats.Number `json:"low"`
	High  stats.Number `json:"high"`
	N     int          `json:"n"`
	// Loss is the mean loss ratio, if the points lie at offered loads.
	Loss stats.Number `json:"loss_ratio"`
}

// PerOne is a straight line after a step: the cost with none, the cost of
// having any at all, and the cost of each one.
type PerOne struct {
	Base float64      `json:"base"`
	Each float64      `json:"each"`
	Low  stats.Number `json:"each_low"` // 95 % interval, over blocks
	High stats.Number `json:"each_high"`
	// Any is the step: the intercept of the line through the other points,
	// minus the value measured with none. It is unknown if none was not
	// measured, or if there are fewer than three other points.
	Any     stats.Number `json:"any"`
	AnyLow  stats.Number `json:"any_low"` // interval, as for Each
	AnyHigh stats.Number `json:"any_high"`
	// Off is the largest deviation of a point from the line, in percent.
	Off float64 `json:"largest_deviation_percent"`
}

const (
	// KneeLoss is the loss ratio up to which a load counts as carried: the
	// default partial-drop rate of the throughput search.
	KneeLoss = 0.005
	// Collapsed is the share of its best rate below which a router counts as
	// collapsed beyond its knee.
	Collapsed = 0.8
)

// Knee is the load at which loss begins, and how the router behaves beyond it.
type Knee struct {
	// Load is the largest offered load up to which the loss ratio stays within
	// KneeLoss, in frames/s; Best is the largest forwarding rate.
	Load float64 `json:"load"`
	Best float64 `json:"best"`
	// Beyond is the forwarding rate at the largest offered load, as a share of Best.
	Beyond float64 `json:"beyond"`
	// Most is the largest offered load, as a multiple of Best.
	Most float64 `json:"most"`
}

// At returns the cost of n.
func (f PerOne) At(n float64) float64 {
	if any, known := f.Any.Get(); known && n > 0 {
		return f.Base + any + f.Each*n
	}
	return f.Base + f.Each*n
}

// WireRate is the rate at which a variant forwards in a part, in the units that
// people compare: frames, bits of Ethernet frames and of IP packets, and the
// share of a link's line rate.
type WireRate struct {
	Part    string `json:"part"`
	Variant string `json:"variant"`
	// Directions is the part's; with "both", the rates are sums over the two directions.
	Directions string  `json:"directions"`
	Frame      float64 `json:"frame_bytes"` // mean, with FCS
	PPS        float64 `json:"pps"`
	// EthernetBPS counts frames with FCS, IPBPS the IP packets in them (RFC
	// 1242 §3.17 counts frames).
	EthernetBPS float64 `json:"ethernet_bps"`
	IPBPS       float64 `json:"ip_bps"`
	// LinkShare is the share of the line rate of the stated link at this frame
	// size, with preamble and inter-frame gap: of one direction, or of both if
	// the part's traffic goes both ways.
	LinkShare stats.Number `json:"link_share"`
}

// States describes what connection tracking did with an arm's frames in a part:
// means over its valid trials, counted while the traffic ran.
type States struct {
	Part    string `json:"part"`
	Variant string `json:"variant"`
	Trials  int    `json:"trials"`
	// Made is the number of states by which the table grew, PerSecond the rate.
	Made      float64 `json:"made"`
	PerSecond float64 `json:"made_per_second"`
	// ObjectBytes is the size of one state in the kernel's slab cache of
	// states. SlabBytes is the growth of all slab caches per state, including
	// the state's extensions and anything else the machine did meanwhile. Both
	// count the whole machine: null if another arm made states at the same
	// time, if too few were made, or if they could not be read.
	ObjectBytes stats.Number `json:"object_bytes"`
	SlabBytes   stats.Number `json:"slab_bytes"`
	// Counted holds the kernel's counters, per frame offered.
	Counted map[string]float64 `json:"counted_per_frame"`
}

// CarryOver is how much an arm changes the time per packet of the arm after it,
// through caches or the kernel's queues. The random order spreads it evenly
// over all arms, so it does not bias the difference between two of them, but
// none of them is then measured on an idle machine.
type CarryOver struct {
	Variant string `json:"variant"`
	N       int    `json:"n"` // instances
	stats.Effect
}

// Drops accounts for the frames offered to an arm in all trials of a part.
// Invalid trials are included, because the loss may be what made them invalid.
type Drops struct {
	Part    string       `json:"part"`
	Mode    testbed.Mode `json:"mode"`
	Variant string       `json:"variant"`
	Trials  int          `json:"trials"`
	drop.Account
}
