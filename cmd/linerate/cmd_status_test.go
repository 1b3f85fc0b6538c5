package main

import (
	"strings"
	"testing"

	"linerate/internal/apply"
)

// TestStatusWords: a switch that is not armed yet is not told as one that is gone.
func TestStatusWords(t *testing.T) {
	for want, st := range map[string]apply.Status{
		"nothing is pending\n": {State: "idle"},
		"000001-ab is being applied or taken back at this moment\n":                      {State: "pending", ID: "000001-ab", Busy: true},
		"000001-ab is pending and its switch is gone: linerate rollback takes it back\n": {State: "pending", ID: "000001-ab"},
		"000001-ab is being applied; taken back in 50s at the latest\n":                  {State: "pending", ID: "000001-ab", Armed: true, Left: 50},
		"000001-ab is pending: taken back in 50s unless confirmed\n":                     {State: "pending", ID: "000001-ab", Armed: true, Ready: true, Left: 50},
		"000001-ab was not confirmed in time and is about to be taken back\n":            {State: "pending", ID: "000001-ab", Armed: true, Ready: true},
		"000001-ab is being taken back\n":                                                {State: "reverting", ID: "000001-ab", Busy: true},
	} {
		var said strings.Builder
		if writeStatus(&said, st); said.String() != want {
			t.Errorf("%+v: %q, want %q", st, said.String(), want)
		}
	}
}
