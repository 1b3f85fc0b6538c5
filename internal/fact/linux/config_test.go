package linux

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/fact"
	"linerate/internal/fact/redact"
	"linerate/internal/list"
)

// lines writes a configuration's lines as name=value, and marks those without effect.
func lines(c Config) []string {
	var got []string
	for _, l := range c.Lines {
		s := fmt.Sprintf("%s=%s", l.Name, l.Value)
		if !l.Effective {
			s += " (" + l.Note + ")"
		}
		got = append(got, s)
	}
	return got
}

func TestSources(t *testing.T) {
	for _, c := range []struct {
		name string
		read func(fact.Files) Config
		tree tree
		want []string
	}{
		{"modprobe.d: a file in /etc hides one of the same name, order by name", ReadModuleOptions, tree{
			"/usr/lib/modprobe.d/ct.conf": "options nf_conntrack hashsize=1\n", "/etc/modprobe.d/ct.conf": "# mine\noptions nf-conntrack hashsize=65536 acct\n",
			"/etc/modprobe.d/aa.conf": "options bonding miimon=50\nblacklist e1000\n",
		}, []string{"module.bonding.miimon=50", "module.nf_conntrack.hashsize=65536", "module.nf_conntrack.acct=1"}},
		{"command line: the file of a GRUB without drop-ins, and sysctls", ReadBootLine, tree{
			"/etc/default/grub": "GRUB_TIMEOUT=5\n# GRUB_CMDLINE_LINUX=\"nosmt\"\nGRUB_CMDLINE_LINUX_DEFAULT=\"quiet mitigations=off\"\nGRUB_CMDLINE_LINUX=\"sysctl.net.core.somaxconn=8192\"\nGRUB_CMDLINE_LINUX_RECOVERY=\"nosmp\"\nGRUB_CMDLINE_LINUX_XEN_REPLACE=\"noapic\"\n",
		}, []string{"net.core.somaxconn=8192", "cmdline.quiet=", "cmdline.mitigations=off"}},
		{"command line: GRUB drop-ins replace or extend the value", ReadBootLine, tree{
			"/etc/default/grub":                "GRUB_CMDLINE_LINUX_DEFAULT=\"isolcpus=1-3\"\nGRUB_CMDLINE_LINUX=\"nosmt\"\nGRUB_CMDLINE_LINUX_DEFAULT=\"${GRUB_CMDLINE_LINUX_DEFAULT:+$GRUB_CMDLINE_LINUX_DEFAULT }\\$tuned_params\"\n",
			"/etc/default/grub.d/50-cloud.cfg": "GRUB_CMDLINE_LINUX_DEFAULT=\"console=ttyS0\"\n",
			"/etc/default/grub.d/60-mine.cfg":  "export GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX audit=0\"\nGRUB_CMDLINE_LINUX+=\" iommu=pt\"\n",
		}, []string{"cmdline.nosmt=", "cmdline.audit=0", "cmdline.iommu=pt", "cmdline.isolcpus=1-3 (" + Replaced + ")", "cmdline.console=ttyS0"}},
		{"command line: one variable's name is a prefix of another's", ReadBootLine, tree{
			"/etc/default/grub": "GRUB_CMDLINE_LINUX=\"nosmt\"\nGRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX_DEFAULT audit=0\"\n",
		}, []string{"cmdline.nosmt= (" + Replaced + ")", "cmdline.audit=0"}},
		{"command line: GRUB, and a kernel-install file that it does not read", ReadBootLine, tree{
			"/etc/default/grub": "GRUB_CMDLINE_LINUX=\"mitigations=auto\"\n", "/etc/kernel/cmdline": "# mine\nmitigations=off\n",
		}, []string{"cmdline.mitigations=off", "cmdline.mitigations=auto"}},
		{"command line: GRUB with a menu of BLS entries", ReadBootLine, tree{
			"/etc/default/grub": "GRUB_CMDLINE_LINUX=\"mitigations=auto\"\nGRUB_ENABLE_BLSCFG=true\n", "/etc/kernel/cmdline": "mitigations=off\n",
		}, []string{"cmdline.mitigations=auto", "cmdline.mitigations=off"}},
		{"command line: the newest BLS entry, with GRUB's variable kernelopts", ReadBootLine, tree{
			"/boot/loader/entries/a-6.8.conf": "options nosmt\n", "/boot/loader/entries/a-6.12.conf": "options $kernelopts audit=0\n",
			"/boot/grub2/grubenv": "# GRUB Environment Block\nkernelopts=root=/dev/vda1 mitigations=auto\n",
		}, []string{"cmdline.root=/dev/vda1", "cmdline.mitigations=auto", "cmdline.audit=0"}},
		{"command line: kernel-install only; the administrator's file hides the vendor's", ReadBootLine, tree{
			"/etc/kernel/cmdline": "root=/dev/vda1 nosmt\n", "/usr/lib/kernel/cmdline": "quiet\n",
		}, []string{"cmdline.root=/dev/vda1", "cmdline.nosmt="}},
		{".link: the first match applies", ReadLinkFiles, tree{
			"/etc/systemd/network/10-wan.link":         "[Match]\nOriginalName=enp1s0\n[Link]\nRxBufferSize=max\n",
			"/usr/lib/systemd/network/99-default.link": "[Match]\nOriginalName=*\n[Link]\nNamePolicy=keep\n",
			"/etc/systemd/network/99-rings.link":       "[Match]\nDriver=ixgbe\n[Link]\nTxBufferSize=4096\n",
		}, []string{"systemd.link.10-wan.RxBufferSize=max", "systemd.link.99-default.NamePolicy=keep",
			"systemd.link.99-rings.TxBufferSize=4096 (an earlier .link file matches every device)"}},
		{".network: what networkd writes itself", ReadNetworkFiles, tree{
			"/etc/systemd/network/20-lan.network":   "[Match]\nName=lan0\n[Network]\nIPv4Forwarding=yes\nIPv6AcceptRA=yes\nIPv4ReversePathFilter=strict\nDHCP=no\n",
			"/etc/systemd/network/30-any.network":   "[Match]\nName=en*\n[Network]\nIPv4Forwarding=yes\n",
			"/etc/systemd/network/40-old.network":   "[Match]\nName=wan0\n[Network]\nIPForward=ipv4\n",
			"/etc/systemd/network/50-again.network": "[Match]\nName=lan0\n[Network]\nIPv6AcceptRA=no\n", // never applied
			"/etc/systemd/networkd.conf":            "[Network]\nIPv6Forwarding=yes\n",
		}, []string{"net.ipv4.conf.lan0.forwarding=1", "net.ipv6.conf.lan0.accept_ra=0", "net.ipv4.conf.lan0.rp_filter=1", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1"}},
		{"udev rules", ReadUdevRules, tree{
			"/etc/udev/rules.d/60-net.rules": "# x\nACTION==\"add\", SUBSYSTEM==\"net\", KERNEL==\"eth0\", ATTR{tx_queue_len}=\"10000\", ATTR{queues/rx-0/rps_cpus}=\"f\", RUN+=\"/usr/sbin/ethtool -K %k gro off, tso off\"\n" +
				"SUBSYSTEM==\"block\", ATTR{queue/scheduler}=\"none\"\nSUBSYSTEM==\"net\", RUN+=\"/sbin/sysctl -q -w net.ipv4.ip_forward=1\"\n",
		}, []string{"link.eth0.tx_queue_len=10000", "/sys/class/net/eth0/queues/rx-0/rps_cpus=f", "ethtool -K eth0 gro=off", "ethtool -K eth0 tso=off", "net.ipv4.ip_forward=1"}},
		{"ifupdown, rc.local, cloud-init", ReadScripts, tree{
			"/etc/network/interfaces":       "auto eth0\niface eth0 inet static\n  mtu 9000\n  post-up ethtool -G $IFACE rx 4096 || true\n  post-up sysctl -w net.ipv4.conf.eth0.rp_filter=0\n",
			"/etc/rc.local":                 "#!/bin/sh\necho 1 > /proc/sys/net/ipv4/ip_forward; echo 5 >/proc/sys/vm/swappiness\nip link set dev eth1 txqueuelen 5000\nfor i in $(seq 3); do echo $i > /proc/sys/vm/x; done\nexit 0\n",
			"/etc/cloud/cloud.cfg.d/90.cfg": "runcmd:\n  - sysctl -w vm.swappiness=1\nbootcmd:\n  - [ sysctl, -w, net.core.somaxconn=1024 ]\n",
		}, []string{"link.eth0.mtu=9000", "ethtool -G eth0 rx=4096", "net.ipv4.conf.eth0.rp_filter=0", "net.ipv4.ip_forward=1", "vm.swappiness=5", "link.eth1.tx_queue_len=5000", "net.core.somaxconn=1024"}},
		{"NetworkManager", ReadNetworkManager, tree{
			"/etc/NetworkManager/system-connections/wan.nmconnection": "[connection]\nid=wan\ninterface-name=ens3\n[ethernet]\nmtu=9000\n[ethtool]\nring-rx=4096\nfeature-gro=false\n",
		}, []string{"link.ens3.mtu=9000", "ethtool -G ens3 rx=4096", "ethtool -K ens3 gro=off"}},
		{"netplan", ReadNetplan, tree{
			"/etc/netplan/50-cloud-init.yaml": "network:\n  version: 2\n  ethernets:\n    eno1: # lan\n      mtu: 9000 # jumbo\n      generic-receive-offload: false\n",
		}, []string{"link.eno1.mtu=9000", "ethtool -K eno1 gro=off"}},
		{"tuned: includes first, sysctl.d again after it", func(f fact.Files) Config { return ReadTuned(f, func(n string) bool { return n == "vm.swappiness" }) }, tree{
			"/etc/tuned/active_profile":                     "network-latency\n",
			"/usr/lib/tuned/network-latency/tuned.conf":     "[main]\ninclude=latency-performance\n[sysctl]\nnet.core.busy_read=50\n",
			"/usr/lib/tuned/latency-performance/tuned.conf": "[main]\ninclude=network-latency\n[cpu]\ngovernor=performance\n[sysctl]\nvm.swappiness=10\nnet.core.somaxconn=>2048\n",
		}, []string{"vm.swappiness=10 (tuned applies sysctl.d again after its profile)", "net.core.somaxconn=2048", "net.core.busy_read=50"}},
		{"ufw, enabled", ReadUFW, tree{
			"/etc/ufw/ufw.conf": "# x\nENABLED=yes\n", "/etc/default/ufw": "IPT_SYSCTL=/etc/ufw/mine.conf\n",
			"/etc/ufw/mine.conf": "net/ipv4/icmp_echo_ignore_all=0\n#net/ipv4/tcp_sack=0\nnet/ipv4/ip_forward=1\n", "/etc/ufw/sysctl.conf": "net/ipv4/tcp_sack=0\n",
		}, []string{"net.ipv4.icmp_echo_ignore_all=0", "net.ipv4.ip_forward=1"}},
		{"ufw, disabled", ReadUFW, tree{"/etc/ufw/ufw.conf": "ENABLED=no\n", "/etc/ufw/sysctl.conf": "net/ipv4/ip_forward=1\n"}, nil},
		{"/etc/sysctl.conf where systemd boots without a link to it", func(f fact.Files) Config { return ReadSysctlConf(f, nil) }, tree{
			"/etc/os-release": "ID=fedora\n", "/etc/sysctl.conf": "vm.swappiness=1\n", "/usr/lib/systemd/system/x.service": "", "/etc/sysctl.d/10-ptrace.conf": "kernel.yama.ptrace_scope = 1\n",
		}, []string{"kernel.yama.ptrace_scope=1", "vm.swappiness=1 (systemd-sysctl does not read this file)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, lines(c.read(c.tree))); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			hidden := strings.NewReplacer("root=/dev/vda1", "root="+redact.Mark, "console=ttyS0", "console="+redact.Mark) // redacted in captures
			want := list.Map(c.want, hidden.Replace)
			if got := lines(c.read(kept(c.tree))); !slices.Equal(want, got) {
				t.Errorf("read from a capture (-want +got)\n%s", cmp.Diff(want, got))
			}
		})
	}
}

func TestModulesLoad(t *testing.T) {
	got := ReadModulesLoad(tree{"/etc/modules-load.d/x.conf": "# a\nnf-conntrack\n", "/etc/modules": "tcp_bbr\n", "/usr/lib/modules-load.d/x.conf": "hidden\n"})
	if len(got) != 2 || got["nf_conntrack"].Number != 2 || got["tcp_bbr"].File != "/etc/modules" {
		t.Errorf("%+v", got)
	}
}

// TestStockLines: lines that Ubuntu itself puts below /etc are not the owner's, unless their value
// was changed.
func TestStockLines(t *testing.T) {
	c := ReadSysctlConf(tree{"/etc/sysctl.d/10-ptrace.conf": "kernel.yama.ptrace_scope = 1\n", "/etc/sysctl.d/10-console-messages.conf": "kernel.printk = 3\t4 1 7\n"}, nil)
	for _, l := range c.Lines {
		if want := l.Name == "kernel.yama.ptrace_scope"; l.Default != want {
			t.Errorf("%s: Default %v", l.Text, l.Default)
		}
	}
}
