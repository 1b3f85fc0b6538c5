package load

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"linerate/internal/hint"
)

var prefixes = map[byte]float64{'k': 1e3, 'K': 1e3, 'M': 1e6, 'm': 1e6, 'G': 1e9, 'g': 1e9}

// ParseRate parses "max", frames per second ("1.5Mpps", "100k", "2000") or
// bits per second ("3Gbps", "800Mbit/s").
func ParseRate(s string) (Rate, error) {
	text := strings.TrimSpace(s)
	if strings.EqualFold(text, "max") {
		return Rate{}, nil
	}
	number, bits := text, false
	for _, u := range []struct {
		suffix string
		bits   bool
	}{{"pps", false}, {"fps", false}, {"bps", true}, {"bit/s", true}, {"/s", false}} {
		if cut, ok := cutSuffixFold(text, u.suffix); ok {
			number, bits = cut, u.bits
			break
		}
	}
	number = strings.TrimSpace(number)
	scale := 1.0
	if n := len(number); n > 0 {
		if p, ok := prefixes[number[n-1]]; ok {
			scale, number = p, strings.TrimSpace(number[:n-1])
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) || v*scale < 1 || v*scale > 1e12 {
		return Rate{}, hint.With(hint.Usagef("%q is not a rate", s), "write max, frames per second (1.5Mpps, 100k) or bits per second (3Gbps)")
	}
	n := uint64(math.Round(v * scale))
	if bits {
		return Rate{BPS: n}, nil
	}
	return Rate{PPS: n}, nil
}

func cutSuffixFold(s, suffix string) (string, bool) {
	if n := len(s) - len(suffix); n >= 0 && strings.EqualFold(s[n:], suffix) {
		return s[:n], true
	}
	return s, false
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
