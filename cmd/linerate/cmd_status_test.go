package main

import (
	"strings"
	"testing"

	"linerate/internal/apply"
)

// TestStatusWords: a switch that is not armed yet is not told as one that is gone.
func TestStatusWords(t *testing.T) {
	for want, st := range map[string]apply.Status{
		"nothing is pending\n":                                                    {State: "idle"},
		"000001-ab is being applied or reverted right now\n":                      {State: "pending", ID: "000001-ab", Busy: true},
		"000001-ab is pending without its switch: linerate rollback reverts it\n": {State: "pending", ID: "000001-ab"},
		"000001-ab is being applied; reverted in 50s at the latest\n":             {State: "pending", ID: "000001-ab", Armed: true, Left: 50},
		"000001-ab is pending: reverted in 50s unless confirmed\n":                {State: "pending", ID: "000001-ab", Armed: true, Ready: true, Left: 50},
		"000001-ab was not confirmed in time and is about to be reverted\n":       {State: "pending", ID: "000001-ab", Armed: true, Ready: true},
		"000001-ab is being reverted\n":                                           {State: "reverting", ID: "000001-ab", Busy: true},
	} {
		var said strings.Builder
		if writeStatus(&said, st); said.String() != want {
			t.Errorf("%+v: %q, want %q", st, said.String(), want)
		}
	}
}
