// Package drop accounts for frames: every frame offered to a device under
// test was delivered, was dropped at a place that a counter shows, or was
// dropped uncounted. It does no I/O: a testbed reads the counters.
package drop

import (
	"cmp"
	_ "embed" // places.txt
	"slices"

	"linerate/internal/list"
)

// Place is a place where frames end.
type Place string

// The places, in the order in which a frame passes them.
const (
	IngressQueue Place = "ingress queue" // the ring of the NIC or veth into the DUT was full
	Backlog      Place = "backlog"       // the CPU's queue of received packets was full (softnet)
	Checksum     Place = "checksum"      // a checksum was wrong
	Conntrack    Place = "conntrack"     // no connection-tracking entry could be created or kept
	Firewall     Place = "firewall"      // dropped by a rule or an XDP program
	Route        Place = "route"         // no route, no neighbour, or an invalid source address
	TTL          Place = "ttl"           // the TTL expired
	Local        Place = "local"         // delivered to the DUT itself
	Other        Place = "other"         // a reason that no other place covers
	Qdisc        Place = "qdisc"         // dropped by the egress queueing discipline
	EgressQueue  Place = "egress queue"  // the ring of the peer was full
	Receiver     Place = "receiver"      // lost in the receiver itself
	Delivered    Place = "delivered"
	Unknown      Place = "unknown" // dropped without being counted
)

// Places lists all places in the order in which a frame passes them.
func Places() []Place {
	return list.Map(list.Table(placesText, "place"), func(row []string) Place { return Place(row[0]) })
}

// Words describes the fate of frames that ended at a place, for people.
func (p Place) Words() string { return words[string(p)] }

// placesText lists the places and their counters.
//
//go:embed places.txt
var placesText string

var words = list.Pairs(placesText, "place")

// Cause is a counter or a drop reason of the kernel, and the frames it counted.
type Cause struct {
	Name    string `json:"name"`
	Meaning string `json:"meaning,omitempty"`
	Frames  uint64 `json:"frames"`
	// Machine says that the counter is the whole machine's and may include packets of
	// other programs. It is ignored if it is far above the number of missing frames.
	Machine bool `json:"machine,omitempty"`
}

// Bucket holds the number of frames that ended at one place.
type Bucket struct {
	Place  Place   `json:"place"`
	Frames uint64  `json:"frames"`
	Causes []Cause `json:"causes,omitempty"`
}

// Account says where each offered frame ended:
//
//	sum of the buckets + Unknown = Offered + Excess
type Account struct {
	Offered uint64 `json:"offered"`
	// Buckets lists the places with at least one frame, in the order of Places.
	Buckets []Bucket `json:"buckets"`
	// Unknown is the number of frames that were dropped without being counted.
	Unknown uint64 `json:"unknown"`
	// Excess is how far the counters exceed the number of offered frames: they include
	// frames of other programs, or count a frame twice.
	Excess uint64 `json:"excess,omitempty"`
}

// Doubt is the percentage of unknown frames, of those offered, above which a
// warning is given.
const Doubt = 0.1

// UnknownPercent returns the percentage of offered frames whose fate is unknown.
func (a Account) UnknownPercent() float64 { return a.percent(a.Unknown) }

// Percent returns the percentage of offered frames that ended at a place.
func (a Account) Percent(p Place) float64 { return a.percent(a.At(p)) }

func (a Account) percent(n uint64) float64 {
	if a.Offered == 0 {
		return 0
	}
	return 100 * float64(n) / float64(a.Offered)
}

// At returns how many frames ended at a place.
func (a Account) At(p Place) uint64 {
	if p == Unknown {
		return a.Unknown
	}
	b, _ := list.Find(a.Buckets, func(b Bucket) bool { return b.Place == p })
	return b.Frames
}

// Plus returns the sum of two accounts.
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
	list.Sort(out, func(x, y Cause) int { return cmp.Compare(y.Frames, x.Frames) })
	return out
}
