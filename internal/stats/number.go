package stats

import (
	"encoding/json"
	"fmt"
	"math"
)

// Number is a number that may be unknown, because it cannot be computed from
// the data at hand. The zero value is unknown; JSON writes it as null, and
// reads null and a missing field as unknown.
type Number struct {
	value float64
	known bool
}

// Num returns v as a Number, unknown if v is NaN or infinite, which JSON
// cannot represent.
func Num(v float64) Number {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Number{}
	}
	return Number{v, true}
}

// Known reports whether there is a number.
func (n Number) Known() bool { return n.known }

// Get returns the number, and whether there is one.
func (n Number) Get() (v float64, ok bool) { return n.value, n.known }

// Float is the number, NaN when it is unknown.
func (n Number) Float() float64 {
	if !n.known {
		return math.NaN()
	}
	return n.value
}

// Equal reports whether both are the same number or both unknown.
func (n Number) Equal(o Number) bool { return n == o }

// String is for logs and tests, not for reports.
func (n Number) String() string {
	if !n.known {
		return "unknown"
	}
	return fmt.Sprint(n.value)
}

// MarshalJSON writes null for an unknown number.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.known {
		return []byte("null"), nil
	}
	return json.Marshal(n.value)
}

// UnmarshalJSON reads a number or null.
func (n *Number) UnmarshalJSON(data []byte) error {
	var p *float64
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	*n = Number{}
	if p != nil {
		*n = Num(*p)
	}
	return nil
}
