// Package freebsd parses FreeBSD's files and command outputs into facts, the
// way the system itself reads them: the loader's configuration, rc.conf,
// sysctl.conf, and the output of sysctl, ifconfig, netstat and others.
//
// Every parser is a pure function of text. Input is untrusted: sizes and counts
// are limited, nothing is executed, and nothing panics.
package freebsd

import (
	"strings"

	"linerate/internal/fact"
)

// Limits on one file. No person writes a configuration beyond them.
const (
	maxValue = 64 << 10
	maxFiles = 256
	maxDepth = 16
)

// Config holds the settings of a family of configuration files, in reading order.
type Config struct {
	Lines    []fact.Line
	Problems []fact.Problem
	// Ignored lists files that people expect to be read but that are not, with the reason.
	Ignored []fact.Source
}

// add appends a line and numbers it in reading order.
func (c *Config) add(l fact.Line) {
	l.Order = len(c.Lines) + 1
	c.Lines = append(c.Lines, l)
}

func firstLine(text string) string {
	l, _, _ := strings.Cut(text, "\n")
	return clip(l, 200)
}

// clip shortens a text for a message.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
