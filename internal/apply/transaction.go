package apply

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"linerate/internal/appliance"
	"linerate/internal/fact/release"
	"linerate/internal/hint"
	"linerate/internal/knob"
	"linerate/internal/plan"
	"linerate/internal/setting"
)

// Transaction is a complete change of a host, with everything needed to revert it. The agent makes
// its Journal durable before changing anything.
type Transaction struct {
	Plan   plan.Plan
	Window time.Duration
	// Trial means that the change waits for a reboot before the window begins.
	Trial bool
	Files []plan.File
	// Study is the live study whose window this is: the agent begins it only while the study holds the host.
	Study string
	// WriteAll also writes values that the host already has, for a sham change.
	WriteAll bool
	// FilesNow writes the files along with the values; otherwise confirm writes them, except that a
	// trial needs them at its boot.
	FilesNow bool
	// Set is in the order of setting, Undo in the order of reverting; Before holds the old values
	// of all that Set may change.
	Set, Undo, Before []Assignment
	// Do and TakeBack are shell scripts for changes that are not settings. Do runs after the
	// settings, TakeBack before they are reverted. TakeBack must work after a partial Do, and when
	// run twice. $1 is their private directory.
	Do, TakeBack string
	// Boot holds loader variables of a Trial: if the loader supports one-shot boots, they apply to
	// that boot only.
	Boot []Assignment
}

// Assignment is a key and a value.
type Assignment struct {
	knob.Key
	Value string
}

// keysOf returns the keys that a plan changes at run time, and those that change along with them.
func keysOf(p plan.Plan) (own, companions []knob.Key) {
	for _, s := range running(p) {
		k := keyOf(s)
		own = append(own, k)
		companions = append(companions, knob.Companions(k)...)
	}
	return knob.Order(own), companions
}

// running returns what a plan sets on the running host. An rc.conf variable has no running value,
// but may stand for a sysctl that its script sets.
func running(p plan.Plan) []plan.Step {
	var list []plan.Step
	for _, s := range p.Settings {
		if name, value, ok := setting.RCEffect(s.Name, s.Value); ok && s.Mechanism == setting.RC {
			s.Mechanism, s.Name, s.Value, s.Current = setting.Sysctl, name, value, plan.Current{}
		}
		if s.Where.Runtime && knob.AtRuntime(s.Mechanism) {
			list = append(list, s)
		}
	}
	return list
}

func keyOf(s plan.Step) knob.Key {
	return knob.Key{Mechanism: s.Mechanism, Device: s.Device, Name: s.Name}
}

// Fits returns an error if a plan is not for this host.
func Fits(p plan.Plan, id Identity) error {
	switch {
	case p.OS != id.OS:
		return hint.With(fmt.Errorf("the plan is for %s, the host runs %s", p.OS, id.OS), "make a plan of this host")
	case p.Host != "" && p.Host != id.Host:
		return hint.With(fmt.Errorf("the plan was made for %q, this is %q", p.Host, id.Host), "make a plan of this host: another host's facts are not its own")
	case id.UID != 0:
		return hint.With(errors.New("changing a host needs root"), "run it with sudo or doas")
	case id.Init == "none" && slices.ContainsFunc(p.Settings, func(s plan.Step) bool { return s.Where.File != "" }):
		return hint.With(errors.New("it is unknown what this host starts at boot, so its files could not be restored after one"), "apply needs systemd, OpenRC, System V init or FreeBSD's rc")
	}
	if err := errors.Join(id.Taken(), id.Switchable(), onAppliance(p, id)); err != nil {
		return err
	}
	want, err := release.Parse(p.Release)
	if err != nil {
		return err
	}
	got, err := release.Parse(id.Release)
	if err != nil {
		return err
	}
	if want.Major != got.Major || want.Minor != got.Minor {
		return hint.With(fmt.Errorf("the plan was made for release %s, the host runs %s", p.Release, id.Release), "make a new plan: this one is for another release")
	}
	return nil
}

// onAppliance refuses files on an appliance that writes them itself: it would overwrite them, or
// drop them in an update, and neither could be reverted exactly. Running values can be changed and
// reverted as on any host.
func onAppliance(p plan.Plan, id Identity) error {
	a := appliance.Named(id.Product)
	if a == nil {
		return nil
	}
	i := slices.IndexFunc(p.Settings, func(s plan.Step) bool { return !a.Keeps(s.Where.File) })
	switch {
	case i < 0:
		return nil
	case len(a.Lasts) > 0:
		s := p.Settings[i]
		return hint.With(fmt.Errorf("%s would not last: %s reads no %s at boot", s.Title(), a.Title, s.Where.File), "%s", a.ByHand)
	}
	return hint.With(fmt.Errorf("the host is an appliance, %s, which overwrites the files that would make the plan permanent", a.Title), "%s", a.ByHand)
}

// Prepare returns the transaction that applies a plan to a host in the state of the snapshot. It
// refuses a host that differs from what the plan found, files not owned by linerate, and changes
// that could not be reverted.
func Prepare(p plan.Plan, now Snapshot, window time.Duration, trial bool) (Transaction, error) {
	t := Transaction{Plan: p, Window: window, Trial: trial}
	own := map[string]string{}
	for path, f := range now.Files {
		if f.Other || !strings.HasPrefix(f.Content, plan.Marker) {
			return t, hint.With(fmt.Errorf("%s exists and was not written by linerate", path), "move its lines elsewhere (%s), or set the plan's by hand", elsewhere(p.OS))
		}
		own[path] = f.Content
	}
	var err error
	if t.Files, err = plan.Render(p, own); err != nil {
		return t, err
	}
	if err := t.values(now); err != nil {
		return t, err
	}
	t.Boot = bootOnly(p, trial)
	t.Before = before(t.Set, now)
	t.Undo = append(undo(t.Set, t.Before), unload(t.Set, now)...)
	return t, nil
}

// bootOnly returns what the loader sets, for a trial.
func bootOnly(p plan.Plan, trial bool) []Assignment {
	var list []Assignment
	for _, s := range p.Settings {
		if trial && s.Mechanism == setting.Loader && s.Where.File != "" {
			list = append(list, Assignment{keyOf(s), s.Value})
		}
	}
	return list
}

func elsewhere(os string) string {
	if os == "freebsd" {
		return "/etc/sysctl.conf, /etc/rc.conf, /boot/loader.conf"
	}
	return "another file of the same directory"
}

// values fills Set, in the order of setting.
func (t *Transaction) values(now Snapshot) error {
	want := map[knob.Key]plan.Step{}
	loads := false
	for _, s := range running(t.Plan) {
		want[keyOf(s)] = s
		loads = loads || (s.Mechanism == setting.Module && s.Value == "loaded")
	}
	own, _ := keysOf(t.Plan)
	for _, k := range own {
		s := want[k]
		value, exists := now.Values[k]
		if !exists && !loads {
			return hint.With(fmt.Errorf("%s does not exist on this host", s.Title()), "make the plan again; a module may have to be loaded first")
		}
		if err := unchanged(s, k, value, exists); err != nil {
			return err
		}
		if why, means, instead := noWayBack(t.Plan.OS, k, s.Value, now); why != "" {
			return hint.With(fmt.Errorf("%s: %s, %s", s.Title(), why, means), "%s", instead)
		}
		t.Set = append(t.Set, Assignment{k, knob.Native(k, s.Value)})
	}
	return nil
}

// unchanged refuses a setting that was changed since the plan was made, unless it already has the
// planned value.
func unchanged(s plan.Step, k knob.Key, value string, exists bool) error {
	if s.Current.Value == nil || knob.Same(k, s.Value, value) || knob.Same(k, *s.Current.Value, value) {
		return nil
	}
	is := "gone"
	if exists {
		is = fmt.Sprintf("%q", value)
	}
	return hint.With(fmt.Errorf("%s was %q when the plan was made and is %s now", s.Title(), *s.Current.Value, is), "find out who changed it, then make the plan again")
}

// before returns the current values of all that setting may change. It omits modules: one that
// stays loaded cannot be compared after a revert, and values that loading created have no old
// value.
func before(set []Assignment, now Snapshot) []Assignment {
	var list []Assignment
	seen := map[knob.Key]bool{}
	add := func(k knob.Key) {
		if v, ok := now.Values[k]; ok && !seen[k] && k.Mechanism != setting.Module {
			list = append(list, Assignment{k, v})
		}
		seen[k] = true
	}
	for _, a := range set {
		add(a.Key)
	}
	for _, k := range now.keys {
		add(k)
	}
	return list
}

// undo returns the assignments that restore the values: what was set, last first, then what changed
// along with it.
func undo(set, before []Assignment) []Assignment {
	prior, done := map[knob.Key]string{}, map[knob.Key]bool{}
	for _, a := range before {
		prior[a.Key] = a.Value
	}
	var list []Assignment
	put := func(k knob.Key) {
		if v, ok := prior[k]; ok && !done[k] && knob.PutBack(k, prior) {
			list = append(list, Assignment{k, v})
		}
		done[k] = true
	}
	for _, a := range slices.Backward(set) {
		put(a.Key)
	}
	for _, a := range before {
		put(a.Key)
	}
	return list
}

// unload returns the modules that the transaction loads and that were not loaded before.
func unload(set []Assignment, now Snapshot) []Assignment {
	var list []Assignment
	for _, a := range slices.Backward(set) {
		if a.Mechanism == setting.Module && a.Value != now.Values[a.Key] {
			list = append(list, Assignment{a.Key, now.Values[a.Key]})
		}
	}
	return list
}

// Judge compares set values with those read back; a value that the kernel rounds or spells
// differently counts as equal (knob.Same).
func (t Transaction) Judge(after map[knob.Key]string) error {
	for _, a := range t.Set {
		got, ok := after[a.Key]
		if !ok || !knob.Same(a.Key, a.Value, got) {
			return fmt.Errorf("%s %s was set to %q and reads back as %q", a.Mechanism, a.Name, a.Value, got)
		}
	}
	return nil
}

// Journal returns the transaction in the agent's text format, docs/reference/apply.md.
func (t Transaction) Journal() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "linerate-transaction 1\ndigest %s\nwindow %d\n", t.Plan.Digest, int(t.Window.Seconds()))
	if t.Study != "" {
		fmt.Fprintf(&b, "study %s\n", t.Study)
	}
	if t.WriteAll {
		b.WriteString("write-all\n")
	}
	if t.FilesNow {
		b.WriteString("files-now\n")
	}
	for _, f := range t.Files {
		writeText(&b, fmt.Sprintf("file %o %s", f.Mode, f.Path), f.Content)
	}
	if t.Do != "" {
		writeText(&b, "script do", t.Do)
		writeText(&b, "script undo", t.TakeBack)
	}
	writeAssignments(&b, "boot", t.Boot)
	writeAssignments(&b, "before", t.Before)
	writeAssignments(&b, "set", t.Set)
	writeAssignments(&b, "undo", t.Undo)
	b.WriteString("end\n")
	return b.Bytes()
}

func writeText(b *bytes.Buffer, head, text string) {
	b.WriteString(head + "\n")
	for line := range strings.Lines(text) {
		b.WriteString("|" + strings.TrimSuffix(line, "\n") + "\n")
	}
}

func writeAssignments(b *bytes.Buffer, kind string, list []Assignment) {
	for _, a := range list {
		fmt.Fprintf(b, "%s %s %s %s =%s\n", kind, a.Mechanism, dash(a.Device), a.Name, a.Value)
	}
}
