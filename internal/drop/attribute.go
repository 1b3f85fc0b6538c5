package drop

import (
	"maps"
	"slices"
	"strings"

	"linerate/internal/list"
)

// Counters are what a DUT counts, by name: those of Sources, and others.
type Counters map[string]uint64

// Since is what was counted between an earlier reading and this one, without
// what did not move. A counter that went backwards was reset, and says nothing.
func (c Counters) Since(before Counters) Counters {
	out := Counters{}
	for name, v := range c {
		if was := before[name]; v > was {
			out[name] = v - was
		}
	}
	return out
}

// Plus adds the counters of another stretch of time.
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

// Gauges that are read along with the counters: how many states connection tracking holds,
// and what memory the kernel's objects take. Since returns their growth.
const (
	States           = "conntrack.states"
	SlabBytes        = "slab.bytes"
	StateObjectBytes = "slab.conntrack_bytes"
)

// source is a counter of dead frames.
type source struct {
	counter string // a star stands for what is between the fixed parts
	place   Place
	meaning string
	// less is a counter of frames that this one counts too, and that another
	// place has.
	less string
	// machine: it is not the DUT's own, but the whole machine's.
	machine bool
}

// sources are the counters by which frames are found, in the order of their places.
var sources = list.Map(list.Table(placesText, "counter"), func(row []string) source {
	s := source{counter: row[0], place: Place(row[1]), meaning: row[2]}
	if len(row) > 3 {
		_, s.less, _ = strings.Cut(row[3], "less ")
		s.machine = row[3] == "machine"
	}
	return s
})

// Attribute says where offered frames ended, by what the receiver has, what it
// lost itself, and what was counted on the way meanwhile.
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

// strange is by which part of what is missing a counter of the whole machine may
// exceed it: the packets of those who ask the DUT meanwhile are in it.
const strange = 10

// share is how many of the missing frames a counter of the whole machine explains: no more
// than are missing. A counter of many more has counted other programs' packets, and may
// hold none of the missing ones.
func share(counted, missing uint64) uint64 {
	if counted > missing+missing/strange {
		return 0
	}
	return min(counted, missing)
}

// own is how many lost frames the DUT's own counters show.
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

// found lists the causes of a source among what was counted.
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
