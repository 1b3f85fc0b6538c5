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

// Write describes what writing a tunable does in addition to storing the value: which
// values the system refuses because of other tunables, and which tunables it writes itself.
type Write struct {
	// Names are tunables (globs) of which one is written; those with "!"
	// before them are not.
	Names []string `yaml:"names"`
	OS    string   `yaml:"os"`
	// Since and Until bound the releases: from, and before.
	Since release.Release `yaml:"since"`
	Until release.Release `yaml:"until"`
	// One: the names are of one variable.
	One bool `yaml:"one"`
	// Refused is the condition under which the value is not taken, Why and Fix
	// what is then said. It sees this and old (the value before), and other
	// tunables as they are at that moment.
	Refused string `yaml:"refused"`
	Why     string `yaml:"why"`
	Fix     string `yaml:"fix"`
	// Sets are the tunables that the system writes then.
	Sets    []Effect `yaml:"sets"`
	Sources []string `yaml:"sources"`
}

// Effect is what one write does to other tunables.
type Effect struct {
	When string `yaml:"when"`
	// Names are globs over the names that the host's files or its running
	// system have, or a name; "{setting}" stands for the written name's last
	// part.
	Names []string `yaml:"names"`
	Value string   `yaml:"value"`
	// Fresh: only those that nothing has written yet.
	Fresh bool   `yaml:"fresh"`
	Why   string `yaml:"why"`
}

// of reports whether a host's write of a name is one of these.
func (w *Write) of(os string, rel release.Release, name string) bool {
	if w.OS != os || !rel.IsZero() && (rel.Before(w.Since) || rel.Compare(w.Since) == 0 && rel.Patch < w.Since.Patch || !w.Until.IsZero() && !rel.Before(w.Until)) || rel.IsZero() && !w.Until.IsZero() {
		return false
	}
	return taken(w.Names, name)
}

// written is what became of one line as the boot reached it.
type written struct {
	old   string // the value before, "" when not known
	known bool
	// refused, fix and sources are of the write that was not taken.
	refused, fix string
	sources      []string
}

// holder says by which line a tunable has its value; indirect when that line
// sets another one.
type holder struct {
	line     fact.Line
	indirect string // why
}

// boot simulates the writes of a host's lines in the order of a boot, from the
// values that the kernel starts with.
type boot struct {
	a      *auditor
	values map[string]string
	holder map[string]holder
	lines  map[fact.Line]written
	// same is the one name by which a variable of several is kept.
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

// sequence are the lines that write sysctls, in the order in which a boot does
// so. systemd-sysctl keeps a name that is set to the same again at its first
// place, and moves one that is set to something else to the last.
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

// elsewhere are the stages that write no sysctl when the system runs.
var elsewhere = []fact.Stage{fact.RCConf, fact.Modprobe, fact.Loader, fact.Hints}

// reached is a line's turn among those of its stage.
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

// variable is the name under which a tunable's value is kept.
func (b *boot) variable(name string) string { return cmp.Or(b.same[name], name) }

// value is what a tunable holds at the moment.
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

// write does what the kernel does with one line.
func (b *boot) write(l fact.Line) {
	rec, ok := b.a.c.Lookup(b.a.f.OS, l.Name)
	if !ok {
		return
	}
	w := written{}
	w.old, w.known = b.value(l.Name)
	names := b.see(l.Value, w.old)
	if p := rec.RejectLine(b.a.f.Release, l); p != nil && p.Outside == tunable.Refused && p.Kept == 0 {
		return // another finding's
	}
	if rec.Constraints.OnlyRaise && l.Stage == fact.Sysctl && b.a.f.OS == fact.FreeBSD && (!w.known || less(l.Value, w.old) < 0) {
		return // refused too, or it may be
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

// see is what expressions see at the moment.
func (b *boot) see(this, old string) *names {
	n := b.a.names.about(this)
	n.Text = func(name string) string { v, _ := b.value(name); return v }
	n.Value = func(name string) float64 { v, _ := b.value(name); return tunable.Number(v) }
	n.Known = func(name string) bool { _, ok := b.value(name); return ok }
	n.Old, n.OldText = tunable.Number(old), old
	return n
}

// holds answers a condition; one over what is not known does not hold.
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

// fill puts values into a text.
func (b *boot) fill(text string, n *names) string {
	filled, err := language().Fill(text, n)
	b.a.fail(err)
	return filled
}

func (b *boot) set(name, value string, by holder) {
	v := b.variable(name)
	b.values[v], b.holder[v] = value, by
}

// effect writes what one line's write makes the system write.
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

// touch is one tunable that the system writes because of a line.
func (b *boot) touch(name, value string, e Effect, l fact.Line) {
	if b.variable(name) == b.variable(l.Name) {
		return
	}
	if _, set := b.holder[b.variable(name)]; set && e.Fresh {
		return
	}
	b.set(name, value, holder{l, e.Why})
}

// afterBoot has conditions see what files leave behind, where nothing running is
// known.
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

// changes reports a line that changes what its tunable holds as it is reached.
func (b *boot) changes(l fact.Line, rec *tunable.Record) bool {
	w, ok := b.lines[l]
	return ok && w.refused == "" && w.known && !rec.SameValue(w.old, l.Value)
}

// writes reports lines that the kernel refuses as it is by then, and lines that
// a later one undoes though it sets another name.
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

// undone reports a line whose value does not last, because a later line of
// another name writes over it.
func (a *auditor) undone(l fact.Line, rec *tunable.Record) []candidate {
	v := a.boot.variable(l.Name)
	by, end := a.boot.holder[v], a.boot.values[v]
	if by.line == l || by.line.Name == l.Name || by.line.Name == "" || rec.SameValue(end, l.Value) || a.alternative(l) {
		return nil
	}
	why := cmp.Or(by.indirect, "The two names are of one variable; the one written last wins.")
	return []candidate{a.says("LR-UNDONE", "later", l, with{"other": fmt.Sprintf("%s=%s at %s line %d", by.line.Name, by.line.Value, by.line.File, by.line.Number), "end": end, "why": why})}
}

// alternative reports a line that another of its name leaves in effect: they are for different
// cases, the branches of a script say, and so may the lines after them be.
func (a *auditor) alternative(l fact.Line) bool {
	s, _ := a.f.Tunable(l.Name)
	return slices.ContainsFunc(s.Lines, func(other fact.Line) bool {
		return other != l && other.Stage == l.Stage && other.Effective && l.Effective
	})
}
