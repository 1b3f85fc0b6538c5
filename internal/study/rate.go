package study

import (
	"strings"

	"linerate/internal/load"
)

// Rate is an offered load as a study writes it: "max", frames per second
// ("300kpps") or bits per second of frames with FCS ("2.5Gbps").
type Rate string

// MaxRate offers as much as the engine can.
const MaxRate Rate = "max"

// Parse reads the rate.
func (r Rate) Parse() (load.Rate, error) { return load.ParseRate(string(r)) }

// IsMax reports whether the rate is the engine's maximum.
func (r Rate) IsMax() bool { return strings.EqualFold(strings.TrimSpace(string(r)), string(MaxRate)) }
