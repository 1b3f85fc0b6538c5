package catalogue

import (
	"slices"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/tunable"
)

// TestLevels: the roles that are tuned by experiment have settings to try on both systems, and trying them on a
// running host takes no link, service or host down.
func TestLevels(t *testing.T) {
	c := catalogueOf(t)
	for _, os := range []struct {
		name, release string
		least         int
	}{{fact.FreeBSD, "14.3", 8}, {fact.Linux, "6.12", 15}} {
		f := &fact.Facts{OS: os.name, Release: release.MustParse(os.release), CPU: fact.CPU{Count: 8}, Memory: fact.Memory{Physical: 1 << 34, PageSize: 4096},
			NICs: []fact.NIC{{Name: "ix0", Driver: "ix", Kind: fact.KindEthernet, SpeedBits: 1e10}}}
		for _, role := range []string{"router", "firewall", "web", "mail"} {
			env, n := c.NewEnv(f, role), 0
			for _, r := range c.Records {
				if r.OS != os.name || !r.Exists(f.Release) {
					continue
				}
				for _, l := range r.Levels {
					holds, err := env.Holds(l.When)
					if err != nil {
						t.Errorf("%s:%d: %s: %v", r.File, r.Line, r.Name, err)
					}
					if holds {
						n++
					}
				}
			}
			if n < os.least {
				t.Errorf("%s, role %s: %d levels to try, want %d", os.name, role, n, os.least)
			}
		}
	}
	for _, r := range c.Records {
		// Boot-only settings are tried only where a study reboots a machine out of service.
		if len(r.Levels) > 0 && r.At(r.Since).Settable.AtRuntime() && !slices.Contains([]tunable.Reset{tunable.NoReset, tunable.NewSockets}, r.Reset) {
			t.Errorf("%s:%d: %s: has levels, but setting it costs %q", r.File, r.Line, r.Name, r.Reset)
		}
	}
}
