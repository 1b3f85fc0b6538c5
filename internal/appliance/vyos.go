package appliance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/redact"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

// leaf is one value of VyOS' tree: the words of its path, the last of which is the value if there
// is one.
type leaf struct {
	path []string
	line int
}

// at returns the rest of a leaf's path after the given words; "*" matches any one.
func (l leaf) at(words ...string) ([]string, bool) {
	if len(l.path) < len(words) {
		return nil, false
	}
	for i, w := range words {
		if w != "*" && l.path[i] != w {
			return nil, false
		}
	}
	return l.path[len(words):], true
}

// vyosRelease matches the release at the end of a config.boot.
var vyosRelease = lazy.Regexp(`(?m)^\s*(?://|/\*)\s*Release version:\s*(?:VyOS )?v?([0-9][0-9A-Za-z.-]*)`)

// readVyOS parses a config.boot, with braces or as `set` lines.
func readVyOS(p *Product, files []File) Config {
	v := &vyos{p: p}
	for _, f := range files {
		v.file = f.Path
		if m := vyosRelease().FindStringSubmatch(f.Text); m != nil {
			v.c.Version = m[1]
		}
		for _, l := range v.tree(f.Text) {
			v.leaf(l)
		}
	}
	v.shapers.all(&v.c)
	v.settle()
	return v.c
}

// settle moves what VyOS sets with the firewall after its list of sysctls, which it applies before,
// unless a TuneD profile makes it apply the list once more at the end.
func (v *vyos) settle() {
	list := map[string]bool{}
	for _, l := range v.c.Lines {
		if l.Name == "system/option/performance" {
			return
		}
		list[l.Name] = list[l.Name] || strings.HasPrefix(l.Place, "set system sysctl ")
	}
	for _, n := range v.p.Nodes {
		if !v.filters || !list[n.Name] || !strings.HasPrefix(n.Node, "firewall ") && !strings.HasPrefix(n.Node, "system conntrack ") {
			continue
		}
		last := fact.Line{File: v.file, Text: n.Node + " " + n.Default, Name: n.Name, Value: n.Value(n.Default), Stage: fact.Sysctl, Effective: true, Default: true, Note: v.p.Title + " sets it, with the firewall"}
		i := slices.IndexFunc(v.c.Lines, func(l fact.Line) bool {
			return l.Name == n.Name && n.At(l.Place)
		})
		if i >= 0 {
			last = v.c.Lines[i]
			v.c.Lines = slices.Delete(v.c.Lines, i, i+1)
		}
		v.c.Lines = append(v.c.Lines, last)
	}
}

// vyos is the state of parsing.
type vyos struct {
	p    *Product
	file string
	c    Config

	shapers vyosShapers
	filters bool // it has a firewall
}

// word matches a word of a line of VyOS or UCI, with or without quotes.
var word = lazy.Regexp(`'([^']*)'|"([^"]*)"|([^ \t]+)`)

// words splits a line at blanks, with quoted words.
func words(s string) []string {
	return list.Map(word().FindAllStringSubmatch(s, -1), func(m []string) string { return strings.Join(m[1:], "") })
}

// tree parses a text into leaves.
func (v *vyos) tree(text string) []leaf {
	var all []leaf
	var open [][]string
	comment := false
	lines := strings.SplitN(text, "\n", maxLines)
	for i, raw := range lines {
		s := strings.TrimSpace(raw)
		if comment || strings.HasPrefix(s, "/*") {
			comment = !strings.Contains(s, "*/") && !vyosRelease().MatchString(s) // a capture keeps only the release
			continue
		}
		if s == "" || s[0] == '#' || strings.HasPrefix(s, "//") {
			continue
		}
		switch {
		case s == "}":
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		case strings.HasSuffix(s, "{"):
			if len(open) >= maxDepth {
				v.cut(i+1, "{", fmt.Sprintf("more than %d blocks within each other: read up to here only", maxDepth))
				return all
			}
			open = append(open, words(strings.TrimSuffix(s, "{")))
		default:
			path := words(s)
			if len(open) == 0 && len(path) > 1 && path[0] == "set" {
				path = path[1:]
			}
			if len(all) < maxItems {
				all = append(all, leaf{append(slices.Concat(open...), path...), i + 1})
			}
		}
	}
	if len(open) > 0 {
		v.cut(len(lines), "", "the file ends within a block: it is not whole")
	}
	return all
}

// cut records that a file has more than was read, or is incomplete.
func (v *vyos) cut(line int, text, message string) {
	v.c.Problems = append(v.c.Problems, fact.Problem{File: v.file, Line: line, Text: text, Kind: fact.ProblemSyntax, Message: message})
}

// set adds a line.
func (v *vyos) set(l leaf, stage fact.Stage, name, value string, path ...string) {
	v.c.Lines = append(v.c.Lines, fact.Line{File: v.file, Number: l.line, Text: "set " + strings.Join(l.path, " "), Name: name, Value: value, Stage: stage, Effective: true, Place: "set " + strings.Join(path, " ")})
}

// leaf reads one leaf.
func (v *vyos) leaf(l leaf) {
	if rest, ok := l.at("system", "host-name"); ok && len(rest) == 1 {
		v.c.Hostname = rest[0]
	}
	for _, list := range []string{"parameter", "all", "custom"} {
		if rest, ok := l.at("system", "sysctl", list); ok && len(rest) == 3 && rest[1] == "value" {
			v.set(l, fact.Sysctl, rest[0], rest[2], "system", "sysctl", list, rest[0])
		}
	}
	if rest, ok := l.at("interfaces", "ethernet"); ok {
		v.ethernet(l, rest)
	}
	v.option(l)
	v.node(l)
	v.field(l)
	v.shapers.note(l, v.file)
}

// vyosOffloads maps VyOS' words to ethtool's names.
var vyosOffloads = map[string]string{"gro": "generic-receive-offload", "gso": "generic-segmentation-offload", "lro": "large-receive-offload", "sg": "scatter-gather", "tso": "tcp-segmentation-offload"}

// ethernet reads an interface's settings.
func (v *vyos) ethernet(l leaf, rest []string) {
	if len(rest) < 2 || strings.Contains(rest[0], ".") {
		return
	}
	n := fact.NIC{Name: rest[0], Kind: fact.KindEthernet}
	n.Configured = []fact.Line{{File: v.file, Number: l.line, Text: "set " + strings.Join(l.path, " "), Name: "interfaces ethernet " + rest[0], Value: strings.Join(rest[1:], " "), Stage: fact.Field, Effective: true, Place: "set interfaces ethernet " + rest[0]}}
	switch rest[1] {
	case "mtu":
		if len(rest) > 2 {
			n.MTU, _ = strconv.Atoi(rest[2])
		}
	case "offload":
		if len(rest) > 2 && vyosOffloads[rest[2]] != "" && !slices.Contains(rest, "disable") {
			n.ConfigFlags = []string{vyosOffloads[rest[2]]}
		}
	case "offload-options": // up to 1.3: word, then on or off
		if len(rest) > 3 && rest[3] == "off" {
			n.ConfigFlags = []string{"-" + rest[2]}
		}
	case "address":
		if len(rest) > 2 && (strings.Contains(rest[2], ":") || rest[2] == "dhcpv6") {
			n.IPv6 = 1
		} else {
			n.IPv4 = 1
		}
	case "ring-buffer":
		if len(rest) == 4 {
			v.set(l, fact.Conf, "ethtool -G "+rest[0]+" "+rest[2], rest[3], "interfaces", "ethernet", rest[0], "ring-buffer", rest[2])
		}
	}
	all := fact.Facts{NICs: v.c.NICs}
	all.AddConfigured(n)
	v.c.NICs = all.NICs
}

// option reads `system option kernel`, which becomes parameters of the kernel command line.
func (v *vyos) option(l leaf) {
	rest, ok := l.at("system", "option", "kernel")
	if !ok || len(rest) == 0 {
		return
	}
	switch rest[0] {
	case "disable-mitigations":
		v.set(l, fact.CommandLine, "cmdline.mitigations", "off", l.path...)
	case "disable-power-saving":
		v.set(l, fact.CommandLine, "cmdline.intel_idle.max_cstate", "0", l.path...)
		v.set(l, fact.CommandLine, "cmdline.processor.max_cstate", "1", l.path...)
	}
}

// node reads a node that VyOS writes into one tunable, or into one with two names.
func (v *vyos) node(l leaf) {
	if len(l.path) < 2 {
		return
	}
	path, word := strings.Join(l.path[:len(l.path)-1], " "), l.path[len(l.path)-1]
	for _, n := range v.p.Nodes {
		if value := n.Value(word); value != "" && (path == n.Node || path == n.Older) {
			stage := fact.Sysctl
			if strings.HasPrefix(n.Name, "module.") {
				stage = fact.Modprobe
			}
			v.set(l, stage, n.Name, value, l.path[:len(l.path)-1]...)
		}
	}
}

// field adds what has a place in the product's record, and whether there is a firewall, with which
// VyOS rewrites tunables.
func (v *vyos) field(l leaf) {
	if l.path[0] == "firewall" && !v.filters {
		v.filters = true
		v.c.Lines = append(v.c.Lines, fact.Line{File: v.file, Number: l.line, Text: "set firewall", Name: "firewall", Value: "yes", Stage: fact.Field, Effective: true, Place: "set firewall"})
	}
	path, word := strings.Join(l.path[:max(0, len(l.path)-1)], "/"), l.path[len(l.path)-1]
	if place, ok := v.p.Fields[path]; ok && (path != "system/flow-accounting" || word != redact.Mark) { // of which a capture keeps the word that matters
		v.c.Lines = append(v.c.Lines, fact.Line{File: v.file, Number: l.line, Text: "set " + strings.Join(l.path, " "), Name: path, Value: word, Stage: fact.Field, Effective: true, Place: place})
	}
}
