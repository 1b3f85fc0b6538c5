package jailbed

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/labtest"
	"linerate/internal/load"
	"linerate/internal/load/packetload"
	"linerate/internal/port"
	"linerate/internal/setting"
	"linerate/internal/testbed"
	"linerate/internal/testbed/bedtest"
)

// This test binary also runs as its own helper in jails, and as the process to kill.
const (
	asHelper = "open-port"
	asVictim = "be-killed"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case asHelper:
			if err := Serve(os.Args[2], packetload.OpenBPF); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		case asVictim:
			_, err := Up(context.Background(), Options{Helper: []string{os.Args[0], asHelper}})
			fmt.Println("up", err)
			time.Sleep(time.Hour)
		}
	}
	os.Exit(m.Run())
}

func up(t testing.TB, mode testbed.Mode) *Bed {
	t.Helper()
	labtest.Need(t)
	return raise(t, mode)
}

// helper returns the command with which this binary opens ports in jails.
func helper(t testing.TB) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self, asHelper}
}

// raise is up for a test that already holds the machine's lock.
func raise(t testing.TB, mode testbed.Mode) *Bed {
	t.Helper()
	b, err := Up(context.Background(), Options{Mode: mode, Helper: helper(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// send offers n frames from one port to another and returns both accounts.
func send(t testing.TB, b *Bed, from, to port.Port, ends [2]netip.Addr, n int) (load.Sent, load.Received) {
	t.Helper()
	return sendFlows(t, b, from, to, ends, n, 10)
}

// sendFlows is send with several flows; each ends with a frame that is not counted.
func sendFlows(t testing.TB, b *Bed, from, to port.Port, ends [2]netip.Addr, n, flows int) (load.Sent, load.Received) {
	t.Helper()
	e := packetload.NewBPF(b.Door)
	r, err := e.NewReceiver(to.Device, to.In, load.Watch{Stream: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	size := 64
	if ends[0].Is6() {
		size = 84
	}
	g, err := e.NewGenerator(load.Spec{Device: from.Device, SrcMAC: from.MAC, DstMAC: from.Peer, Stream: 1, Ends: 1, Sizes: []int{size},
		Flows: load.FlowSpace{Count: flows, Src: ends[0], Dst: ends[1], DstSpan: min(flows, 5)}}, from.In)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	sent, err := g.Run(context.Background(), load.Offer{Rate: load.Rate{PPS: 2000}, Limit: load.Limit{Packets: uint64(n)}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Finish(context.Background(), 3*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return sent, got
}

var (
	v4 = [2]netip.Addr{genPort.IPv4.Addr(), sinkPort.IPv4.Addr()}
	v6 = [2]netip.Addr{genPort.IPv6.Addr(), sinkPort.IPv6.Addr()}
)

func TestConform(t *testing.T) {
	bedtest.Conform(t, bedtest.Suite{
		Up: func(t testing.TB) testbed.Bed { return up(t, testbed.Cost) },
		Offer: func(t testing.TB, b testbed.Bed, from, to port.Port, n int, _ bool) int {
			ends := [2]netip.Addr{from.IPv4.Addr(), to.IPv4.Addr()}
			_, got := sendFlows(t, b.(*Bed), from, to, ends, n, 1)
			return int(got.RxPackets)
		},
		Closed: setting.Setting{Mechanism: setting.Sysctl, Name: "net.inet.ip.forwarding", Value: "0"},
	})
}

// TestBothFamilies: IPv6 is forwarded too, and the bypass does not pass the DUT.
func TestBothFamilies(t *testing.T) {
	b := up(t, testbed.Cost)
	if _, got := send(t, b, b.DUT().Generator, b.DUT().Receiver, v6, 50); got.RxPackets != 50 || got.Lost == nil || *got.Lost != 0 {
		t.Errorf("IPv6: %+v", got)
	}
	from, to, err := b.Bypass()
	if err != nil {
		t.Fatal(err)
	}
	if _, got := send(t, b, from, to, v4, 50); got.RxPackets != 50 || got.Foreign != 0 {
		t.Errorf("bypass: %+v", got)
	}
	if c, err := b.DUT().Counters(); err != nil || c.Forwarded < 50 || c.Forwarded > 75 {
		t.Errorf("the DUT forwarded %+v, %v", c, err)
	}
}

// TestRaise: several DUTs side by side, each with its arm's settings.
func TestRaise(t *testing.T) {
	b := up(t, testbed.Cost)
	arms, err := b.Raise(context.Background(), []testbed.Settings{
		{Name: "plain"},
		{Name: "closed", Settings: []setting.Setting{{Mechanism: setting.Sysctl, Name: "net.inet.ip.forwarding", Value: "0"}}},
		{Name: "none", Bypass: true},
		{Name: "global", Settings: []setting.Setting{{Mechanism: setting.Sysctl, Name: "net.isr.dispatch", Value: "hybrid"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if arms[3].Unavailable == nil || !strings.Contains(arms[3].Unavailable.Error(), "global") {
		t.Errorf("a setting of the kernel: %v", arms[3].Unavailable)
	}
	for i, want := range []uint64{30, 0, 30} {
		if _, got := send(t, b, arms[i].Generator, arms[i].Receiver, v4, 30); got.RxPackets != want {
			t.Errorf("arm %d: %d of 30 arrived, want %d", i, got.RxPackets, want)
		}
	}
}

// TestEnginesAccount: with any combination of engines, frame sizes and order of flows, every frame is
// accounted for.
func TestEnginesAccount(t *testing.T) {
	b := up(t, testbed.Cost)
	from, to, err := b.Bypass()
	if err != nil {
		t.Fatal(err)
	}
	bpf := packetload.NewBPF(b.Door)
	for _, c := range []struct {
		name      string
		out, in   load.Engine
		sizes     []int
		random    bool
		flows     int
		pps, many uint64
	}{
		{"bpf to bpf", bpf, bpf, load.SimpleIMIX(), false, 7, 0, 1500},
		{"bpf, random", bpf, bpf, []int{64}, true, 300, 0, 1501},
		{"paced", bpf, bpf, []int{64}, false, 3, 500, 300},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := errors.Join(c.out.Available(), c.in.Available()); err != nil {
				labtest.Lacking(t, "%v", err)
			}
			r, err := c.in.NewReceiver(to.Device, to.In, load.Watch{Stream: 5})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			g, err := c.out.NewGenerator(load.Spec{Device: from.Device, SrcMAC: from.MAC, DstMAC: from.Peer, Stream: 5, Sizes: c.sizes,
				Flows: load.FlowSpace{Count: c.flows, Src: v4[0], Dst: v4[1], Random: c.random}}, from.In)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			sent, err := g.Run(context.Background(), load.Offer{Rate: load.Rate{PPS: c.pps}, Limit: load.Limit{Packets: c.many}})
			if err != nil || sent.TxPackets != c.many {
				t.Fatalf("sent %+v, %v", sent, err)
			}
			got, err := r.Finish(context.Background(), 5*time.Second)
			if err != nil || got.Lost == nil || got.RxPackets+*got.Lost != c.many || got.RxPackets == 0 || got.Duplicated+got.Reordered+got.Foreign != 0 {
				t.Fatalf("%+v, %v", got, err)
			}
			if *got.Lost == 0 && got.RxBytes != sent.TxBytes {
				t.Errorf("%d bytes of %d", got.RxBytes, sent.TxBytes)
			}
			t.Logf("%d sent at %.0f pps, %d lost, delay %+v", sent.TxPackets, sent.TxPPS, *got.Lost, got.Latency)
		})
	}
}

// ages matches the lifetimes of neighbours, which decrease by themselves.
var ages = regexp.MustCompile(`expires in \d+ seconds`)

// outside returns what a lab must not change on the machine.
func outside(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, argv := range [][]string{{"ifconfig", "-a"}, {"jls", "-n", "name"}, {"netstat", "-rnW"}, {"kldstat"}, {"arp", "-an"},
		{"sysctl", "net.inet.ip.forwarding", "net.inet.ip.redirect", "net.isr", "net.bpf", "kern.ipc.maxsockbuf"}, {"ifconfig", "-g", "epair"}} {
		out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
		fmt.Fprintf(&all, "%v %v\n%s", argv, err, ages.ReplaceAll(out, nil))
	}
	return all.String()
}

// TestNothingOutside: the machine is unchanged while a lab is up and after it, except for the lab's jails.
func TestNothingOutside(t *testing.T) {
	labtest.Need(t)
	before := outside(t)
	b := raise(t, testbed.Cost)
	if _, got := send(t, b, b.DUT().Generator, b.DUT().Receiver, v4, 30); got.RxPackets != 30 {
		t.Fatalf("%+v", got)
	}
	during := outside(t)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	var kept []string
	for line := range strings.Lines(during) {
		if !strings.HasPrefix(line, "name="+prefix) {
			kept = append(kept, line)
		}
	}
	if got := strings.Join(kept, ""); got != before {
		t.Errorf("while the lab was up:\n%s\nwant\n%s", got, before)
	}
	if after := outside(t); after != before {
		t.Errorf("after:\n%s\nwant\n%s", after, before)
	}
}

// TestKilled: nothing is left of a lab whose owner was killed.
func TestKilled(t *testing.T) {
	labtest.Need(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, asVictim)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 200)
	n, _ := out.Read(said)
	if !strings.HasPrefix(string(said[:n]), "up <nil>") {
		t.Fatalf("%s", said[:n])
	}
	if err := c.Process.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	mine := fmt.Sprintf("%s%d-", prefix, c.Process.Pid)
	for range 100 {
		all, err := jails()
		if err != nil {
			t.Fatal(err)
		}
		left := 0
		for name := range all {
			if strings.HasPrefix(name, mine) {
				left++
			}
		}
		if left == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("jails of a killed lab still exist")
}
