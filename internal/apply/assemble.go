package apply

import (
	"fmt"
	"time"

	"linerate/internal/knob"
	"linerate/internal/plan"
	"linerate/internal/setting"
)

// Impossible is the error for a setting that a host cannot have, or that could not be reverted.
type Impossible struct {
	Setting string
	Why     string
}

func (e *Impossible) Error() string { return e.Setting + ": " + e.Why }

// Wanted describes a temporary change of a host for a testbed.
type Wanted struct {
	OS     string // freebsd or linux
	Digest string // KIND:HEX, identifies the transaction
	Values []Assignment
	// Files replace those at their paths, whoever wrote them.
	Files        []plan.File
	Do, TakeBack string
	Window       time.Duration
	Study        string // the live study whose window it is
	WriteAll     bool   // also write values that the host already has
	Trial        bool   // the window begins at the next boot
}

// KeysOf returns the keys to read before setting values: those keys, in the order of setting, and
// what changes along with them.
func KeysOf(values []Assignment) []knob.Key {
	var own, companions []knob.Key
	for _, a := range values {
		own = append(own, a.Key)
		companions = append(companions, knob.Companions(a.Key)...)
	}
	return append(knob.Order(own), companions...)
}

// noWayBack returns why a value cannot be written so that a revert restores the current one, what
// that implies, and an alternative; "" if no reason is known.
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

// Assemble returns the transaction for a temporary change, given a snapshot of KeysOf. Its errors
// are *Impossible.
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
