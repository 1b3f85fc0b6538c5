package labtest

import (
	"fmt"
	"strings"
	"testing"
)

// tries is how often a measurement is made before what it finds counts.
const tries = 3

// Again makes a measurement until it finds nothing to object to, three times at
// most. A machine that is shared disturbs a measurement now and then; a feature
// that is broken breaks each of them: the last has to meet all of them, and
// what was wrong with those before it is logged. What cannot be measured at all
// (Fatal), and what no machine disturbs (Errorf of the T itself: what is left
// behind, an account that does not add up), is not tried again.
func Again(t *testing.T, measure func(t *Try)) {
	t.Helper()
	for n := 1; ; n++ {
		try := &Try{T: t}
		measure(try)
		said := strings.Join(try.said, "\n")
		switch {
		case said == "":
			return
		case n == tries || t.Failed():
			t.Errorf("%d times in a row, at last:\n%s", n, said)
			return
		}
		t.Logf("measured again (%d), for:\n%s", n, said)
	}
}

// Try is one measurement: its errors are objections to it.
type Try struct {
	*testing.T
	said []string
}

// Errorf objects to the measurement.
func (t *Try) Errorf(format string, args ...any) {
	t.said = append(t.said, fmt.Sprintf(format, args...))
}

// Error objects to the measurement.
func (t *Try) Error(args ...any) { t.said = append(t.said, fmt.Sprint(args...)) }
