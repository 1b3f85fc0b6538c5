package study

import (
	"fmt"

	"linerate/internal/drop"
	"linerate/internal/show"
)

// DropAccount says where a trial's frames ended. ok is false where drops were not counted.
func DropAccount(o *Observation) (a drop.Account, ok bool) {
	if o == nil || o.Drops == nil || o.Flooded || o.Sent.TxPackets == 0 {
		return drop.Account{}, false
	}
	sent, got, dropped := o.Sent.TxPackets, o.Received.RxPackets, o.Received.Dropped
	if again := o.Redone; again != nil {
		sent, got, dropped = sent+again.Sent, got+again.Received, dropped+again.Dropped
	}
	return drop.Attribute(sent, got, dropped, o.Drops), true
}

// dropsOf adds up the trials' accounts.
func dropsOf(s Spec, trials []Trial) []Drops {
	out := []Drops{}
	for _, p := range s.Parts {
		if !offersFrames(p) { // a search loses on purpose
			continue
		}
		for _, arm := range s.Arms() {
			d := Drops{Part: p.Name, Mode: p.Mode, Variant: arm}
			for _, t := range trials {
				if t.Part != p.Name || t.Variant != arm {
					continue
				}
				if a, ok := DropAccount(t.Observed); ok {
					d.Account = d.Plus(a)
					d.Trials++
				}
			}
			if d.Trials > 0 {
				out = append(out, d)
			}
		}
	}
	return out
}

// warnDrops names the arms of which too many frames died where nothing counts.
func warnDrops(r *Results) {
	for _, d := range r.Drops {
		if u := d.UnknownPercent(); u > drop.Doubt {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s of the frames offered to %s in part %s died where no counter of the kernel tells (limit %g %%)",
				show.Percent(u), d.Variant, d.Part, drop.Doubt))
		}
	}
}
