package linux

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/fact"
)

// tree is a machine's files in memory.
type tree map[string]string

func (t tree) Read(p string) (string, error) {
	if text, ok := t[p]; ok {
		return text, nil
	}
	return "", fs.ErrNotExist
}

func (t tree) List(dir string) ([]string, error) {
	names := map[string]bool{}
	for p := range t {
		if rest, ok := strings.CutPrefix(p, dir+"/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

func TestSysctlPrecedence(t *testing.T) {
	c := ReadSysctlConf(tree{
		"/usr/lib/sysctl.d/50-default.conf": "net.ipv4.conf.*.rp_filter = 2\n-net.ipv4.conf.all.rp_filter\nkernel.sysrq=16\n",
		"/usr/lib/sysctl.d/60-hidden.conf":  "a.b=1\n",
		"/etc/sysctl.d/60-hidden.conf":      "a.b=2\n",
		"/etc/sysctl.d/90-router.conf":      "net.ipv4.ip_forward=1\nnet/ipv4/conf/eth0.100/rp_filter = 0\n; comment\nnonsense\n-kernel.nosuch=1\n",
		"/etc/sysctl.conf":                  "net.ipv4.ip_forward = 0\n",
	}, []string{"net.ipv4.conf.all.rp_filter", "net.ipv4.conf.eth0.rp_filter", "net.ipv4.conf.eth0/100.rp_filter"})
	var got []string
	for _, l := range c.Lines {
		got = append(got, l.File+" "+l.Name+"="+l.Value)
	}
	want := []string{
		"/usr/lib/sysctl.d/50-default.conf kernel.sysrq=16", "/etc/sysctl.d/60-hidden.conf a.b=2", "/etc/sysctl.d/90-router.conf net.ipv4.ip_forward=1",
		"/etc/sysctl.d/90-router.conf net.ipv4.conf.eth0/100.rp_filter=0", "/etc/sysctl.d/90-router.conf kernel.nosuch=1",
		"/etc/sysctl.conf net.ipv4.ip_forward=0", "/usr/lib/sysctl.d/50-default.conf net.ipv4.conf.eth0.rp_filter=2",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if len(c.Problems) != 1 || c.Problems[0].Line != 4 {
		t.Errorf("problems %+v", c.Problems)
	}
	linked := ReadSysctlConf(tree{"/etc/sysctl.d/99-sysctl.conf": "a.b=1\n", "/etc/sysctl.conf": "a.b=1\n"}, nil)
	if len(linked.Lines) != 1 {
		t.Errorf("a linked sysctl.conf is read twice: %+v", linked.Lines)
	}
}

func TestMachine(t *testing.T) {
	c := ParseCPUInfo("processor\t: 0\nmodel name\t: Xeon\ncpu MHz\t: 2300.5\nphysical id\t: 0\ncore id\t: 0\nflags\t: avx2 aes\n\nprocessor\t: 1\nphysical id\t: 0\ncore id\t: 0\n\nprocessor\t: 2\nphysical id\t: 1\ncore id\t: 0\n\nprocessor : 3\nphysical id\t: 1\ncore id\t: 0\n")
	if c.Count != 4 || c.Cores != 2 || c.Packages != 2 || c.ThreadsPerCore != 2 || c.MHz != 2300.5 || !slices.Equal(c.Features, []string{"AES", "AVX2"}) {
		t.Errorf("%+v", c)
	}
	if m := ParseMeminfo("MemTotal:       24629812 kB\nMemFree: 100 kB\nSwapTotal: 0 kB\n"); m.Physical != 24629812<<10 || m.Free != 100<<10 {
		t.Errorf("%+v", m)
	}
	irq := ParseInterrupts("           CPU0       CPU1       \n 24:          1          5  PCI-MSIX-0000:00:03.0   1-edge      eth0-TxRx-3\nNMI:          0          0   Non-maskable interrupts\n", 10)
	if len(irq) != 1 || irq[0].Total != 6 || irq[0].Device != "eth0" || irq[0].Queue != "TxRx-3" || irq[0].Rate != 0.6 || IRQ(irq[0].Name) != 24 {
		t.Errorf("%+v", irq)
	}
	if got := ParseList("0-2,8\n"); !slices.Equal(got, []int{0, 1, 2, 8}) {
		t.Errorf("%v", got)
	}
	l := ParseListeners("tcp4", "  sl  local_address rem_address   st tx_queue rx_queue\n   0: 0100007F:1F90 00000000:0000 0A 00000000:00000002 00:0\n   1: 00000000:01BB 00000000:0000 0A 00000000:00000000\n   2: 00000000:01BB 0100007F:9999 01 00000000:00000000\n")
	if len(l) != 2 || l[0].Port != 8080 || !l[0].Local || l[1].Port != 443 {
		t.Errorf("%+v", l)
	}
}

func TestCounters(t *testing.T) {
	var f fact.Facts
	AddSoftnet(&f, "00000010 00000002 0000000a 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000003 00000000 00000000\n")
	AddSNMP(&f, "/proc/net/netstat", "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 1 7 8\nIp: Forwarding ForwDatagrams\nIp: 1 99\n")
	AddConntrack(&f, "entries  drop early_drop\n00000005  00000001 00000002\n00000005  00000010 00000000\n")
	f.Normalise()
	for name, want := range map[string]uint64{"softnet.cpu3.dropped": 2, "softnet.cpu3.time_squeeze": 10, "tcp.listen_overflows": 7, "ip.forwarded": 99, "conntrack.drop": 17} {
		if c, ok := f.Counter(name); !ok || c.Value != want {
			t.Errorf("%s = %d, %v; want %d", name, c.Value, ok, want)
		}
	}
	places := map[string]bool{}
	for _, d := range f.Drops() {
		places[d.Where] = true
	}
	if !places["softnet"] || !places["conntrack"] || !places["socket"] {
		t.Errorf("drops %+v", f.Drops())
	}
}

func TestRulesets(t *testing.T) {
	n, tracking := CountNFT("table inet filter {\n\tset bad {\n\t\ttype ipv4_addr\n\t\telements = { 198.18.0.1,\n\t\t\t     198.18.0.2 }\n\t}\n\n\tchain forward {\n\t\ttype filter hook forward priority filter; policy drop;\n\t\tct state established,related accept\n\t\tip saddr @bad drop\n\t}\n}\n")
	if n != 2 || !tracking {
		t.Errorf("%d rules, tracking %v", n, tracking)
	}
	if n, tracking := CountIPTables("*filter\n:INPUT ACCEPT [0:0]\n-A FORWARD -m conntrack --ctstate ESTABLISHED -j ACCEPT\n-A FORWARD -j DROP\nCOMMIT\n"); n != 2 || !tracking {
		t.Errorf("%d rules, tracking %v", n, tracking)
	}
}

func TestEthtool(t *testing.T) {
	on := ParseFeatures("Features for eth0:\nrx-checksumming: on [fixed]\ngeneric-receive-offload: on\nlarge-receive-offload: off [fixed]\ntx-udp-segmentation: off\n")
	if !slices.Equal(on, []string{"rx-checksumming", "generic-receive-offload"}) {
		t.Errorf("%q", on)
	}
	var n fact.NIC
	AddRings(&n, "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t4096\nTX:\t\t4096\nCurrent hardware settings:\nRX:\t\t256\nRX Mini:\tn/a\nTX:\t\t512\n")
	AddChannels(&n, "Channel parameters for eth0:\nPre-set maximums:\nCombined:\t8\nCurrent hardware settings:\nRX:\t\tn/a\nCombined:\t4\n")
	AddPause(&n, "Pause parameters for eth0:\nAutonegotiate:\ton\nRX:\t\ton\nTX:\t\toff\n")
	if n.RXDescriptors != 256 || n.TXDescriptors != 512 || n.RXQueues != 4 || n.TXQueues != 4 || n.FlowControl != "rx" {
		t.Errorf("%+v", n)
	}
}
