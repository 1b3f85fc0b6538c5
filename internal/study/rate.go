package study

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"linerate/internal/load"
	"linerate/internal/show"
	"linerate/internal/testbed"
)

// Rate is an offered load as a study writes it: "max", frames per second
// ("300kpps"), bits per second of frames with FCS ("2.5Gbps"), or a share of
// the control's capacity ("80%").
type Rate string

// MaxRate offers as much as the engine can.
const MaxRate Rate = "max"

// Parse reads the rate. A share has none of its own: Spec.Resolve gives it one.
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

func (r Rate) isShare() bool { _, ok := r.Share(); return ok }

// Words say what is offered, for people.
func (r Rate) Words() string {
	if share, ok := r.Share(); ok {
		return show.Percent(100*share) + " of the control's capacity"
	}
	return string(r)
}

// measuresCapacity reports whether a part's trials say what a DUT forwards at
// most, and what the generator can offer.
func (p Part) measuresCapacity() bool {
	return p.Mode == testbed.Overload && p.Rate.IsMax() && p.Search == nil && !p.Management && p.At == nil
}

// capacityPart is the first part that measures capacity; later parts may offer
// shares of it.
func (s *Spec) capacityPart() (place int, ok bool) {
	for i, p := range s.Parts {
		if p.measuresCapacity() {
			return i, true
		}
	}
	return 0, false
}

// checkShare refuses a share of a capacity that nothing measures before.
func (s *Spec) checkShare(place int, path string) *problem {
	p := s.Parts[place]
	if !p.Rate.isShare() {
		return nil
	}
	at, ok := s.capacityPart()
	switch {
	case p.Mode != testbed.Overload:
		return wrong(path+".rate", "mode %s has no offered load", p.Mode).advise("remove rate, or use mode: overload")
	case s.OnMachines():
		return wrong(path+".rate", "on machines of your own an offered load is a number").advise("write 300kpps")
	case !ok || at > place:
		return wrong(path+".rate", "%s is a share of a capacity that no part measures before", p.Rate).
			advise("put a part {name: at-max, mode: overload, rate: max} before this one, or write frames per second")
	}
	return nil
}

// Capacity is what the control forwarded when it was offered all that the
// generator has, and that offer: means over valid trials, over all where none is
// valid. Both are 0 before there are any.
func (s *Spec) Capacity(trials []Trial) (forwarded, offered float64) {
	at, ok := s.capacityPart()
	if !ok {
		return 0, 0
	}
	for _, valid := range []bool{true, false} {
		var out, in []float64
		for _, t := range trials {
			if t.Part != s.Parts[at].Name || t.Variant != s.Control && t.Variant != AA || t.Valid != valid {
				continue
			}
			f, o := t.Metrics[OverloadRate], t.Metrics[OfferedRate]
			if f > 0 && o > 0 {
				out, in = append(out, f), append(in, o)
			}
		}
		if len(out) > 0 {
			return average(out), average(in)
		}
	}
	return 0, 0
}

// nearMax is the share of the generator's most from which on a paced load is no
// longer certain to be sent.
const nearMax = 0.95

// OutOfReach says why a part's load cannot be offered after the trials so far,
// or "": its share of the capacity is more than the generator sends.
func (s *Spec) OutOfReach(p Part, trials []Trial) string {
	share, ok := p.Rate.Share()
	if !ok {
		return ""
	}
	capacity, most := s.Capacity(trials)
	if capacity == 0 || share*capacity <= nearMax*most {
		return ""
	}
	return fmt.Sprintf("%s of the capacity is more than the generator can send, %s", show.Percent(100*share), show.Percent(100*most/capacity))
}

// Resolve gives a part whose load is a share of the capacity that load in
// frames a second, by the trials so far. ok is false where no trial has shown
// the capacity.
func (s *Spec) Resolve(p Part, trials []Trial) (Part, bool) {
	share, is := p.Rate.Share()
	if !is {
		return p, true
	}
	capacity, _ := s.Capacity(trials)
	p.Rate = Rate(fmt.Sprintf("%.0fpps", math.Max(1, share*capacity/float64(p.Ways()))))
	return p, capacity > 0
}

// warnOutOfReach names the loads that were not offered, and why.
func (r *Results) warnOutOfReach(s Spec) {
	var shares []string
	for _, p := range s.Parts {
		if s.OutOfReach(p, r.Trials) != "" {
			share, _ := p.Rate.Share()
			shares = append(shares, show.Percent(100*share))
		}
	}
	if len(shares) > 0 {
		capacity, most := s.Capacity(r.Trials)
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s of the capacity was not offered: the generator can send %s of it (%s of %s)",
			show.List(shares), show.Percent(100*most/capacity), show.Rate(most), show.Rate(capacity)))
	}
}
