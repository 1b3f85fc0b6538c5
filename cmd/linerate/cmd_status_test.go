package main

import (
	"strings"
	"testing"

	"linerate/internal/apply"
)

// TestStatusWords: status does not describe a dead man's switch that is not armed yet as lost.
func TestStatusWords(t *testing.T) {
	for want, st := range map[string]apply.Status{
		"nothing is pending\n":                                                    {State: "idle"},
		"000001-ab is being applied or reverted right now\n":                      {State: "pending", ID: "000001-ab", Busy: true},
		"000001-ab is pending without its switch: linerate rollback reverts it\n": {State: "pending", ID: "000001-ab"},
		"000001-ab is being applied; reverted in 50s at the latest\n":             {State: "pending", ID: "000001-ab", Armed: true, Left: 50},
		"000001-ab is pending: reverted in 50s unless confirmed\n":                {State: "pending", ID: "000001-ab", Armed: true, Ready: true, Left: 50},
		"000001-ab is pending: reverted in 50s unless confirmed\nthis host has no /etc/cron.d: if the switch and its guard are both killed, only a boot or linerate's next command reverts it\n": {State: "pending", ID: "000001-ab", Armed: true, Ready: true, NoCron: true, Left: 50},
		"000001-ab was not confirmed in time and is about to be reverted\n": {State: "pending", ID: "000001-ab", Armed: true, Ready: true},
		"000001-ab is being reverted\n":                                     {State: "reverting", ID: "000001-ab", Busy: true},
		"a live study has this host (s): Does it help?\nlinerate study stop ends it and puts the host back\na window of it begins or ends right now\n":                                                                                                                                                                   {State: "pending", Identity: apply.Identity{Live: &apply.LiveStudy{Owner: "s", Left: 5, About: "Does it help?"}}},
		"a live study has this host (s): Does it help?\nlinerate study stop ends it and puts the host back\n000004-ab is set in a window of it: the host reverts it in 9s at the latest\n":                                                                                                                               {State: "pending", ID: "000004-ab", Left: 9, Identity: apply.Identity{Live: &apply.LiveStudy{Owner: "s", Left: 5, About: "Does it help?"}}, History: []apply.Past{{ID: "000003-ab", Outcome: "reverted", Digest: "live:1"}}},
		"a live study has this host (s): Does it help?\nlinerate study stop ends it and puts the host back\na window of it in which nothing is set: its switch, armed in every window, ends in 9s at the latest\n":                                                                                                       {State: "pending", ID: "000004-00", Digest: apply.AsIs, Left: 9, Identity: apply.Identity{Live: &apply.LiveStudy{Owner: "s", Left: 5, About: "Does it help?"}}},
		"a live study had this host (s) and has not been heard of for 2 minutes: linerate or its machine died, sleeps, or cannot reach this host: Does it help?\nlinerate study resume continues it, from its directory\nnothing is pending\n  000003-ab reverted, a window of a live study: nobody confirmed in time\n": {State: "idle", Lost: &apply.LiveStudy{Owner: "s", Left: -120, About: "Does it help?"}, History: []apply.Past{{ID: "000003-ab", Outcome: "reverted", Digest: "live:1", Why: "nobody confirmed in time"}}},
	} {
		var said strings.Builder
		if writeStatus(&said, st); said.String() != want {
			t.Errorf("%+v: %q, want %q", st, said.String(), want)
		}
	}
}
