package linux

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"linerate/internal/fact"
)

// TestWords: a command is split as by a shell, as far as possible without running one.
func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		"":                        nil,
		"  a\tb ":                 {"a", "b"},
		"a 'b c' d":               {"a", "b c", "d"},
		`a "b 'c'" d`:             {"a", "b 'c'", "d"},
		`a ""`:                    {"a", ""},
		`a x"b c"y`:               {"a", "xb cy"},
		"a # b":                   {"a"},
		"a b#c":                   {"a", "b#c"},
		"#a":                      nil,
		"echo 1 >/proc/x":         {"echo", "1", ">", "/proc/x"},
		"echo 1>/proc/x":          {"echo", "1", ">", "/proc/x"},
		"[ a, b ]":                {"a", "b"},
		`a "open`:                 {"a", "open"},
		"runcmd: [sysctl, -w, x]": {"runcmd:", "sysctl", "-w", "x"},
		"echo f,0 x=1,2-3, y":     {"echo", "f,0", "x=1,2-3", "y"},
	} {
		if got := words(line); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// TestCommands: what a script's line sets, determined without running it; values that only a shell
// knows are ignored.
func TestCommands(t *testing.T) {
	for line, want := range map[string]string{
		"sysctl -w net.ipv4.ip_forward=1 vm.swappiness=5":      "net.ipv4.ip_forward=1 vm.swappiness=5",
		"/sbin/sysctl net/ipv4/conf/eth0.5/rp_filter=1":        "net.ipv4.conf.eth0/5.rp_filter=1",
		"sysctl net.ipv4.ip_forward":                           "",
		"sysctl -w a.b=$X; sysctl -w c.d=1":                    "c.d=1",
		"sudo - exec sysctl -w a.b=1":                          "a.b=1",
		"if true; then sysctl -w a.b=1; fi":                    "a.b=1",
		"true && sysctl -w a.b=1 || sysctl -w a.b=2":           "a.b=1 a.b=2",
		"sysctl -w 'net.ipv4.tcp_rmem=4096 131072 6291456'":    "net.ipv4.tcp_rmem=4096 131072 6291456",
		"echo 4096 1 2 > /proc/sys/net/ipv4/tcp_rmem":          "net.ipv4.tcp_rmem=4096 1 2",
		"echo f > /sys/class/net/eth0/queues/rx-0/rps_cpus":    "/sys/class/net/eth0/queues/rx-0/rps_cpus=f",
		"echo 9000 > /sys/class/net/eth0/mtu":                  "link.eth0.mtu=9000",
		"printf 3 > /proc/irq/24/smp_affinity":                 "/proc/irq/24/smp_affinity=3",
		"echo > /proc/sys/net/ipv4/route/flush":                "",
		"echo 1 > /tmp/x":                                      "",
		"echo 1 >":                                             "",
		"echo hello":                                           "",
		"ethtool -K eth0 gro off lro on odd":                   "ethtool -K eth0 gro=off ethtool -K eth0 lro=on",
		"ethtool eth0":                                         "",
		"ethtool -k eth0":                                      "",
		"ip link set dev eth0 mtu 9000 txqueuelen 5000":        "link.eth0.mtu=9000 link.eth0.tx_queue_len=5000",
		"ip link set eth1 txqlen 7":                            "link.eth1.tx_queue_len=7",
		"ifconfig eth0 mtu 1500":                               "link.eth0.mtu=1500",
		"ip link set up":                                       "",
		"ip link set dev eth*0 up; notip link set dev a mtu 9": "",
		"for i in 1 2; do sysctl -w a.b=1; done":               "a.b=1",
		"mysysctl a.b=1":                                       "",

		"sysctl -w net.ipv4.ip_local_reserved_ports=8080,9148": "net.ipv4.ip_local_reserved_ports=8080,9148",
		"- [ sysctl, -w, net.core.somaxconn=1024 ]":            "net.core.somaxconn=1024",
		"echo f,f > /sys/class/net/e0/queues/rx-0/rps_cpus":    "/sys/class/net/e0/queues/rx-0/rps_cpus=f,f",
		"echo 1 >> /proc/sys/net/ipv4/ip_forward":              "net.ipv4.ip_forward=1",
		"echo -n 1 > /proc/sys/net/ipv4/ip_forward":            "net.ipv4.ip_forward=1",
		`printf '1\n' > /proc/sys/net/ipv4/ip_forward`:         "net.ipv4.ip_forward=1",
		"echo 1 > /proc/sys/vm/swappiness 2>/dev/null":         "vm.swappiness=1",
		"echo 1 | sudo tee /proc/sys/vm/swappiness >/dev/null": "vm.swappiness=1",
		"echo 1 | tee -a /proc/sys/vm/swappiness":              "vm.swappiness=1",
		"echo 1 | logger /proc/sys/vm/swappiness":              "",
		"echo -n > /proc/sys/vm/swappiness":                    "",
		"ethtool --offload eth0 gro off":                       "ethtool -K eth0 gro=off",
		"ethtool --set-ring eth0 rx 4096":                      "ethtool -G eth0 rx=4096",
		"ethtool --set-channels eth0 combined 4":               "ethtool -L eth0 combined=4",
		"ethtool --change eth0 autoneg off":                    "ethtool -s eth0 autoneg=off",
		"ip link set mtu 9000 dev eth0":                        "link.eth0.mtu=9000",
		"ip -4 l set up mtu 9000 txqueuelen 7 dev eth0":        "link.eth0.mtu=9000 link.eth0.tx_queue_len=7",
		"ip route add default via 192.0.2.1 mtu 1400":          "",
		"ip route add 192.0.2.0/24 dev eth0 mtu 1400":          "",
		"ip link add link eth0 name v0 mtu 1400 type vlan":     "",
		"ip rule set link mtu 3":                               "",
		"ip set":                                               "",
		"ip link set eth0 mtu":                                 "",
		"ifconfig eth0 192.0.2.1 netmask 255.0.0.0 mtu 1400":   "link.eth0.mtu=1400",
	} {
		var got []string
		for _, a := range commands(line) {
			got = append(got, a.name+"="+a.value)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%q:\n got %q\nwant %q", line, text, want)
		}
	}
}

// TestAddIsBounded: the number of lines read from a hostile file is bounded.
func TestAddIsBounded(t *testing.T) {
	c := ReadModuleOptions(tree{"/etc/modprobe.d/x.conf": strings.Repeat("options a b=1\n", fact.MaxLines+10), "/usr/lib/modprobe.d/y.conf": "options c d=1\n"})
	if len(c.Lines) != fact.MaxLines {
		t.Errorf("%d lines are kept, want %d", len(c.Lines), fact.MaxLines)
	}
	c = ReadModuleOptions(tree{"/usr/lib/modprobe.d/y.conf": "options c d=1\n"})
	if len(c.Lines) != 1 || !c.Lines[0].Default || c.Lines[0].Stage != fact.Modprobe {
		t.Errorf("a distribution's own line: %+v", c.Lines)
	}
	if n := len(ReadCommandLine("/proc/cmdline", strings.Repeat("a=1 ", 3*maxWords))); n != maxWords {
		t.Errorf("%d words of a command line are kept", n)
	}
}

// TestModulesLoadedByName: names as modprobe accepts them, from modules-load.d and /etc/modules.
func TestModulesLoadedByName(t *testing.T) {
	got := ReadModulesLoad(tree{
		"/etc/modules-load.d/a.conf":     "# x\n; y\n\nnf-conntrack\n",
		"/usr/lib/modules-load.d/a.conf": "hidden\n",
		"/usr/lib/modules-load.d/b.conf": "tcp_bbr\n",
		"/etc/modules-load.d/c.txt":      "nothing\n",
		"/etc/modules":                   "bonding mode=4\n",
	})
	if len(got) != 3 || got["nf_conntrack"].Number != 4 || got["nf_conntrack"].Default || !got["tcp_bbr"].Default || got["bonding"].File != "/etc/modules" {
		t.Errorf("%+v", got)
	}
}

// TestKernelCommandLine: each word is a parameter, and sysctl. words are sysctls.
func TestKernelCommandLine(t *testing.T) {
	var got []string
	for _, l := range ReadCommandLine("/proc/cmdline", "# not mine\nisolcpus=1-3 nosmt sysctl.net.core.somaxconn=9 $tuned_params x=a=b\n") {
		got = append(got, fmt.Sprintf("%s=%s %d", l.Name, l.Value, l.Number))
	}
	if want := []string{"cmdline.isolcpus=1-3 2", "cmdline.nosmt= 2", "net.core.somaxconn=9 2", "cmdline.x=a=b 2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for value, want := range map[string]bool{
		"$GRUB_CMDLINE_LINUX a": true, "${GRUB_CMDLINE_LINUX} a": true, "a $GRUB_CMDLINE_LINUX": true, "$GRUB_CMDLINE_LINUX_DEFAULT": false, "GRUB_CMDLINE_LINUX": false, "$": false, "": false,
	} {
		if got := keeps("GRUB_CMDLINE_LINUX", value); got != want {
			t.Errorf("%q keeps the old value: %v", value, got)
		}
	}
}

// TestDistribution: os-release in either place, with ID before ID_LIKE.
func TestDistribution(t *testing.T) {
	for name, c := range map[string]struct {
		files  tree
		want   string
		debian bool
	}{
		"none":        {tree{}, "", true},
		"Debian":      {tree{"/etc/os-release": "ID=debian\n"}, "debian", true},
		"Mint":        {tree{"/etc/os-release": "ID_LIKE=\"ubuntu debian\"\nID=linuxmint\n"}, "linuxmint", true},
		"Rocky":       {tree{"/usr/lib/os-release": "NAME=x\nID=\"Rocky\"\nID_LIKE='rhel centos'\n"}, "rocky", false},
		"of two":      {tree{"/etc/os-release": "ID=arch\n", "/usr/lib/os-release": "ID=debian\n"}, "arch", false},
		"without one": {tree{"/etc/os-release": "NAME=x\n"}, "", false},
	} {
		if got := Distribution(c.files); got != c.want || likeDebian(c.files) != c.debian {
			t.Errorf("%s: %q, like Debian %v", name, got, likeDebian(c.files))
		}
	}
}

// TestEthtoolSizes: enabled features, and the current and maximum sizes.
func TestEthtoolSizes(t *testing.T) {
	on := ParseFeatures("Features for eth0:\nrx-checksumming: on [fixed]\n\ttx-checksum-ipv4: on\nlarge-receive-offload: off [fixed]\nrx-gro-hw: off [requested on]\nnonsense\n")
	if !slices.Equal(on, []string{"rx-checksumming", "tx-checksum-ipv4"}) {
		t.Errorf("on %q", on)
	}
	rings := "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t4096\nRX Mini:\tn/a\nTX:\t\t8192\nCurrent hardware settings:\nRX:\t\t512\nTX:\t\t1024\n"
	var n fact.NIC
	AddRings(&n, rings)
	if n.RXDescriptors != 512 || n.TXDescriptors != 1024 || n.MaxRXDescriptors != 4096 {
		t.Errorf("%+v", n)
	}
	for text, want := range map[string][3]int{
		"Pre-set maximums:\nRX:\t0\nTX:\t0\nCombined:\t63\nCurrent hardware settings:\nRX:\t0\nTX:\t0\nCombined:\t8\n": {63, 8, 8},
		"Pre-set maximums:\nRX:\t16\nTX:\t4\nCombined:\t0\nCurrent hardware settings:\nRX:\t6\nTX:\t2\nCombined:\t0\n": {16, 6, 2},
		"Pre-set maximums:\nCombined:\t8\nCurrent hardware settings:\nRX:\t1\nTX:\t2\nCombined:\t3\n":                  {8, 4, 5},
		"Pre-set maximums:\nRX:\tn/a\nCombined:\t1\nCurrent hardware settings:\nRX:\tn/a\nCombined:\tx\n":              {1, 9, 9},
		"netlink error: Operation not supported\n":                                                                     {0, 9, 9},
	} {
		n := fact.NIC{RXQueues: 9, TXQueues: 9}
		AddChannels(&n, text)
		if got := [3]int{n.MaxQueues, n.RXQueues, n.TXQueues}; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if n := (fact.NIC{}); true {
		AddPause(&n, "Pause parameters for eth0:\nAutonegotiate:\ton\nRX:\t\ton\nTX:\t\toff\n")
		if n.FlowControl != "rx" {
			t.Errorf("flow control %q", n.FlowControl)
		}
	}
}

// TestTunedMerges: includes first, then the profile's own options, variables, plug-ins by type,
// profiles that include each other, and names that lead outside the directory.
func TestTunedMerges(t *testing.T) {
	for name, c := range map[string]struct {
		files tree
		set   string
		want  []string
	}{
		"include": {tree{"/etc/tuned/active_profile": "mine\n", "/etc/tuned/mine/tuned.conf": "[main]\ninclude=base,-gone\n[sysctl]\nvm.swappiness=10\n",
			"/usr/lib/tuned/base/tuned.conf": "[sysctl]\nvm.swappiness=60\nnet.core.somaxconn=1024\n"}, "", []string{"net.core.somaxconn=1024", "vm.swappiness=10"}},
		"a circle": {tree{"/etc/tuned/active_profile": "a\n", "/etc/tuned/a/tuned.conf": "[main]\ninclude=b\n[sysctl]\nx.y=1\n", "/etc/tuned/b/tuned.conf": "[main]\ninclude=a\n[sysctl]\nx.y=2\nz.z=3\n"},
			"", []string{"z.z=3", "x.y=1"}},
		"two profiles": {tree{"/etc/tuned/active_profile": "a b", "/etc/tuned/a/tuned.conf": "[sysctl]\nx.y=1\n", "/etc/tuned/b/tuned.conf": "[sysctl]\nx.y=2\n"}, "", []string{"x.y=2"}},
		"replace":      {tree{"/etc/tuned/active_profile": "a", "/etc/tuned/a/tuned.conf": "[main]\ninclude=b\n[sysctl]\nreplace=1\nx.y=1\n", "/etc/tuned/b/tuned.conf": "[sysctl]\ngone.z=2\n"}, "", []string{"x.y=1"}},
		"variables":    {tree{"/etc/tuned/active_profile": "a", "/etc/tuned/a/tuned.conf": "[variables]\nn=5\nm=${n}0\n[sysctl]\nx.y=${m}\nx.z=${unknown}\nx.q=\"7\"\n[variables]\nh=REDACTED\n[sysctl]\nx.h=${h}\n"}, "", []string{"x.y=50", "x.q=7"}},
		"plug-ins": {tree{"/etc/tuned/active_profile": "a", "/etc/tuned/a/tuned.conf": "[mine]\ntype=sysctl\nx.y=1\n[vm]\ntransparent_hugepages=never\nother=1\n[cpu]\ngovernor=performance\n[off]\ntype=sysctl\nenabled=false\nx.z=1\n[sysfs]\n/sys/a/b=4\n"},
			"", []string{"x.y=1", "/sys/kernel/mm/transparent_hugepage/enabled=never", "/sys/a/b=4"}},
		"set by sysctl.d":         {tree{"/etc/tuned/active_profile": "a", "/etc/tuned/a/tuned.conf": "[sysctl]\nx.y=1\n"}, "x.y", []string{"x.y=1 (tuned applies sysctl.d again after its profile)"}},
		"and not applied again":   {tree{"/etc/tuned/active_profile": "a", "/etc/tuned/a/tuned.conf": "[sysctl]\nx.y=1\n", "/etc/tuned/tuned-main.conf": "reapply_sysctl = 0\n"}, "x.y", []string{"x.y=1"}},
		"a name that leads out":   {tree{"/etc/tuned/active_profile": "../../x", "/x/tuned.conf": "[sysctl]\nx.y=1\n", "/etc/tuned/../../x/tuned.conf": "[sysctl]\nx.y=1\n"}, "", nil},
		"no profile":              {tree{}, "", nil},
		"the administrator's own": {tree{"/etc/tuned/active_profile": "a", "/usr/lib/tuned/a/tuned.conf": "[sysctl]\nx.y=1\n", "/etc/tuned/profiles/a/tuned.conf": "[sysctl]\nx.y=2\n"}, "", []string{"x.y=2"}},
	} {
		got := lines(ReadTuned(c.files, func(n string) bool { return n == c.set }))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	c := ReadTuned(tree{"/etc/tuned/active_profile": "a", "/etc/tuned/a/tuned.conf": "[sysctl]\nx.up=>10\nx.down=<5\nx.is=>\n"}, func(string) bool { return false })
	for i, want := range []fact.Line{{Name: "x.up", Value: "10", Only: fact.Raise}, {Name: "x.down", Value: "5", Only: fact.Lower}, {Name: "x.is", Value: ">"}} {
		if l := c.Lines[i]; l.Name != want.Name || l.Value != want.Value || l.Only != want.Only || l.Note != "by tuned's profile a" {
			t.Errorf("%+v, want %+v", l, want)
		}
	}
}

// TestTunedFlood: doubling variables and long chains of profiles are bounded.
func TestTunedFlood(t *testing.T) {
	files := tree{"/etc/tuned/active_profile": "p0"}
	for i := range 200 {
		files[fmt.Sprintf("/etc/tuned/p%d/tuned.conf", i)] = fmt.Sprintf("[main]\ninclude=p%d\n[sysctl]\nx.y%d=1\n", i+1, i)
	}
	if n := len(ReadTuned(files, func(string) bool { return false }).Lines); n > maxProfiles+2 || n < maxProfiles {
		t.Errorf("%d profiles of a chain of 200 were read", n)
	}
}

func TestUFW(t *testing.T) {
	conf := "net/ipv4/ip_forward=1\nnet/ipv4/conf/all/log_martians=0\n"
	for name, c := range map[string]struct {
		files tree
		want  []string
	}{
		"on":           {tree{"/etc/ufw/ufw.conf": "ENABLED=yes\n", "/etc/ufw/sysctl.conf": conf}, []string{"net.ipv4.ip_forward=1", "net.ipv4.conf.all.log_martians=0"}},
		"off":          {tree{"/etc/ufw/ufw.conf": "ENABLED=no\n", "/etc/ufw/sysctl.conf": conf}, nil},
		"last stands":  {tree{"/etc/ufw/ufw.conf": "ENABLED=yes\nENABLED=no\n", "/etc/ufw/sysctl.conf": conf}, nil},
		"elsewhere":    {tree{"/etc/ufw/ufw.conf": "ENABLED=\"YES\"\n", "/etc/default/ufw": "IPT_SYSCTL=/etc/mine.conf\n", "/etc/mine.conf": "a.b=1\n", "/etc/ufw/sysctl.conf": conf}, []string{"a.b=1"}},
		"leads out":    {tree{"/etc/ufw/ufw.conf": "ENABLED=yes\n", "/etc/default/ufw": "IPT_SYSCTL=/etc/../root/x\n", "/root/x": "a.b=1\n"}, nil},
		"switched off": {tree{"/etc/ufw/ufw.conf": "ENABLED=yes\n", "/etc/default/ufw": "IPT_SYSCTL=\n", "/etc/ufw/sysctl.conf": conf}, nil},
	} {
		got := ReadUFW(c.files)
		if !slices.Equal(lines(got), c.want) {
			t.Errorf("%s: %q, want %q", name, lines(got), c.want)
		}
		for _, l := range got.Lines {
			if l.Note != UFW || l.Stage != fact.Conf || l.Default != (l.Name == "net.ipv4.conf.all.log_martians") {
				t.Errorf("%s: %+v", name, l)
			}
		}
	}
}

// TestUdevRules: conditions and assignments, commas in quotes, and modules.
func TestUdevRules(t *testing.T) {
	for rule, want := range map[string]string{
		`SUBSYSTEM=="net", ATTR{mtu}="9000"`:                                                                      "link.*.mtu=9000",
		`SUBSYSTEM=="net", KERNEL=="eth*", ATTR{mtu}="9000"`:                                                      "link.*.mtu=9000",
		`SUBSYSTEM=="net", NAME=="lan0", ATTR{mtu}="9000", ATTR{tx_queue_len}=="5"`:                               "link.lan0.mtu=9000",
		`ATTR{mtu}="9000", SUBSYSTEM=="net"`:                                                                      "",
		`SUBSYSTEM!="net", ATTR{mtu}="9000"`:                                                                      "",
		`SUBSYSTEM=="net", ENV{INTERFACE}=="e1", RUN+="/sbin/ip link set $name mtu 9000, x"`:                      "link.e1.mtu=9000",
		`SUBSYSTEM=="module", KERNEL=="nf-conntrack", RUN+="/lib/systemd/systemd-sysctl --prefix=/net/netfilter"`: Applied + "nf_conntrack=/net/netfilter",
		`SUBSYSTEM=="module", KERNEL=="br_netfilter", RUN="/sbin/sysctl --prefix=net.bridge"`:                     Applied + "br_netfilter=/net/bridge",
		`SUBSYSTEM=="module", KERNEL=="br_netfilter", RUN="/sbin/sysctl --system"`:                                Applied + "br_netfilter=/",
		`SUBSYSTEM=="module", RUN="/sbin/sysctl --system"`:                                                        "",
		`no rule`: "",
	} {
		var got []string
		for _, a := range udevRule(rule) {
			got = append(got, a.name+"="+a.value)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s:\n got %q\nwant %q", rule, text, want)
		}
	}
}

// TestINI: sections, comments, and line numbers.
func TestINI(t *testing.T) {
	var got []string
	for _, e := range ini("a=1\n# x=1\n; y=1\n[ S ]\n b = c=d \n[T\nno value\n[]\ne=\n") {
		got = append(got, fmt.Sprintf("%d %s.%s=%s", e.number, e.section, e.key, e.value))
	}
	if want := []string{"1 .a=1", "5  S .b=c=d", "9 .e="}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if n := len(ini(strings.Repeat("a=1\n", fact.MaxLines+9))); n != fact.MaxLines {
		t.Errorf("%d entries are kept", n)
	}
}
