package drop

import (
	"maps"
	"slices"
	"strings"

	"linerate/internal/list"
)

// Counters holds counters of a DUT by name: those that places.txt lists, and others.
type Counters map[string]uint64

// Since returns the increase since an earlier reading, without unchanged
// counters. A counter that decreased was reset and is left out.
func (c Counters) Since(before Counters) Counters {
	out := Counters{}
	for name, v := range c {
		if was := before[name]; v > was {
			out[name] = v - was
		}
	}
	return out
}

// Plus returns the sum of two sets of counters.
func (c Counters) Plus(o Counters) Counters {
	out := maps.Clone(c)
	if out == nil {
		out = Counters{}
	}
	for name, v := range o {
		out[name] += v
	}
	return out
}

// Gauges that are read with the counters: the number of connection-tracking states, and
// the memory of kernel objects. Since returns their growth.
const (
	States           = "conntrack.states"
	SlabBytes        = "slab.bytes"
	StateObjectBytes = "slab.conntrack_bytes"
)

// source is a counter of dropped frames.
type source struct {
	counter string // a star stands for any text
	place   Place
	meaning string
	// less is a counter of frames that this one includes, and that belongs to
	// another place.
	less string
	// machine: the counter covers the whole machine, not only the DUT.
	machine bool
}

// sources are the counters used to find frames, in the order of their places.
var sources = list.Map(list.Table(placesText, "counter"), func(row []string) source {
	s := source{counter: row[0], place: Place(row[1]), meaning: row[2]}
	if len(row) > 3 {
		_, s.less, _ = strings.Cut(row[3], "less ")
		s.machine = row[3] == "machine"
	}
	return s
})

// Attribute says where the offered frames ended, given the frames that the
// receiver got, those it lost itself, and the counters' increase during the run.
func Attribute(offered, delivered, lostInReceiver uint64, counted Counters) Account {
	causes := map[Place][]Cause{}
	for _, s := range sources {
		causes[s.place] = append(causes[s.place], s.found(counted)...)
	}
	if lostInReceiver > 0 {
		causes[Receiver] = []Cause{{Name: "receiver_dropped", Frames: lostInReceiver}}
	}
	missing := offered - min(offered, delivered+own(causes))
	a := Account{Offered: offered, Buckets: []Bucket{}}
	total := uint64(0)
	for _, p := range Places() {
		b := Bucket{Place: p}
		if p == Delivered {
			b.Frames = delivered
		}
		for _, c := range addCauses(nil, causes[p]) {
			if c.Machine {
				c.Frames = share(c.Frames, missing)
				missing -= c.Frames
			}
			if c.Frames > 0 {
				b.Frames += c.Frames
				b.Causes = append(b.Causes, c)
			}
		}
		if b.Frames > 0 {
			a.Buckets = append(a.Buckets, b)
			total += b.Frames
		}
	}
	a.Unknown, a.Excess = offered-min(offered, total), total-min(offered, total)
	return a
}

// strange limits how far a counter of the whole machine may exceed the missing frames:
// by one in this many. It also counts packets of the DUT's management traffic.
const strange = 10

// share returns how many of the missing frames a counter of the whole machine explains, at
// most all. A counter far above that has counted packets of other programs, and may
// include none of the missing frames.
func share(counted, missing uint64) uint64 {
	if counted > missing+missing/strange {
		return 0
	}
	return min(counted, missing)
}

// own returns the number of lost frames in the DUT's own counters.
func own(causes map[Place][]Cause) (n uint64) {
	for _, of := range causes {
		for _, c := range of {
			if !c.Machine {
				n += c.Frames
			}
		}
	}
	return n
}

// found lists the causes that a source's counters show.
func (s source) found(counted Counters) (out []Cause) {
	before, after, star := strings.Cut(s.counter, "*")
	if !star {
		if n := counted[s.counter]; n > counted[s.less] { // no counter is named ""
			out = append(out, s.cause(s.counter, n-counted[s.less]))
		}
		return out
	}
	for _, name := range slices.Sorted(maps.Keys(counted)) {
		if len(name) > len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after) && counted[name] > 0 {
			out = append(out, s.cause(name, counted[name]))
		}
	}
	return out
}

func (s source) cause(name string, n uint64) Cause {
	return Cause{Name: name, Meaning: s.meaning, Frames: n, Machine: s.machine}
}
