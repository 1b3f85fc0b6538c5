package linux

import (
	"testing"

	"linerate/internal/fact"
)

// fuzz feeds text to a parser, which must return whatever the text is, and leave facts that can be
// normalised.
func fuzz(f *testing.F, seeds []string, parse func(*fact.Facts, string)) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		facts := &fact.Facts{}
		parse(facts, text)
		facts.Normalise()
		facts.Drops()
		facts.Lines()
	})
}

func FuzzConfiguration(f *testing.F) {
	fuzz(f, []string{"net.ipv4.ip_forward = 1\n-net.ipv4.conf.*.rp_filter=2\n# x\nnet/ipv4/conf/eth0.100/rp_filter=1\n", "options nf_conntrack hashsize=65536 x\n", "GRUB_CMDLINE_LINUX=\"mitigations=off isolcpus=1-3\"\nGRUB_CMDLINE_LINUX=\"${GRUB_CMDLINE_LINUX\"\n", "[*?=1\n-x\n", "[Match]\nName=a\n[Network]\nIPForward=yes\n", "SUBSYSTEM==\"net\", KERNEL==\"a\", ATTR{mtu}=\"9\", RUN+=\"x\"\n", "iface a inet static\n up echo 1 > /proc/sys/a/b; ip link set dev a mtu 9\n", "network:\n  ethernets:\n    a:\n      mtu: 9\n", "x\n[main]\ninclude=x,y\n[sysctl]\na.b=>1\n", "* hard nofile 1\n@a - nofile unlimited # x\n"},
		func(facts *fact.Facts, text string) {
			files := tree{"/etc/sysctl.d/x.conf": text, "/etc/sysctl.conf": text, "/etc/modprobe.d/x.conf": text}
			facts.AddLines(ReadSysctlConf(files, []string{"net.ipv4.conf.eth0.rp_filter", "net.ipv4.conf.eth0/100.rp_filter"}).Lines)
			facts.AddLines(ReadModuleOptions(files).Lines)
			everywhere := tree{}
			for _, p := range []string{"/etc/modules", "/etc/modules-load.d/x.conf", "/etc/systemd/network/x.link", "/etc/systemd/network/x.network", "/etc/systemd/networkd.conf",
				"/etc/udev/rules.d/x.rules", "/etc/network/interfaces", "/etc/rc.local", "/etc/cloud/cloud.cfg.d/x.cfg", "/etc/NetworkManager/system-connections/x.nmconnection",
				"/etc/netplan/x.yaml", "/etc/tuned/active_profile", "/etc/tuned/x/tuned.conf", "/etc/default/grub.d/x.cfg", "/etc/kernel/cmdline", "/etc/security/limits.conf", "/etc/ufw/ufw.conf", "/etc/ufw/sysctl.conf", "/etc/default/ufw"} {
				everywhere[p] = text
			}
			for _, read := range []func(fact.Files) Config{ReadBootLine, ReadLinkFiles, ReadNetworkFiles, ReadUdevRules, ReadScripts, ReadNetworkManager, ReadNetplan, ReadUFW, ReadLimits, ReadUnits, ReadContainers} {
				facts.AddLines(read(everywhere).Lines)
			}
			facts.AddLines(ReadTuned(everywhere, func(string) bool { return false }).Lines)
			ReadModulesLoad(everywhere)
			AddNeighbours(facts, "arp", text)
			AddQdiscs(facts, text)
			facts.AddLines(ReadCommandLine("/proc/cmdline", text))
		})
}

func FuzzMachine(f *testing.F) {
	fuzz(f, []string{"processor\t: 0\nmodel name\t: X\nphysical id\t: 0\ncore id\t: 0\nflags\t: a b\n", "MemTotal:  100 kB\n", "  CPU0 CPU1\n 24: 1 2 PCI-MSI eth0-TxRx-0\n", "nf_tables 1 2 - Live 0x0\n", "kernel/net/x-y.ko\n", "0-3,8\n", "Node 0 MemTotal:  5 kB\n"},
		func(facts *fact.Facts, text string) {
			facts.CPU, facts.Memory = ParseCPUInfo(text), ParseMeminfo(text)
			facts.Interrupts = ParseInterrupts(text, 10)
			facts.Modules = ParseModules(text)
			ParseBuiltin(text)
			ParseList(text)
			NodeName(text)
			facts.Mounts = ParseMounts(text)
		})
}

func FuzzCounters(f *testing.F) {
	fuzz(f, []string{"00031230 00000001 00000002\n", "TcpExt: ListenOverflows ListenDrops\nTcpExt: 3 4\n", "Ip6InReceives 7\n", "entries drop\n00000001 00000002\n", "  0: 0100007F:1F90 00000000:0000 0A 00000000:00000001\n"},
		func(facts *fact.Facts, text string) {
			AddSoftnet(facts, text)
			AddSNMP(facts, "x", text)
			AddSNMP6(facts, text)
			AddConntrack(facts, text)
			facts.Listeners = ParseListeners("tcp4", text)
		})
}

func FuzzRulesets(f *testing.F) {
	fuzz(f, []string{"table inet x {\n\tset s {\n\t\ttype ipv4_addr\n\t}\n\tchain c {\n\t\ttype filter hook input priority 0; policy accept;\n\t\tct state established accept\n\t}\n}\n", "-A INPUT -m conntrack --ctstate NEW -j ACCEPT\n"},
		func(_ *fact.Facts, text string) { CountNFT(text); CountIPTables(text) })
}

func FuzzEthtool(f *testing.F) {
	fuzz(f, []string{"Features for eth0:\nrx-checksumming: on [fixed]\n", "Current hardware settings:\nRX: 256\nCombined: 4\n", "RX:\ton\nTX:\toff\n", "NIC statistics:\n     rx_missed: 5\n"},
		func(facts *fact.Facts, text string) {
			ParseFeatures(text)
			var n fact.NIC
			AddRings(&n, text)
			AddChannels(&n, text)
			AddPause(&n, text)
			AddDriverCounters(facts, "eth0", text)
			Uevent(text)
		})
}

func FuzzFilterProblems(f *testing.F) {
	fuzz(f, []string{"table inet f {\nchain in { type filter hook input priority 0; policy drop; ct state vmap { new : jump x, * : drop } tcp dport { 22, 80-90 } accept }\n}\n", "*filter\n:INPUT DROP [0:0]\n-A INPUT ! -s 192.0.2.0/24 -p tcp --dport 22 -j ACCEPT\nCOMMIT\n*nat\n-A PREROUTING -j DNAT --to-destination [2001:2::1]:80\n"},
		func(_ *fact.Facts, text string) {
			FilterProblems(map[string]string{"/etc/nftables.conf": text, "/etc/iptables/rules.v4": text, "/etc/docker/daemon.json": "{}"})
		})
}

func FuzzNetworkProblems(f *testing.F) {
	for _, c := range networkCases {
		for _, joined := range append(c.wrong, c.right...) {
			f.Add(joined)
		}
	}
	f.Fuzz(func(t *testing.T, joined string) {
		texts := filesOf(joined)
		for _, p := range NetworkProblems(texts) {
			if p.Line < 1 || texts[p.File] == "" {
				t.Errorf("%s: %s:%d", p.Message, p.File, p.Line)
			}
		}
	})
}
