package store

import "testing"

func TestNumbered(t *testing.T) {
	for query, want := range map[string]string{"": "", "SELECT 1": "SELECT 1", "a = ? AND b IN (?, ?)": "a = $1 AND b IN ($2, $3)", "?": "$1"} {
		if got := Numbered(query); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
}
