// Package list has functions on slices that the standard library lacks.
package list

import (
	"path"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
)

// Map returns f of each element; nil if there are none.
func Map[S ~[]E, E, T any](all S, f func(E) T) []T {
	if len(all) == 0 {
		return nil
	}
	out := make([]T, len(all))
	for i, v := range all {
		out[i] = f(v)
	}
	return out
}

// Parallel returns f of each number below n, computed on all CPUs.
func Parallel[T any](n int, f func(i int) T) []T {
	out := make([]T, n)
	var next atomic.Int64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				out[i] = f(i)
			}
		})
	}
	wait.Wait()
	return out
}

// Filter returns the elements for which keep is true; nil if there are none.
func Filter[S ~[]E, E any](all S, keep func(E) bool) (out S) {
	for _, v := range all {
		if keep(v) {
			out = append(out, v)
		}
	}
	return out
}

// Count returns the number of elements for which is is true.
func Count[S ~[]E, E any](all S, is func(E) bool) (n int) {
	for _, v := range all {
		if is(v) {
			n++
		}
	}
	return n
}

// With appends each of the other elements that is not there yet.
func With[S ~[]E, E comparable](all S, more ...E) S {
	for _, v := range more {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

// Find returns the first element for which is is true.
func Find[S ~[]E, E any](all S, is func(E) bool) (v E, ok bool) {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i], true
	}
	return v, false
}

// Sort sorts stably. It is for structs, for each of which slices.SortFunc would compile its own copy
// of the algorithm: 20 kB each, for lists of some dozens.
func Sort[E any](all []E, compare func(a, b E) int) {
	sort.SliceStable(all, func(i, j int) bool { return compare(all[i], all[j]) < 0 })
}

// Rows returns the lines of a text table, with fields separated by tabs. It skips empty lines and
// those that start with #.
func Rows(text string) (rows [][]string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			rows = append(rows, strings.Split(line, "\t"))
		}
	}
	return rows
}

// Table returns the rows of a text with several tables that start with the table's name, without the name.
func Table(text, name string) [][]string {
	rows := Filter(Rows(text), func(row []string) bool { return row[0] == name })
	return Map(rows, func(row []string) []string { return row[1:] })
}

// Globs is path.Match, but quick where a name differs from a pattern before its first wildcard, as most do.
func Globs(pattern, name string) bool {
	for i := range len(pattern) {
		switch c := pattern[i]; {
		case strings.IndexByte(`*?[\`, c) >= 0:
			ok, _ := path.Match(pattern[i:], name[i:])
			return ok
		case i == len(name) || name[i] != c:
			return false
		}
	}
	return len(pattern) == len(name)
}

// Pairs maps the first field of a table's rows to the second.
func Pairs(text, name string) map[string]string {
	pairs := map[string]string{}
	for _, row := range Table(text, name) {
		pairs[row[0]] = row[1]
	}
	return pairs
}
