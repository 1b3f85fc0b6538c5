package tunable

import (
	"testing"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/setting"
)

// TestWholeKernel: settings of which a lab of network namespaces has only one for all its arms.
func TestWholeKernel(t *testing.T) {
	for s, want := range map[Scope]bool{Host: true, IPCNS: true, Namespace: true, NetNS: false, Device: false, VNET: false} {
		if s.WholeKernel() != want {
			t.Errorf("%s: %v", s, !want)
		}
	}
}

// TestStored: the value after a line was written over an old one. The cases of the vectors were
// written to a 6.18 kernel and read back.
func TestStored(t *testing.T) {
	bound := func(least, most float64) Constraints { return Constraints{Min: &least, Max: &most} }
	vector := bound(1, 2147483647)
	vector.Count = 3
	together := bound(1, 65535)
	together.Count, together.Together = 2, true
	clamped := bound(1, 65535)
	clamped.Outside = Clamped
	records := map[string]*Record{
		"vector":   {Type: Numbers, Constraints: vector},
		"together": {Type: Numbers, Constraints: together},
		"clamped":  {Type: Int, Constraints: clamped},
		"refused":  {Type: Int, Constraints: bound(1, 9)},
		"text":     {Type: String},
	}
	for _, c := range []struct{ of, value, old, want string }{
		{"vector", "4096 87380 4294967296", "4096 131072 6291456", "4096 87380 6291456"},
		{"vector", "4096 87380 4294967296", "", "4096 87380"},
		{"vector", "5000 0 9999", "4096 131072 6291456", "5000 131072 6291456"},
		{"vector", "5000 16M 9999", "4096 131072 6291456", "5000 131072 6291456"},
		{"vector", "0 1 2", "4096 131072 6291456", "4096 131072 6291456"},
		{"vector", "8192", "4096 131072 6291456", "8192 131072 6291456"},
		{"vector", "1 2 3 4", "4096 131072 6291456", "1 2 3"},
		{"vector", "1,2,3", "4096 131072 6291456", "4096 131072 6291456"},
		{"together", "1024 70000", "32768 60999", "32768 60999"},
		{"together", "40000", "32768 60999", "40000 60999"},
		{"clamped", "70000", "5", "65535"}, {"clamped", "0", "5", "1"}, {"clamped", "1024", "5", "1024"}, {"clamped", "0x10", "5", "0x10"}, {"clamped", "many", "5", "5"},
		{"refused", "10", "5", "5"}, {"refused", "9", "5", "9"},
		{"text", "bbr", "cubic", "bbr"},
	} {
		r := records[c.of]
		r.OS, r.Mechanism, r.Settable = Linux, setting.Sysctl, Runtime
		if got := r.Stored(release.Release{}, fact.Line{Value: c.value, Stage: fact.Sysctl}, c.old); got != c.want {
			t.Errorf("%s: %q over %q is %q, want %q", c.of, c.value, c.old, got, c.want)
		}
	}
}
