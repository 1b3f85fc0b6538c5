package inspect

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/fact/redact"
	"linerate/internal/host/filehost"
	"linerate/internal/host/localhost"
)

// A small Linux router as its /proc, /sys and /etc show it.
var linuxRouter = map[string]string{
	"proc/sys/kernel/osrelease": "6.8.0-45-generic\n", "proc/sys/kernel/hostname": "gw\n", "proc/sys/kernel/random/uuid": "x\n",
	"proc/sys/net/ipv4/ip_forward": "1\n", "proc/sys/net/ipv4/tcp_rmem": "4096\t131072\t6291456\n", "proc/sys/net/ipv4/tcp_fastopen_key": "0011-2233\n",
	"proc/sys/net/ipv4/conf/eth0.100/rp_filter": "2\n", "proc/sys/net/ipv4/conf/eth0/rp_filter": "2\n",
	"proc/sys/net/netfilter/nf_conntrack_count": "90\n", "proc/sys/net/netfilter/nf_conntrack_max": "100\n",
	"proc/uptime": "100.00 150.00\n", "proc/meminfo": "MemTotal: 2048 kB\n", "proc/cpuinfo": "processor\t: 0\nmodel name\t: Atom\nflags\t: hypervisor\n",
	"proc/interrupts": "  CPU0 CPU1\n 24: 100 900 PCI-MSI eth0-TxRx-0\n", "proc/irq/24/effective_affinity_list": "1\n",
	"proc/modules": "nf_conntrack 1 2 - Live 0x0\n", "proc/cmdline": "quiet mitigations=off\n",
	"proc/net/softnet_stat":  "00000001 00000005 00000000\n",
	"sys/class/net/eth0/mtu": "1500\n", "sys/class/net/eth0/speed": "10000\n", "sys/class/net/eth0/duplex": "full\n", "sys/class/net/eth0/operstate": "up\n",
	"sys/class/net/eth0/flags": "0x1003\n", "sys/class/net/eth0/type": "1\n", "sys/class/net/eth0/device/uevent": "DRIVER=ixgbe\nPCI_SLOT_NAME=0000:01:00.0\n",
	"sys/class/net/eth0/device/vendor": "0x8086\n", "sys/class/net/eth0/device/current_link_speed": "5.0 GT/s PCIe\n", "sys/class/net/eth0/device/current_link_width": "8\n",
	"sys/class/net/eth0/queues/rx-0/rps_cpus": "0\n", "sys/class/net/eth0/queues/rx-1/rps_cpus": "0\n", "sys/class/net/eth0/queues/tx-0/tx_timeout": "0\n",
	"sys/class/net/eth0/statistics/rx_missed_errors": "7\n", "sys/class/net/eth0/threaded": "0\n",
	"sys/class/net/br0/mtu": "1500\n", "sys/class/net/br0/uevent": "DEVTYPE=bridge\n", "sys/class/net/br0/flags": "0x1003\n", "sys/class/net/br0/brif/eth0/port_no": "1\n",
	"sys/class/net/bonding_masters":                          "\n",
	"sys/devices/system/node/node0/cpulist":                  "0-1\n",
	"sys/devices/system/cpu/vulnerabilities/meltdown":        "Not affected\n",
	"sys/module/nf_conntrack/parameters/hashsize":            "65536\n",
	"etc/sysctl.d/90-gw.conf":                                "net.ipv4.ip_forward=1\nnet.ipv4.conf.*.rp_filter=0\nsnmp.community=public1\n",
	"etc/modprobe.d/ct.conf":                                 "options nf_conntrack hashsize=131072\n",
	"etc/nftables.conf":                                      "table inet f {\n chain c {\n  type filter hook forward priority 0;\n  ct state established accept\n }\n}\n",
	"etc/systemd/system/multi-user.target.wants/x":           "",
	"etc/systemd/system/multi-user.target.wants/frr.service": "",
}

func TestLinuxTree(t *testing.T) {
	tree, err := filehost.OpenTree(writeTree(t, linuxRouter))
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	f, err := Host(context.Background(), tree, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.OS != fact.Linux || f.Release.Short() != "6.8" || f.Hostname != "gw" || f.UptimeSeconds != 100 || f.Hypervisor == "" {
		t.Errorf("%s %s %s %v", f.OS, f.Release, f.Hostname, f.UptimeSeconds)
	}
	for name, want := range map[string]string{"net.ipv4.tcp_rmem": "4096\t131072\t6291456", "net.ipv4.conf.eth0/100.rp_filter": "2",
		"module.nf_conntrack.hashsize": "65536", "cmdline.mitigations": "off", "link.eth0.threaded": "0"} {
		if v, ok := f.LiveValue(name); !ok || v != want {
			t.Errorf("%s = %q, %v", name, v, ok)
		}
	}
	for _, secret := range []string{"net.ipv4.tcp_fastopen_key", "kernel.random.uuid"} {
		if s, ok := f.Tunable(secret); ok {
			t.Errorf("read %+v", s)
		}
	}
	s, _ := f.Tunable("net.ipv4.conf.eth0.rp_filter")
	if l, ok := s.EffectiveLine(fact.Sysctl); !ok || l.Value != "0" || l.Number != 2 {
		t.Errorf("a pattern's line: %+v", s)
	}
	if s, _ := f.Tunable("snmp.community"); len(s.Lines) != 1 || s.Lines[0].Value != redact.Mark || !slices.ContainsFunc(f.LeftOut, func(l fact.LeftOut) bool { return l.What == s.Lines[0].File && l.Why == "1 text" }) {
		t.Errorf("%+v, left out %+v", s, f.LeftOut)
	}
	n, _ := f.NIC("eth0")
	if n.Driver != "ixgbe" || n.SpeedBits != 10e9 || n.RXQueues != 2 || n.TXQueues != 1 || n.PCI.LinkSpeed != 5 || n.PCI.LinkWidth != 8 || !*n.Up {
		t.Errorf("%+v %+v", n, n.PCI)
	}
	if b, _ := f.NIC("br0"); b.Kind != fact.KindBridge || len(b.Members) != 1 || len(f.NICs) != 2 {
		t.Errorf("%+v", f.NICs)
	}
	if i := f.Interrupts[0]; i.Device != "eth0" || i.Rate != 10 || i.CPU == nil || *i.CPU != 1 {
		t.Errorf("%+v", i)
	}
	nft := f.Firewall.NFT
	if nft == nil || nft.Rules != 1 || !*nft.Tracking || *nft.Connections != 90 || *nft.Max != 100 {
		t.Errorf("%+v", nft)
	}
	if c, _ := f.Counter("nic.eth0.rx_missed"); c.Value != 7 || len(f.Drops()) != 2 {
		t.Errorf("%+v", f.Drops())
	}
	daemons := slices.DeleteFunc(f.Services, func(s fact.Service) bool { return s.Enabled == nil }) // others only tell details of files
	if len(daemons) != 1 || daemons[0].Name != "frr" {
		t.Errorf("%+v", f.Services)
	}
}

// TestThisHost looks at the machine of the test: nothing is known of it but
// that it can be read.
func TestThisHost(t *testing.T) {
	if runtime.GOOS != fact.Linux && runtime.GOOS != fact.FreeBSD {
		t.Skip("neither FreeBSD nor Linux")
	}
	f, err := Host(context.Background(), localhost.New(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.OS != runtime.GOOS || f.Release.IsZero() || f.CPU.Count == 0 || f.Memory.Physical == 0 || !f.Live() || len(f.NICs) == 0 || len(f.Sources) == 0 {
		t.Errorf("%s %s, %d CPUs, %d bytes, %d interfaces", f.OS, f.Release, f.CPU.Count, f.Memory.Physical, len(f.NICs))
	}
}

func TestCancelledInspectionEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Host(ctx, localhost.New(), Options{}); err == nil && runtime.GOOS == fact.Linux {
		t.Error("a cancelled inspection gave facts")
	}
}

func TestFIFODoesNotBlock(t *testing.T) {
	dir := writeTree(t, map[string]string{"etc/rc.conf": "a=1\n"})
	if err := mkfifo(filepath.Join(dir, "etc/sysctl.conf")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "etc/pf.conf"), make([]byte, 5<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	f := inspectTree(t, dir, "14.3")
	status := map[string]string{}
	for _, s := range f.Sources {
		status[s.Name] = s.Status
	}
	if status["/etc/sysctl.conf"] != fact.StatusUnreadable || status["/etc/pf.conf"] != fact.StatusPartial {
		t.Errorf("%v", status)
	}
}

// TestExposed: a connection that others may read is found where another file shows that modes are known.
func TestExposed(t *testing.T) {
	const dir = "etc/NetworkManager/system-connections/"
	root := writeTree(t, map[string]string{dir + "a.nmconnection": "[connection]\nid=a\n", dir + "b.nmconnection": "[connection]\nid=b\n", "etc/os-release": "ID=debian\n"})
	said := func() (files []string) {
		for _, p := range inspectTree(t, root, "6.12").Problems {
			if p.Message == "nm-mode" {
				files = append(files, p.File)
			}
		}
		return files
	}
	if files := said(); len(files) > 0 {
		t.Errorf("modes that all files have say nothing: %q", files)
	}
	if err := os.Chmod(filepath.Join(root, dir, "a.nmconnection"), 0o600); err != nil {
		t.Fatal(err)
	}
	if files := said(); !slices.Equal(files, []string{"/" + dir + "b.nmconnection"}) {
		t.Errorf("%q", files)
	}
}
