package catalogue

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/fact/release"
	"linerate/internal/tunable"
)

// TestBornInABranch: a tunable that was added to a stable branch after its first release must not be recorded
// for that release.
func TestBornInABranch(t *testing.T) {
	c := catalogueOf(t)
	for _, want := range []struct{ name, without, with string }{
		{"net.pf.rule_tag_hashsize", "12.0", "12.1"},
		{"net.pf.queue_tag_hashsize", "12.0", "12.1"},
		{"net.pfsync.pfsync_buckets", "12.0", "12.1"},
		{"net.inet6.mld.v2enable", "12.0", "12.1"},
		{"net.inet.tcp.rexmit_initial", "12.0", "12.1"},
		{"net.inet.tcp.ts_offset_per_conn", "12.0", "12.1"},
		{"net.inet.tcp.function_info", "11.4", "12.0"},
		{"net.inet.ipsec.check_policy_history", "11.0", "11.1"},
		{"net.inet.ipsec.natt_cksum_policy", "11.0", "11.1"},
	} {
		r, ok := c.Lookup(tunable.FreeBSD, want.name)
		if !ok || r.Exists(release.MustParse(want.without)) || !r.Exists(release.MustParse(want.with)) {
			t.Errorf("%s: in %s, or not in %s", want.name, want.without, want.with)
		}
	}
}

// handled are values that a handler does not accept, and what it makes of them.
var handled = []struct {
	os, name, bad, good string
	outside             tunable.Outside
}{
	{tunable.FreeBSD, "hw.spec_store_bypass_disable", "3", "2", tunable.OwnSize},
	{tunable.FreeBSD, "machdep.mitigations.ssb.disable", "3", "2", tunable.OwnSize},
	{tunable.FreeBSD, "machdep.mitigations.zenbleed.enable", "3", "2", tunable.OwnSize},
	{tunable.FreeBSD, "dev.bnxt.N.hw_lro.enable", "2", "1", tunable.Clamped},
	{tunable.FreeBSD, "security.bsd.suser_enabled", "2", "1", tunable.Clamped},
	{tunable.FreeBSD, "net.inet.ip.fw.nat64_direct_output", "2", "1", tunable.Clamped},
	{tunable.FreeBSD, "net.inet.tcp.nolocaltimewait", "2", "1", tunable.Clamped},
	{tunable.FreeBSD, "kern.sched.quantum", "0", "1", tunable.Refused},
	{tunable.FreeBSD, "kern.compress_user_cores", "3", "2", tunable.Refused},
	{tunable.FreeBSD, "net.inet.igmp.gsrdelay", "60", "59", tunable.Refused},
	{tunable.FreeBSD, "dev.em.N.itr", "67109", "67108", tunable.Refused},
	{tunable.FreeBSD, "dev.mce.N.conf.rx_queue_size", "64", "128", tunable.Rounded},
	{tunable.FreeBSD, "dev.mce.N.conf.tx_queue_size", "32768", "16384", tunable.Rounded},
	{tunable.FreeBSD, "kern.ipc.nmbufs", "0", "1", tunable.OwnSize},
	{tunable.FreeBSD, "kern.ipc.nmbjumbo9", "0", "1", tunable.OwnSize},
	{tunable.Linux, "/sys/class/net/IF/threaded", "2", "1", tunable.Refused},
}

func TestHandlersBounds(t *testing.T) {
	c := catalogueOf(t)
	for _, want := range handled {
		holdsBound(t, c, want.os, want.name, want.bad, want.good, want.outside)
	}
}

// effects are words that a record's text must contain, because the code that uses the value contradicts its
// name or an older text.
var effects = []struct{ os, name, says string }{
	{tunable.FreeBSD, "vm.pmap.allow_2m_x_ept", "1 does, 0 does not"},
	{tunable.FreeBSD, "machdep.mitigations.rngds.enable", "the opposite"},
	{tunable.FreeBSD, "kern.ipc.nmbclusters", "net.inet.ip.maxfragpackets"},
	{tunable.FreeBSD, "net.inet.tcp.mssdflt", "path_mtu_discovery=0"},
	{tunable.FreeBSD, "net.inet.tcp.bbr.policer.false_postive_thresh", "is 0, its default"}, //nolint:misspell // its name
	{tunable.FreeBSD, "net.pfsync.carp_demotion_factor", "From 12.0 to 13.0 it has no effect"},
	{tunable.FreeBSD, "net.link.lagg.default_use_flowid", "From 12.0 to 13.0"},
	{tunable.FreeBSD, "net.inet.ip.portrange.reservedlow", "From 12.0 to 14.3"},
	{tunable.Linux, "fs.pipe-user-pages-soft", "two pages"},
	{tunable.Linux, "vm.percpu_pagelist_high_fraction", "EINVAL"},
	{tunable.Linux, "vm.stat_refresh", "Reading or writing"},
	{tunable.Linux, "/sys/class/net/BOND/bonding/lacp_rate", "while the bond is down"},
	{tunable.Linux, "/sys/class/net/BOND/bonding/ad_select", "while the bond is down"},
	{tunable.Linux, "/sys/class/net/BOND/bonding/tlb_dynamic_lb", "while the bond is down"},
}

func TestEffectsAsRead(t *testing.T) {
	c := catalogueOf(t)
	for _, want := range effects {
		r, ok := c.Lookup(want.os, want.name)
		if !ok {
			t.Errorf("%s: no record", want.name)
			continue
		}
		text := strings.Join(append([]string{r.Summary, r.Helps, r.Hurts}, r.Notes...), " ")
		for _, k := range r.Cautions {
			text += " " + k.Text
		}
		if !strings.Contains(text, want.says) {
			t.Errorf("%s: the record does not say: %s", want.name, want.says)
		}
	}
}

// TestRequestMaxcountOfTwelve: it was a loader variable once.
func TestRequestMaxcountOfTwelve(t *testing.T) {
	r, ok := catalogueOf(t).Lookup(tunable.FreeBSD, "net.pf.request_maxcount")
	if !ok || r.At(release.MustParse("12.1")).Settable.AtRuntime() || !r.At(release.MustParse("14.0")).Settable.AtRuntime() {
		t.Error("recorded as writable in 12.1, or as not writable in 14.0")
	}
}

// TestHeirsAreRelated: the successor in the notes of a removed name is among its related names, so that an
// audit's fix can name it.
func TestHeirsAreRelated(t *testing.T) {
	c := catalogueOf(t)
	today := map[string]release.Release{tunable.FreeBSD: release.MustParse("15.0"), tunable.Linux: release.MustParse("6.18")}
	heir := regexp.MustCompile(`(?:iflib in 12\.0; use|sysctl in 5\.13: now) ([A-Za-z0-9_./]*[A-Za-z0-9_])`)
	found := 0
	for _, r := range c.Records {
		if r.Removed.IsZero() || r.RenamedTo != "" {
			continue
		}
		for _, m := range heir.FindAllStringSubmatch(strings.Join(r.Notes, " "), -1) {
			if to, ok := c.Lookup(r.OS, m[1]); ok && to.Exists(today[r.OS]) {
				found++
				if !slices.Contains(r.Related, to.Name) {
					t.Errorf("%s:%d: %s: its notes name %s, which is not related", r.File, r.Line, r.Name, to.Name)
				}
			}
		}
	}
	if found < 8 {
		t.Errorf("%d successors found", found)
	}
}
