// Package page prints facts for people: what the host is, its hardware, its
// configuration, and where it drops packets.
package page

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/list"
	"linerate/internal/role"
	"linerate/internal/show"
)

// Write prints the page.
func Write(w io.Writer, f *fact.Facts, guess role.Guess, st show.Style) error {
	p := &page{f: f, Page: show.NewPage(st)}
	p.head()
	p.role(guess)
	p.hardware()
	p.nics()
	p.firewall()
	p.services()
	p.settings()
	p.drops()
	p.complaints()
	p.sources()
	if err := p.Flush(w); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

type page struct {
	*show.Page
	f *fact.Facts
}

// heading starts a section.
func (p *page) heading(s string) {
	p.Line("")
	p.Line(p.Bold(s))
}

// line prints one line of a section; control characters from the host never reach the terminal.
func (p *page) line(format string, args ...any) {
	p.Line(show.Clean(fmt.Sprintf("  "+format, args...)))
}

// field prints a label and a text, unless the text is empty.
func (p *page) field(label, text string) {
	if text != "" {
		p.labelled("  "+show.Pad(label, 11)+" ", text)
	}
}

// labelled prints a text after a label, wrapped to the page's width.
func (p *page) labelled(label, text string) {
	p.Paragraph(label, strings.Repeat(" ", show.Width(label)), show.Clean(text))
}

// systems maps systems to their usual names.
var systems = map[string]string{fact.FreeBSD: "FreeBSD", fact.Linux: "Linux"}

func (p *page) head() {
	f := p.f
	name := f.Hostname
	name = cmp.Or(name, "host")
	title := show.Clean(name + ": " + join(" ", systems[f.OS], f.Release.String(), f.Arch))
	p.Line(p.Bold(title))
	p.field("kernel", join(", ", f.KernelIdent, f.Kernel))
	machine := f.Machine
	if f.Hypervisor != "" && f.Hypervisor != "none" {
		machine = join(", ", machine, "virtual ("+f.Hypervisor+")")
	}
	p.field("machine", machine)
	if f.Container != "" {
		p.field("container", f.Container+": the kernel, and most of its settings, are those of the host")
	}
	if f.Jailed {
		p.field("jail", "seen from inside a jail: the host's firewall, modules and many values are out of sight")
	}
	if f.UptimeSeconds > 0 {
		p.field("up", duration(f.UptimeSeconds))
	}
	switch f.From.Kind {
	case fact.KindSSH:
		p.field("read from", join(", ", f.From.Path, prefixed("captured ", f.From.Taken)))
	case fact.KindBundle:
		p.field("read from", join(", ", "bundle "+f.From.Path, prefixed("captured ", f.From.Taken)))
	case fact.KindTree:
		p.field("read from", "tree "+f.From.Path+" (files only: running values are not known)")
	}
}

func (p *page) role(g role.Guess) {
	p.heading("Role: " + g.Role)
	for _, r := range g.Reasons {
		p.line("because it %s", r)
	}
	for _, o := range g.Others {
		if o.Role != "endpoint" {
			p.line("also %s: it %s", o.Role, strings.Join(o.Reasons, ", "))
		}
	}
}

func (p *page) hardware() {
	c, m := p.f.CPU, p.f.Memory
	if c.Count == 0 && m.Physical == 0 && m.Real == 0 {
		return
	}
	p.heading("Hardware")
	p.field("CPU", join(", ", c.Model, cpuCount(c), number(c.MHz, "%.0f MHz")))
	p.field("features", strings.Join(list.Filter(c.Features, func(f string) bool { return shown[strings.ToUpper(f)] }), " "))
	for _, d := range c.Domains {
		if len(c.Domains) > 1 {
			p.field(fmt.Sprintf("NUMA %d", d.ID), join(", ", "CPUs "+fact.Ranges(d.CPUs), size(d.MemoryBytes)))
		}
	}
	p.field("memory", join(", ", size(max(m.Physical, m.Real)), prefixed("free ", size(m.Free)), prefixed("swap ", size(m.Swap)), prefixed("pages of ", size(m.PageSize))))
}

// cpuCount is "8 CPUs (1 package, 4 cores, 2 threads each)".
func cpuCount(c fact.CPU) string {
	if c.Count == 0 {
		return ""
	}
	s := show.Plural(c.Count, "CPU")
	if c.Cores > 0 {
		s += " (" + join(", ", optional(c.Packages, "package"), show.Plural(c.Cores, "core"), prefixed("", threads(c.ThreadsPerCore)))
		s += ")"
	}
	if n := len(c.Domains); n > 0 {
		s += ", " + show.Plural(n, "NUMA domain")
	}
	return s
}

func threads(n int) string {
	if n <= 1 {
		return ""
	}
	return fmt.Sprintf("%d threads each", n)
}

// shown lists the CPU features that affect the cost of packets: checksums, crypto, wide copies.
var shown = map[string]bool{"AESNI": true, "AES": true, "PCLMULQDQ": true, "VAES": true, "VPCLMULQDQ": true, "SHA": true, "SHA_NI": true,
	"AVX2": true, "AVX512F": true, "ERMS": true, "SHA1": true, "SHA2": true, "PMULL": true, "CRC32": true, "SSE4.2": true, "SSE4_2": true}
