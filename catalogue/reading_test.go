package catalogue

import (
	"testing"

	"linerate/internal/fact/release"
	"linerate/internal/tunable"
)

// readings are facts that a second reader of FreeBSD's source found wrong in
// the records: what becomes of a value outside, or when a value acts.
var readings = []struct {
	name    string
	value   string          // does not fit, unless ""
	outside tunable.Outside // what becomes of it
	reset   string          // when a good one acts, unless ""
}{
	{"kern.sgrowsiz", "0", tunable.Fatal, ""},
	{"vfs.zfs.arc.meta_balance", "0", tunable.Fatal, ""},
	{"kern.cam.scsi_delay", "50", tunable.Refused, ""},
	{"kern.cam.nda.max_trim", "1000", tunable.Clamped, "reboot"},
	{"vm.kmem_zmax", "100", tunable.OwnSize, "reboot"},
	{"kern.init_shutdown_timeout", "1", tunable.OwnSize, ""},
	{"security.bsd.stack_guard_page", "-1", tunable.Taken, "new"},
	{"vfs.zfs.trim.txg_batch", "0", tunable.Clamped, ""},
	{"vfs.zfs.vdev.aggregation_limit", "33554432", tunable.Clamped, ""},
	{"kern.dflssiz", "", "", "reboot"},
	{"kern.dfldsiz", "", "", "reboot"},
	{"kern.maxssiz", "", "", "new"},
	{"kern.geom.label.gptid.enable", "", "", "reboot"},
	{"kern.cam.ada.write_cache", "", "", "new"},
	{"net.inet6.mld.use_allow", "", "", "new"},
	{"vfs.nfsd.server_max_nfsvers", "", "", "service"},
}

func TestSecondReading(t *testing.T) {
	c := catalogueOf(t)
	for _, want := range readings {
		r, ok := c.Lookup(tunable.FreeBSD, want.name)
		if !ok {
			t.Errorf("%s: no record", want.name)
			continue
		}
		if want.value != "" && (r.Reject(want.value) == nil || r.Constraints.Outside != want.outside) {
			t.Errorf("%s=%s: problem %v, outside %q, want %q", want.name, want.value, r.Reject(want.value), r.Constraints.Outside, want.outside)
		}
		if want.reset != "" && string(r.Reset) != want.reset {
			t.Errorf("%s: reset %q, want %q", want.name, r.Reset, want.reset)
		}
	}
}

// TestNobodyReadsThem: thresholds that the kernel shows and lets one write,
// and has not looked at since 12.0.
func TestNobodyReadsThem(t *testing.T) {
	c := catalogueOf(t)
	for _, name := range []string{"vm.v_free_min", "vm.v_free_target", "vm.v_free_reserved"} {
		r, _ := c.Lookup(tunable.FreeBSD, name)
		if r == nil || len(r.Cautions) == 0 || r.Cautions[0].Kind != "ineffective" {
			t.Errorf("%s: not said to be ineffective", name)
		}
	}
}

// TestGoneOnFourteen: names with a record that no release of today has.
func TestGoneOnFourteen(t *testing.T) {
	c := catalogueOf(t)
	for _, name := range []string{"kernel:NMBCLUSTERS", "hw.x2apic_enable", "vm.max_wired"} {
		if r, ok := c.Lookup(tunable.FreeBSD, name); !ok || r.Exists(release.MustParse("14.0")) {
			t.Errorf("%s: said to be in 14.0", name)
		}
	}
}
