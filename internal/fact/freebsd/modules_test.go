package freebsd

import (
	"testing"

	"linerate/internal/fact"
)

// TestModulesAreFound: all modules that FreeBSD 14.0 lists, in order of loading, are found; firewalls are
// queried only if their module is.
func TestModulesAreFound(t *testing.T) {
	const listed = `Id Refs Address                Size Name
 1    7 0xffffffff80200000   92c9e0 kernel
 2    1 0xffffffff81210000     52a4 if_epair.ko
 3    1 0xffffffff81216000    47438 pf.ko
 4    1 0xffffffff8125e000    26268 ipfw.ko
`
	f := &fact.Facts{}
	AddModules(f, ParseKldstat(listed), []string{"vtnet", "em", "if_lo", "cam", "tmpfs"})
	for _, name := range []string{"if_epair", "pf", "ipfw", "vtnet", "cam"} {
		if _, ok := f.Module(name); !ok {
			t.Errorf("%s is not found in %+v", name, f.Modules)
		}
	}
}
