package plan_test

import "testing"

// TestLROOfAVirtioPort: it is the hypervisor's up to 14, unless the loader switches that
// off, as 15 does by itself; what is left is the kernel's own.
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
