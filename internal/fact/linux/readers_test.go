package linux

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/fact"
)

// TestGRUBVariables: a value ends where it ends for the shell, and words in a comment are not kernel
// parameters.
func TestGRUBVariables(t *testing.T) {
	for line, want := range map[string][]string{
		`GRUB_CMDLINE_LINUX="nosmt quiet" # audit=0`:         {"cmdline.nosmt=", "cmdline.quiet="},
		`GRUB_CMDLINE_LINUX='nosmt quiet'	# audit=0`:         {"cmdline.nosmt=", "cmdline.quiet="},
		`GRUB_CMDLINE_LINUX=nosmt # audit=0`:                 {"cmdline.nosmt="},
		`GRUB_CMDLINE_LINUX=`:                                nil,
		`GRUB_CMDLINE_LINUX="" # nosmt`:                      nil,
		`GRUB_CMDLINE_LINUX="open nosmt`:                     {"cmdline.open=", "cmdline.nosmt="},
		`  export GRUB_CMDLINE_LINUX_DEFAULT="x=1"`:          {"cmdline.x=1"},
		`GRUB_CMDLINE_LINUX_XEN="nosmt"`:                     nil,
		`# GRUB_CMDLINE_LINUX="nosmt"`:                       nil,
		`GRUB_CMDLINE_LINUX="a=\"b\" nosmt" # audit=0`:       {"cmdline.nosmt="}, // quoted names and values are not parsed
		`GRUB_CMDLINE_LINUX="sysctl.vm/swappiness=1 nosmt" `: {"vm.swappiness=1", "cmdline.nosmt="},
	} {
		got := lines(ReadBootLine(tree{"/etc/default/grub": line + "\n"}))
		if strings.Contains(line, `\"`) { // the first word's value keeps its quotes
			got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "cmdline.a=") })
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s\n got %q\nwant %q", line, got, want)
		}
	}
}

// TestDropInsOfGRUBElsewhere: only Debian's GRUB reads grub.d; elsewhere its words are listed without
// effect.
func TestDropInsOfGRUBElsewhere(t *testing.T) {
	files := tree{
		"/etc/os-release": "ID=fedora\n", "/etc/default/grub": "GRUB_CMDLINE_LINUX=\"quiet\"\n", "/etc/default/grub.d/x.cfg": "GRUB_CMDLINE_LINUX=\"nosmt\"\nGRUB_CMDLINE_LINUX_DEFAULT=\"audit=0\"\n",
	}
	want := []string{"cmdline.nosmt= (" + NotDebian + ")", "cmdline.audit=0 (" + NotDebian + ")", "cmdline.quiet="}
	c := ReadBootLine(files)
	if d := cmp.Diff(want, lines(c)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	for i, l := range c.Lines {
		if l.Order != i+1 || l.Stage != fact.CommandLine {
			t.Errorf("%+v has order %d in place %d", l, l.Order, i+1)
		}
	}
	files["/etc/os-release"] = "ID=pop\nID_LIKE=\"ubuntu debian\"\n"
	want = []string{"cmdline.quiet= (" + Replaced + ")", "cmdline.nosmt=", "cmdline.audit=0"}
	if d := cmp.Diff(want, lines(ReadBootLine(files))); d != "" {
		t.Errorf("like Debian (-want +got)\n%s", d)
	}
}

// TestUnitsOfTwoPlaces: a unit in /etc replaces the one in /run, the drop-ins of both are read in
// order of name, and limits of user sessions apply nowhere else.
func TestUnitsOfTwoPlaces(t *testing.T) {
	for _, c := range []struct {
		name  string
		files tree
		want  []string
	}{
		{"the same unit in both places", tree{
			"/etc/systemd/system/a.service": "[Service]\nLimitNOFILE=1\n", "/run/systemd/system/a.service": "[Service]\nLimitNOFILE=2\nTasksMax=5\n",
		}, []string{"systemd/a.service/LimitNOFILE=1"}},
		{"only in /run", tree{"/run/systemd/system/a.service": "[Service]\nLimitNOFILE=2\n"}, []string{"systemd/a.service/LimitNOFILE=2"}},
		{"drop-ins of both, by name", tree{
			"/etc/systemd/system/a.service": "[Service]\nLimitNOFILE=1\n", "/run/systemd/system/a.service.d/20.conf": "[Service]\nLimitNOFILE=20\n",
			"/etc/systemd/system/a.service.d/10.conf": "[Service]\nLimitNOFILE=10\nTasksMax=7\n",
		}, []string{"systemd/a.service/LimitNOFILE=20", "systemd/a.service/TasksMax=7"}},
		{"a drop-in hides one of the same name", tree{
			"/run/systemd/system/a.service.d/10.conf": "[Service]\nLimitNOFILE=20\n", "/etc/systemd/system/a.service.d/10.conf": "[Service]\nTasksMax=7\n",
		}, []string{"systemd/a.service/TasksMax=7"}},
		{"the manager's defaults", tree{
			"/etc/systemd/system.conf": "[Manager]\nDefaultTasksMax=15%\nLimitNOFILE=5\n", "/run/systemd/system.conf.d/x.conf": "[Manager]\nDefaultLimitMEMLOCK=1M:2M\n",
		}, []string{"systemd/system.conf/DefaultLimitMEMLOCK=2M", "systemd/system.conf/DefaultTasksMax=15%"}},
		{"other sections are ignored", tree{"/etc/systemd/system/a.service": "[X-Mine]\nLimitNOFILE=1\n[Service]\nLimitNOFILE=0x10\n"}, []string{"systemd/a.service/LimitNOFILE=0x10"}},
		{"no services", tree{"/etc/systemd/system/a.socket": "[Service]\nLimitNOFILE=1\n"}, nil},
	} {
		if d := cmp.Diff(c.want, lines(ReadUnits(c.files))); d != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, d)
		}
	}
}

// TestLimitsAsSystemdReads: limits that systemd cannot parse are ignored with a log message.
func TestLimitsAsSystemdReads(t *testing.T) {
	for setting, reads := range map[string]bool{
		"LimitNOFILE=65536": true, "LimitNOFILE=0xffff": true, "LimitNOFILE=infinity": true, "LimitNOFILE=1:infinity": true, "LimitNOFILE=64k": false, "LimitNOFILE=unlimited": false,
		"LimitNOFILE=-1": false, "LimitNOFILE=1:2:3": false, "LimitNOFILE=1:": false, "LimitNPROC=1": true, "LimitNPROC=1M": false, "LimitMEMLOCK=64K": true, "LimitMEMLOCK=1.5G": true,
		"LimitMEMLOCK=8 M": true, "LimitMEMLOCK=8m": false, "LimitMEMLOCK=unlimited": false, "TasksMax=10%": true, "TasksMax=5‰": true, "TasksMax=4096": true, "TasksMax=4K": false,
	} {
		c := ReadUnits(tree{"/etc/systemd/system/a.service": "[Service]\n" + setting + "\n"})
		if len(c.Lines) != 1 || c.Lines[0].Effective != reads || (c.Lines[0].Note == BadLimit) == reads {
			t.Errorf("%s: %+v, want it read: %v", setting, c.Lines, reads)
		}
	}
}

// TestTracking: rules that enable connection tracking, and similar ones that do not.
func TestTracking(t *testing.T) {
	for rule, want := range map[string]bool{
		"ct state established accept": true, "ct status dnat accept": true, "ct mark set 1": true, "ip saddr 192.0.2.0/24 snat to 198.51.100.1": true, "dnat to 192.0.2.1": true,
		"oifname \"e0\" masquerade": true, "masquerade random": true, "tcp dport 80 redirect to :8080": true, "tcp dport 80 redirect": true, "ip protocol tcp flow add @f": true,
		"icmpv6 type { nd-redirect, nd-router-advert } accept": false, "icmp type redirect drop": false, "icmpv6 type nd-redirect": false, "# ct state established accept": false,
		"tcp dport 22 accept": false, "jump mysnat": false, "meta mark set 1": false, "notrack": false,
	} {
		n, tracking := CountNFT("table inet x {\n\tchain c {\n\t\t" + rule + "\n\t}\n}\n")
		if tracking != want || (n == 1) != !strings.HasPrefix(rule, "#") {
			t.Errorf("%s: %d rules, tracking %v, want %v", rule, n, tracking, want)
		}
	}
	for rule, want := range map[string]bool{
		"-m conntrack --ctstate ESTABLISHED -j ACCEPT": true, "-m state --state NEW -j ACCEPT": true, "-m connlimit --connlimit-above 3 -j DROP": true, "-o e0 -j MASQUERADE": true,
		"-j SNAT --to-source 192.0.2.1": true, "-p tcp -j DNAT --to 192.0.2.1": true, "-p tcp --dport 80 -j REDIRECT --to-ports 8080": true, "-j CT --helper ftp": true,
		"-j ACCEPT": false, "-j NATIVE": false, "-m comment --comment DONATE -j ACCEPT": false, "-p icmp --icmp-type redirect -j DROP": false, "-m statistic --mode random -j DROP": false,
	} {
		n, tracking := CountIPTables("*x\n:INPUT ACCEPT [0:0]\n-A INPUT " + rule + "\n-N y\nCOMMIT\n")
		if n != 1 || tracking != want {
			t.Errorf("%s: %d rules, tracking %v, want %v", rule, n, tracking, want)
		}
	}
}

// TestTunedDrops: a profile can drop options of an included one, and set them again.
func TestTunedDrops(t *testing.T) {
	got := lines(ReadTuned(tree{
		"/etc/tuned/active_profile": "mine\n", "/etc/tuned/mine/tuned.conf": "[main]\ninclude=base\n[sysctl]\ndrop=vm.swappiness, vm.dirty_ratio\nvm.dirty_ratio=5\n",
		"/usr/lib/tuned/base/tuned.conf": "[sysctl]\nvm.swappiness=60\nvm.dirty_ratio=40\nnet.core.somaxconn=1024\n",
	}, func(string) bool { return false }))
	if want := []string{"net.core.somaxconn=1024", "vm.dirty_ratio=5"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestConnectionsOfNetworkManager: the interface's name may be anywhere in the file, both section
// names are accepted, and 0 leaves the MTU to the device.
func TestConnectionsOfNetworkManager(t *testing.T) {
	for text, want := range map[string][]string{
		"[ethernet]\nmtu=9000\n[connection]\ninterface-name=e0\n":                                                        {"link.e0.mtu=9000"},
		"[connection]\ninterface-name=e0\n[802-3-ethernet]\nmtu=1400\n":                                                  {"link.e0.mtu=1400"},
		"[connection]\ninterface-name=e0\n[ethernet]\nmtu=0\n":                                                           nil,
		"[connection]\nid=any\n[ethernet]\nmtu=9000\n":                                                                   nil,
		"[connection]\ninterface-name=e0\n[wifi]\nmtu=9000\n":                                                            nil,
		"[connection]\ninterface-name=a b\n[ethernet]\nmtu=9000\n":                                                       nil,
		"[connection]\ninterface-name=e0\n[ethtool]\nchannels-rx=4\nx=1":                                                 {"ethtool -L e0 rx=4"},
		"[connection]\ninterface-name=e0\n[ethtool]\npause-rx=true\ncoalesce-rx-usecs=50\nfeature-tso=true\nother-x=1\n": {"ethtool -A e0 rx=on", "ethtool -C e0 rx-usecs=50", "ethtool -K e0 tso=on"},
	} {
		if got := lines(ReadNetworkManager(tree{"/etc/NetworkManager/system-connections/x.nmconnection": text})); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestNetplanFiles: only keys at the device's own level count; aliases and nesting that cost memory are
// reported and not read.
func TestNetplanFiles(t *testing.T) {
	read := func(text string) Config { return ReadNetplan(tree{"/etc/netplan/x.yaml": text}) }
	for text, want := range map[string][]string{
		"network:\n  bonds:\n    bond0:\n      mtu: 9000\n      parameters:\n        mode: 802.3ad\n  ethernets:\n    e0:\n      match:\n        name: x\n      mtu: 1500\n": {"link.e0.mtu=1500", "link.bond0.mtu=9000"},
		"network:\n  ethernets:\n    e0:\n      tcp-segmentation-offload: true\n      receive-checksum-offload: no\n":                                                        {"ethtool -K e0 tso=on", "ethtool -K e0 rx=off"},
		"network:\n  ethernets:\n    e0:\n      routes:\n        - to: default\n          mtu: 1400\n":                                                                       nil,
		"network:\n  ethernets:\n    \"e0\":\n      mtu: 1400 # x\n":                                                                                                         {"link.e0.mtu=1400"},
		"network:\n  wifis:\n    w0:\n      mtu: 1400\n":                                                                                                                     nil,
		"network:\n  ethernets: [e0]\n":                    nil,
		"network:\n  ethernets:\n    e0: 5\n":              nil,
		"network: [\n":                                     nil,
		"other:\n  ethernets:\n    e0:\n      mtu: 1400\n": nil,
		"network:\n  vlans:\n    v.5:\n      mtu: 1400\n      id: 5\n      link: e0\n":     {"link.v.5.mtu=1400"},
		"network:\n  bridges:\n    br0:\n      mtu: 1400\n    a b:\n      mtu: 1300\n":     {"link.br0.mtu=1400"},
		"network:\n  ethernets:\n    e0:\n      dhcp4: true\n      #mtu: 1400\n      x: 1": nil,
	} {
		if c := read(text); !slices.Equal(lines(c), want) || len(c.Problems) > 0 {
			t.Errorf("%q: %q, %v, want %q", text, lines(c), c.Problems, want)
		}
	}
	for _, text := range []string{"network: &a\n  x: 1\n", "network:\n  <<: *a\n", strings.Repeat("[", 2000) + "\n"} {
		if c := read(text); len(c.Lines) > 0 || len(c.Problems) != 1 || c.Problems[0].Kind != fact.ProblemUnreadable {
			t.Errorf("%q: %+v", text, c)
		}
	}
	hidden := tree{"/run/netplan/x.yaml": "network:\n  ethernets:\n    e0:\n      mtu: 1\n", "/etc/netplan/x.yaml": "network:\n  ethernets:\n    e0:\n      mtu: 2\n"}
	if got := lines(ReadNetplan(hidden)); !slices.Equal(got, []string{"link.e0.mtu=1"}) {
		t.Errorf("of two files of the same name: %q", got)
	}
}

// TestIfcfg: Red Hat's files name their device themselves, and backup copies are not read.
func TestIfcfg(t *testing.T) {
	const dir = "/etc/sysconfig/network-scripts/"
	got := lines(ReadScripts(tree{
		dir + "ifcfg-wan":          "NAME=wan\nDEVICE=\"ens3\"\nMTU='9000'\nETHTOOL_OPTS=\"-K ${DEVICE} gro off; -G $DEVICE rx 4096 tx 512\"\n",
		dir + "ifcfg-eth1":         "MTU=1400\n# MTU=1\n",
		dir + "ifcfg-eth1.bak":     "MTU=1\n",
		dir + "ifcfg-eth1.rpmsave": "MTU=1\n",
		dir + "route-eth1":         "MTU=1\n",
		dir + "ifcfg-a b":          "MTU=1\n",
	}))
	if want := []string{"link.eth1.mtu=1400", "link.ens3.mtu=9000", "ethtool -K ens3 gro=off", "ethtool -G ens3 rx=4096", "ethtool -G ens3 tx=512"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestIfupdown: options of the ethtool package, and commands that run when an interface comes up.
func TestIfupdown(t *testing.T) {
	got := lines(ReadScripts(tree{
		"/etc/network/interfaces": "source interfaces.d/*\niface e0 inet dhcp\n  offload-gro off\n  hardware-dma-ring-rx 4096\n  hardware-irq-coalesce-rx-usecs 50\n  ethernet-pause-autoneg off\n" +
			"  down sysctl -w vm.swappiness=1\n  pre-up ip link set ${IFACE} mtu 1400\n  # up sysctl -w vm.swappiness=2\n  up ip route add default via 192.0.2.1 mtu 1300\n",
		"/etc/network/interfaces.d/lan": "iface lan0 inet static\n  mtu 9000\n",
	}))
	want := []string{"ethtool -K e0 gro=off", "ethtool -G e0 rx=4096", "ethtool -C e0 rx-usecs=50", "ethtool -A e0 autoneg=off", "link.e0.mtu=1400", "link.lan0.mtu=9000"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestContainers: files of Proxmox VE and LXC; a snapshot's section is not used at start.
func TestContainers(t *testing.T) {
	got := lines(ReadContainers(tree{
		"/etc/pve/lxc/101.conf":   "arch: amd64\nlxc.sysctl.net.core.somaxconn: 4096\n[before]\nlxc.sysctl.net.core.somaxconn: 1\n",
		"/var/lib/lxc/web/config": "lxc.uts.name = web\n lxc.sysctl.net.ipv4.ip_forward = 1\nlxc.sysctl.broken\n",
	}))
	if want := []string{Containers + "101/net.core.somaxconn=4096", Containers + "web/net.ipv4.ip_forward=1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, x := range []struct {
		manager string
		mounts  []fact.Mount
		want    string
	}{
		{"systemd-nspawn\n", nil, "systemd-nspawn"}, {"", nil, ""}, {"", []fact.Mount{{Type: "fuse.lxcfs", Point: "/proc/cpuinfo"}}, "lxc"},
		{"", []fact.Mount{{Type: "fuse.lxcfs", Point: "/var/lib/lxcfs"}, {Type: "ext4", Point: "/proc/x"}}, ""},
	} {
		if got := ContainerOf(x.manager, x.mounts); got != x.want {
			t.Errorf("%q, %v: %q, want %q", x.manager, x.mounts, got, x.want)
		}
	}
}

// TestSysctlFiles: names, comments, patterns and files as sysctl.d(5) defines them.
func TestSysctlFiles(t *testing.T) {
	names := []string{"net.ipv4.conf.all.rp_filter", "net.ipv4.conf.e0.rp_filter", "net.ipv4.conf.e0.log_martians"}
	for _, c := range []struct {
		name, text string
		want       []string
		problems   int
	}{
		{"comments", "# a.b=1\n; a.b=2\n\n  # a.b=3\na.b=4\n", []string{"a.b=4"}, 0},
		{"a failure to ignore", "- a.b = 1\n-c.d=2\n", []string{"a.b=1", "c.d=2"}, 0},
		{"a comment after a number", "a.b = 1 # one\na.c = 1 2\t3 ; x\na.d = x # y\na.e = 0x1F // z\na.f = -1 #\n", []string{"a.b=1", "a.c=1 2\t3", "a.d=x # y", "a.e=0x1F", "a.f=-1"}, 0},
		{"a pattern matches names that no line sets", "net.ipv4.conf.*.rp_filter=2\nnet.ipv4.conf.all.rp_filter=1\n", []string{"net.ipv4.conf.all.rp_filter=1", "net.ipv4.conf.e0.rp_filter=2"}, 0},
		{"a star does not cross a dot", "net.ipv4.*.rp_filter=2\n", []string{"net.ipv4.*.rp_filter=2"}, 0},
		{"a pattern's exception", "net.ipv4.conf.*.rp_filter=2\n-net.ipv4.conf.e0.rp_filter\n", []string{"net.ipv4.conf.all.rp_filter=2"}, 0},
		{"an invalid pattern matches nothing", "net.ipv4.conf.[.rp_filter=2\n", []string{"net.ipv4.conf.[.rp_filter=2"}, 0},
		{"no assignment", "a.b\na b=1\n=1\n\"a.b\"=1\n", nil, 4},
		{"a name that is too long", strings.Repeat("a", maxName) + "=1\n" + strings.Repeat("b", maxName-1) + "=1\n", []string{strings.Repeat("b", maxName-1) + "=1"}, 1},
		{"an empty value", "kernel.core_pattern=\n", []string{"kernel.core_pattern="}, 0},
		{"slashes", "net/ipv4/conf/e0.5/rp_filter=1\nnet.ipv4.conf.e0/5.rp_filter=0\n", []string{"net.ipv4.conf.e0/5.rp_filter=1", "net.ipv4.conf.e0/5.rp_filter=0"}, 0},
	} {
		r := ReadSysctlConf(tree{"/etc/sysctl.d/x.conf": c.text}, names)
		if d := cmp.Diff(c.want, lines(r)); d != "" || len(r.Problems) != c.problems {
			t.Errorf("%s: problems %+v (-want +got)\n%s", c.name, r.Problems, d)
		}
	}
}

// TestFilesNobodyReads: a file without the suffix .conf is reported, unless its name is that of a
// backup, or it contains prose about settings.
func TestFilesNobodyReads(t *testing.T) {
	for file, want := range map[string]bool{
		"99-mine": true, "tuning.cfg": true, "README": true, "x.conf.bak": false, "x.conf~": false, ".x.swp": false, "x.conf.dpkg-old": false, "x.rpmsave": false, ".hidden": false,
	} {
		c := ReadSysctlConf(tree{"/etc/sysctl.d/" + file: "a.b = 1\n"}, nil)
		if told := len(c.Lines) == 1 && !c.Lines[0].Effective && c.Lines[0].Note == NotConf; told != want || len(c.Problems) > 0 {
			t.Errorf("%s: %+v, %v, want it reported: %v", file, c.Lines, c.Problems, want)
		}
	}
	if c := ReadSysctlConf(tree{"/etc/sysctl.d/README": "Put files here.\na.b = 1\n"}, nil); len(c.Lines)+len(c.Problems) > 0 {
		t.Errorf("prose about settings: %+v", c)
	}
}

// TestStockFiles: a distribution's line is a default only in the file in which it is shipped.
func TestStockFiles(t *testing.T) {
	for _, c := range []struct {
		file, os, line string
		want           bool
	}{
		{"/etc/sysctl.d/10-magic-sysrq.conf", "", "kernel.sysrq = 176", true},
		{"/etc/sysctl.d/10-magic-sysrq.conf", "", "kernel.sysrq = 1", false},
		{"/etc/sysctl.d/99-mine.conf", "", "kernel.sysrq = 176", false},
		{"/usr/lib/sysctl.d/99-any.conf", "", "kernel.sysrq = 1", true},
		{"/etc/sysctl.d/12-tcp-bbr.conf", "openwrt", "net.core.default_qdisc=fq", true},
		{"/etc/sysctl.d/12-tcp-bbr.conf", "debian", "net.core.default_qdisc=fq", false},
		{"/etc/sysctl.d/10-console-messages.conf", "", "kernel.printk = 4  4\t1 7", true},
	} {
		got := ReadSysctlConf(tree{c.file: c.line + "\n", "/etc/os-release": "ID=" + c.os + "\n"}, nil)
		if len(got.Lines) != 1 || got.Lines[0].Default != c.want {
			t.Errorf("%s %s on %q: %+v, want it stock: %v", c.file, c.line, c.os, got.Lines, c.want)
		}
	}
}

// TestLinkFiles: files apply until one before them matches every device, and their offloads are known
// for the device that they name.
func TestLinkFiles(t *testing.T) {
	for _, c := range []struct {
		name, match string
		nic         string
		flags       []string
	}{
		{"by its name", "OriginalName=enp1s0\n", "enp1s0", []string{"-generic-receive-offload"}},
		{"by the name it gets", "OriginalName=enp1s0\n[Link]\nName=lan0\n", "lan0", []string{"-generic-receive-offload"}},
		{"by a pattern", "OriginalName=enp*\n", "", nil},
		{"by its driver", "Driver=ixgbe\n", "", nil},
	} {
		got := ReadLinkFiles(tree{"/etc/systemd/network/x.link": "[Match]\n" + c.match + "[Link]\nGenericReceiveOffload=no\nWakeOnLan=off\n"})
		var flags []string
		for _, n := range got.NICs {
			if n.Name != c.nic || n.Configured[0].Name != "systemd.link.x.GenericReceiveOffload" {
				t.Errorf("%s: %+v", c.name, n)
			}
			flags = append(flags, n.ConfigFlags...)
		}
		if !slices.Equal(flags, c.flags) {
			t.Errorf("%s: %q, want %q", c.name, flags, c.flags)
		}
	}
	hidden := ReadLinkFiles(tree{"/etc/systemd/network/10-all.link": "[Match]\nOriginalName=*\n", "/etc/systemd/network/20-x.link": "[Match]\nOriginalName=e0\n[Link]\nGenericReceiveOffload=no\n"})
	if len(hidden.NICs) > 0 || len(hidden.Lines) != 1 || hidden.Lines[0].Effective {
		t.Errorf("after a file that takes every device: %+v", hidden)
	}
	for text, want := range map[string]bool{
		"[Match]\nOriginalName=*\n": true, "[Match]\nOriginalName=*\nDriver=x\n": false, "[Match]\nDriver=x\nOriginalName=*\n": false, "[Match]\nOriginalName=e0\n": false, "[Link]\nName=x\n": false, "": false,
	} {
		if matchesAll(ini(text)) != want {
			t.Errorf("%q matches every device: %v", text, !want)
		}
	}
}

// TestKindsOfNames: the kind of an interface is guessed from the names that udev and the kernel give.
func TestKindsOfNames(t *testing.T) {
	for name, want := range map[string]string{
		"eth0": fact.KindEthernet, "enp1s0": fact.KindEthernet, "eth0.100": fact.KindVLAN, "v@e": fact.KindVLAN, "bond0": fact.KindLAGG, "team0": fact.KindLAGG, "br-lan": fact.KindBridge, "wg0": "", "lo": "",
	} {
		if got := kindOf(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestNetworkdWrites: booleans and words of systemd.network(5), by interface and globally.
func TestNetworkdWrites(t *testing.T) {
	for setting, want := range map[string]string{
		"IPv4Forwarding=on": "net.ipv4.conf.e0/5.forwarding=1", "IPv6Forwarding=false": "net.ipv6.conf.e0/5.forwarding=0", "IPv4ReversePathFilter=loose": "net.ipv4.conf.e0/5.rp_filter=2",
		"IPv4ReversePathFilter=no": "net.ipv4.conf.e0/5.rp_filter=0", "IPv6PrivacyExtensions=prefer-public": "net.ipv6.conf.e0/5.use_tempaddr=1", "IPv6PrivacyExtensions=yes": "net.ipv6.conf.e0/5.use_tempaddr=2",
		"IPv6PrivacyExtensions=kernel": "", "IPv6AcceptRA=yes": "net.ipv6.conf.e0/5.accept_ra=0", "IPv6HopLimit=65": "net.ipv6.conf.e0/5.hop_limit=65", "IPv6MTUBytes=1400": "net.ipv6.conf.e0/5.mtu=1400",
		"IPv4ProxyARP=maybe": "", "DHCP=yes": "", "IPForward=ipv6": "net.ipv6.conf.all.forwarding=1", "IPForward=no": "", "IPForward=kernel": "",
	} {
		got := lines(ReadNetworkFiles(tree{"/etc/systemd/network/x.network": "[Match]\nName=e0.5\n[Network]\n" + setting + "\n[DHCPv4]\n" + setting + "\n"}))
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", setting, got, want)
		}
	}
	for _, match := range []string{"Name=e*", "Name=!e0", "Name=!e0 e1", "Driver=e0", "Name=e0,e1"} {
		if got := lines(ReadNetworkFiles(tree{"/etc/systemd/network/x.network": "[Match]\n" + match + "\n[Network]\nIPv4Forwarding=yes\n"})); len(got) > 0 {
			t.Errorf("%s: %q", match, got)
		}
	}
}
