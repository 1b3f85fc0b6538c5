// Package drop accounts for frames: every one that was offered to a device
// under test arrived, or died at a place that a counter names, or died where
// nothing counts. It is pure: a testbed reads the counters.
package drop

import (
	"cmp"
	_ "embed" // places.txt
	"slices"

	"linerate/internal/list"
)

// Place is where a frame's way ends.
type Place string

// The places, in the order in which a frame meets them.
const (
	IngressQueue Place = "ingress queue" // the NIC's or veth's ring into the DUT was full
	Backlog      Place = "backlog"       // the CPU's queue of received packets was full (softnet)
	Checksum     Place = "checksum"      // a checksum was wrong
	Conntrack    Place = "conntrack"     // no entry could be made or kept for it
	Firewall     Place = "firewall"      // a rule or an XDP program said so
	Route        Place = "route"         // no route, no neighbour, or a source that was not believed
	TTL          Place = "ttl"           // its time to live ended here
	Local        Place = "local"         // taken by the DUT for itself
	Other        Place = "other"         // a reason that no other place covers
	Qdisc        Place = "qdisc"         // the egress queue discipline dropped it
	EgressQueue  Place = "egress queue"  // the ring of the far end was full
	Receiver     Place = "receiver"      // lost in the receiver itself
	Delivered    Place = "delivered"
	Unknown      Place = "unknown" // died, and nothing counted it
)

// Places lists all places in the order in which a frame meets them.
func Places() []Place {
	return list.Map(list.Table(placesText, "place"), func(row []string) Place { return Place(row[0]) })
}

// Words says what ended at a place, for people.
func (p Place) Words() string { return words[string(p)] }

// placesText has the places and the counters of them.
//
//go:embed places.txt
var placesText string

var words = list.Pairs(placesText, "place")

// Cause is a counter or a kernel's reason, and the frames that it counted.
type Cause struct {
	Name    string `json:"name"`
	Meaning string `json:"meaning,omitempty"`
	Frames  uint64 `json:"frames"`
	// Machine says that the counter is the whole machine's: other programs' packets may be
	// in it. A counter of many more than are missing is no cause.
	Machine bool `json:"machine,omitempty"`
}

// Bucket holds the frames whose way ended at one place.
type Bucket struct {
	Place  Place   `json:"place"`
	Frames uint64  `json:"frames"`
	Causes []Cause `json:"causes,omitempty"`
}

// Account says where every offered frame ended:
//
//	sum of the buckets + Unknown = Offered + Excess
type Account struct {
	Offered uint64 `json:"offered"`
	// Buckets are those that hold a frame, in the order of Places.
	Buckets []Bucket `json:"buckets"`
	// Unknown frames died, and no counter says where.
	Unknown uint64 `json:"unknown"`
	// Excess is by how much the counters exceed the frames that were offered: they counted
	// other programs' frames too, or one frame twice.
	Excess uint64 `json:"excess,omitempty"`
}

// Doubt is the share of the offered frames, in percent, above which what is
// unknown is worth a warning.
const Doubt = 0.1

// UnknownPercent is the share of the offered frames that nothing accounts for.
func (a Account) UnknownPercent() float64 { return a.percent(a.Unknown) }

// Percent is a place's share of the offered frames.
func (a Account) Percent(p Place) float64 { return a.percent(a.At(p)) }

func (a Account) percent(n uint64) float64 {
	if a.Offered == 0 {
		return 0
	}
	return 100 * float64(n) / float64(a.Offered)
}

// At is how many frames ended at a place.
func (a Account) At(p Place) uint64 {
	if p == Unknown {
		return a.Unknown
	}
	for _, b := range a.Buckets {
		if b.Place == p {
			return b.Frames
		}
	}
	return 0
}

// Plus adds the account of other frames.
func (a Account) Plus(o Account) Account {
	sum := Account{Buckets: []Bucket{}, Offered: a.Offered + o.Offered, Unknown: a.Unknown + o.Unknown, Excess: a.Excess + o.Excess}
	for _, p := range Places() {
		both := Bucket{Place: p}
		for _, b := range slices.Concat(a.Buckets, o.Buckets) {
			if b.Place == p {
				both.Frames += b.Frames
				both.Causes = addCauses(both.Causes, b.Causes)
			}
		}
		if both.Frames > 0 {
			sum.Buckets = append(sum.Buckets, both)
		}
	}
	return sum
}

func addCauses(a, b []Cause) []Cause {
	out := slices.Clone(a)
	for _, c := range b {
		if i := slices.IndexFunc(out, func(o Cause) bool { return o.Name == c.Name }); i >= 0 {
			out[i].Frames += c.Frames
		} else {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(x, y Cause) int { return cmp.Compare(y.Frames, x.Frames) })
	return out
}
