package tunable_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/internal/labtest"
	"linerate/internal/tunable"
)

// allProbe tests, in a fresh namespace with the veth pair v0–v1, whether a setting of conf.all and
// one of v0 take effect.
type allProbe struct {
	name string
	// off and on are the two values tried.
	off, on string
	// setup prepares the namespace; acts reports whether the setting takes effect.
	setup func() error
	acts  func() (bool, error)
}

// allProbes are the settings whose effect shows in a namespace without traffic from outside.
var allProbes = []allProbe{
	// A packet from 192.0.2.9, whose route is through v1: a strict check on v0 rejects it.
	{"net.ipv4.conf.IF.rp_filter", "0", "1", routed, func() (bool, error) { return refusedFrom("192.0.2.9", "198.18.0.9") }},
	// A packet from one of the host's own addresses.
	{"net.ipv4.conf.IF.accept_local", "0", "1", routed, func() (bool, error) { return acceptedFrom("198.18.1.1", "198.18.0.1") }},
	// A packet from outside to 127/8.
	{"net.ipv4.conf.IF.route_localnet", "0", "1", routed, func() (bool, error) { return acceptedFrom("198.18.0.7", "127.0.0.9") }},
	// The primary address is removed: the secondary stays, or not.
	{"net.ipv4.conf.IF.promote_secondaries", "0", "1", nil, promotes},
	// /proc/net/igmp shows the version in use.
	{"net.ipv4.conf.IF.force_igmp_version", "0", "2", routed, speaksIGMP2},
	// An address without duplicate detection is not tentative.
	{"net.ipv6.conf.IF.accept_dad", "0", "1", nil, detectsDuplicates},
	// The interface goes down: a static address stays, or not.
	{"net.ipv6.conf.IF.keep_addr_on_down", "0", "1", nil, keepsAddress},
}

// actsAs returns what a record's with_all predicts for the four combinations of all and device, off
// and on.
var actsAs = map[tunable.All]func(all, device bool) bool{
	tunable.AllMax: func(a, d bool) bool { return a || d }, tunable.AllOr: func(a, d bool) bool { return a || d },
	tunable.AllAnd: func(a, d bool) bool { return a && d }, tunable.AllMin: func(a, d bool) bool { return a && d },
	tunable.AllWins: func(a, d bool) bool { return a || d }, tunable.AllOnly: func(a, _ bool) bool { return a },
	tunable.AllIgnored: func(_, d bool) bool { return d }, tunable.AllSets: func(_, d bool) bool { return d },
}

// TestConfAllActs compares with_all with the running kernel's behaviour.
func TestConfAllActs(t *testing.T) {
	labtest.Namespaces(t)
	c := load(t)
	for _, p := range allProbes {
		r, ok := c.Lookup(tunable.Linux, p.name)
		if !ok || actsAs[r.WithAll] == nil {
			t.Errorf("%s: no record with with_all", p.name)
			continue
		}
		if !tunableCheckedBy(r, "probed", "coupling") {
			t.Errorf("%s: with_all is probed here, and its record does not say so", p.name)
		}
		for i := range 4 {
			all, device := i&1 != 0, i&2 != 0
			inNamespace(t, func() {
				got, err := p.run(all, device)
				if err != nil {
					t.Errorf("%s: %v", p.name, err)
				} else if want := actsAs[r.WithAll](all, device); got != want {
					t.Errorf("%s: all %v, device %v: acts %v; with_all %q says %v", p.name, all, device, got, r.WithAll, want)
				}
			})
		}
	}
}

func tunableCheckedBy(r *tunable.Record, how, what string) bool {
	for _, k := range r.Checked {
		for _, w := range k.What {
			if k.How == how && w == what {
				return true
			}
		}
	}
	return false
}

// run sets all and the device, and reports the effect.
func (p allProbe) run(all, device bool) (bool, error) {
	if err := up("v0", "v1", "lo"); err != nil {
		return false, err
	}
	if p.setup != nil {
		if err := p.setup(); err != nil {
			return false, err
		}
	}
	for where, on := range map[string]bool{"all": all, "v0": device} {
		value := p.off
		if on {
			value = p.on
		}
		path := procSys + strings.ReplaceAll(strings.Replace(p.name, ".IF.", "."+where+".", 1), ".", "/")
		if err := os.WriteFile(path, []byte(value+"\n"), 0); err != nil {
			return false, err
		}
	}
	return p.acts()
}

func up(names ...string) error {
	for _, name := range names {
		l, err := netlink.LinkByName(name)
		if err == nil {
			err = netlink.LinkSetUp(l)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// address gives a device an address.
func address(device, cidr string) error {
	l, err := netlink.LinkByName(device)
	if err != nil {
		return err
	}
	a, err := netlink.ParseAddr(cidr)
	if err != nil {
		return err
	}
	return netlink.AddrAdd(l, a)
}

// routed gives v0 and v1 a network each; 192.0.2.0/24 is behind v1. Other checks are off, and the
// host forwards.
func routed() error {
	if err := address("v0", "198.18.0.1/24"); err != nil {
		return err
	}
	if err := address("v1", "198.18.1.1/24"); err != nil {
		return err
	}
	for _, name := range []string{"ipv4/ip_forward=1", "ipv4/conf/all/rp_filter=0", "ipv4/conf/v0/rp_filter=0", "ipv4/conf/v1/rp_filter=0"} {
		path, value, _ := strings.Cut(name, "=")
		if err := os.WriteFile(procSys+"net/"+path, []byte(value), 0); err != nil {
			return err
		}
	}
	v1, err := netlink.LinkByName("v1")
	if err != nil {
		return err
	}
	_, dst, _ := net.ParseCIDR("192.0.2.0/24")
	return netlink.RouteAdd(&netlink.Route{LinkIndex: v1.Attrs().Index, Dst: dst})
}

// acceptedFrom asks the kernel whether it accepts a packet that arrives on v0.
func acceptedFrom(source, target string) (bool, error) {
	_, err := netlink.RouteGetWithOptions(net.ParseIP(target), &netlink.RouteGetOptions{Iif: "v0", SrcAddr: net.ParseIP(source)})
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.EXDEV), errors.Is(err, unix.EHOSTUNREACH):
		return false, nil
	}
	return false, err
}

func refusedFrom(source, target string) (bool, error) {
	ok, err := acceptedFrom(source, target)
	return !ok, err
}

func promotes() (bool, error) {
	for _, a := range []string{"198.18.0.1/24", "198.18.0.2/24"} {
		if err := address("v0", a); err != nil {
			return false, err
		}
	}
	v0, err := netlink.LinkByName("v0")
	if err != nil {
		return false, err
	}
	first, _ := netlink.ParseAddr("198.18.0.1/24")
	if err := netlink.AddrDel(v0, first); err != nil {
		return false, err
	}
	left, err := netlink.AddrList(v0, netlink.FAMILY_V4)
	return len(left) == 1, err
}

func speaksIGMP2() (bool, error) {
	b, err := os.ReadFile("/proc/thread-self/net/igmp")
	if err != nil {
		return false, err
	}
	for _, l := range strings.Split(string(b), "\n") {
		if f := strings.Fields(l); len(f) > 4 && f[1] == "v0" {
			return f[len(f)-1] == "V2", nil
		}
	}
	return false, fmt.Errorf("/proc/net/igmp has no v0:\n%s", b)
}

// detectsDuplicates: an address stays tentative for the thirty seconds that as many solicitations
// take, or is usable as soon as the kernel has processed it.
func detectsDuplicates() (bool, error) {
	if err := os.WriteFile(procSys+"net/ipv6/conf/v0/dad_transmits", []byte("30"), 0); err != nil {
		return false, err
	}
	if err := address("v0", "2001:2::1/64"); err != nil {
		return false, err
	}
	for range 60 {
		a, err := globalAddress("v0")
		if err != nil || a == nil {
			return false, fmt.Errorf("the address is gone: %w", err)
		}
		if a.Flags&unix.IFA_F_TENTATIVE == 0 {
			return false, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return true, nil
}

func keepsAddress() (bool, error) {
	if err := address("v0", "2001:2::1/64"); err != nil {
		return false, err
	}
	v0, err := netlink.LinkByName("v0")
	if err != nil {
		return false, err
	}
	if err := netlink.LinkSetDown(v0); err != nil {
		return false, err
	}
	a, err := globalAddress("v0")
	return a != nil, err
}

func globalAddress(device string) (*netlink.Addr, error) {
	l, err := netlink.LinkByName(device)
	if err != nil {
		return nil, err
	}
	all, err := netlink.AddrList(l, netlink.FAMILY_V6)
	for i := range all {
		if all[i].IP.IsGlobalUnicast() {
			return &all[i], nil
		}
	}
	return nil, err
}
