package study

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"strings"
)

// RawFile is the file of slices that a trial was derived from, with its
// SHA-256 in hex; ok is false where there is none.
func RawFile(t *Trial) (name, sha256 string, ok bool) {
	if t.Observed == nil || t.Observed.Interleaved == nil || t.Observed.Interleaved.Raw == "" {
		return "", "", false
	}
	return t.Observed.Interleaved.Raw, t.Observed.Interleaved.SHA256, true
}

// CheckRawName refuses a name that no instance's file has: one read from a
// record may be anything.
func CheckRawName(name string) error {
	if path.Base(name) != name || !strings.HasPrefix(name, "slices-") || !strings.HasSuffix(name, ".csv.gz") || strings.ContainsAny(name, `/\`) {
		return fmt.Errorf("raw file %q: those are slices-PART-BLOCK-INSTANCE.csv.gz", name)
	}
	return nil
}

// derivedWithin is by how much, relatively, a number worked out again may
// differ: processors round sums differently.
const derivedWithin = 1e-9

// CheckAgainst derives the trial again from its instance's slices, and says
// where the record has something else.
func CheckAgainst(t *Trial, in Instance) error {
	o := t.Observed.Interleaved
	if in.Part != t.Part || in.Block != t.Block || in.Attempt != o.Attempt {
		return fmt.Errorf("they are of part %s, block %d, instance %d", in.Part, in.Block, in.Attempt)
	}
	if o.Lane < 0 || o.Lane >= len(in.Arms) || in.Arms[o.Lane] != t.Variant {
		return fmt.Errorf("their lane %d is not %s", o.Lane, t.Variant)
	}
	lanes := in.Condense()[o.Lane]
	if err := sameNumbers(lanes, o.Lanes); err != nil {
		return err
	}
	if !t.Valid {
		return nil
	}
	for name, v := range ofLanes(lanes) {
		if got, ok := t.Metrics[name]; !ok || !near(got, v) {
			return fmt.Errorf("they give %s %g, the record has %g", name, v, got)
		}
	}
	return nil
}

// sameNumbers compares two accounts of a lane, member by member.
func sameNumbers(derived, recorded Lanes) error {
	var a, b map[string]any
	if err := errors.Join(through(derived, &a), through(recorded, &b)); err != nil {
		return err
	}
	for name, v := range a {
		if !alike(v, b[name]) {
			return fmt.Errorf("they give %s %v, the record has %v", name, v, b[name])
		}
	}
	return nil
}

// through is a value as JSON has it.
func through(v Lanes, into *map[string]any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

func alike(a, b any) bool {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return ok && near(x, y)
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !alike(x[i], y[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k := range x {
			if !alike(x[k], y[k]) {
				return false
			}
		}
		return true
	}
	return a == b
}

func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= derivedWithin*max(math.Abs(a), math.Abs(b))
}
