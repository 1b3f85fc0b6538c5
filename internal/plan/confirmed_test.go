package plan

import (
	"reflect"
	"strings"
	"testing"

	"linerate/catalogue"
	"linerate/internal/fact"
)

// TestConfirmed: what linerate can set is in the plan, what it cannot is to be set by hand, and neither is
// listed as left alone.
func TestConfirmed(t *testing.T) {
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	f := &fact.Facts{OS: fact.Linux, Kernel: "6.12.0", Hostname: "fw1"}
	measured := Evidence{Kind: MeasuredHere, Text: "+3 %"}
	p, err := Confirmed(Input{Facts: f, Catalogue: c, Role: "web"}, []Gain{
		{Name: "net.ipv4.tcp_slow_start_after_idle", Value: "0", Reason: "a search", Evidence: measured},
		{Name: "nginx sendfile", Value: "on", Do: "nginx: sendfile on", Reason: "a search", Evidence: measured},
	}, []LeftAlone{{Name: "net.ipv4.tcp_sack", Reason: "tried"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Settings) != 1 || p.Settings[0].Name != "net.ipv4.tcp_slow_start_after_idle" || p.Settings[0].Evidence.Text != measured.Text || p.Settings[0].Undo == "" {
		t.Errorf("settings %+v", p.Settings)
	}
	if len(p.ByHand) != 1 || !reflect.DeepEqual(p.ByHand[0], ByHand{Name: "nginx sendfile", Value: "on", Do: "nginx: sendfile on", Reason: "a search", Evidence: measured}) {
		t.Errorf("by hand %+v", p.ByHand)
	}
	if len(p.Unmet) != 1 || !strings.Contains(p.Unmet[0], "confirmed with nginx sendfile=on, which you set by hand") {
		t.Errorf("the plan does not say that the winner is to be set by hand: %q", p.Unmet)
	}
	if len(p.LeftAlone) != 1 {
		t.Errorf("left alone %+v", p.LeftAlone)
	}
	if _, err := Confirmed(Input{Facts: f, Catalogue: c, Role: "wep"}, nil, nil); err == nil {
		t.Error("an unknown role was accepted")
	}
}
