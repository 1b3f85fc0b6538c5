package apply

import (
	"fmt"
	"time"

	"linerate/internal/knob"
	"linerate/internal/plan"
	"linerate/internal/setting"
)

// Impossible says that a host cannot have a setting, or not so that it could
// be put back.
type Impossible struct {
	Setting string
	Why     string
}

func (e *Impossible) Error() string { return e.Setting + ": " + e.Why }

// Wanted is what a testbed wants of a host for a while.
type Wanted struct {
	OS     string // freebsd or linux
	Digest string // KIND:HEX, names the transaction
	Values []Assignment
	// Files replace what is at their paths, no matter who wrote it.
	Files        []plan.File
	Do, TakeBack string
	Window       time.Duration
	Study        string // whose window it is, of a live study
	WriteAll     bool   // values that the host has already, too
	Trial        bool   // the window begins with the next boot
}

// KeysOf lists what must be looked at before values are set: the keys, in the
// order of setting, and what setting them changes in turn.
func KeysOf(values []Assignment) []knob.Key {
	var own, companions []knob.Key
	for _, a := range values {
		own = append(own, a.Key)
		companions = append(companions, knob.Companions(a.Key)...)
	}
	return append(knob.Order(own), companions...)
}

// noWayBack says why a value cannot be written so that a revert brings back what is now, what
// that means, and what to do instead; "" where nothing is known against it.
func noWayBack(os string, k knob.Key, want string, now Snapshot) (why, means, instead string) {
	const inFile = "set it in a file, for the next boot"
	value := now.Values[k]
	if knob.Same(k, want, value) {
		return "", "", ""
	}
	if why := knob.NotWritable(os, k, value); why != "" {
		return why, "so a revert would need a boot", inFile
	}
	if why := knob.NoReturn(k, now.Values); why != "" {
		return why, "so a revert would need a boot", "set vm.dirty_ratio above 0 first, or " + inFile
	}
	return knob.Lossy(os, k, want), "which no revert undoes", inFile
}

// Assemble works out the transaction that gives a host, which is as the
// snapshot of KeysOf says, what is wanted. Its errors are *Impossible.
func Assemble(w Wanted, now Snapshot) (Transaction, error) {
	t := Transaction{Plan: plan.Plan{Digest: w.Digest}, Window: w.Window, Study: w.Study, Trial: w.Trial, WriteAll: w.WriteAll, Files: w.Files, FilesNow: true, Do: w.Do, TakeBack: w.TakeBack}
	want := map[knob.Key]string{}
	var own []knob.Key
	for _, a := range w.Values {
		if _, twice := want[a.Key]; !twice {
			own = append(own, a.Key)
		}
		want[a.Key] = a.Value
	}
	for _, k := range knob.Order(own) {
		_, exists := now.Values[k]
		title := fmt.Sprintf("%s %s", k.Mechanism, k.Name)
		if !exists && k.Mechanism != setting.Module {
			return t, &Impossible{title, "this host has no such setting"}
		}
		if why, _, _ := noWayBack(w.OS, k, want[k], now); why != "" {
			return t, &Impossible{title, why}
		}
		t.Set = append(t.Set, Assignment{k, knob.Native(k, want[k])})
	}
	t.Before = before(t.Set, now)
	t.Undo = append(undo(t.Set, t.Before), unload(t.Set, now)...)
	return t, nil
}
