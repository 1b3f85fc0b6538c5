package benchlab

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"linerate/internal/study"
	"linerate/internal/testbed"
)

// Translation is a configuration as linerate's files say it.
type Translation struct {
	Study   study.Spec
	Testbed testbed.File
	// Notes say what is to be looked at, and what has no counterpart.
	Notes []string
}

// dutPorts are the DUT's interfaces, as far as the sets tell.
type dutPorts struct{ management, in, out string }

// Unknown stand for interfaces whose names are not recorded.
const (
	unknownManagement = "MANAGEMENT"
	unknownIn         = "INGRESS"
	unknownOut        = "EGRESS"
)

// Translate says a configuration and its sets as a testbed and a study named
// name, whose sets are in directories of the names given.
func Translate(name string, c Config, sets []Set) Translation {
	t := Translation{Notes: slices.Clone(c.Notes)}
	ports := t.ports(c, sets)
	t.testbed(c, ports)
	t.study(name, c, sets)
	return t
}

func (t *Translation) note(format string, args ...any) {
	t.Notes = append(t.Notes, fmt.Sprintf(format, args...))
}

func (t *Translation) testbed(c Config, p dutPorts) {
	v := c.Vars
	ssh := func(host string) string { return "ssh://root@" + host }
	f := testbed.File{Version: testbed.FileVersion, Hosts: testbed.Hosts{
		DUT:       &testbed.Host{SSH: ssh(v["DUT_ADMIN"]), Management: p.management},
		Generator: &testbed.Host{SSH: ssh(v["SENDER_ADMIN"])},
	}}
	if r := v["RECEIVER_ADMIN"]; r != "" && r != v["SENDER_ADMIN"] {
		f.Hosts.Receiver = &testbed.Host{SSH: ssh(r)}
	}
	offer, pktgen := c.Sends()
	in, out := firstOf(v["SENDER_LAB_IF"], offer.Interface, "SENDER"), firstOf(v["RECEIVER_LAB_IF"], "RECEIVER")
	f.Wires = []testbed.Wire{
		{From: "generator/" + in, To: "dut/" + p.in, FromIPv4: host16(v["SENDER_LAB_IP"])},
		{From: "dut/" + p.out, To: "receiver/" + out, ToIPv4: host16(v["RECEIVER_LAB_IP"])},
	}
	f.Traffic.Tool = testbed.ToolPktGen
	if pktgen {
		t.note("pkt-gen does not answer ARP: give the DUT static entries for the addresses behind the receiver, as the archive's sets do; what else SENDER_START_CMD says goes into traffic: {generate: […]}: %s", strings.Join(strings.Fields(v["SENDER_START_CMD"]), " "))
	} else {
		f.Traffic = testbed.Traffic{}
		t.note("the sender's command is not pkt-gen's (%.60s): the testbed generates with linerate itself", v["SENDER_START_CMD"])
	}
	f.Reboot = testbed.Reboot{Wait: testbed.Duration(timeout(v["REBOOT_TIMEOUT"])), Attempts: 1}
	if cmd := v["IS_DUT_ONLINE_CMD"]; v["IS_DUT_ONLINE_TARGET"] == v["DUT_ADMIN"] && cmd != "" {
		first, _, more := strings.Cut(cmd, "&&")
		f.Reboot.Online = strings.Fields(first)
		if more {
			t.note("online: has the first command of IS_DUT_ONLINE_CMD only: %s", cmd)
		}
	}
	for key, what := range map[string]string{"REF_ADMIN": "a reference endpoint", "SENDER_ADMIN_2": "a second generator", "SENDER_START_CMD_2": "a second command on the generator"} {
		if v[key] != "" {
			t.note("%s=%s: %s has no counterpart; what was left out is part of what the archive measured", key, v[key], what)
		}
	}
	slices.Sort(t.Notes)
	t.Testbed = f
}

// host16 is an address of the lab with the prefix of the benchmarking range.
func host16(s string) string {
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is4() {
		return ""
	}
	return netip.PrefixFrom(a, 16).String()
}

// timeout is REBOOT_TIMEOUT, which counts fives of seconds.
func timeout(s string) time.Duration {
	var n int
	if _, err := fmt.Sscan(s, &n); err != nil || n < 1 || n > 1440 {
		return 10 * time.Minute
	}
	return time.Duration(n) * 5 * time.Second
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// ifconfigLine is an interface's IPv4 address in rc.conf.
var ifconfigLine = regexp.MustCompile(`(?m)^ifconfig_([A-Za-z0-9]+)="?(?:inet )?([0-9.]+)[/ ]`)

// ports finds the DUT's interfaces in the first set that tells: the
// benchmarking range is the lab's, anything else is management.
func (t *Translation) ports(c Config, sets []Set) dutPorts {
	p := dutPorts{unknownManagement, unknownIn, unknownOut}
	for _, s := range sets {
		for _, m := range ifconfigLine.FindAllStringSubmatch(s.Files["/etc/rc.conf"], -1) {
			a, err := netip.ParseAddr(m[2])
			switch {
			case err != nil:
			case near(a, c.Vars["SENDER_LAB_IP"], 24):
				p.in = m[1]
			case near(a, c.Vars["RECEIVER_LAB_IP"], 24), netip.MustParsePrefix("198.19.0.0/16").Contains(a), netip.MustParsePrefix("198.18.0.0/15").Contains(a) && p.in != unknownIn:
				p.out = m[1]
			case !netip.MustParsePrefix("198.18.0.0/15").Contains(a):
				p.management = m[1]
			}
		}
		if p.in != unknownIn && p.out != unknownOut {
			break
		}
	}
	for _, u := range []string{p.management, p.in, p.out} {
		if u == unknownManagement || u == unknownIn || u == unknownOut {
			t.note("nothing tells the DUT's interface that is called %s in testbed.yaml: write its name there", u)
		}
	}
	return p
}

// near reports whether an address is of the network of another.
func near(a netip.Addr, of string, bits int) bool {
	b, err := netip.ParseAddr(of)
	return err == nil && b.Is4() && netip.PrefixFrom(b, bits).Masked().Contains(a)
}

// blocks is bench-lab's BENCH_ITER.
const blocks = 5

func (t *Translation) study(name string, c Config, sets []Set) {
	o, pktgen := c.Sends()
	s := study.Spec{Version: study.SpecVersion, Name: name, Question: fmt.Sprintf("Which of the configuration sets of %s forwards most?", name),
		Testbed: study.Testbed{Kind: testbed.KindSSH, File: "testbed.yaml"}, Reset: study.ResetReboot, Design: study.Blocks, Blocks: blocks,
		Retries: 1, Gates: study.DefaultGates(), Workload: workload(o)}
	for _, set := range sets {
		s.Variants = append(s.Variants, study.Variant{Name: VariantName(set.Name), Settings: []study.Setting{{Files: "sets/" + set.Name}}})
	}
	rate := study.MaxRate
	if o.PPS > 0 {
		rate = study.Rate(fmt.Sprintf("%dpps", o.PPS))
	}
	s.Parts = []study.Part{{Name: "overload", Mode: "overload", Rate: rate, Blocks: blocks, Seconds: 60, Warmup: 10}}
	s.Metrics = []study.Goal{{Metric: study.OverloadRate, Part: "overload", Primary: true, MarginPercent: 3}}
	if len(s.Variants) > 0 {
		s.Control = s.Variants[0].Name
		t.note("the control is %s, the first set; write another into study.yaml if it is not what the others are to be compared with", s.Control)
	}
	t.note("bench-lab runs each set's %d series one after the other; this study runs %d blocks of all sets in random order", blocks, blocks)
	if o.Packets > 0 {
		t.note("pkt-gen sent %d packets a series; a trial lasts 60 s here", o.Packets)
	}
	if pktgen && o.Size < 64 {
		t.note("pkt-gen's -l %d is shorter than Ethernet's smallest frame: 64 bytes are sent", o.Size-4)
	}
	t.Study = s
}

func workload(o Offer) study.Workload {
	w := study.Workload{Family: "ipv4", Sizes: []int{max(64, o.Size)}, Order: "round-robin", Flows: 1000}
	if o.IPv6 {
		w.Family, w.Sizes = "ipv6", []int{max(84, o.Size)}
	}
	if o.Sources.First.IsValid() && o.Destination.First.IsValid() {
		w.Sources, w.Destinations = o.Sources.Addresses(), o.Destination.Addresses()
		w.Flows = min(1<<20, w.Sources*w.Destinations)
	}
	return w
}

// VariantName makes a variant's name of a set's.
func VariantName(set string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, set)
	name = strings.TrimLeft(name, "._-")
	if name == "" || name == study.AA {
		name = "set-" + name
	}
	return name[:min(len(name), 64)]
}
