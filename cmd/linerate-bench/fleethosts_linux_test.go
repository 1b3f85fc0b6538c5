package main

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net"
	"strings"
	"testing"

	"linerate/internal/host"
	"linerate/internal/port"
)

// untarred are the files of a capture.
func untarred(t *testing.T, bundle []byte) map[string]string {
	t.Helper()
	out := map[string]string{}
	if err := host.Untar(bytes.NewReader(bundle), true, func(name string, data []byte) error { out[name] = string(data); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestFleetIsTheSameEachTime: a host is itself by its number and the seed, differs from others, and from
// one night to the next by what moves; only where somebody set something a setting is new.
func TestFleetIsTheSameEachTime(t *testing.T) {
	h := &fleetHosts{n: 3000, seed: 4, flaky: 0.1, dead: 0.05, floods: 2, port: 22, base: []member{{"manifest.tsv", []byte("taken\tlong ago\nmachine\tmine\nfile\t/etc/hosts\tread\t\n")},
		{"./files/proc/uptime", []byte("1.00 1.00\n")}, {"files/proc/net/snmp", []byte("Ip: 5 1000000\n")}, {"./trees/proc-sys", []byte("/proc/sys/kernel/hostname\tme\n/proc/sys/net/core/somaxconn\t4096\n")}}}
	bundle := func(i, night int, changed bool) map[string]string {
		t.Helper()
		data, err := h.bundle(i, night, changed)
		if err != nil {
			t.Fatal(err)
		}
		return untarred(t, data)
	}
	a, again, other, next, set := bundle(1, 1, false), bundle(1, 1, false), bundle(2, 1, false), bundle(1, 2, false), bundle(1, 2, true)
	for name, text := range a {
		if again[name] != text {
			t.Errorf("%s of the same host and night differs", name)
		}
	}
	if m := "machine\t" + h.machine(1) + "\n"; !strings.Contains(a["manifest.tsv"], m) || strings.Contains(a["manifest.tsv"], "mine") || strings.Contains(other["manifest.tsv"], m) || !strings.Contains(next["manifest.tsv"], m) {
		t.Errorf("the identity of a host: %q", a["manifest.tsv"])
	}
	if !strings.Contains(a["trees/proc-sys"], "hostname\thost00001\n") || !strings.Contains(a["trees/proc-sys"], "somaxconn\t4096") {
		t.Errorf("%q", a["trees/proc-sys"])
	}
	const list = "files/etc/sysctl.d/60-fleet.conf"
	if a[list] != next[list] || set[list] != next[list]+"net.ipv4.tcp_tw_recycle=1\n" || a["files/proc/uptime"] == next["files/proc/uptime"] {
		t.Errorf("settings %q, %q, %q", a[list], next[list], set[list])
	}
	natures, addresses := map[int]int{}, map[string]bool{}
	for i := range h.n {
		natures[h.nature(i)]++
		addresses[h.address(i)] = true
	}
	if natures[floodHost] != 2 || natures[flakyHost] < 250 || natures[flakyHost] > 350 || natures[deadHost] < 110 || natures[deadHost] > 190 || len(addresses) != h.n {
		t.Errorf("%v of %d hosts at %d addresses", natures, h.n, len(addresses))
	}
	if h.address(0) != "127.1.0.0:22" || h.address(65536+256+7) != "127.2.1.7:22" || bytes.Equal(h.key(1), h.key(2)) || !bytes.Equal(h.key(1), h.key(1)) {
		t.Errorf("%s, %s", h.address(0), h.address(65536+256+7))
	}
}

// TestCountersMoveOn: numbers above a thousand grow by up to a hundredth; all else stays as it is.
func TestCountersMoveOn(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	in := "Tcp: 0 999 1000000 text 12ab\n"
	moved := false
	for range 20 {
		out := strings.Fields(string(counted([]byte(in), r)))
		if out[1] != "0" || out[2] != "999" || out[4] != "text" || out[5] != "12ab" || len(out[3]) != 7 || out[3] < "1000000" || out[3] > "1010000" {
			t.Fatalf("%v", out)
		}
		moved = moved || out[3] != "1000000"
	}
	if !moved {
		t.Error("nothing moves")
	}
	lines := string(movedLines([]byte("MemFree: 5000000 kB\nMemTotal: 5000000 kB\n"), r, "MemFree:"))
	if !strings.Contains(lines, "MemTotal: 5000000 kB\n") || !strings.HasPrefix(lines, "MemFree:") || strings.HasPrefix(lines, "MemFree: 5000000 ") {
		t.Errorf("%q", lines)
	}
	if got := string(replaceLine([]byte("a\t1\nb\t2\n"), "a\t", "3")); got != "b\t2\na\t3\n" {
		t.Errorf("%q", got)
	}
	if got := string(withoutLines([]byte("a1\nb\na2"), "a")); got != "b\n" {
		t.Errorf("%q", got)
	}
}

// TestPeersFrames: a capture file for peers has so many frames, each as long as its header says.
func TestPeersFrames(t *testing.T) {
	frame := peerFrame(port.Port{MAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, Peer: net.HardwareAddr{2, 0, 0, 0, 0, 2}})
	if len(frame) != 60 || !bytes.Equal(frame[:12], []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1}) || frame[12] != 8 {
		t.Fatalf("% x", frame)
	}
	file := pcap(frame, 3)
	le := binary.LittleEndian
	if le.Uint32(file) != 0xa1b2c3d4 || le.Uint32(file[20:]) != 1 {
		t.Fatalf("header % x", file[:24])
	}
	n := 0
	for b := file[24:]; len(b) > 0; n++ {
		long := int(le.Uint32(b[8:]))
		if long != 60 || le.Uint32(b[12:]) != 60 || !bytes.Equal(b[16:16+long], frame) {
			t.Fatalf("frame %d: % x", n, b[:16])
		}
		b = b[16+long:]
	}
	if n != 3 {
		t.Errorf("%d frames", n)
	}
}

// TestTrafficsBase: ratios are to the first row, round by round; one that failed in a round has none of it.
func TestTrafficsBase(t *testing.T) {
	rows := []*trafficRow{{Generator: "base", MPPS: []float64{1, 2, 0, 4}}, {Generator: "x", MPPS: []float64{2, 4, 7, 8}}, {Generator: "shorter", MPPS: []float64{3}}}
	if base := summariseTraffic(rows); base != "base" || rows[0].Ratio != 1 || rows[1].Ratio != 2 || rows[2].Ratio != 3 || rows[1].Median != 5.5 {
		t.Errorf("%s: %+v %+v %+v", base, rows[0], rows[1], rows[2])
	}
	dead := []*trafficRow{{Generator: "base", MPPS: []float64{0}}, {Generator: "x", MPPS: []float64{2}}}
	if summariseTraffic(dead); dead[1].Ratio != 0 || dead[1].Median != 2 { // a document has no number that is none
		t.Errorf("beside a base that sent nothing: %+v", dead[1])
	}
	var out bytes.Buffer
	rows[2].Failed = "no such device"
	if err := writeTraffic(&out, 2, "base", rows); err != nil || !strings.Contains(out.String(), "no such device") || !strings.Contains(out.String(), "5.500") {
		t.Errorf("%v\n%s", err, &out)
	}
}
