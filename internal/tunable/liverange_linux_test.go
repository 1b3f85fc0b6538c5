package tunable_test

import (
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"linerate/internal/tunable"
)

// widest are the least and greatest number of the integer types as the
// kernel's handlers read them; nil where it is not worth a write.
var widest = map[tunable.Type][2]*big.Int{
	tunable.Int:   {big.NewInt(-1 << 31), big.NewInt(1<<31 - 1)},
	tunable.Uint:  {big.NewInt(0), big.NewInt(1<<32 - 1)},
	tunable.U8:    {big.NewInt(0), big.NewInt(255)},
	tunable.Ulong: {big.NewInt(0), nil},
}

// ticksLimit is the greatest number of ticks that fits an int.
const ticksLimit = 1<<31 - 1

// probe writes the bounds of a sysctl in this thread's namespace, and one
// beyond each, and holds what the kernel takes against the record.
func (k *kernel) probe(t *testing.T, l live) {
	t.Helper()
	r, ok := k.record(l)
	if !ok || oneWay[r.Name] != "" || !l.read || l.mode.Perm()&0o200 == 0 ||
		strings.Contains(l.path, "/lo/") || strings.Contains(l.path, "/v1/") || slices.Contains(dependent, r.Name) {
		return
	}
	s := r.At(k.facts.Release)
	if _, ok := widest[s.Type]; !ok || s.Scope == tunable.Host {
		return
	}
	k.probed++
	least, most := bounds(r, s.Type)
	one := big.NewInt(1)
	if least != nil {
		k.try(t, l, least, true)
		k.try(t, l, new(big.Int).Sub(least, one), false)
	}
	if most != nil {
		k.try(t, l, most, true)
		k.try(t, l, new(big.Int).Add(most, one), false)
	}
	if r.Constraints.Jiffies {
		k.try(t, l, big.NewInt(ticksLimit), s.Unit != "s")
		k.try(t, l, big.NewInt(1), true)
	}
	if refused, err := write(l.path, l.value); refused || err != nil {
		t.Errorf("%s: its own value %q is not taken back: refused %v, %v", l.path, l.value, refused, err)
	}
}

// bounds are the least and greatest number a record allows, by its
// constraints or its type. Nothing is tried beyond what the kernel clamps or
// keeps in ticks.
func bounds(r *tunable.Record, kind tunable.Type) (least, most *big.Int) {
	if r.Constraints.Jiffies || r.Constraints.Clamped {
		return nil, nil
	}
	least, most = widest[kind][0], widest[kind][1]
	if k := r.Constraints.Min; k != nil {
		least, _ = big.NewFloat(*k).Int(nil)
	}
	if k := r.Constraints.Max; k != nil {
		most, _ = big.NewFloat(*k).Int(nil)
	}
	return least, most
}

// try writes one number and says whether the kernel did as the record has it.
func (k *kernel) try(t *testing.T, l live, n *big.Int, takes bool) {
	t.Helper()
	refused, err := write(l.path, n.String())
	switch {
	case err != nil:
		t.Errorf("%s: write %s: %v", l.path, n, err)
	case refused == takes:
		t.Errorf("%s: %s is refused: %v, the record says %v", l.path, n, refused, !takes)
	}
}

// checkAll writes conf.all of a record in this thread's namespace and looks
// whether the device v0 follows: it does where the record says that all sets,
// and nowhere else.
func (k *kernel) checkAll(t *testing.T, l live) {
	t.Helper()
	r, ok := k.record(l)
	device := strings.Replace(l.path, "/conf/all/", "/conf/v0/", 1)
	if !ok || r.WithAll == "" || device == l.path || l.mode.Perm()&0o200 == 0 || !l.read {
		return
	}
	before := read(t, device)
	flipped := "1"
	if l.value != "0" {
		flipped = "0"
	}
	if r.Reject(flipped) != nil {
		return
	}
	if refused, err := write(l.path, flipped); refused || err != nil {
		return // its range is tried elsewhere
	}
	follows := read(t, device) != before
	if before != flipped && follows != (r.WithAll == tunable.AllSets) {
		t.Errorf("%s: writing it changes a device: %v, the record says all is %q", l.path, follows, r.WithAll)
	}
	k.followed++
	if refused, err := write(l.path, l.value); refused || err != nil {
		t.Errorf("%s: its own value %q is not taken back: %v", l.path, l.value, err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(procSys + path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}
