package hint

import (
	"cmp"
	"sort"
	"strings"
)

// Nearest returns up to most of the known names that may have been meant by name, closest first:
// those within an edit distance (Damerau–Levenshtein, optimal string alignment) of a third of the
// name's length, and those that contain it.
func Nearest(name string, known []string, most int) []string {
	type scored struct {
		name string
		dist int
	}
	limit := max(1, len(name)/3)
	low := strings.ToLower(name)
	var found []scored
	for _, k := range known {
		lk := strings.ToLower(k)
		d := limit + 1
		if abs(len(lk)-len(low)) <= limit {
			d = distance(low, lk, limit)
		}
		if d > limit && len(low) >= 4 && strings.Contains(lk, low) {
			d = limit
		}
		if d <= limit {
			found = append(found, scored{k, d})
		}
	}
	sort.Slice(found, func(i, j int) bool {
		return cmp.Or(cmp.Compare(found[i].dist, found[j].dist), cmp.Compare(found[i].name, found[j].name)) < 0
	})
	if len(found) > most {
		found = found[:most]
	}
	names := make([]string, len(found))
	for i, f := range found {
		names[i] = f.name
	}
	return names
}

// Distance returns the edit distance between two names, ignoring case, or a number above limit if
// it is greater; see distance.
func Distance(a, b string, limit int) int {
	if a, b = strings.ToLower(a), strings.ToLower(b); abs(len(a)-len(b)) > limit {
		return limit + 1
	}
	return distance(a, b, limit)
}

// distance counts the insertions, deletions, substitutions and swaps of adjacent bytes that turn a
// into b, up to limit.
func distance(a, b string, limit int) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit { // the minimum of a row never decreases
			return least
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
