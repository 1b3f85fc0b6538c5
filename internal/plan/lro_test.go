package plan_test

import "testing"

// TestLROOfAVirtioPort: up to 14 LRO is the hypervisor's, unless the loader disables that, as 15 does by
// default; then only the kernel's own remains.
func TestLROOfAVirtioPort(t *testing.T) {
	for _, c := range []struct {
		release, disabled string
		want              bool
	}{{"14.3-RELEASE", "", true}, {"14.3-RELEASE", "1", false}, {"15.0-RELEASE", "", false}, {"15.0-RELEASE", "0", true}} {
		f := host("freebsd", c.release, "QEMU Virtual CPU", 2, 2<<30, nic("vtnet0", "vtnet", 10e9, "LRO"))
		if c.disabled != "" {
			set(f, "hw.vtnet.lro_disable", c.disabled)
		}
		p := make1(t, scenario{name: "virtio", facts: forwarding(f), role: "router"})
		if s := find(p, "lro"); (s != nil) != c.want {
			t.Errorf("%+v: %+v", c, s)
		}
	}
}
