package load

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/lazy"
)

// rateText is a number with an optional prefix and unit.
var rateText = lazy.Regexp(`(?i)^(\d*\.?\d*(?:e[+-]?\d+)?)\s*([kmg]?)\s*(pps|fps|bps|bit/s|/s)?$`)

// ParseRate parses "max", frames per second ("1.5Mpps", "100k", "2000") or
// bits per second ("3Gbps", "800Mbit/s").
func ParseRate(s string) (Rate, error) {
	text := strings.ToLower(strings.TrimSpace(s))
	if text == "max" {
		return Rate{}, nil
	}
	bad := hint.With(hint.Usagef("%q is not a rate", s), "write max, frames per second (1.5Mpps, 100k) or bits per second (3Gbps)")
	m := rateText().FindStringSubmatch(text)
	if m == nil {
		return Rate{}, bad
	}
	v, err := strconv.ParseFloat(m[1], 64)
	v *= map[string]float64{"": 1, "k": 1e3, "m": 1e6, "g": 1e9}[m[2]]
	if err != nil || v < 1 || v > 1e12 {
		return Rate{}, bad
	}
	n := uint64(math.Round(v))
	if strings.HasPrefix(m[3], "b") {
		return Rate{BPS: n}, nil
	}
	return Rate{PPS: n}, nil
}

// FramesPerSecond returns the rate in frames of these sizes; 0 means maximum.
func (r Rate) FramesPerSecond(sizes []int) float64 {
	if r.BPS > 0 {
		return float64(r.BPS) / (8 * MeanSize(sizes))
	}
	return float64(r.PPS)
}

// String formats a rate as ParseRate reads it.
func (r Rate) String() string {
	switch {
	case r.BPS > 0:
		return fmt.Sprintf("%dbps", r.BPS)
	case r.PPS > 0:
		return fmt.Sprintf("%dpps", r.PPS)
	}
	return "max"
}

// Frame sizes, with FCS, that any engine may be asked for. What an engine and
// a device can actually send is probed.
const (
	MinSize = 64
	MaxSize = 65535
)

// SimpleIMIX returns the Internet mix of 7 : 4 : 1 IP packets of 40, 576 and
// 1,500 bytes, that is frames of 64, 594 and 1,518 bytes, interleaved.
func SimpleIMIX() []int {
	const s, m, l = 64, 594, 1518
	return []int{s, s, m, s, s, m, s, s, m, s, m, l}
}

// MeanSize returns the mean frame size of a sequence, with FCS.
func MeanSize(sizes []int) float64 {
	sum := 0
	for _, n := range sizes {
		sum += n
	}
	return float64(sum) / float64(max(1, len(sizes)))
}
