package catalogue

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/fact/release"
	"linerate/internal/tunable"
)

// bounds are values just outside and just inside the range of FreeBSD's handlers, for settings whose records
// had only one bound.
var bounds = []struct {
	name, bad, good string
	outside         tunable.Outside
}{
	{"net.inet.ip.dummynet.codel.target", "5000001", "5000000", tunable.Refused},
	{"net.inet.ip.dummynet.codel.interval", "100000001", "100000000", tunable.Refused},
	{"net.inet.ip.dummynet.fqcodel.target", "5000001", "5000000", tunable.Refused},
	{"net.inet.ip.dummynet.fqcodel.interval", "100000001", "100000000", tunable.Refused},
	{"net.inet.ip.dummynet.fqpie.target", "10000001", "10000000", tunable.Refused},
	{"net.inet.ip.dummynet.fqpie.tupdate", "10000001", "10000000", tunable.Refused},
	{"net.inet.ip.reass_hashsize", "1", "2", tunable.Fatal},
	{"net.inet.tcp.rack.pacing.fullbufdisc", "51", "50", tunable.Taken},
	{"hw.igc.max_interrupt_rate", "-1", "0", tunable.Taken},
}

func TestBothBounds(t *testing.T) {
	c := catalogueOf(t)
	for _, want := range bounds {
		holdsBound(t, c, tunable.FreeBSD, want.name, want.bad, want.good, want.outside)
	}
}

// holdsBound fails for a record that accepts a bad value, refuses a good one, or misstates what the kernel does
// outside the range.
func holdsBound(t *testing.T, c *tunable.Catalogue, os, name, bad, good string, outside tunable.Outside) {
	t.Helper()
	r, ok := c.Lookup(os, name)
	if !ok {
		t.Errorf("%s: no record", name)
		return
	}
	if r.Reject(bad) == nil || r.Reject(good) != nil || r.Constraints.Outside != outside {
		t.Errorf("%s: %s gives %v, %s gives %v, outside %q", name, bad, r.Reject(bad), good, r.Reject(good), r.Constraints.Outside)
	}
}

// TestPlaceholdersAreFilled: the {driver} of a template is never shown.
func TestPlaceholdersAreFilled(t *testing.T) {
	for _, r := range catalogueOf(t).Records {
		texts := []string{r.Name, r.Summary, r.Effective, r.Helps, r.Hurts}
		texts = append(append(texts, r.Notes...), r.Related...)
		for _, k := range r.Cautions {
			texts = append(texts, k.Text, k.Fix)
		}
		for _, k := range r.Recommend {
			texts = append(texts, k.Reason)
		}
		for _, text := range texts {
			if strings.Contains(text, "{driver}") {
				t.Errorf("%s:%d: %s: %s", r.File, r.Line, r.Name, text)
			}
		}
	}
}

// TestSummaryStandsAlone: explain prints a summary without the preceding record, so it must not refer to one.
func TestSummaryStandsAlone(t *testing.T) {
	pointing := regexp.MustCompile(`\blikewise\b|of the same[.;]|^(They|It|Its|These|The same|The other)\b|\badded for it\b|\bthe two may\b`)
	for _, r := range catalogueOf(t).Records {
		if pointing.MatchString(r.Summary) {
			t.Errorf("%s:%d: %s points to another record: %s", r.File, r.Line, r.Name, r.Summary)
		}
	}
}

// secure are the sysctls with a record that FreeBSD's source marks CTLFLAG_SECURE or CTLFLAG_SECURE3.
var secure = []string{
	"debug.trace_on_panic",
	"net.inet.ip.fw.enable",
	"net.inet.ip.fw.one_pass",
	"net.inet.ip.fw.verbose",
	"net.inet.ip.portrange.reservedhigh",
	"net.inet.ip.portrange.reservedlow",
	"net.inet6.ip6.fw.deny_unknown_exthdrs",
	"net.inet6.ip6.fw.enable",
	"net.inet6.ip6.fw.permit_single_frag6",
	"net.link.ether.ipfw",
	"security.bsd.unprivileged_proc_debug",
}

// TestSecureLevel: a record says if a securelevel prevents writing.
func TestSecureLevel(t *testing.T) {
	c := catalogueOf(t)
	for _, name := range secure {
		r, ok := c.Lookup(tunable.FreeBSD, name)
		if !ok || !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "securelevel") }) {
			t.Errorf("%s: the record does not mention the securelevel", name)
		}
	}
}

// TestOptionsAge: no setting is older than its kernel option.
func TestOptionsAge(t *testing.T) {
	born := []string{"TCP_SAD_DETECTION", "KERN_TLS"}
	before := release.MustParse("12.4")
	for _, r := range catalogueOf(t).Records {
		if slices.Contains(born, r.KernelOption) && r.OS == tunable.FreeBSD && r.Exists(before) {
			t.Errorf("%s:%d: %s is recorded for %v, before %s existed", r.File, r.Line, r.Name, before, r.KernelOption)
		}
	}
	for _, name := range []string{"maxpsks", "numpsks", "setpsk", "ccache_list"} {
		if r, ok := catalogueOf(t).Lookup(tunable.FreeBSD, "net.inet.tcp.fastopen."+name); !ok || r.Exists(release.MustParse("11.4")) {
			t.Errorf("net.inet.tcp.fastopen.%s came with the client's side, in 12.0", name)
		}
	}
}

// TestOldUnits: FreeBSD 13's RACK counts in milliseconds what it counts in microseconds since 14.0.
func TestOldUnits(t *testing.T) {
	c := catalogueOf(t)
	for _, name := range []string{
		"tlp.reorder_fade", "tlp.pktdelay", "tlp.tlpminto", "timers.persmin", "timers.persmax",
		"timers.minto", "timers.minrto", "timers.maxrto", "timers.delayed_ack",
	} {
		r, ok := c.Lookup(tunable.FreeBSD, "net.inet.tcp.rack."+name)
		if !ok || r.Unit != "us" || !slices.ContainsFunc(r.Changes, func(k tunable.Change) bool { return k.Unit == "ms" }) {
			t.Errorf("net.inet.tcp.rack.%s: the record does not state the unit of 13", name)
		}
	}
}

// TestZeroOfADivisor: RACK and BBR check these before they divide, and the records say what 0 does.
func TestZeroOfADivisor(t *testing.T) {
	c := catalogueOf(t)
	for _, name := range []string{
		"bbr.pacing.srtt_mul", "bbr.pacing.srtt_div", "bbr.states.ld_mul", "bbr.states.ld_div",
		"bbr.cwnd.red_scale", "rack.pacing.burst_reduces", "rack.probertt.length_div",
	} {
		r, ok := c.Lookup(tunable.FreeBSD, "net.inet.tcp."+name)
		if !ok || !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "0") }) {
			t.Errorf("net.inet.tcp.%s: the record does not say what 0 does", name)
		}
	}
}
