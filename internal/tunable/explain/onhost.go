package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/appliance"
	"linerate/internal/fact"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

// OnHost is a tunable on one host.
type OnHost struct {
	// Source is the host as it was named, "this machine" otherwise.
	Source string `json:"source"`
	Role   string `json:"role"`
	// Default is the host's own, computed from its facts; "" if not known.
	Default string `json:"default,omitempty"`
	// Values are the names of the host that the record describes.
	Values []HostValue `json:"values"`
	// Elsewhere says that this host, a container, cannot set it; "" where it can.
	Elsewhere string `json:"elsewhere,omitempty"`
	// Cautions hold there, of the value that runs or stands.
	Cautions []string `json:"cautions,omitempty"`
}

// HostValue is one name's value and the lines of files that set it.
type HostValue struct {
	Name    string   `json:"name"`
	Running string   `json:"running,omitempty"`
	Lines   []string `json:"lines,omitempty"`
}

// mostValues is how many names of a host a page lists: dev.igb.N.fc may be
// dozens.
const mostValues = 8

// AddHost adds what the record is on one host.
func (p *Page) AddHost(c *tunable.Catalogue, r *tunable.Record, f *fact.Facts, role, source string) {
	env := c.NewEnv(f, role)
	h := &OnHost{Source: source, Role: role, Values: []HostValue{}}
	h.Default, _ = r.DefaultIn(f.Release, env)
	if f.Container != "" && r.ScopeOn(p.Name, f.Release) == tunable.Host {
		h.Elsewhere = fmt.Sprintf("this is a container (%s), and the value is of the kernel of its host: set it there", f.Container)
	}
	exact := p.Asked != "" && r.InstanceOf(p.Asked) == p.Asked
	for _, s := range f.Settings {
		if x, ok := c.Lookup(f.OS, s.Name); !ok || x != r || exact && s.Name != p.Asked && spelt(s.Name) != spelt(p.Asked) {
			continue
		}
		h.Values = append(h.Values, valueOf(s))
		h.addCautions(r, env, s)
	}
	p.Host = h
	s := r.At(f.Release)
	if a := appliance.Of(f); a != nil && !a.Applies && s.Settable != tunable.ReadOnly && (s.Mechanism == setting.Sysctl || s.Mechanism == setting.Loader) {
		p.Where = a.PlaceOf(cmp.Or(p.Asked, p.Name), f.Product.Version, s.Mechanism == setting.Loader || !s.Settable.AtRuntime())
	}
}

// spelt is a name with one separator.
func spelt(name string) string {
	return strings.ReplaceAll(strings.TrimPrefix(name, "/proc/sys/"), "/", ".")
}

func valueOf(s fact.Tunable) HostValue {
	v := HostValue{Name: s.Name}
	if s.Live != nil {
		v.Running = *s.Live
	}
	for _, l := range s.Lines {
		text := fmt.Sprintf("%s:%d: %s", l.File, l.Number, l.Value)
		if l.Number == 0 && l.Note != "" {
			text = l.Value + " (" + l.Note + ")"
		}
		if !l.Effective {
			text += " (not in effect)"
		}
		v.Lines = append(v.Lines, text)
	}
	return v
}

// addCautions adds those that hold of a name's value: the running one, else
// what the files say.
func (h *OnHost) addCautions(r *tunable.Record, env tunable.Env, s fact.Tunable) {
	value := ""
	if l, ok := s.Stands(); ok {
		value = l.Value
	}
	if s.Live != nil {
		value = *s.Live
	}
	if value == "" {
		return
	}
	for _, k := range r.Cautions {
		if holds, err := env.With(value, "").Holds(k.When); err != nil || !holds || k.When == "" || env.Unknown(k.When) {
			continue
		}
		if text := k.Kind + ": " + k.Text; !slices.Contains(h.Cautions, text) {
			h.Cautions = append(h.Cautions, text)
		}
	}
}

// host prints what the tunable is on the host that was asked for.
func (o *page) host(h OnHost) {
	o.heading("On " + h.Source)
	if h.Elsewhere != "" {
		o.Paragraph(fmt.Sprintf("  %-14s", "Set in"), strings.Repeat(" ", 16), h.Elsewhere)
	}
	if h.Default != "" {
		o.Paragraph(fmt.Sprintf("  %-14s", "Default"), strings.Repeat(" ", 16), h.Default)
	}
	if len(h.Values) == 0 {
		o.line("  nothing sets it, and no running value is known")
	}
	for i, v := range h.Values {
		if i == mostValues {
			o.line("  and %d more, all in the JSON", len(h.Values)-i)
			break
		}
		text := v.Name
		if v.Running != "" {
			text += " runs with " + v.Running
		}
		o.Paragraph("  ", "    ", text)
		for _, l := range v.Lines {
			o.Paragraph("    ", "      ", "set by "+l)
		}
	}
	for _, k := range h.Cautions {
		o.Paragraph("  - ", "    ", k)
	}
}
