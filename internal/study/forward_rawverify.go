package study

import (
	"bytes"
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

// sameNumbers compares two accounts of a lane, number by number as JSON has them.
func sameNumbers(derived, recorded Lanes) error {
	a, err := json.Marshal(derived)
	b, errB := json.Marshal(recorded)
	if err := errors.Join(err, errB); err != nil {
		return err
	}
	x, y, key := json.NewDecoder(bytes.NewReader(a)), json.NewDecoder(bytes.NewReader(b)), ""
	for {
		v, end := x.Token()
		got, _ := y.Token()
		if end != nil && got == nil {
			return nil
		}
		n, isNumber := v.(float64)
		m, wasNumber := got.(float64)
		if v != got && !(isNumber && wasNumber && near(n, m)) {
			return fmt.Errorf("they give %s %v, the record has %v", key, v, got)
		}
		if name, is := v.(string); is {
			key = name
		}
	}
}

func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= derivedWithin*max(math.Abs(a), math.Abs(b))
}
