package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/list"
	"linerate/internal/tunable"
)

// Write describes the side effects of writing a tunable: which values the system refuses because of
// other tunables, and which tunables it writes itself.
type Write struct {
	// Names lists the tunables (globs) whose write is meant; "!" excludes.
	Names []string `yaml:"names" cbor:",omitzero"`
	OS    string   `yaml:"os" cbor:",omitzero"`
	// Since and Until limit the releases: from, and before.
	Since release.Release `yaml:"since" cbor:",omitzero"`
	Until release.Release `yaml:"until" cbor:",omitzero"`
	// One means that all names refer to one variable.
	One bool `yaml:"one" cbor:",omitzero"`
	// Refused is the condition under which the system refuses the value, Why and Fix the texts for
	// that. It sees this and old (the value before), and the values that other tunables have at
	// that moment.
	Refused string `yaml:"refused" cbor:",omitzero"`
	Why     string `yaml:"why" cbor:",omitzero"`
	Fix     string `yaml:"fix" cbor:",omitzero"`
	// Sets lists the tunables that the system then writes.
	Sets    []Effect `yaml:"sets" cbor:",omitzero"`
	Sources []string `yaml:"sources" cbor:",omitzero"`
}

// Effect is the effect of one write on other tunables.
type Effect struct {
	When string `yaml:"when" cbor:",omitzero"`
	// Names is a name, or globs that match names in the host's files or in its running system;
	// "{setting}" stands for the last part of the written name.
	Names []string `yaml:"names" cbor:",omitzero"`
	Value string   `yaml:"value" cbor:",omitzero"`
	// Fresh restricts the effect to tunables that nothing has written yet.
	Fresh bool   `yaml:"fresh" cbor:",omitzero"`
	Why   string `yaml:"why" cbor:",omitzero"`
}

// of reports whether w describes the write of a name on a host.
func (w *Write) of(os string, rel release.Release, name string) bool {
	if w.OS != os || !rel.IsZero() && (rel.Before(w.Since) || rel.Compare(w.Since) == 0 && rel.Patch < w.Since.Patch || !w.Until.IsZero() && !rel.Before(w.Until)) || rel.IsZero() && !w.Until.IsZero() {
		return false
	}
	return taken(w.Names, name)
}

// written is the result of one line at its turn during boot.
type written struct {
	old   string // the value before; "" if unknown
	known bool
	// refused, fix and sources come from the Write that was refused.
	refused, fix string
	sources      []string
}

// holder is the line that gave a tunable its value; indirect if the line sets another name.
type holder struct {
	line     fact.Line
	indirect string // the reason
}

// boot simulates the writes of a host's lines in boot order, starting from the kernel's initial
// values.
type boot struct {
	a      *auditor
	values map[string]string
	holder map[string]holder
	lines  map[fact.Line]written
	// same maps each name of a variable with several names to one of them.
	same map[string]string
}

// simulate writes every line that sets a sysctl.
func (a *auditor) simulate() *boot {
	b := &boot{a: a, values: map[string]string{}, holder: map[string]holder{}, lines: map[fact.Line]written{}, same: map[string]string{}}
	for _, w := range a.Rules.Writes {
		if w.One && w.OS == a.f.OS {
			for _, n := range w.Names {
				b.same[n] = w.Names[0]
			}
		}
	}
	for _, l := range a.sequence() {
		b.write(l)
	}
	return b
}

// sequence returns the lines that write sysctls, in boot order. systemd-sysctl keeps the first
// position of a name that is set to the same value again, and moves a name that is set to another
// value to the end.
func (a *auditor) sequence() []fact.Line {
	all := list.Filter(a.lines, func(l fact.Line) bool { return l.Effective && !slices.Contains(elsewhere, l.Stage) })
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && all[to].Stage == all[from].Stage {
			to++
		}
		slices.SortStableFunc(all[from:to], func(x, y fact.Line) int { return cmp.Compare(a.reached(x), a.reached(y)) })
		from = to
	}
	return all
}

// elsewhere lists the stages that do not write sysctls of the running system.
var elsewhere = []fact.Stage{fact.RCConf, fact.Modprobe, fact.Loader, fact.Hints}

// reached returns the order of a line within its stage.
func (a *auditor) reached(l fact.Line) int {
	turn := l.Order
	s, ok := a.f.Tunable(l.Name)
	if !ok || l.Stage != fact.Sysctl || a.f.OS != fact.Linux {
		return turn
	}
	for _, o := range slices.Backward(s.Lines) {
		if o.Stage != l.Stage || o.Order > l.Order {
			continue
		}
		if o.Value != l.Value {
			break
		}
		turn = o.Order
	}
	return turn
}

// variable returns the name under which a tunable's value is stored.
func (b *boot) variable(name string) string { return cmp.Or(b.same[name], name) }

// value returns the current value of a tunable.
func (b *boot) value(name string) (string, bool) {
	if v, ok := b.values[b.variable(name)]; ok {
		return v, true
	}
	rec, ok := b.a.c.Lookup(b.a.f.OS, name)
	if !ok {
		return "", false
	}
	return rec.DefaultOf(name, b.a.f.Release, b.a.env)
}

// write does what the kernel does for one line.
func (b *boot) write(l fact.Line) {
	rec, ok := b.a.c.Lookup(b.a.f.OS, l.Name)
	if !ok {
		return
	}
	w := written{}
	w.old, w.known = b.value(l.Name)
	names := b.see(l.Value, w.old)
	if p := rec.RejectLine(b.a.f.Release, l); p != nil && p.Outside == tunable.Refused && p.Kept == 0 {
		return // another check reports it
	}
	if rec.Constraints.OnlyRaise && l.Stage == fact.Sysctl && b.a.f.OS == fact.FreeBSD && (!w.known || less(l.Value, w.old) < 0) {
		return // also refused, or may be
	}
	does := list.Filter(b.a.Rules.Writes, func(x *Write) bool { return x.of(b.a.f.OS, b.a.f.Release, l.Name) })
	for _, x := range does {
		if x.Refused != "" && b.holds(x.Refused, names) {
			w.refused, w.fix, w.sources = b.fill(x.Why, names), b.fill(x.Fix, names), x.Sources
			b.lines[l] = w
			if _, kept := b.values[b.variable(l.Name)]; !kept && w.known {
				b.values[b.variable(l.Name)] = w.old
			}
			return
		}
	}
	b.lines[l] = w
	if c := less(l.Value, w.old); w.known && (l.Only == fact.Raise && c <= 0 || l.Only == fact.Lower && c >= 0) {
		return
	}
	b.set(l.Name, rec.Stored(b.a.f.Release, l, w.old), holder{line: l})
	for _, x := range does {
		for _, e := range x.Sets {
			b.effect(e, l, names)
		}
	}
}

// see returns what expressions see at the moment.
func (b *boot) see(this, old string) *names {
	n := b.a.names.about(this)
	n.Text = func(name string) string { v, _ := b.value(name); return v }
	n.Value = func(name string) float64 { v, _ := b.value(name); return tunable.Number(v) }
	n.Known = func(name string) bool { _, ok := b.value(name); return ok }
	n.Old, n.OldText = tunable.Number(old), old
	return n
}

// holds evaluates a condition; it is false if it depends on unknown values.
func (b *boot) holds(code string, n *names) bool {
	read, calls := language().Reads(code)
	if slices.Contains(read, "old") && n.OldText == "" {
		return false
	}
	for _, c := range calls {
		if (c.Function == "value" || c.Function == "text") && !n.Known(c.Argument) {
			return false
		}
	}
	yes, err := language().Holds(code, n)
	b.a.fail(err)
	return yes
}

// fill fills values into a text.
func (b *boot) fill(text string, n *names) string {
	filled, err := language().Fill(text, n)
	b.a.fail(err)
	return filled
}

func (b *boot) set(name, value string, by holder) {
	v := b.variable(name)
	b.values[v], b.holder[v] = value, by
}

// effect makes the writes that follow from the write of a line.
func (b *boot) effect(e Effect, l fact.Line, n *names) {
	if !b.holds(e.When, n) {
		return
	}
	value := b.fill(e.Value, n)
	patterns := make([]string, len(e.Names))
	for i, p := range e.Names {
		patterns[i] = strings.ReplaceAll(p, "{setting}", lastPart(l.Name))
		if !strings.ContainsAny(p, "*?[!") {
			b.touch(patterns[i], value, e, l)
		}
	}
	for _, s := range b.a.f.Settings {
		if s.Namespace == fact.Kernel && taken(patterns, s.Name) {
			b.touch(s.Name, value, e, l)
		}
	}
}

// touch writes one tunable because of a line that sets another one.
func (b *boot) touch(name, value string, e Effect, l fact.Line) {
	if b.variable(name) == b.variable(l.Name) {
		return
	}
	if _, set := b.holder[b.variable(name)]; set && e.Fresh {
		return
	}
	b.set(name, value, holder{l, e.Why})
}

// afterBoot lets conditions see the values that the files result in, if there are no running
// values.
func (a *auditor) afterBoot() {
	if a.live {
		return
	}
	e := *a.env.Names
	text := e.Text
	e.Text = func(name string) string {
		if v, ok := a.boot.values[a.boot.variable(name)]; ok {
			return v
		}
		return text(name)
	}
	e.Value = func(name string) float64 { return tunable.Number(e.Text(name)) }
	e.Known = func(name string) bool { return e.Text(name) != "" }
	a.env = tunable.Env{Names: &e}
	a.names.Text, a.names.Value, a.names.Known = e.Text, e.Value, e.Known
}

// changes reports whether a line changes the value that its tunable has at that moment of the boot.
func (b *boot) changes(l fact.Line, rec *tunable.Record) bool {
	w, ok := b.lines[l]
	return ok && w.refused == "" && w.known && !rec.SameValue(w.old, l.Value)
}

// writes reports lines that the kernel refuses at their turn, and lines that a later line with
// another name undoes.
func (a *auditor) writes() []candidate {
	var all []candidate
	for _, l := range a.lines {
		w, ok := a.boot.lines[l]
		rec, known := a.c.Lookup(a.f.OS, l.Name)
		if !ok || !known {
			continue
		}
		if w.refused != "" {
			all = append(all, a.refusal(l, w))
			continue
		}
		all = append(all, a.undone(l, rec)...)
	}
	return all
}

func (a *auditor) refusal(l fact.Line, w written) candidate {
	c := a.says("LR-RANGE", "refused", l, with{"problem": w.refused, "fix": w.fix})
	c.Sources = w.sources
	return c
}

// undone reports a line whose value is overwritten by a later line with another name.
func (a *auditor) undone(l fact.Line, rec *tunable.Record) []candidate {
	v := a.boot.variable(l.Name)
	by, end := a.boot.holder[v], a.boot.values[v]
	if by.line == l || by.line.Name == l.Name || by.line.Name == "" || rec.SameValue(end, l.Value) || a.alternative(l) {
		return nil
	}
	why := cmp.Or(by.indirect, "Both names set one variable; the one written last wins.")
	return []candidate{a.says("LR-UNDONE", "later", l, with{"other": fmt.Sprintf("%s=%s at %s line %d", by.line.Name, by.line.Value, by.line.File, by.line.Number), "end": end, "why": why})}
}

// alternative reports whether another line of the same name is effective too: as in branches of a
// script they are for different cases, and so may later lines be.
func (a *auditor) alternative(l fact.Line) bool {
	s, _ := a.f.Tunable(l.Name)
	return slices.ContainsFunc(s.Lines, func(other fact.Line) bool {
		return other != l && other.Stage == l.Stage && other.Effective && l.Effective
	})
}
