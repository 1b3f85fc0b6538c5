package netbenches

import (
	"math"
	"strings"
	"testing"
)

// TestParseLog: every form of pkt-gen's lines in the archive's eleven years, and two more that pkt-gen can
// print.
func TestParseLog(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       Interval
		ok         bool
	}{
		{"2015", "172.834253 main_thread [1550] 152111 pps (152396 pkts in 1001875 usec)", Interval{0, 152111, 152396, 1001875}, true},
		{"later", "754.353950 main_thread [2786] 10513652 pps (11177810 pkts 5046553000 bps in 1063171 usec) 10.64 avg_batch 0 min_space", Interval{0, 10513652, 11177810, 1063171}, true},
		{"scaled", "1.0 main_thread [2641] 1.488 Mpps (1.490 Mpkts 714.240 Mbps in 1001000 usec) 512.00 avg_batch", Interval{0, 1.488e6, 1.49e6, 1001000}, true},
		{"kilo", "1.0 main_thread [2641] 850.5 Kpps (851.000 Kpkts in 1000500 usec)", Interval{0, 850500, 851000, 1000500}, true},
		{"averages", "1.0 main_thread [2700] 100 pps [avg/std 99/3 pps] (101 pkts 48480 bps in 1010000 usec)", Interval{0, 100, 101, 1010000}, true},
		{"zero", "823.168665 main_thread [2786] 0 pps (0 pkts 0 bps in 1030234 usec) 0.00 avg_batch 4091 min_space", Interval{0, 0, 0, 1030234}, true},
		{"cut off", "823.168665 main_thread [2786] 1234 pps (12", Interval{0, 1234, 0, 0}, true},
		{"other", "171.832389 receiver_body [1282] reading from netmap:igb2 fd 4 main_fd 3", Interval{}, false},
		{"absurd", "1.0 main_thread [1] 99999999999999999999 pps (1 pkts in 1 usec)", Interval{}, false},
	} {
		l := ParseLog([]byte(c.line))
		if got := len(l.Intervals) == 1; got != c.ok {
			t.Errorf("%s: %d intervals", c.name, len(l.Intervals))
			continue
		}
		if c.ok {
			got := l.Intervals[0]
			got.Line = 0
			if !(math.Abs(got.PPS-c.want.PPS) <= 1e-6) || got.Packets != c.want.Packets || got.Micros != c.want.Micros {
				t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
			}
		}
	}
}

func TestParseLogRest(t *testing.T) {
	l := ParseLog([]byte("CMD on bigone: sudo pkt-gen -N -f rx -i ix1 -w 2 -W\n" +
		"751.1 receiver_body [1940] waiting for initial packets, poll returns 0 0\n" +
		"751.2 main_thread [2700] ouch, thread 0 exited with error\n" +
		"Received 821720699 packets 49303241940 bytes 78218972 events 60 bytes each in 68.66 seconds."))
	if l.Command != "sudo pkt-gen -N -f rx -i ix1 -w 2 -W" || l.Lines != 4 ||
		l.Packets != 821720699 || l.Seconds != 68.66 || !l.Ended {
		t.Errorf("%+v", l)
	}
	if len(l.Faults) != 1 || l.Faults[0] != "ouch, thread 0 exited with error" {
		t.Errorf("faults %q", l.Faults)
	}
	old := ParseLog([]byte("CMD: pkt-gen -f rx -i igb2 -w 4\nTerminated\n"))
	if old.Command != "pkt-gen -f rx -i igb2 -w 4" || !old.Ended || old.Lines != 2 {
		t.Errorf("%+v", old)
	}
}

// report returns a log with a preamble of head lines, followed by rates, one per second.
func report(head int, rates ...int) []byte {
	var b strings.Builder
	for range head {
		b.WriteString("0.0 main [1] preamble\n")
	}
	for _, r := range rates {
		b.WriteString("0.0 main_thread [1] " + itoa(r) + " pps (" + itoa(r) + " pkts in 1000000 usec)\n")
	}
	b.WriteString("Terminated\n")
	return []byte(b.String())
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

// TestScriptMedian: rows are selected by line rather than by time, zeros are excluded, and both middle values are returned.
func TestScriptMedian(t *testing.T) {
	rates := make([]int, 32)
	for i := range rates {
		rates[i] = 1000 + i
	}
	rates[10] = 0
	l := ParseLog(report(9, rates...)) // 42 lines: reports on 10 to 41; kept: lines 16 to 32, rates 1006 to 1022
	mean, upper, _ := l.ScriptMedian()
	if mean != 1014.5 || upper != 1015 {
		t.Errorf("median %g and %g, want 1014.5 and 1015", mean, upper)
	}
	short := ParseLog(report(9, 5, 5, 5, 5, 5))
	if _, _, ok := short.ScriptMedian(); ok {
		t.Error("a log without a usable row has a median")
	}
}

func TestEightDigits(t *testing.T) {
	for v, want := range map[float64]float64{152698: 152698, 14488571.5: 14488572, 123456785: 123456780, 0: 0} {
		if got := eightDigits(v); got != want {
			t.Errorf("%.10g prints as %.10g, want %.10g", v, got, want)
		}
	}
}

// TestSteady: rows are selected by time; a two-second interval counts twice.
func TestSteady(t *testing.T) {
	l := ParseLog([]byte(strings.Repeat("0.0 main_thread [1] 0 pps (0 pkts in 1000000 usec)\n", 3) +
		strings.Repeat("0.0 main_thread [1] 900 pps (900 pkts in 1000000 usec)\n", 5) +
		"0.0 main_thread [1] 1000 pps (2000 pkts in 2000000 usec)\n0.0 main_thread [1] 400 pps (400 pkts in 1000000 usec)\n" +
		strings.Repeat("0.0 main_thread [1] 100 pps (100 pkts in 1000000 usec)\n", 2) +
		"0.0 main_thread [1] 0 pps (0 pkts in 1000000 usec)\n"))
	if pps, _, ok := l.Steady(); !ok || pps != 800 {
		t.Errorf("steady %g, %v", pps, ok)
	}
}

func TestParseEquilibrium(t *testing.T) {
	for name, text := range map[string]string{
		"2017": "CMD: equilibrium -4 -u -d 00:00:5e:00:53:01 -t igb2 -r igb3\nBenchmark tool using equilibrium throughput method\n- UDP load = 500B, IPv4 packet size=528B, Ethernet frame size=542B\nIteration 1\n  - Offering load = 500 Mb/s\n  - Step = 250 Mb/s\n  - Measured forwarding rate = 106 Mb/s\nIteration 2\n  - Offering load = 106 Mb/s\n  - Measured forwarding rate = 105 Mb/s\nEstimated Equilibrium Ethernet throughput= 105 Mb/s (maximum value seen: 106 Mb/s)\n",
		"2016": "[root@R1]/tmp# equilibrium -l 1000 -t igb2 -r igb3 -u\nBenchmark tool using equilibrium throughput method\n- UDP load = 500B, IP packet size=528B, Ethernet frame size=542B\nIteration 1\n  - offering load = 500 Mb/s\n  - STEP = 250 Mb/s\n  - Measured forwarding rate = 106 Mb/s\nIteration 2\n  - offering load = 106 Mb/s\n  - TREND = decreasing\n  - Measured forwarding rate = 105 Mb/s\nEstimated Equilibrium link throughput= 105 Mb/s (maximum value seen: 106 Mb/s)\n",
	} {
		if !IsEquilibrium([]byte(text)) {
			t.Errorf("%s: not distinguished from a pkt-gen log", name)
		}
		e := ParseEquilibrium([]byte(text))
		if !e.Done || e.Estimate != 105 || e.Maximum != 106 || e.Frame != 542 {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if e := ParseEquilibrium([]byte("CMD: equilibrium -4\nIteration 1\n")); e.Done {
		t.Error("a truncated search has an estimate")
	}
}

func TestParseInfo(t *testing.T) {
	one, err := ParseInfo([]byte("Image: /tmp/BSDRP-287478-upgrade-amd64-serial.img.xz\nCFG: configs//pf-statefull\nFreeBSD APU 10.2-RELEASE-p2 FreeBSD 10.2-RELEASE-p2 #2 r287147M: Tue Aug 25 23:34:21 CEST 2015     root@x:/usr/obj  amd64\nStart time: Fri Sep 11 19:51:06 CEST 2015\nEnd time: May  6, 2016 at 12:44:40 AM CEST\n"))
	if err != nil || !one.Early || one.Config != "pf-statefull" || one.ImageLabel() != "287478" {
		t.Errorf("generation 1: %+v, %v", one, err)
	}
	if at, ok := one.Started(); !ok || at.Format("2006-01-02T15:04:05Z07:00") != "2015-09-11T17:51:06Z" {
		t.Errorf("started %v, %v", at, ok)
	}
	if u := ParseUname(one.Uname); u.Release != "10.2-RELEASE-p2" || u.Revision != "r287147" || u.Arch != "amd64" {
		t.Errorf("uname %+v", u)
	}
	two, err := ParseInfo([]byte("IMAGE=\"\"\nCFG='4479'\nPKTGEN=inet4\nBEFORE_CMD=\"\"\nUNAME=\"FreeBSD a 15.0-CURRENT FreeBSD 15.0-CURRENT #0 main-n302145-e69573bc2be: x  amd64\""))
	if err != nil || two.Early || two.Config != "4479" || two.Workload != "inet4" || ParseUname(two.Uname).Revision != "n302145-e69573bc2be" {
		t.Errorf("generation 2: %+v, %v", two, err)
	}
	for _, bad := range []string{"", "CFG=\"$(touch /tmp/x)\"", "CFG=`id`", "CFG=\"a\";rm -rf /", "CFG=a b", "CFG=\"open", "echo hello", "CFG=${HOME}", "CFG=a\\\nb"} {
		if in, err := ParseInfo([]byte(bad)); err == nil {
			t.Errorf("%q was read as %+v", bad, in)
		}
	}
}

func TestNames(t *testing.T) {
	for base, want := range map[string]RawName{
		"bench.forwarding.aim.off.10.receiver":     {"forwarding.aim.off", 10, "receiver"},
		"bench.11.0.pf-stateful.1.sender":          {"11.0.pf-stateful", 1, "sender"},
		"bench.1.receiver":                         {"", 1, "receiver"},
		"bench.r287478.forwarding.3.sender_gen2_2": {"r287478.forwarding", 3, "sender_gen2_2"},
		"bench.aes-cbc-128.NOaesni.3":              {"aes-cbc-128.NOaesni", 3, ""},
		"bench.1048576.50K.2.sender_2":             {"1048576.50K", 2, "sender_2"},
	} {
		if got, ok := ParseRawName(base); !ok || got != want {
			t.Errorf("%s: %+v, %v; want %+v", base, got, ok, want)
		}
	}
	for _, base := range []string{"bench.forwarding.info", "bench.on.1.pmc.graph", "pps.1", "bench.x.1.svg", "bench.off.rate850k.during"} {
		if got, ok := ParseRawName(base); ok {
			t.Errorf("%s was read as a log: %+v", base, got)
		}
	}
	for p, want := range map[string]Role{
		"t/configs/a/etc/rc.conf": RoleConfig, "t/configs/a/etc/ssl/private/x.key": RoleSecret, "t/configs/a/wg0.priv": RoleSecret,
		"t/results/l/README.md": RoleReadme, "t/results/l/x.svg": RoleProfile, "t/results/l/gnuplot.data": RoleGnuplot,
		"t/results/l/bench.a.1.receiver": RoleReceiver, "t/results/l/a.pps": RoleValues, "bench-lab-2nodes.config": RoleValues,
		"t/results/configs.txt": RoleValues,
	} {
		if got := roleOf(p); got != want {
			t.Errorf("%s is %s, want %s", p, got, want)
		}
	}
}

func TestParsePlace(t *testing.T) {
	p := ParsePlace("/data/nb/Intel_Xeon_E5-2650_8x2Cores/Chelsio_T540-CR/pf/result/fbsd13-r365328")
	want := Place{"Intel_Xeon_E5-2650_8x2Cores", "Intel Xeon E5-2650", 0, "Chelsio T540-CR", "pf", "fbsd13-r365328"}
	if p != want {
		t.Errorf("%+v, want %+v", p, want)
	}
	if ParsePlace("/data/nb/configs") != (Place{}) {
		t.Error("a path without results has a place")
	}
}

func TestNumbers(t *testing.T) {
	if v := numbers([]byte("1.5\n2\n\n3e5\n")); len(v) != 3 || v[2] != 3e5 {
		t.Errorf("%v", v)
	}
	for _, bad := range []string{"", "1 2\n", "a\n", "NaN\n", "-1\n", "Inf\n"} {
		if v := numbers([]byte(bad)); v != nil {
			t.Errorf("%q: %v", bad, v)
		}
	}
}

func TestOffered(t *testing.T) {
	for cmd, want := range map[string]string{
		"pkt-gen -f tx -N -i igb2 -n 8 -l 60 -4 -d 198.19.10.1:2001-198.19.10.100 -D 00:00:5e:00:53:01 -s 198.18.10.1:2001-198.18.10.20 -w 4": "IPv4 UDP 64 B, 2000 flows",
		"pkt-gen -f tx -i x -l 62 -6 -d \"[2001:2:0:8010::1]-[2001:2:0:8010::64]\" -s \"[2001:2:0:10::1]-[2001:2:0:10::14]\" -R 850000":       "IPv6 UDP 66 B, 2000 flows, 850000 pps offered",
		"pkt-gen -f tx -i x -l 43 -d 198.19.10.1:2001-198.19.10.1:2010 -s 198.18.10.1":                                                        "IPv4 UDP 64 B, 10 flows",
		"pkt-gen -f tx -i x -l 1514": "IPv4 UDP 1518 B",
		"pkt-gen -l":                 "IPv4 UDP",
		"":                           "IPv4 UDP",
	} {
		if got := offered(cmd, 1, ""); got != want {
			t.Errorf("%s: %q, want %q", cmd, got, want)
		}
	}
}

func TestSettings(t *testing.T) {
	c := &Config{}
	for _, f := range []struct{ path, text string }{
		{"s/etc/defaults/vendor.conf", "harvest_mask=\"511\"\ndisablelrotso_enable=\"YES\"\n"},
		{"s/etc/rc.conf", "hostname=x\nharvest_mask=\"351\" # why\nicmp_drop_redirect=\"yes\"\nifconfig_igb1=\"inet 198.18.0.5/24 -tso4 lro mtu 9000\"\nifconfig_igb2=\"inet 198.19.0.5/24 -tso4 lro mtu 9000\"\n# pf_enable=\"YES\"\n"},
		{"s/boot/loader.conf.local", "hw.igb.rxd=\"4096\"\t# descriptors\nhw.usb.no_pf=1\n"},
		{"s/etc/sysctl.conf", "dev.igb.0.fc=0\ndev.igb.1.fc=0\nnet.inet.ip.redirect=0\n"},
		{"s/etc/pf.conf", "set skip on lo0\nset limit states 1000000\npass # all\n"},
	} {
		c.add(strings.TrimPrefix(f.path, "s/"), ParseSettings(f.path, []byte(f.text)))
	}
	for name, want := range map[string]string{
		"kern.random.harvest.mask": "351", "net.inet.icmp.drop_redirect": "1", "ifconfig:tso4": "off", "ifconfig:lro": "on", "ifconfig:mtu": "9000",
		"hw.igb.rxd": "4096", "dev.igb.N.fc": "0", "pf.conf set limit states": "1000000", "disablelrotso_enable": "YES",
	} {
		if s, ok := c.settings[name]; !ok || s.Value != want {
			t.Errorf("%s is %q, %v; want %q", name, s.Value, ok, want)
		}
	}
	if c.Driver() != "igb" {
		t.Errorf("driver %q", c.Driver())
	}
	if s := c.settings["dev.igb.N.fc"]; s.Line != 1 {
		t.Errorf("line of fc %+v", s)
	}
	other := &Config{}
	other.add("etc/rc.conf", ParseSettings("o/etc/rc.conf", []byte("hostname=y\nharvest_mask=\"351\"\n")))
	for _, ch := range Diff(other, c) {
		if ch.Tunable == "hostname" || ch.Tunable == "kern.random.harvest.mask" || ch.Tunable == "hw.usb.no_pf" || strings.HasPrefix(ch.Tunable, "\x00") {
			t.Errorf("%+v is not a relevant difference", ch)
		}
	}
}

func TestConfigSet(t *testing.T) {
	for p, want := range map[string][2]string{
		"c/n/t/configs/on/etc/rc.conf":        {"c/n/t/configs/on", "etc/rc.conf"},
		"c/n/t/configs/etc/rc.conf":           {"c/n/t/configs", "etc/rc.conf"},
		"c/n/t/configs/ipsec/dut/etc/rc.conf": {"c/n/t/configs/ipsec", "dut/etc/rc.conf"},
		"configs/a/boot/loader.conf":          {"configs/a", "boot/loader.conf"},
	} {
		if set, inside := configSet(p); set != want[0] || inside != want[1] {
			t.Errorf("%s: %q, %q", p, set, inside)
		}
	}
}

func TestFoldName(t *testing.T) {
	for _, c := range [][2]string{{"pf-statefull", "pf-stateful"}, {"default-enabled", "enabled-default"}, {"off_default", "off"}} {
		if foldName(c[0]) != foldName(c[1]) {
			t.Errorf("%s and %s are not recognised as the same name", c[0], c[1])
		}
	}
	for _, c := range [][2]string{{"1", "11"}, {"on", "off"}, {"100", "1000"}, {"rxd-1024", "rxd-2048"}} {
		if foldName(c[0]) == foldName(c[1]) {
			t.Errorf("%s and %s are treated as the same name", c[0], c[1])
		}
	}
}

// TestNamesData: the data file parses, and its patterns compile.
func TestNamesData(t *testing.T) {
	n := loadNames()
	if n.tunable("harvest_mask") != "kern.random.harvest.mask" || !n.ignored("static_arp_sender") || n.ignored("kern.random.harvest.mask") {
		t.Error("data/names.yaml lacks expected entries")
	}
	for _, p := range n.Ignore {
		if !matches(p, p) && !strings.Contains(p, "*") {
			t.Errorf("pattern %q", p)
		}
	}
	if d := n.driver("Intel i210AT"); d != "igb" {
		t.Errorf("driver of an i210: %q", d)
	}
}

func FuzzParseLog(f *testing.F) {
	f.Add(report(9, 1, 2, 3))
	f.Add([]byte("CMD on x: pkt-gen\n1 main_thread [1] 1.5 Mpps (2 pkts in 3 usec)\nReceived 9 packets, 1 bytes each, in 1.0 seconds."))
	f.Add([]byte("main_thread ["))
	f.Fuzz(func(t *testing.T, data []byte) {
		l := ParseLog(data)
		if len(l.Intervals) > l.Lines {
			t.Errorf("%d intervals in %d lines", len(l.Intervals), l.Lines)
		}
		if m, _, ok := l.ScriptMedian(); ok && !(m >= 1) {
			t.Errorf("median %g of rows at 1 pps and more", m)
		}
		if pps, _, ok := l.Steady(); ok && !(pps > 0) {
			t.Errorf("steady %g", pps)
		}
		IsEquilibrium(data)
		ParseEquilibrium(data)
	})
}

func FuzzParseInfo(f *testing.F) {
	f.Add([]byte("IMAGE=\"\"\nCFG=\"a\"\nPKTGEN=\"\"\nUNAME=\"FreeBSD x 11.0 y\""))
	f.Add([]byte("Image: none\nCFG: configs//x\nFreeBSD a 10.2 b\nStart time: x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := ParseInfo(data)
		if err == nil && !in.Early && strings.ContainsAny(in.Config+in.Workload+in.Image+in.Uname, "$`\\") {
			t.Errorf("a shell expansion was accepted: %+v", in)
		}
		if strings.Contains(in.Config, "/") {
			t.Errorf("a configuration's name contains a path: %q", in.Config)
		}
		in.Started()
		ParseUname(in.Uname)
	})
}

func FuzzReadme(f *testing.F) {
	f.Add("# T\n```\nx a\n+ b\n    N           Min           Max        Median           Avg        Stddev\nx   5             1             2             1           1.5     0.5\n```\n")
	f.Fuzz(func(_ *testing.T, text string) {
		conclude(&Tree{Readmes: []*Readme{parseReadme("a/README.md", []byte(text))}})
	})
}

func FuzzSettings(f *testing.F) {
	f.Add("s/etc/rc.conf", "ifconfig_em0=\"inet 198.18.0.1/24 -tso4\"\nharvest_mask=\"1\"\n")
	f.Add("s/etc/pf.conf", "set limit states 5\npass\n")
	f.Add("s/etc/sysctl.conf", "dev.ix.0.fc=0\n")
	f.Fuzz(func(t *testing.T, file, text string) {
		a, b := &Config{}, &Config{}
		a.add("etc/x", ParseSettings(file, []byte(text)))
		for _, c := range Diff(a, b) {
			if c.After != "" {
				t.Errorf("a set that sets nothing changes %+v", c)
			}
		}
		if d := Diff(a, a); len(d) > 0 {
			t.Errorf("a set differs from itself: %+v", d)
		}
	})
}
