package knob

import (
	"context"
	"errors"
	"strings"
	"testing"

	"linerate/catalogue"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/internal/tune/space"
	"linerate/studies"
)

// TestSpaceCanBeSet: the lab can set every level in its search space; what this kernel lacks is unavailable, not
// an error.
func TestSpaceCanBeSet(t *testing.T) {
	target := fresh(t)
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	text, err := studies.Read("firewall-rules")
	if err != nil {
		t.Fatal(err)
	}
	s, err := study.Parse("firewall-rules", text)
	if err != nil {
		t.Fatal(err)
	}
	base, _ := s.Variant(s.Control)
	f := &fact.Facts{OS: fact.Linux, Release: release.MustParse("6.12"), CPU: fact.CPU{Count: 4}, Memory: fact.Memory{Physical: 1 << 33, PageSize: 4096}}
	set := 0
	for _, role := range []string{"firewall", "router", "web"} {
		all, err := space.Of(space.Query{Catalogue: c, Facts: f, Role: role, Study: s, Base: base})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range space.Factors(all) {
			for _, l := range e.Levels {
				for _, one := range l.Settings {
					_, err := target.Apply(context.Background(), one.Setting())
					var gone *testbed.ErrUnavailable
					switch {
					case err == nil:
						set++
					case !errors.As(err, &gone):
						t.Errorf("%s, %s=%s: %v", role, e.Name, l.Value, err)
					}
				}
			}
		}
	}
	if set < 20 {
		t.Errorf("only %d settings could be set here", set)
	}
	if _, err := target.Apply(context.Background(), setting.Setting{Mechanism: setting.Link, Name: "no-such", Device: "ingress", Value: "on"}); err == nil || !strings.Contains(err.Error(), "no-such") {
		t.Errorf("a property that nobody knows: %v", err)
	}
}
