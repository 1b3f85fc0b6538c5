// Package appliance parses the configuration of appliances: systems that keep their settings
// in their own file and generate the base system's files from it. It describes, in the
// appliance's terms, where a setting is changed.
//
// A record in catalogue/appliances describes each product: the base of its releases, what it
// sets itself, which files it rewrites, and the names of its pages. One file here parses each
// product's configuration.
package appliance

import (
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/list"
)

// Config is the content of a product's configuration.
type Config struct {
	// Version is the product's release, if the configuration contains it.
	Version string
	// As is the release to assume if the configuration is known to be of another, unknown release.
	As string
	// Hostname is the host name, "" if unknown.
	Hostname string
	// Lines are the settings, in the order in which the product reads them.
	Lines []fact.Line
	// NICs are the interfaces that it names.
	NICs []fact.NIC
	// PF holds the options that the product sets for pf, nil if it does not run pf.
	PF *fact.PF
	// Services are the daemons that it starts.
	Services []fact.Service
	// Shapers are its traffic shapers.
	Shapers []fact.Shaper
	// Problems are parts that could not be parsed.
	Problems []fact.Problem
}

// File is a file of a product's configuration.
type File struct {
	Path string // on the host
	Text string
}

// reader parses the existing files of a product's configuration, in the order of its record.
type reader func(p *Product, files []File) Config

// readers maps products to their parsers.
var readers = map[string]reader{
	"opnsense": readOPNsense, "pfsense": readPfSense, "vyos": readVyOS, "openwrt": readOpenWrt, "truenas-core": readTrueNAS, "truenas-scale": readTrueNAS,
	// Proxmox VE is Debian: its settings are in Debian's files, some of which its packages install (see the
	// record's sets), and its web interface writes /etc/network/interfaces, which ifupdown2 reads.
	"proxmox": func(*Product, []File) Config { return Config{} },
}

// Read parses a product's configuration: first the lines that the product sets by itself, then
// those of its user.
func (p *Product) Read(files []File) Config {
	c := readers[p.Name](p, files)
	for i := range c.Lines {
		p.own(&c.Lines[i])
	}
	c.Lines = fact.InOrder(append(p.setLines(), c.Lines...))
	return c
}

// own marks a line that sets what the product sets anyway.
func (p *Product) own(l *fact.Line) {
	if l.Stage == fact.Field {
		return
	}
	v, ok := p.SetsItself(l.Name)
	if n, has := p.NodeOf(l.Name); has && n.At(l.Place) {
		v, ok = n.Value(n.Default), true // the node's value if its user does not set it
	}
	if ok && v == strings.TrimSpace(l.Value) {
		l.Default, l.Note = true, p.Title+" already sets it to this"
	}
}

func (p *Product) setLines() []fact.Line {
	var lines []fact.Line
	for _, s := range p.Sets {
		lines = append(lines, fact.Line{File: s.In, Name: s.Name, Value: s.Value, Text: s.Name + "=" + s.Value, Stage: p.stage(), Effective: true, Default: true, Note: p.Title + " sets it"})
	}
	return lines
}

// Keeps reports whether a plan's file persists there, and is read at boot.
func (p *Product) Keeps(file string) bool {
	return p.Applies || file == "" || slices.Contains(p.Lasts, file)
}

// stage returns the stage of the product's list of tunables.
func (p *Product) stage() fact.Stage {
	if p.Loader {
		return fact.Tunables
	}
	return fact.Sysctl
}

// SetsItself returns the value that the product gives a tunable by default.
func (p *Product) SetsItself(name string) (value string, ok bool) {
	s, ok := list.Find(p.Sets, func(s Set) bool { return s.Name == name })
	return s.Value, ok
}

// Limits on a configuration; real ones are far below.
const (
	maxDepth = 64
	maxLines = 200_000
	maxItems = 20_000
)
