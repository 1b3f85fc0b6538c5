// Package freebsd reads FreeBSD's files and command outputs into facts, the
// way the system itself reads them: the loader's configuration, rc.conf,
// sysctl.conf, and what sysctl, ifconfig, netstat and others print.
//
// Every parser is a pure function of text. Input is hostile: sizes and counts
// are bounded, nothing is executed, and nothing panics.
package freebsd

import "linerate/internal/fact"

// Bounds on one file. A configuration beyond them is not one a person wrote.
const (
	maxValue = 64 << 10
	maxFiles = 256
	maxDepth = 16
)

// Config is what a family of configuration files sets, in reading order.
type Config struct {
	Lines    []fact.Line
	Problems []fact.Problem
	// Ignored are files that stand where people expect them to be read,
	// and are not, with the reason.
	Ignored []fact.Source
}

// add appends a line and gives it its place in the reading order.
func (c *Config) add(l fact.Line) {
	l.Order = len(c.Lines) + 1
	c.Lines = append(c.Lines, l)
}
