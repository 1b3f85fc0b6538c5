package knob

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/nftables"
	"github.com/safchain/ethtool"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/labtest"
	"linerate/internal/load/wire/wiretest"
	"linerate/internal/port"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// fresh returns a Target in a new network namespace with two devices, one of them the end of a veth pair.
func fresh(t *testing.T) *Target {
	t.Helper()
	labtest.Namespaces(t)
	end, _ := wiretest.New(t)
	target := &Target{In: end.In, Devices: map[string]string{"ingress": end.Device, "egress": "lo"}}
	target.InSys = func(f func() error) error {
		return end.In(func() error { // the thread ends with its mounts
			return errors.Join(unix.Unshare(unix.CLONE_NEWNS), unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
				unix.Mount("sysfs", "/sys", "sysfs", 0, ""), f())
		})
	}
	inside(t, target, func() error {
		link, err := netlink.LinkByName(end.Device)
		if err != nil {
			return err
		}
		addr, err := netlink.ParseAddr("198.18.0.1/24")
		return errors.Join(err, netlink.AddrAdd(link, addr))
	})
	return target
}

func inside(t *testing.T, target *Target, f func() error) {
	t.Helper()
	if err := target.In(f); err != nil {
		t.Fatal(err)
	}
}

// sysctlOf reads a sysctl in the target's namespace.
func sysctlOf(t *testing.T, target *Target, file string) (value string) {
	t.Helper()
	inside(t, target, func() error {
		data, err := os.ReadFile(filepath.Join(sysctlRoot, file))
		value = folded(string(data))
		return err
	})
	return value
}

func apply(t *testing.T, target *Target, s setting.Setting) string {
	t.Helper()
	note, err := target.Apply(context.Background(), s)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return note
}

// TestAppliesWhatCanBeSeen sets a value by every mechanism, and checks the namespace by other means.
func TestAppliesWhatCanBeSeen(t *testing.T) {
	offload := func(target *Target, feature string) func() string {
		return func() (value string) {
			inside(t, target, func() error {
				e, err := ethtool.NewEthtool()
				if err != nil {
					return err
				}
				defer e.Close()
				f, err := e.Features(target.Devices["ingress"])
				value = map[bool]string{true: "on", false: "off"}[f[feature]]
				return err
			})
			return value
		}
	}
	link := func(target *Target, read func(*netlink.LinkAttrs) int) int {
		var n int
		inside(t, target, func() error {
			l, err := netlink.LinkByName(target.Devices["ingress"])
			if err == nil {
				n = read(l.Attrs())
			}
			return err
		})
		return n
	}
	target := fresh(t)
	for _, s := range []setting.Setting{
		{Mechanism: setting.Sysctl, Name: "net.ipv4.ip_forward", Value: "1"},
		{Mechanism: setting.Sysctl, Name: "net/ipv4/conf/gen0/rp_filter", Value: "2"},
		{Mechanism: setting.Sysctl, Name: "net.ipv4.tcp_rmem", Value: "4096 131072 2000000"},
		{Mechanism: setting.Link, Device: "ingress", Name: "mtu", Value: "1400"},
		{Mechanism: setting.Link, Device: "ingress", Name: "txqueuelen", Value: "77"},
		{Mechanism: setting.Link, Device: "ingress", Name: "gro", Value: "on"},
		{Mechanism: setting.Link, Device: "ingress", Name: "tso", Value: "off"},
		{Mechanism: setting.NAPI, Device: "ingress", Name: "gro-flush-timeout", Value: "20000"},
		{Mechanism: setting.Command, Argv: []string{"sh", "-c", "echo 33 > /proc/sys/net/ipv4/ip_default_ttl"}},
	} {
		if note := apply(t, target, s); note != "" {
			t.Errorf("%s: said %q of a setting that became what was asked", s, note)
		}
	}
	flush := ""
	if err := target.InSys(func() error {
		data, err := os.ReadFile("/sys/class/net/gen0/gro_flush_timeout")
		flush = folded(string(data))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct{ got, want any }{
		"ip_forward": {sysctlOf(t, target, "net/ipv4/ip_forward"), "1"},
		"rp_filter":  {sysctlOf(t, target, "net/ipv4/conf/gen0/rp_filter"), "2"},
		"tcp_rmem":   {sysctlOf(t, target, "net/ipv4/tcp_rmem"), "4096 131072 2000000"},
		"mtu":        {link(target, func(a *netlink.LinkAttrs) int { return a.MTU }), 1400},
		"txqueuelen": {link(target, func(a *netlink.LinkAttrs) int { return a.TxQLen }), 77},
		"gro":        {offload(target, "rx-gro")(), "on"},
		"tso":        {offload(target, "tx-tcp-segmentation")(), "off"},
		"napi":       {flush, "20000"},
		"command":    {sysctlOf(t, target, "net/ipv4/ip_default_ttl"), "33"},
	} {
		if c.got != c.want {
			t.Errorf("%s is %v, want %v", what, c.got, c.want)
		}
	}
}

// TestRoutes loads routes of every kind and counts them in the table.
func TestRoutes(t *testing.T) {
	target := fresh(t)
	for _, s := range []setting.Setting{
		{Mechanism: setting.Route, Name: "203.0.113.0/24", Value: "198.18.0.2"},
		{Mechanism: setting.Route, Name: "198.51.100.0/24", Value: "blackhole"},
		{Mechanism: setting.Route, Name: "240.0.0.1/32", Value: "ingress"},
		{Mechanism: setting.Route, Name: "192.0.2.0/24", Value: "198.19.9.9", Device: "ingress"},
	} {
		apply(t, target, s)
	}
	blackholes, hosts, via := 0, 0, map[string]bool{}
	inside(t, target, func() error {
		routes, err := netlink.RouteListFiltered(netlink.FAMILY_V4, &netlink.Route{Table: unix.RT_TABLE_MAIN}, netlink.RT_FILTER_TABLE)
		for _, r := range routes {
			ones, _ := r.Dst.Mask.Size()
			switch {
			case r.Type == unix.RTN_BLACKHOLE:
				blackholes++
			case ones == 32:
				hosts++
			case r.Gw != nil:
				via[r.Dst.String()+" "+r.Gw.String()] = true
			}
		}
		return err
	})
	if blackholes != 1 || hosts != 1 || !via["203.0.113.0/24 198.18.0.2"] || !via["192.0.2.0/24 198.19.9.9"] {
		t.Errorf("%d blackholes, %d host routes, gateways %v", blackholes, hosts, via)
	}
}

// TestRulesets counts the rules and elements that the kernel has afterwards.
func TestRulesets(t *testing.T) {
	for _, c := range []struct {
		rules    setting.Rules
		n        int // rules of the IPv4 chain
		elements int
	}{
		{setting.Rules{Linear: 250}, 250, 0},
		{setting.Rules{SetElements: 2500}, 1, 2500},
		{setting.Rules{Linear: 1, Stateful: true}, 3, 0},
		{setting.Rules{Text: "table ip linerate {\n chain forward {\n type filter hook forward priority 0\n ip saddr 240.0.0.1 drop\n }\n}\n"}, 1, 0},
	} {
		t.Run(c.rules.String(), func(t *testing.T) {
			target := fresh(t)
			needNFT(t, c.rules.Text)
			note := apply(t, target, setting.Setting{Mechanism: setting.NFT, Rules: &c.rules})
			if (note == "") != (c.rules.Text != "") {
				t.Errorf("note %q", note)
			}
			rules, elements := 0, 0
			inside(t, target, func() error {
				conn, err := nftables.New()
				if err != nil {
					return err
				}
				table := &nftables.Table{Family: nftables.TableFamilyIPv4, Name: "linerate"}
				list, err := conn.GetRules(table, &nftables.Chain{Name: "forward", Table: table})
				rules = len(list)
				if set, err := conn.GetSetByName(table, "never"); err == nil {
					e, err := conn.GetSetElements(set)
					elements = len(e)
					return err
				}
				return err
			})
			if rules != c.n || elements != c.elements {
				t.Errorf("%d rules and %d elements, want %d and %d", rules, elements, c.n, c.elements)
			}
		})
	}
}

// needNFT skips where nft(8) is needed and missing.
func needNFT(t *testing.T, text string) {
	t.Helper()
	if _, err := exec.LookPath("nft"); err != nil && text != "" {
		labtest.Lacking(t, "no nft(8)")
	}
}

// TestRefusesWithReason: what this machine does not support is unavailable, a mistake is an error, and neither
// leaves a partial change.
func TestRefusesWithReason(t *testing.T) {
	target := fresh(t)
	const unavailable, wrong = true, false
	for _, c := range []struct {
		name string
		set  setting.Setting
		kind bool
		says string
	}{
		{"a sysctl that is not there", setting.Setting{Mechanism: setting.Sysctl, Name: "net.ipv4.no_such", Value: "1"}, unavailable, "no such sysctl"},
		{"a sysctl that is not there, of no namespace", setting.Setting{Mechanism: setting.Sysctl, Name: "vm.no_such", Value: "1"}, unavailable, "no such sysctl"},
		{"a sysctl outside", setting.Setting{Mechanism: setting.Sysctl, Name: "net/../../../etc/passwd", Value: "1"}, wrong, "not valid"},
		{"a sysctl with NUL", setting.Setting{Mechanism: setting.Sysctl, Name: "net.ipv4\x00", Value: "1"}, wrong, "not valid"},
		{"a value that is none", setting.Setting{Mechanism: setting.Sysctl, Name: "net.ipv4.ip_forward", Value: "many"}, wrong, "invalid argument"},
		{"an offload that is none", setting.Setting{Mechanism: setting.Link, Device: "ingress", Name: "gra", Value: "on"}, wrong, "gra"},
		{"an offload neither on nor off", setting.Setting{Mechanism: setting.Link, Device: "ingress", Name: "gro", Value: "maybe"}, wrong, "neither on nor off"},
		{"an offload that is fixed", setting.Setting{Mechanism: setting.Link, Device: "egress", Name: "rx-checksum", Value: "off"}, unavailable, "fixed by its driver"},
		{"a device that is none", setting.Setting{Mechanism: setting.Link, Device: "uplink", Name: "mtu", Value: "1400"}, wrong, "unknown device"},
		{"an MTU that is none", setting.Setting{Mechanism: setting.Link, Device: "ingress", Name: "mtu", Value: "big"}, wrong, "not a number"},
		{"a NAPI setting that is none", setting.Setting{Mechanism: setting.NAPI, Device: "ingress", Name: "thread", Value: "1"}, wrong, "thread"},
		{"a prefix that is none", setting.Setting{Mechanism: setting.Route, Name: "300.0.0.0/8", Value: "blackhole"}, wrong, "300"},
		{"a next hop that is none", setting.Setting{Mechanism: setting.Route, Name: "240.0.0.0/8", Value: "nowhere"}, wrong, "nowhere"},
		{"a ruleset nft cannot read", setting.Setting{Mechanism: setting.NFT, Rules: &setting.Rules{Text: "table ip {"}}, wrong, "nft refused"},
		{"no ruleset", setting.Setting{Mechanism: setting.NFT}, wrong, "no ruleset"},
		{"a command that is not installed", setting.Setting{Mechanism: setting.Command, Argv: []string{"no-such-command"}}, unavailable, "not installed"},
		{"a command that fails", setting.Setting{Mechanism: setting.Command, Argv: []string{"sh", "-c", "echo because >&2; exit 3"}}, wrong, "because"},
		{"a command of nothing", setting.Setting{Mechanism: setting.Command}, wrong, "no arguments"},
		{"a mechanism that is none", setting.Setting{Mechanism: "loader", Name: "x", Value: "1"}, wrong, "unknown mechanism"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.set.Rules != nil {
				needNFT(t, c.set.Rules.Text)
			}
			_, err := target.Apply(context.Background(), c.set)
			var un *testbed.ErrUnavailable
			if err == nil || errors.As(err, &un) != c.kind || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
			if (c.set.Name == "gra" || c.set.Name == "thread") && hint.Of(err) == "" {
				t.Error("no suggestion for a misspelt name")
			}
		})
	}
	if got := sysctlOf(t, target, "net/ipv4/ip_forward"); got != "0" {
		t.Errorf("ip_forward is %s after a refused value", got)
	}
}

// TestSaysWhatWouldHelp: for what a kernel or machine lacks, the error says what to load, build in or install.
func TestSaysWhatWouldHelp(t *testing.T) {
	for _, c := range []struct {
		rules setting.Rules
		want  string
	}{
		{setting.Rules{Text: "table ip x { flowtable f { hook ingress priority 0; } }"}, "modprobe nft_flow_offload"},
		{setting.Rules{Text: "table ip x { synproxy s { mss 1460; } }"}, "CONFIG_NFT_SYNPROXY"},
		{setting.Rules{Linear: 1, By: "iptables-legacy"}, "CONFIG_IP_NF_IPTABLES"},
		{setting.Rules{Linear: 1, By: "iptables-nft"}, "CONFIG_NFT_COMPAT"},
		{setting.Rules{Linear: 1}, ""},
	} {
		s := setting.Setting{Mechanism: setting.NFT, Rules: &c.rules}
		err := helped(unavailable(s, "refused"), needsOf(s))
		if got := err.Error(); !strings.Contains(got, c.want) || c.want == "" && !strings.HasSuffix(got, "refused") {
			t.Errorf("%+v: %s", c.rules, got)
		}
	}
	if err := (&Target{In: port.Here}).feed(t.Context(), setting.Setting{}, "ipset-that-is-not-there", ""); err == nil || !strings.HasSuffix(err.Error(), "; install ipset-that-is-not-there") {
		t.Errorf("%v", err)
	}
}

// TestHostSettingsNeedPermission: a setting that is global to the kernel is unavailable until it is allowed.
func TestHostSettingsNeedPermission(t *testing.T) {
	target := fresh(t)
	_, err := target.Apply(context.Background(), setting.Setting{Mechanism: setting.Sysctl, Name: "net.core.netdev_budget", Value: "300"})
	var un *testbed.ErrUnavailable
	if !errors.As(err, &un) || !strings.Contains(err.Error(), "global to the kernel") {
		t.Errorf("%v", err)
	}
}

// TestFailedListIsPutBack: the kernel sets the numbers of a list one by one, so the first is set when the second
// is refused.
func TestFailedListIsPutBack(t *testing.T) {
	target := fresh(t)
	before := sysctlOf(t, target, "net/ipv4/tcp_rmem")
	_, err := target.Apply(context.Background(), setting.Setting{Mechanism: setting.Sysctl, Name: "net.ipv4.tcp_rmem", Value: "8192 0 9000000"})
	if !errors.Is(err, unix.EINVAL) {
		t.Fatalf("got %v, want EINVAL", err)
	}
	if after := sysctlOf(t, target, "net/ipv4/tcp_rmem"); after != before {
		t.Errorf("tcp_rmem was %s and is %s", before, after)
	}
}

// TestRoundedIsSaid: the kernel counts in ticks, so 1 ms is rounded to a whole one.
func TestRoundedIsSaid(t *testing.T) {
	target := fresh(t)
	note := apply(t, target, setting.Setting{Mechanism: setting.Sysctl, Name: "net.ipv4.icmp_ratelimit", Value: "1"})
	got := sysctlOf(t, target, "net/ipv4/icmp_ratelimit")
	if (got != "1") != strings.Contains(note, `asked for "1", the kernel made it "`+got+`"`) {
		t.Errorf("icmp_ratelimit 1 became %s, said %q", got, note)
	}
	if got == "1" {
		return // a kernel of 1000 Hz rounds nothing
	}
	// Asked for what rounds to what it has, it keeps that in silence: the
	// variant would be the control.
	_, err := target.Apply(context.Background(), setting.Setting{Mechanism: setting.Sysctl, Name: "net.ipv4.icmp_ratelimit", Value: "2"})
	var un *testbed.ErrUnavailable
	if !errors.As(err, &un) || !strings.Contains(err.Error(), "keeps") {
		t.Errorf("a value that changes nothing: %v", err)
	}
}
