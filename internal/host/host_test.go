package host

import (
	"errors"
	"strconv"
	"testing"
)

func TestBoundNames(t *testing.T) {
	names := make([]string, MaxNames+1)
	for i := range names {
		names[len(names)-1-i] = strconv.Itoa(1_000_000 + i)
	}
	got, err := BoundNames(names)
	if !errors.Is(err, ErrTooLarge) || len(got) != MaxNames || got[0] != "1000000" {
		t.Errorf("%d names from %s, %v", len(got), got[0], err)
	}
	if got, err := BoundNames([]string{"b", "a"}); err != nil || got[0] != "a" {
		t.Errorf("%v, %v", got, err)
	}
}
