package explain

import (
	"cmp"
	"fmt"
	"strings"

	"linerate/internal/appliance"
	"linerate/internal/evidence"
	"linerate/internal/judge"
	"linerate/internal/list"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

// OnHost is a tunable on one host.
type OnHost struct {
	// Source is the host's name as given, else "this machine".
	Source string `json:"source"`
	Role   string `json:"role"`
	// Default is computed from the host's facts; "" if unknown.
	Default string `json:"default,omitempty"`
	// Values holds the host's names that the record describes.
	Values []HostValue `json:"values"`
	// Elsewhere says why this host, a container, cannot set it; "" if it can.
	Elsewhere string `json:"elsewhere,omitempty"`
	// Cautions are those that apply to the current value.
	Cautions []string `json:"cautions,omitempty"`
}

// HostValue is the value of one name, the lines that set it, and the judgement.
type HostValue struct {
	Name    string   `json:"name"`
	Running string   `json:"running,omitempty"`
	Lines   []string `json:"lines,omitempty"`
	// Writer names the program that writes the value after sysctl.d is applied; "" if none does.
	Writer string `json:"writer,omitempty"`
	// Do is the action: keep, set, remove, move, decide or measure; To is the value to set or
	// measure, Why the reason and Basis its justification.
	Do    judge.Do    `json:"do"`
	To    string      `json:"to,omitempty"`
	Why   string      `json:"why,omitempty"`
	Basis judge.Basis `json:"basis"`
	// Measured holds the measurements of changes from the current value, pooled for this host.
	Measured []evidence.Change `json:"measured,omitempty"`
}

// mostValues is the maximum number of a host's names on a page: there may be dozens for
// dev.igb.N.fc.
const mostValues = 8

// AddHost adds the state of the tunable on the judge's host.
func (p *Page) AddHost(j *judge.Judge, r *tunable.Record, source string) {
	f := j.Facts
	h := &OnHost{Source: source, Role: j.Role, Values: []HostValue{}}
	h.Default, _ = j.Catalogue.Default(r, f)
	if f.Container != "" && r.ScopeOn(p.Name, f.Release) == tunable.Host {
		h.Elsewhere = fmt.Sprintf("this is a container (%s), and the value belongs to its host's kernel: set it there", f.Container)
	}
	exact := p.Asked != "" && r.InstanceOf(p.Asked) == p.Asked
	for _, s := range f.Settings {
		if x, ok := j.Catalogue.Lookup(f.OS, s.Name); !ok || x != r || exact && s.Name != p.Asked && spelt(s.Name) != spelt(p.Asked) {
			continue
		}
		h.add(j.Of(s.Name), s.Live)
	}
	if x := j.Of(cmp.Or(p.Asked, p.Name)); len(h.Values) == 0 && x.Basis == judge.Measured && x.Why != "" {
		h.add(x, nil) // with its default
	}
	p.Host, p.For = h, j.Host()
	s := r.At(f.Release)
	if a := appliance.Of(f); a != nil && !a.Applies && s.Settable != tunable.ReadOnly && (s.Mechanism == setting.Sysctl || s.Mechanism == setting.Loader) {
		p.Where = a.PlaceOf(cmp.Or(p.Asked, p.Name), f.Product.Version, s.Mechanism == setting.Loader || !s.Settable.AtRuntime())
	}
}

// spelt returns a name with dots as separators.
func spelt(name string) string {
	return strings.ReplaceAll(strings.TrimPrefix(name, "/proc/sys/"), "/", ".")
}

// add adds a judgement.
func (h *OnHost) add(x judge.Judgement, live *string) {
	v := HostValue{Name: x.Name, Writer: x.Writer, Do: x.Do, To: x.To, Why: x.Why, Basis: x.Basis, Measured: x.Evidence}
	if live != nil {
		v.Running = *live
	}
	for _, l := range x.Lines {
		text := fmt.Sprintf("%s:%d: %s", l.File, l.Number, l.Value)
		if l.Number == 0 && l.Note != "" {
			text = l.Value + " (" + l.Note + ")"
		}
		if !l.Effective {
			text += " (not in effect)"
		}
		v.Lines = append(v.Lines, text)
	}
	h.Values = append(h.Values, v)
	for _, k := range x.Cautions {
		h.Cautions = list.With(h.Cautions, k.Kind+": "+k.Text)
	}
}

// deed describes the action; "" if there is nothing to say.
func (v HostValue) deed() string {
	text := map[judge.Do]string{judge.Remove: "remove the line", judge.Move: "move the line", judge.Decide: "decide", judge.Set: "set " + v.To, judge.Measure: "measure"}[v.Do]
	switch {
	case v.Do == judge.Measure && v.To != "":
		text += " " + v.To
	case v.Do == judge.Keep && v.Why != "":
		text = "keep it"
	}
	if v.Why != "" {
		text += ": " + v.Why
	}
	return text
}

// host prints the state of the tunable on the requested host.
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
		if v.Writer != "" {
			o.Paragraph("    ", "      ", v.Writer)
		}
		if text := v.deed(); text != "" {
			o.Paragraph("    → ", "      ", text)
		}
	}
	for _, k := range h.Cautions {
		o.Paragraph("  - ", "    ", k)
	}
}
