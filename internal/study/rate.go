package study

import (
	"strconv"
	"strings"

	"linerate/internal/load"
	"linerate/internal/show"
)

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
