package wait

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// The clock is the tests' own (testing/synctest).

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if err := For(t.Context(), time.Second); err != nil || time.Since(begun) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun = time.Now()
		if err := For(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second {
			t.Errorf("cut off: %v after %v", err, time.Since(begun))
		}
	})
}

func TestStill(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		rests int // the count after which it stays
		fails int // the call that fails, from 1; 0: none
		want  error
		took  time.Duration
	}{
		"at rest":       {0, 0, nil, still},
		"after a while": {3, 0, nil, 4 * still},
		"cannot count":  {0, 1, broken, 0},
		"lost midway":   {9, 3, broken, 2 * still},
	} {
		synctest.Test(t, func(t *testing.T) {
			calls, begun := 0, time.Now()
			err := Still(t.Context(), func() (int, error) {
				if calls++; calls == c.fails {
					return 0, broken
				}
				return min(calls-1, c.rests), nil
			})
			if !errors.Is(err, c.want) || time.Since(begun) != c.took {
				t.Errorf("%s: %v after %v", name, err, time.Since(begun))
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		n, begun := 0, time.Now()
		if err := Still(t.Context(), func() (int, error) { n++; return n, nil }); err == nil || time.Since(begun) > patience+still {
			t.Errorf("never at rest: %v after %v", err, time.Since(begun))
		}
	})
}
