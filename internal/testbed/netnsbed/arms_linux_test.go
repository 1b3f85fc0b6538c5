package netnsbed

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/safchain/ethtool"
	"golang.org/x/sys/unix"

	"linerate/internal/labtest"
	"linerate/internal/load"
	"linerate/internal/port"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// datagram returns a frame for the DUT from the generator's to the receiver's address, or its reply.
func datagram(t *testing.T, to net.HardwareAddr, reply bool) []byte {
	t.Helper()
	f, err := load.NewFramer(load.Spec{SrcMAC: genPort.MAC, DstMAC: to, Sizes: []int{64},
		Flows: load.FlowSpace{Src: genPort.IPv4.Addr(), Dst: sinkPort.IPv4.Addr(), Reply: reply}})
	if err != nil {
		t.Fatal(err)
	}
	frame := make([]byte, 60)
	f.Put(frame, 0)
	return frame
}

// inject sends n frames into a port.
func inject(t *testing.T, p port.Port, n int) {
	t.Helper()
	injectFrame(t, p, datagram(t, p.Peer, false), n)
}

func injectFrame(t *testing.T, p port.Port, frame []byte, n int) {
	t.Helper()
	err := p.In(func() error {
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		dev, err := net.InterfaceByName(p.Device)
		if err != nil {
			return err
		}
		for range n {
			if err := unix.Sendto(fd, frame, 0, &unix.SockaddrLinklayer{Ifindex: dev.Index}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRaise: several DUTs are up at once, and each forwards only its own frames.
func TestRaise(t *testing.T) {
	labtest.Program(t, "nft")
	labtest.Namespaces(t)
	b, ctx := up(t, Options{}), context.Background()
	bad := []setting.Setting{{Mechanism: setting.Sysctl, Name: "net.ipv4.no_such_sysctl", Value: "1"}}
	drop := []setting.Setting{{Mechanism: setting.NFT, Rules: &setting.Rules{Text: "table ip t { chain c { type filter hook forward priority 0; policy drop; }; }"}}}
	wanted := []testbed.Settings{{Name: "plain"}, {Name: "bypass", Bypass: true}, {Name: "bad", Settings: bad}, {Name: "drop", Settings: drop}, {Name: "again"}}
	for range 2 { // the second time replaces the first
		arms, err := b.Raise(ctx, wanted)
		if err != nil {
			t.Fatal(err)
		}
		var un *testbed.ErrUnavailable
		if !errors.As(arms[2].Unavailable, &un) {
			t.Errorf("an impossible setting is unavailable with %v", arms[2].Unavailable)
		}
		inject(t, arms[0].Generator, 7)
		inject(t, arms[3].Generator, 5)
		for i, want := range map[int]testbed.Counters{0: {Received: 7, Forwarded: 7}, 3: {Received: 5}, 4: {}} {
			got := counters(t, arms[i], want)
			if !near(got.Received, want.Received) || !near(got.Forwarded, want.Forwarded) {
				t.Errorf("%s: %+v, want %+v", wanted[i].Name, got, want)
			}
		}
		tellDrops(t, arms[0])
		if arms[1].Counters != nil {
			t.Error("a bypass has no DUT to count")
		}
	}
	if _, err := b.Reset(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if got := offer(t, b, 10, false); got != 10 {
		t.Errorf("%d of 10 packets arrived after a Reset", got)
	}
	for _, ns := range []*namespace{b.gen, b.sink} {
		if n := len(devices(t, ns)); n != 3 {
			t.Errorf("devices left: %v", devices(t, ns))
		}
	}
}

// tellDrops checks that an arm counts its own dropped frames separately from the machine-wide counters.
func tellDrops(t *testing.T, a testbed.Arm) {
	t.Helper()
	own, err := a.Drops()
	if err != nil {
		t.Fatal(err)
	}
	all, err := a.Machine()
	if err != nil {
		t.Fatal(err)
	}
	_, isOwn := own["softnet.dropped"]
	if _, is := all["softnet.dropped"]; !is || isOwn || len(own) == 0 {
		t.Errorf("its own are %v, the machine's %v", own, all)
	}
}

// counters returns an arm's counters once they have reached want: frames may be in flight for a moment.
func counters(t *testing.T, a testbed.Arm, want testbed.Counters) (got testbed.Counters) {
	t.Helper()
	labtest.Eventually(func() bool {
		var err error
		if got, err = a.Counters(); err != nil {
			t.Fatal(err)
		}
		return got.Received >= want.Received && got.Forwarded >= want.Forwarded
	})
	return got
}

// near allows for packets that a DUT sends on its own.
func near(n, want uint64) bool { return n >= want && n <= want+4 }

func devices(t *testing.T, ns *namespace) (names []string) {
	t.Helper()
	err := ns.do(func() error {
		all, err := net.Interfaces()
		for _, i := range all {
			names = append(names, i.Name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// BenchmarkRaise measures the time between instances of six arms and a bypass.
func BenchmarkRaise(b *testing.B) {
	labtest.Need(b)
	bed := up(b, Options{})
	arms := append(make([]testbed.Settings, 6), testbed.Settings{Bypass: true})
	for b.Loop() {
		if _, err := bed.Raise(context.Background(), arms); err != nil {
			b.Fatal(err)
		}
	}
}

// TestBothWays: with traffic both ways a DUT's counters cover both, and its egress accepts redirected
// frames; mode overload has only one generator.
func TestBothWays(t *testing.T) {
	labtest.Namespaces(t)
	var un *testbed.ErrUnavailable
	if err := (&Bed{mode: testbed.Overload}).BothWays(true); !errors.As(err, &un) {
		t.Errorf("both directions in mode overload: %v", err)
	}
	b, ctx := up(t, Options{}), context.Background()
	for _, on := range []bool{true, false} {
		if err := b.BothWays(on); err != nil {
			t.Fatal(err)
		}
		arms, err := b.Raise(ctx, []testbed.Settings{{Name: "plain"}})
		if err != nil {
			t.Fatal(err)
		}
		err = b.arms[0].dut.last().do(func() error {
			e, err := ethtool.NewEthtool()
			if err != nil {
				return err
			}
			defer e.Close()
			f, err := e.Features(egress.Device)
			if f["rx-gro"] != on {
				t.Errorf("both ways %v: NAPI at the egress is %v", on, f["rx-gro"])
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		injectFrame(t, arms[0].Receiver, datagram(t, arms[0].Receiver.Peer, true), 5)
		inject(t, arms[0].Generator, 7)                                         // last: these are counted in both cases, and waited for
		want, reports := testbed.Counters{Received: 7, Forwarded: 7}, uint64(2) // MLDv2 listener reports (each sent twice), at each egress
		if on {
			want, reports = testbed.Counters{Received: 12, Forwarded: 12}, 4
		}
		if got := counters(t, arms[0], want); got.Received != want.Received || got.Forwarded < want.Forwarded || got.Forwarded > want.Forwarded+reports {
			t.Errorf("both ways %v: %+v, want %+v", on, got, want)
		}
	}
}
