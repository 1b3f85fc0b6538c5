package tunable_test

import (
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/tunable"
)

// ticksLimit is the greatest number of ticks that fits an int.
const ticksLimit = 1<<31 - 1

// probe writes the bounds of a sysctl in this thread's namespace, and one value beyond each, and
// compares what the kernel accepts with the record.
func (k *kernel) probe(t *testing.T, l live) {
	t.Helper()
	r, ok := k.record(l)
	if !ok || oneWay[r.Name] != "" || !l.read || l.mode.Perm()&0o200 == 0 ||
		strings.Contains(l.path, "/lo/") || strings.Contains(l.path, "/v1/") || slices.Contains(dependent, r.Name) {
		return
	}
	s := r.At(k.facts.Release)
	x := r.RangeOn(k.facts.Release)
	if s.Scope == tunable.Host {
		return
	}
	switch {
	case x.Domain == tunable.Vectors:
		k.probeVector(t, l, s, x)
	case x.Domain != tunable.Whole || s.Type == tunable.Bool:
		return
	default:
		k.probeNumber(t, l, x)
	}
	k.probed++
	if r.Constraints.Jiffies {
		k.try(t, l, big.NewInt(ticksLimit), s.Unit != "s")
		k.try(t, l, big.NewInt(1), true)
	}
	if refused, err := write(l.path, l.value); refused || err != nil {
		t.Errorf("%s: its own value %q is not taken back: refused %v, %v", l.path, l.value, refused, err)
	}
}

// probeNumber writes both bounds and one value beyond each. Clamped values are read back; it tries
// nothing beyond what the kernel stores in ticks.
func (k *kernel) probeNumber(t *testing.T, l live, x tunable.Range) {
	t.Helper()
	r, _ := k.record(l)
	s := r.At(k.facts.Release)
	one := big.NewInt(1)
	below, above := new(big.Int).Sub(x.Least, one), new(big.Int).Add(x.Most, one)
	switch {
	case r.Constraints.Jiffies:
	case x.Outside == tunable.One:
		k.becomes(t, l, below, one)
		k.becomes(t, l, above, one)
	case x.Outside == tunable.Clamped:
		k.becomes(t, l, below, x.Least)
		k.becomes(t, l, above, x.Most)
	case s.Constraints.Depends != "":
		k.try(t, l, below, false)
	case s.Type == tunable.Ulong:
		k.try(t, l, x.Least, true)
		k.try(t, l, below, false)
	default:
		for _, n := range []*big.Int{x.Least, below, x.Most, above} {
			p := r.RejectOn(k.facts.Release, n.String())
			k.try(t, l, n, p == nil || p.Outside == tunable.Taken)
		}
	}
}

// probeVector writes numbers of which the last is invalid, and reads which were stored; then one
// element below the minimum.
func (k *kernel) probeVector(t *testing.T, l live, s tunable.State, x tunable.Range) {
	t.Helper()
	parts := strings.Fields(l.value)
	if len(parts) == 0 {
		return
	}
	k.vectors++
	r, _ := k.record(l)
	wrong := slices.Clone(parts)
	first, _ := new(big.Int).SetString(parts[0], 10)
	wrong[0], wrong[len(wrong)-1] = first.Add(first, big.NewInt(1)).String(), "x"
	line := fact.Line{Value: strings.Join(wrong, " "), Stage: fact.Sysctl}
	if refused, err := write(l.path, line.Value); err != nil || !refused {
		t.Errorf("%s: %v is refused: %v (%v)", l.path, wrong, refused, err)
	}
	if want := r.Stored(k.facts.Release, line, l.value); strings.Join(strings.Fields(read(t, l.path)), " ") != want {
		t.Errorf("%s: %v becomes %q, the record says %q", l.path, wrong, read(t, l.path), want)
	}
	if refused, err := write(l.path, l.value); refused || err != nil {
		t.Errorf("%s: its own value %q is not taken back: %v", l.path, l.value, err)
	}
	if x.Least == nil || x.Outside != tunable.Refused {
		return
	}
	if s.Count > 0 && len(parts) != s.Count {
		t.Errorf("%s: %d numbers (%s), the record says %d", l.path, len(parts), l.value, s.Count)
	}
	for i := range parts {
		changed := slices.Clone(parts)
		changed[i] = new(big.Int).Sub(x.Least, big.NewInt(1)).String()
		if refused, err := write(l.path, strings.Join(changed, " ")); err != nil || !refused {
			t.Errorf("%s: %v is refused: %v, the record says true (%v)", l.path, changed, refused, err)
		}
	}
}

// becomes writes one number and reports whether the kernel stored the other instead.
func (k *kernel) becomes(t *testing.T, l live, n, want *big.Int) {
	t.Helper()
	if refused, err := write(l.path, n.String()); refused || err != nil {
		t.Errorf("%s: %s is refused: %v, the record says it becomes %s (%v)", l.path, n, refused, want, err)
		return
	}
	if got := read(t, l.path); got != want.String() {
		t.Errorf("%s: %s becomes %s, the record says %s", l.path, n, got, want)
	}
}

// try writes one number and reports whether the kernel did what the record says.
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

// checkAll writes conf.all of a record in this thread's namespace and checks whether the device v0
// follows: only where the record says that all sets it.
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
