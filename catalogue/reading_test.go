package catalogue

import (
	"testing"

	"linerate/internal/fact/release"
	"linerate/internal/tunable"
)

// readings are facts that a second reading of FreeBSD's source corrected in the records: what happens to a
// value out of range, or when a value takes effect.
var readings = []struct {
	name    string
	value   string          // out of range, unless ""
	outside tunable.Outside // what happens to it
	reset   string          // when a valid one takes effect, unless ""
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

// TestNobodyReadsThem: thresholds that the kernel still lets one write, but has not used since 12.0.
func TestNobodyReadsThem(t *testing.T) {
	c := catalogueOf(t)
	for _, name := range []string{"vm.v_free_min", "vm.v_free_target", "vm.v_free_reserved"} {
		r, _ := c.Lookup(tunable.FreeBSD, name)
		if r == nil || len(r.Cautions) == 0 || r.Cautions[0].Kind != "ineffective" {
			t.Errorf("%s: not recorded as ineffective", name)
		}
	}
}

// TestGoneOnFourteen: names with a record that no current release has.
func TestGoneOnFourteen(t *testing.T) {
	c := catalogueOf(t)
	for _, name := range []string{"kernel:NMBCLUSTERS", "hw.x2apic_enable", "vm.max_wired"} {
		if r, ok := c.Lookup(tunable.FreeBSD, name); !ok || r.Exists(release.MustParse("14.0")) {
			t.Errorf("%s: recorded for 14.0", name)
		}
	}
}
