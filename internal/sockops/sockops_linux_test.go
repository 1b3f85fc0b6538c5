package sockops

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/internal/labtest"
	"linerate/internal/setting"
)

// Roles of this test's binary when it runs again in a cgroup and a network namespace.
const roleEnv = "LINERATE_SOCKOPS_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "server":
		serveForever()
	case "splitter":
		splitForever()
	}
	os.Exit(m.Run())
}

// serveForever accepts connections in this namespace from itself, as many as each line of
// standard input says, and prints the client's address and the congestion control of each.
func serveForever() {
	lo, err := netlink.LinkByName("lo")
	if err == nil {
		err = errors.Join(netlink.LinkSetUp(lo), netlink.AddrAdd(lo, &netlink.Addr{IPNet: &net.IPNet{IP: net.IPv4(198, 18, 0, 1), Mask: net.CIDRMask(32, 32)}}))
	}
	l, err2 := net.Listen("tcp", "198.18.0.1:0")
	if err := errors.Join(err, err2); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println("ready", l.Addr())
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var n int
		fmt.Sscan(in.Text(), &n)
		for range n {
			fmt.Println(oneConnection(l))
		}
		fmt.Println("done")
	}
	os.Exit(0)
}

func oneConnection(l net.Listener) string {
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return "error " + err.Error()
	}
	defer client.Close()
	server, err := l.Accept()
	if err != nil {
		return "error " + err.Error()
	}
	raw, err := server.(*net.TCPConn).SyscallConn()
	if err != nil {
		return "error " + err.Error()
	}
	name := ""
	_ = raw.Control(func(fd uintptr) {
		name, _ = unix.GetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	})
	_, _ = server.Write(make([]byte, 20_000))
	_ = server.Close()
	_, _ = io.Copy(io.Discard, client)
	return client.LocalAddr().String() + " " + name
}

// splitForever splits a cgroup until it is killed.
func splitForever() {
	s, err := Attach(os.Args[len(os.Args)-1], Key{1, 2}, nil)
	if err == nil {
		err = s.Set(1, 0.5, All)
	}
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
}

// helper starts this binary again in a role.
func helper(t testing.TB, role string, attr *syscall.SysProcAttr, args ...string) (in io.Writer, out *bufio.Scanner, stop func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env, cmd.SysProcAttr, cmd.Stderr = append(os.Environ(), roleEnv+"="+role), attr, os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Cleanup(stop)
	out = bufio.NewScanner(stdout)
	if !out.Scan() || !strings.HasPrefix(out.Text(), "ready") || strings.Contains(out.Text(), "error") {
		t.Fatalf("%s: %q", role, out.Text())
	}
	return stdin, out, stop
}

// cgroup makes one below the root of cgroup v2, and takes it away.
func cgroup(t testing.TB) string {
	t.Helper()
	labtest.Need(t)
	root, err := Cgroup("")
	if err != nil {
		labtest.Without(t, "%v", err)
	}
	path := filepath.Join(root, fmt.Sprintf("linerate-test-%d", os.Getpid()))
	if err := os.Mkdir(path, 0o755); err != nil {
		labtest.Without(t, "no cgroup can be made: %v", err)
	}
	t.Cleanup(func() {
		if !labtest.Eventually(func() bool { return os.Remove(path) == nil }) {
			t.Errorf("%s cannot be removed", path)
		}
	})
	return path
}

// attached counts the programs on a cgroup.
func attached(t *testing.T, path string) int {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := link.QueryPrograms(link.QueryOptions{Target: int(f.Fd()), Attach: ebpf.AttachCGroupSockOps})
	if err != nil {
		t.Fatal(err)
	}
	return len(got.Programs)
}

// server is one in a namespace and a cgroup; ask has it accept connections, and gives the
// congestion control by the client's address.
func server(t testing.TB, path string) (ask func(n int) map[string]string) {
	t.Helper()
	group, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer group.Close()
	in, out, _ := helper(t, "server", &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET, UseCgroupFD: true, CgroupFD: int(group.Fd())})
	return func(n int) map[string]string {
		fmt.Fprintln(in, n)
		seen := map[string]string{}
		for out.Scan() && out.Text() != "done" {
			client, name, _ := strings.Cut(out.Text(), " ")
			if client == "error" {
				t.Fatal(out.Text())
			}
			seen[client] = name
		}
		return seen
	}
}

func TestSplitsByCoin(t *testing.T) {
	path := cgroup(t)
	ask := server(t, path)
	usual := ""
	for _, name := range ask(1) {
		usual = name
	}
	if usual == "reno" {
		labtest.Without(t, "the default congestion control is reno, which the test sets")
	}
	key := Key{0x1234567890abcdef, 42}
	s, err := Attach(path, key, []Option{{Level: unix.IPPROTO_TCP, Name: unix.TCP_CONGESTION, Text: "reno"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const n = 1000
	for window, w := range []struct {
		share float64
		keep  Shares
	}{{0, All}, {0.5, All}, {0.1, Shares{0.2, 0.5, 1}}} {
		if err := s.Set(uint32(window), w.share, w.keep); err != nil {
			t.Fatal(err)
		}
		seen := ask(n)
		closed, err := s.Read()
		if err != nil || len(closed) == 0 {
			t.Fatalf("%d connections were read: %v", len(closed), err)
		}
		var want, got [arms]Tally
		for client := range seen {
			arm, kept := draw(key, netip.MustParseAddrPort(client), closed[0].Local, w.share, w.keep)
			want[arm].Opened++
			if kept {
				want[arm].Kept, want[arm].Closed = want[arm].Kept+1, want[arm].Closed+1
			}
		}
		for _, c := range closed {
			got[c.Arm].Closed++
			name := usual
			if c.Arm == Treated {
				name = "reno"
			}
			if got := seen[c.Remote.String()]; got != name {
				t.Fatalf("%s drew arm %d and has %q, not %q", c.Remote, c.Arm, got, name)
			}
			if arm, kept := draw(key, c.Remote, c.Local, w.share, w.keep); arm != c.Arm || !kept {
				t.Fatalf("%s → %s drew arm %d, and %d (reported: %v) when drawn again", c.Remote, c.Local, c.Arm, arm, kept)
			}
			if c.Window != uint32(window) || c.BytesSent != 20_000+1 && c.BytesSent != 20_000 || c.Segments == 0 || c.Duration <= 0 || c.RTT <= 0 {
				t.Fatalf("not what was sent: %+v", c)
			}
		}
		tallies, err := s.Tallies(uint32(window))
		if diff := cmp.Diff(want, tallies); err != nil || diff != "" {
			t.Errorf("window %d: %v, %s", window, err, diff)
		}
		for arm := range got {
			if got[arm].Closed != want[arm].Closed {
				t.Errorf("window %d, arm %d: %d were read, not %d", window, arm, got[arm].Closed, want[arm].Closed)
			}
		}
		if got := float64(want[Treated].Opened) / n; len(seen) != n || got < w.share-0.05 || got > w.share+0.05 {
			t.Errorf("%d connections of %d, %.3f of them treated, not %.2f", len(seen), n, got, w.share)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for client, name := range ask(20) {
		if name != usual {
			t.Errorf("%s has %s after the end", client, name)
		}
	}
}

func TestRefusedOptionsAreCounted(t *testing.T) {
	path := cgroup(t)
	ask := server(t, path)
	s, err := Attach(path, Key{3, 4}, []Option{{Level: unix.IPPROTO_TCP, Name: unix.TCP_CONGESTION, Text: "nonesuch"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Set(1, 1, All); err != nil {
		t.Fatal(err)
	}
	ask(10)
	tallies, err := s.Tallies(1)
	if err != nil {
		t.Fatal(err)
	}
	want := Tally{Opened: 10, Kept: 10, Closed: 10, Refused: 10, Errno: -int64(unix.ENOENT)}
	if diff := cmp.Diff(want, tallies[Treated]); diff != "" {
		t.Error(diff)
	}
}

// TestEveryOptionIsTaken: what the catalogue of options calls settable for a connection, this kernel
// sets for every one, at its least value and at a usual one.
func TestEveryOptionIsTaken(t *testing.T) {
	path := cgroup(t)
	ask := server(t, path)
	usual := map[string]int32{"net.ipv4.tcp_notsent_lowat": 16384, "TCP_BPF_IW": 45, "TCP_BPF_SNDCWND_CLAMP": 100, "TCP_BPF_DELACK_MAX": 40_000, "net.ipv4.tcp_rto_min_us": 50_000,
		"TCP_WINDOW_CLAMP": 1 << 20, "TCP_USER_TIMEOUT": 30_000, "SO_MAX_PACING_RATE": 125_000_000, "SO_SNDBUF": 1 << 20, "SO_RCVBUF": 1 << 20}
	for i, o := range setting.SocketOptions {
		options := []Option{{Level: o.Level, Name: o.Number, Value: o.Min}, {Level: o.Level, Name: o.Number, Value: usual[o.Name]}}
		switch {
		case o.Unit == "µs":
			options = options[1:] // the least depends on the kernel's tick
		case o.Text:
			options = []Option{{Level: o.Level, Name: o.Number, Text: "reno"}}
		}
		if last := options[len(options)-1]; last.Text == "" && last.Value == 0 {
			t.Fatalf("%s has no usual value in this test", o.Name)
		}
		for _, option := range options {
			if err := Try(option); err != nil {
				t.Errorf("%s=%d, of a socket: %v", o.Name, option.Value, err)
			}
			s, err := Attach(path, Key{uint64(i), 1}, []Option{option})
			if err == nil {
				err = s.Set(1, 1, All)
			}
			if err != nil {
				t.Fatal(err)
			}
			ask(5)
			tallies, err := s.Tallies(1)
			if want := (Tally{Opened: 5, Kept: 5, Closed: 5}); err != nil || tallies[Treated] != want {
				t.Errorf("%s=%d%s: %+v, %v, %v", o.Name, option.Value, option.Text, tallies[Treated], tallies[Treated].Err(), err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// BenchmarkProgram times the program for connections of which both ends are in the cgroup, so it is also
// called for the client's.
func BenchmarkProgram(b *testing.B) {
	path := cgroup(b)
	ask := server(b, path)
	for name, keep := range map[string]Shares{"recorded": All, "others": {}} {
		b.Run(name, func(b *testing.B) {
			s, err := Attach(path, Key{5, 6}, nil)
			if err == nil {
				err = s.Set(1, 0, keep)
			}
			clock, cerr := NewClock()
			if err := errors.Join(err, cerr); err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			defer clock.Close()
			ask(b.N)
			took, calls, err := s.Cost(clock)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(took)/float64(b.N), "program-ns/op")
			b.ReportMetric(float64(calls)/float64(b.N), "calls/op")
		})
	}
}

func TestNothingOutlivesTheProcess(t *testing.T) {
	path := cgroup(t)
	for range 5 {
		_, _, kill := helper(t, "splitter", nil, path)
		if n := attached(t, path); n != 1 {
			t.Fatalf("%d programs on the cgroup while it is split", n)
		}
		kill()
		if !labtest.Eventually(func() bool { return attached(t, path) == 0 }) {
			t.Fatal("a program outlived its process")
		}
	}
}

func TestDrawTakesBothFamilies(t *testing.T) {
	key := Key{7, 8}
	four, six := netip.MustParseAddrPort("198.18.0.1:80"), netip.MustParseAddrPort("[::ffff:198.18.0.1]:80")
	counts, sample := [arms]int{}, [arms]int{}
	for port := range uint16(20_000) {
		remote := netip.AddrPortFrom(netip.MustParseAddr("2001:2::1"), port)
		arm, kept := draw(key, remote, four, 0.2, Shares{0.5, 0.5, 0.5})
		if again, keptAgain := draw(key, remote, six, 0.2, Shares{0.5, 0.5, 0.5}); arm != again || kept != keptAgain {
			t.Fatal("a mapped address draws another arm")
		}
		counts[arm]++
		if kept {
			sample[arm]++
		}
	}
	for arm, want := range [arms]int{8000, 8000, 4000} {
		if d := counts[arm] - want; d < -300 || d > 300 {
			t.Errorf("arm %d: %d of 20,000, not about %d", arm, counts[arm], want)
		}
		if d := sample[arm] - want/2; d < -300 || d > 300 {
			t.Errorf("arm %d: %d of %d in the sample, not half", arm, sample[arm], counts[arm])
		}
	}
}

// draw is the arm of a connection where a share of all is treated, as the program draws it, and whether it is to be reported.
func draw(k Key, remote, local netip.AddrPort, share float64, keep Shares) (arm Arm, reported bool) {
	h := k[0]
	for _, a := range []netip.AddrPort{remote, local} {
		b := a.Addr().As16()
		h = mix(mix(h, words(b[:8])), words(b[8:]))
	}
	h = mix(mix(h, uint64(remote.Port())<<32|uint64(local.Port())), k[1])
	switch {
	case h>>32 < below(share):
		arm = Treated
	case h&1 == 1:
		arm = Again
	}
	return arm, uint32(h)>>1 < kept(keep[arm])
}

// words are two of an address as the program loads them: the object is for little endian.
func words(b []byte) uint64 {
	return uint64(binary.LittleEndian.Uint32(b))<<32 | uint64(binary.LittleEndian.Uint32(b[4:]))
}

func mix(h, v uint64) uint64 {
	h = (h ^ v) * 0xff51afd7ed558ccd
	h = (h ^ h>>32) * 0xc4ceb9fe1a85ec53
	return h ^ h>>29
}
