package plan

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"linerate/internal/list"
	"linerate/internal/setting"
	"linerate/internal/show"
)

// Text prints the plan: what changes and why, what should be removed, and what is deliberately left
// alone.
func (p Plan) Text(w io.Writer, st show.Style) error {
	out := show.NewPage(st)
	p.head(out)
	for i := 0; i < len(p.Settings); {
		// Ports of one card, or CPUs, with the same setting for the same reason share a line.
		same := 1
		for i+same < len(p.Settings) && p.Settings[i].alike(p.Settings[i+same]) {
			same++
		}
		p.Settings[i].text(out, p.Settings[i+1:i+same])
		i += same
	}
	section(out, "To set by hand", "linerate has no file for it", p.ByHand, func(h ByHand) (string, []string) {
		return h.Name + ": " + h.Value, []string{h.Do, h.Reason, join(": ", h.Evidence.Kind, h.Evidence.Text)}
	})
	section(out, "Better gone", "yours to delete: a plan never edits your files", p.Remove, func(r Removal) (string, []string) {
		return fmt.Sprintf("%s:%d: %s", r.File, r.Line, r.Text), []string{r.Reason}
	})
	section(out, "To decide", "not offered", p.Decide, func(d Decision) (string, []string) {
		return d.Name + ": " + d.Change, []string{d.Reason}
	})
	p.leftAlone(out)
	return out.Flush(w)
}

func (p Plan) head(out *show.Page) {
	host := cmp.Or(p.Host, "any host")
	out.Line(out.Bold(fmt.Sprintf("Plan %s for %s", p.Short(), show.Clean(host))) + fmt.Sprintf(" (%s, role %s)", strings.TrimSpace(p.OS+" "+p.Release), p.Role))
	var needs []string
	for _, n := range [][2]string{{"link", "link"}, {"rtt", "rtt"}, {"states", "flows tracked"}, {"connections", "connections"}, {"connection_rate", "one connection"}} {
		if v, ok := p.Needs[n[0]]; ok {
			needs = append(needs, n[1]+" "+v)
		}
	}
	if len(needs) > 0 {
		out.Line("Requirements: " + strings.Join(needs, ", ") + ".")
	}
	for _, u := range p.Unmet {
		out.Paragraph(out.Bold("Not met: "), "", show.Clean(u))
	}
	for _, u := range p.Unanswered {
		out.Paragraph(out.Bold(show.Clean(u.Need)+": "), "", show.Clean(u.Reason))
	}
	switch waits := slices.ContainsFunc(p.LeftAlone, func(l LeftAlone) bool { return strings.HasPrefix(l.Reason, dependsOn) }); {
	case len(p.Settings)+len(p.ByHand)+len(p.Unmet) > 0:
	case waits || len(p.Unanswered) > 0:
		out.Paragraph("", "", "Nothing to set: too little is known of this host and of what it must carry. What is missing is named above and below; plan on the running host or from a capture of it. linerate audit reports mistakes in its files.")
	default:
		out.Paragraph("", "", "Nothing to set: for this role, release and hardware no setting is known to be too small, or measured to be better otherwise. linerate audit reports mistakes in its files.")
	}
}

// alike reports whether a step differs only in its device, or only in the property of the same
// device.
func (s Step) alike(o Step) bool {
	return s.Mechanism == o.Mechanism && s.Mechanism != setting.Sysctl && (s.Name == o.Name || s.Device == o.Device) && s.Value == o.Value &&
		s.Current.text("") == o.Current.text("") && s.Formula == o.Formula && s.Reason == o.Reason && s.Where == o.Where &&
		reflect.DeepEqual([]any{s.Instead, s.For, s.Against}, []any{o.Instead, o.For, o.Against})
}

func (s Step) text(out *show.Page, others []Step) {
	out.Line("")
	title := s.Title()
	for _, o := range others {
		if o.Device == s.Device { // another property of the device
			title += ", " + o.Name
			continue
		}
		title += ", " + o.Device
	}
	out.Line(out.Bold(show.Clean(title)) + ": " + show.Clean(s.Current.text("not known")) + " → " + out.Bold(show.Clean(s.Value)))
	for _, f := range [][2]string{{"why", s.Reason}, {"how much", s.Formula}, {"evidence", join(": ", s.Evidence.Kind, s.Evidence.Text)},
		{"where", s.Where.String()}, {"costs", cost(s.ResetCost)}, {"risk", s.Risk}, {"undo", s.Undo}} {
		field(out, f[0], f[1])
	}
	for _, r := range s.Instead {
		field(out, "delete", fmt.Sprintf("%s:%d: %s: %s", r.File, r.Line, r.Text, r.Reason))
	}
	for _, c := range s.For {
		field(out, "for it", c.Source+": "+c.Text)
	}
	for _, c := range s.Against {
		field(out, "others say", c.Source+": "+c.Text)
	}
}

// costs describes the reset costs of package tunable.
var costs = map[string]string{
	"none": "", "link-flap": "the link goes down and up", "service": "a service must be restarted", "module": "its module must be reloaded",
	"reboot": "a reboot", "new": "none; affects only new connections", "remount": "the file system must be remounted",
}

func cost(reset string) string {
	if words, ok := costs[reset]; ok {
		return words
	}
	return reset
}

func field(out *show.Page, label, text string) {
	if text == "" {
		return
	}
	out.Paragraph("  "+show.Pad(label, 11), "             ", show.Clean(text))
}

func join(sep string, parts ...string) string {
	kept := list.Filter(parts, func(p string) bool { return p != "" })
	return strings.Join(kept, sep)
}

// section prints a heading and a list, unless it is empty; each entry is a line with texts below it.
func section[T any](out *show.Page, heading, note string, all []T, entry func(T) (line string, texts []string)) {
	if len(all) == 0 {
		return
	}
	out.Line("")
	out.Line(out.Bold(heading) + " (" + note + ")")
	for _, x := range all {
		line, texts := entry(x)
		out.Line("  " + show.Clean(line))
		for _, text := range texts {
			if text != "" {
				out.Paragraph("      ", "      ", show.Clean(text))
			}
		}
	}
}

func (p Plan) leftAlone(out *show.Page) {
	if len(p.LeftAlone) == 0 {
		return
	}
	out.Line("")
	out.Line(out.Bold("Left alone on purpose"))
	// Ports of one card share a reason, which is printed once.
	var order []string
	names := map[string][]string{}
	for _, l := range p.LeftAlone {
		name := l.Name
		if l.Value != nil {
			name += " (" + *l.Value + ")"
		}
		if names[l.Reason] == nil {
			order = append(order, l.Reason)
		}
		names[l.Reason] = append(names[l.Reason], name)
	}
	for _, reason := range order {
		out.Paragraph("  ", "      ", show.Clean(strings.Join(names[reason], ", ")+": "+reason))
	}
}
