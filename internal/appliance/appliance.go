// Package appliance reads the configuration of appliances: systems that keep their settings
// in their own file and generate the base system's files from it. It says, in the
// appliance's terms, where a setting is changed.
//
// A record of catalogue/appliances describes each product: what its releases are built on,
// what it sets itself, which files it rewrites, and how its pages are named. One file here
// parses each product's configuration.
package appliance

import (
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/list"
)

// Config is what a product's configuration says.
type Config struct {
	// Version is the product's release where the configuration tells it.
	Version string
	// As is the release by which to judge it where the configuration tells another one,
	// not which.
	As string
	// Hostname is the host's own name, "" where it does not tell.
	Hostname string
	// Lines set something, in the order in which the product reads them.
	Lines []fact.Line
	// NICs are the interfaces that it names.
	NICs []fact.NIC
	// PF is what the product writes of pf's options, nil where it runs no pf.
	PF *fact.PF
	// Services are the daemons that it starts.
	Services []fact.Service
	// Shapers hold traffic back.
	Shapers []fact.Shaper
	// Problems are parts that could not be read.
	Problems []fact.Problem
}

// File is a file of a product's configuration.
type File struct {
	Path string // on the host
	Text string
}

// reader reads the files of a product's configuration that are there, in the
// order of its record.
type reader func(p *Product, files []File) Config

// readers are those of the products, by name.
var readers = map[string]reader{
	"opnsense": readOPNsense, "pfsense": readPfSense, "vyos": readVyOS, "openwrt": readOpenWrt, "truenas-core": readTrueNAS, "truenas-scale": readTrueNAS,
	"proxmox": readProxmox,
}

// Read reads a product's configuration: its own lines first, those that the
// product sets by itself, then those of its user.
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
		v, ok = n.Value(n.Default), true // what the node has where its user gives none
	}
	if ok && v == strings.TrimSpace(l.Value) {
		l.Default, l.Note = true, p.Title+" sets it to this by itself"
	}
}

// setLines are what the product sets by itself.
func (p *Product) setLines() []fact.Line {
	var lines []fact.Line
	for _, s := range p.Sets {
		lines = append(lines, fact.Line{File: s.In, Name: s.Name, Value: s.Value, Text: s.Name + "=" + s.Value, Stage: p.stage(), Effective: true, Default: true, Note: p.Title + " sets it by itself"})
	}
	return lines
}

// Keeps reports whether a plan's file lasts there, and is read at boot.
func (p *Product) Keeps(file string) bool {
	return p.Applies || file == "" || slices.Contains(p.Lasts, file)
}

// stage is that of the product's list of tunables.
func (p *Product) stage() fact.Stage {
	if p.Loader {
		return fact.Tunables
	}
	return fact.Sysctl
}

// SetsItself is the value that the product gives a tunable without being asked.
func (p *Product) SetsItself(name string) (value string, ok bool) {
	s, ok := list.Find(p.Sets, func(s Set) bool { return s.Name == name })
	return s.Value, ok
}

// Bounds on a configuration; real ones are far below.
const (
	maxDepth = 64
	maxLines = 200_000
	maxItems = 20_000
)
