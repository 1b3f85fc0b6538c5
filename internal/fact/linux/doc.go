// Package linux parses Linux's /proc, /sys and configuration files into facts.
// Every parser is a pure function of text. Input is untrusted: sizes and counts
// are limited, and nothing panics.
package linux

import (
	"iter"
	"strconv"
	"strings"

	"linerate/internal/fact"
)

// joined iterates over the lines of a file in which a backslash at the end joins the next line,
// with the number of the first, from 1: modprobe.d(5), udev(7).
func joined(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		whole, first := "", 0
		for i, line := range fact.Lines(text) {
			if whole == "" {
				first = i + 1
			}
			part, goes := strings.CutSuffix(line, "\\")
			whole += part
			if goes && len(whole) < maxName*maxName {
				continue
			}
			if !yield(first, whole) {
				return
			}
			whole = ""
		}
		if whole != "" {
			yield(first, whole)
		}
	}
}

// ParseList parses the kernel's lists of numbers: "0-3,8".
func ParseList(s string) []int {
	var list []int
	for _, part := range strings.Split(strings.TrimSpace(s), ",") {
		from, to, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		if err != nil || a < 0 {
			continue
		}
		b := a
		if isRange {
			if b, err = strconv.Atoi(to); err != nil {
				continue
			}
		}
		for n := a; n <= b && len(list) < 8192; n++ {
			list = append(list, n)
		}
	}
	return list
}

// Config holds the settings of configuration files, in reading order.
type Config struct {
	Lines    []fact.Line
	Problems []fact.Problem
	// NICs are interfaces with the offloads that lines switch.
	NICs []fact.NIC
}
