package inspect

import (
	"context"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/fact/redact"
	"linerate/internal/host/filehost"
)

// An extracted sos report as it looks: some of /proc, and the commands' output
// under their own lines.
var sosReport = map[string]string{
	"proc/meminfo": "MemTotal: 16000000 kB\n", "proc/cmdline": "BOOT_IMAGE=/vmlinuz quiet\n", "proc/net/softnet_stat": "00031230 00000007 00000002 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000003 00000000 00000000\n",
	"proc/net/stat/arp_cache": "entries  allocs destroys hash_grows lookups hits res_failed rcv_probes_mcast rcv_probes_ucast periodic_gc_runs forced_gc_runs unresolved_discards table_fulls\n" +
		"00000010 0000002a 00000001 00000000 00000009 00000008 00000002 00000000 00000000 00000004 00000000 00000005 00000003\n" +
		"00000010 00000000 00000000 00000000 00000000 00000000 00000001 00000000 00000000 00000000 00000000 00000001 00000001\n",
	"etc/default/grub":                          "GRUB_CMDLINE_LINUX=\"console=tty0 $extra console=ttyS0,115200\"\n",
	"sos_commands/kernel/sysctl_-a":             "abi.vsyscall32 = 1\nkernel.hostname = fw1\nkernel.osrelease = 5.14.0-503.11.1.el9_5.x86_64\nnet.ipv4.ip_forward = 1\nnet.ipv4.tcp_rmem = 4096\t131072\t6291456\nnet.ipv4.conf.eth0/100.rp_filter = 1\nnet.ipv4.tcp_fastopen_key = 0011-22\ndev.cdrom.info = CD-ROM information\ndev.cdrom.info = drive name:\nkernel.core_pattern = \n",
	"sos_commands/networking/ethtool_-i_ens1f0": "driver: ixgbe\nversion: 5.14\nbus-info: 0000:01:00.0\n",
	"sos_commands/networking/ethtool_-i_br0":    "driver: bridge\n",
	"sos_commands/networking/ethtool_-k_ens1f0": "Features for ens1f0:\ngeneric-receive-offload: off\nlarge-receive-offload: on\n",
	"sos_commands/networking/ethtool_-g_ens1f0": "Ring parameters for ens1f0:\nPre-set maximums:\nRX:\t4096\nCurrent hardware settings:\nRX:\t512\nTX:\t512\n",
	"sos_commands/networking/tc_-s_qdisc_show":  "qdisc mq 0: dev ens1f0 root \n Sent 90 bytes 9 pkt (dropped 0, overlimits 0 requeues 0) \nqdisc fq_codel 0: dev ens1f0 parent :1 limit 10240p flows 1024\n Sent 1000 bytes 20 pkt (dropped 4, overlimits 0 requeues 0) \n backlog 0b 0p requeues 0\n",
	"sos_commands/networking/nft_list_ruleset":  "table inet f {\n chain c {\n  type filter hook forward priority 0;\n  ct state established accept\n }\n}\n",
}

func TestSosReport(t *testing.T) {
	tree, err := filehost.OpenTree(writeTree(t, sosReport))
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if !tree.Tells() || tree.OS() != fact.Linux {
		t.Error("the report is not taken for a Linux host that tells its release")
	}
	f, err := Host(context.Background(), tree, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Release.Short() != "5.14" || f.Hostname != "fw1" || !f.Live() || !f.ForwardsIPv4() {
		t.Errorf("%s %s live %v forwards %v", f.Hostname, f.Release, f.Live(), f.ForwardsIPv4())
	}
	for name, want := range map[string]string{"net.ipv4.tcp_rmem": "4096\t131072\t6291456", "net.ipv4.conf.eth0/100.rp_filter": "1", "kernel.core_pattern": "", "dev.cdrom.info": redact.Mark + " " + redact.Mark} {
		if v, ok := f.LiveValue(name); !ok || v != want {
			t.Errorf("%s = %q, %v", name, v, ok)
		}
	}
	if s, ok := f.Tunable("net.ipv4.tcp_fastopen_key"); ok {
		t.Errorf("read a secret: %+v", s)
	}
	n, _ := f.NIC("ens1f0")
	if n.Driver != "ixgbe" || n.Kind != fact.KindEthernet || n.RXDescriptors != 512 || len(n.Options) != 1 {
		t.Errorf("%+v", n)
	}
	if b, _ := f.NIC("br0"); b.Kind != fact.KindBridge {
		t.Errorf("%+v", b)
	}
	for name, want := range map[string]uint64{"neigh.arp.table_fulls": 4, "neigh.arp.entries": 16, "neigh.arp.unresolved_discards": 6, "qdisc.ens1f0.fq_codel.drops": 4, "qdisc.ens1f0.fq_codel.packets": 20, "softnet.cpu0.flow_limit": 3} {
		if c, _ := f.Counter(name); c.Value != want {
			t.Errorf("%s = %d, want %d", name, c.Value, want)
		}
	}
	if nft := f.Firewall.NFT; nft == nil || nft.Rules != 1 || !*nft.Tracking {
		t.Errorf("%+v", nft)
	}
}

// TestSosFirewall: sos lists iptables' tables one by one, and nft with handles.
func TestSosFirewall(t *testing.T) {
	const head = " pkts bytes target     prot opt in     out     source               destination\n"
	filter := "Chain INPUT (policy ACCEPT 90 packets, 9000 bytes)\n" + head + "  12K 1500K ACCEPT     all  --  *      *       0.0.0.0/0            0.0.0.0/0            ctstate RELATED,ESTABLISHED\n" +
		"1234567   10M DROP       all  --  *      *       198.18.0.0/24        0.0.0.0/0\n\nChain FORWARD (policy DROP 0 packets, 0 bytes)\n" + head
	nat := "Chain POSTROUTING (policy ACCEPT 0 packets, 0 bytes)\n" + head + "    0     0 MASQUERADE  all  --  *      eth0    198.18.0.0/15        0.0.0.0/0\n"
	plain := "Chain INPUT (policy ACCEPT 0 packets, 0 bytes)\n" + head + "    0     0 DROP       all  --  *      *       198.18.0.0/24        0.0.0.0/0\n"
	for _, c := range []struct {
		name     string
		files    map[string]string
		rules    int
		tracking bool
	}{
		{"tables", map[string]string{"sos_commands/firewall_tables/iptables_-t_filter_-nvL": filter, "sos_commands/firewall_tables/iptables_-t_nat_-nvL": nat, "sos_commands/firewall_tables/iptables_-vnxL": filter}, 3, true},
		{"one list", map[string]string{"sos_commands/networking/iptables_-vnxL": plain}, 1, false},
		{"nft with handles", map[string]string{"sos_commands/firewall_tables/nft_-a_list_ruleset": "table inet f { # handle 1\n\tchain c { # handle 2\n\t\ttype filter hook forward priority 0; policy drop;\n\t\tct state established accept # handle 3\n\t}\n}\n"}, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.files["proc/meminfo"], c.files["sos_commands/kernel/sysctl_-a"] = "MemTotal: 16000000 kB\n", "kernel.osrelease = 5.14.0-503.el9\n"
			tree, err := filehost.OpenTree(writeTree(t, c.files))
			if err != nil {
				t.Fatal(err)
			}
			defer tree.Close()
			f, err := Host(context.Background(), tree, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if nft := f.Firewall.NFT; nft == nil || nft.Rules != c.rules || nft.Tracking == nil || *nft.Tracking != c.tracking {
				t.Errorf("%+v, want %d rules, tracking %v", nft, c.rules, c.tracking)
			}
		})
	}
}
