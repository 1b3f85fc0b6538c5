package sshbed

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// freebsdTelemetry is the output of a FreeBSD 14.0 with two NICs under load, shortened.
const freebsdTelemetry = `== netstat-I em0
Name    Mtu Network       Address              Ipkts Ierrs Idrop     Ibytes    Opkts Oerrs     Obytes  Coll  Drop
em0    1500 <Link#1>      52:54:00:12:34:56   103424     2     7    6205440        3     0        126     0     5
em0       - 198.18.0.0/24 198.18.0.1               0     -     -          0        -     -          -     -     -
== netstat-Q
Workstreams:
WSID CPU   Name     Len WMark   Disp'd  HDisp'd   QDrops   Queued  Handled
   0   0   ip         0     9   103358        0        0        0   103358
   1   1   ip         0   256        0        0       66      900      834
== netstat-m
526/494/1020 mbufs in use (current/cache/total)
1/2/3 requests for mbufs denied (mbufs/clusters/mbuf+clusters)
0/0/4 requests for mbufs delayed (mbufs/clusters/mbuf+clusters)
== vmstat-i
interrupt                          total       rate
cpu0:timer                          3677        126
irq24: em0:rxq0                    29071        995
Total                             111207       3808
== cp_times
10 0 20 300 4000 11 0 21 301 4001
== cpu
dev.cpu.0.temperature: 41.0C
dev.cpu.0.freq: 2400
`

func TestTelemetryOfFreeBSD(t *testing.T) {
	got := parseTelemetry(freebsdTelemetry)
	for name, want := range map[string]float64{"nic.em0.input_packets": 103424, "nic.em0.input_errors": 2, "nic.em0.input_drops": 7, "nic.em0.output_packets": 3, "nic.em0.output_drops": 5,
		"netisr.ip.queue_drops": 66, "netisr.cpu0.handled": 103358, "mbuf.denied.mbufs": 1, "mbuf.denied.clusters": 2,
		"interrupts.irq24: em0:rxq0": 29071, "cpu0.interrupt_ticks": 300, "cpu1.idle_ticks": 4001} {
		if got.Counters[name] != want {
			t.Errorf("%s is %g, want %g", name, got.Counters[name], want)
		}
	}
	if want := map[string]float64{"dev.cpu.0_celsius": 41, "dev.cpu.0_mhz": 2400}; !cmp.Equal(got.Gauges, want) {
		t.Errorf("%v", got.Gauges)
	}
}

func TestTelemetryOfLinux(t *testing.T) {
	got := parseTelemetry("== statistics eth1\nrx_packets 12\nrx_dropped 3\n== ethtool-S eth1\nNIC statistics:\n     rx_queue_0_drops: 4\n== softnet\n0000000a 00000001 00000002 0\n00000001 00000001 00000000 0\n== stat\ncpu0 1 2 3 4 5 6 7 8 0 0\n== cpu\nthermal_zone0 41500\ncpu0 2400000\n")
	want := map[string]float64{"eth1.rx_packets": 12, "eth1.rx_dropped": 3, "eth1.ethtool.rx_queue_0_drops": 4, "softnet.cpu0.processed": 10, "softnet.cpu0.dropped": 1, "softnet.cpu0.time_squeeze": 2, "softnet.cpu1.processed": 1, "softnet.cpu1.dropped": 1, "softnet.cpu1.time_squeeze": 0,
		"cpu0.user_ticks": 1, "cpu0.nice_ticks": 2, "cpu0.system_ticks": 3, "cpu0.idle_ticks": 4, "cpu0.iowait_ticks": 5, "cpu0.irq_ticks": 6, "cpu0.softirq_ticks": 7, "cpu0.steal_ticks": 8}
	if !cmp.Equal(got.Counters, want) {
		t.Error(cmp.Diff(want, got.Counters))
	}
	if want := map[string]float64{"thermal_zone0_celsius": 41.5, "cpu0_mhz": 2400}; !cmp.Equal(got.Gauges, want) {
		t.Errorf("%v", got.Gauges)
	}
	later := got
	later.Counters = map[string]float64{"eth1.rx_packets": 20, "eth1.rx_dropped": 3}
	if d := later.Since(got); d["eth1.rx_packets"] != 8 || d["thermal_zone0_celsius"] != 41.5 {
		t.Errorf("%v", d)
	}
	if _, there := later.Since(got)["eth1.rx_dropped"]; there {
		t.Error("an unchanged counter is reported")
	}
}
