package list

import (
	"maps"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
)

func TestMap(t *testing.T) {
	if got := Map([]int{3, 1}, strconv.Itoa); !slices.Equal(got, []string{"3", "1"}) {
		t.Errorf("%q", got)
	}
	if got := Map([]int{}, strconv.Itoa); got != nil { // null in JSON, as what a loop that appends leaves
		t.Errorf("of none: %#v", got)
	}
}

func TestFilterCopies(t *testing.T) {
	all := []int{1, 2, 3, 4}
	even := func(v int) bool { return v%2 == 0 }
	got := Filter(all, even)
	if !slices.Equal(got, []int{2, 4}) || !slices.Equal(all, []int{1, 2, 3, 4}) {
		t.Errorf("%v of %v", got, all)
	}
	if got := Filter(all, func(int) bool { return false }); got != nil {
		t.Errorf("of none: %#v", got)
	}
}

func TestFind(t *testing.T) {
	all := []string{"a", "bb", "cc"}
	if v, ok := Find(all, func(s string) bool { return len(s) == 2 }); v != "bb" || !ok {
		t.Errorf("%q, %v", v, ok)
	}
	if v, ok := Find(all, func(s string) bool { return len(s) == 3 }); v != "" || ok {
		t.Errorf("none: %q, %v", v, ok)
	}
}

func TestRows(t *testing.T) {
	got := Rows("# head\na\tb c\n\n\td\t\n")
	if len(got) != 2 || !slices.Equal(got[0], []string{"a", "b c"}) || !slices.Equal(got[1], []string{"", "d", ""}) {
		t.Errorf("%q", got)
	}
}

func TestTable(t *testing.T) {
	text := "# head\na\tb\tc\nd\tb\te\na\tf\tg\n"
	if got := Table(text, "a"); len(got) != 2 || !slices.Equal(got[0], []string{"b", "c"}) || !slices.Equal(got[1], []string{"f", "g"}) {
		t.Errorf("%q", got)
	}
	if got := Pairs(text, "a"); !maps.Equal(got, map[string]string{"b": "c", "f": "g"}) {
		t.Errorf("%q", got)
	}
	if got := Table(text, "b"); got != nil {
		t.Errorf("of none: %q", got)
	}
}

// TestParallel: each number is done once, and its result is in its place.
func TestParallel(t *testing.T) {
	var calls atomic.Int64
	got := Parallel(1000, func(i int) int { calls.Add(1); return i * i })
	for i, v := range got {
		if v != i*i {
			t.Fatalf("%d at %d", v, i)
		}
	}
	if calls.Load() != 1000 || len(Parallel(0, strconv.Itoa)) != 0 {
		t.Errorf("%d calls", calls.Load())
	}
}

func TestCount(t *testing.T) {
	if n := Count([]int{1, 2, 3}, func(v int) bool { return v != 2 }); n != 2 {
		t.Errorf("%d", n)
	}
}

func TestSortIsStable(t *testing.T) {
	all := []string{"bb", "a", "aa", "b"}
	Sort(all, func(a, b string) int { return len(a) - len(b) })
	if want := []string{"a", "b", "bb", "aa"}; !slices.Equal(all, want) {
		t.Errorf("%q, want %q", all, want)
	}
}

// TestWith: elements are appended once, in order, and the given list keeps its own.
func TestWith(t *testing.T) {
	all := []string{"a", "b"}
	if got := With(slices.Clip(all), "b", "c", "a", "c"); !slices.Equal(got, []string{"a", "b", "c"}) || len(all) != 2 {
		t.Errorf("%q, of %q", got, all)
	}
}
