package audit

import (
	"testing"

	"linerate/internal/sharedtest"
)

// TestPackedRulesAreTheRules: packed and unpacked rules are the same in the same order, except that
// their examples are left out.
func TestPackedRulesAreTheRules(t *testing.T) {
	set, err := LoadRules(sharedtest.Catalogue())
	if err != nil {
		t.Fatal(err)
	}
	b, err := PackRules(set)
	if err != nil {
		t.Fatal(err)
	}
	got, err := UnpackRules(b)
	if err != nil || len(got.rules) != len(set.rules) {
		t.Fatalf("%d rules of %d", len(got.rules), len(set.rules))
	}
	for i, r := range got.rules {
		if want := set.rules[i]; r.ID != want.ID || r.When != want.When || r.Since != want.Since || r.Fix != want.Fix || len(r.Fires) > 0 {
			t.Errorf("%+v, want %+v", r, want)
		}
	}
	if err := got.CheckExpressions(); err != nil {
		t.Error(err)
	}
	if len(got.Classes) != len(set.Classes) || len(got.Policies) != len(set.Policies) {
		t.Error("packing loses lists")
	}
	for _, bad := range [][]byte{nil, b[:8], b[:len(b)-1], append([]byte{b[0] ^ 1}, b[1:]...)} {
		if _, err := UnpackRules(bad); err == nil {
			t.Errorf("%d bytes that are not rules are accepted", len(bad))
		}
	}
}
