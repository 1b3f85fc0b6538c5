package netnsbed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/internal/knob"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// Devices and addresses of a site. Names are those of a lab with a router
// where the roles correspond: dut0 faces the clients.
var (
	clientEnd  = end{Device: genPort.Device, MAC: genPort.MAC, IPv4: genPort.IPv4}
	serverEnd  = end{Device: ingress.Device, MAC: ingress.MAC, IPv4: ingress.IPv4}
	forwardEnd = end{Device: egress.Device, MAC: egress.MAC, IPv4: egress.IPv4}
	originEnd  = end{Device: "org0", MAC: sinkPort.MAC, IPv4: sinkPort.IPv4}
)

// maxClients is the largest number of client addresses in a site.
const maxClients = 4096

// Sites is the testbed of servers on one Linux machine (testbed.Sites).
type Sites struct {
	home       int // this process's own network namespace
	sites      []*site
	privileged bool
	host       *knob.HostSysctls // nil: host settings are not allowed
	precedes   bool              // clients, links and servers take precedence over other programs
}

var _ testbed.Sites = (*Sites)(nil)

// UpSites opens a testbed of servers. It first removes what dead labs left behind,
// including host settings; no site is up before the first Raise. Settings global
// to the kernel are refused unless allowed; each Raise reverts those of the last.
func UpSites(_ context.Context, allowHost bool) (*Sites, error) {
	if err := canNest(); err != nil {
		return nil, err
	}
	if err := Sweep(); err != nil {
		return nil, err
	}
	home, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open this process's network namespace: %w", err)
	}
	b := &Sites{home: home, privileged: !InUserNamespace()}
	if allowHost { // last, because everything else is easier to undo than a journal file
		if b.host, err = knob.OpenHostSysctls(registryDir()); err != nil {
			unix.Close(home)
			return nil, err
		}
	}
	b.precedes = precede()
	return b, nil
}

// Describe says what the numbers of this testbed represent.
func (b *Sites) Describe() testbed.Description {
	return testbed.Description{Kind: testbed.KindNetns, Label: Label, Mode: testbed.Serve, Privileged: b.privileged,
		CPUs: testbed.CPUs{Generator: -1, DUT: -1, Receiver: -1}, Notes: b.notes()}
}

func (b *Sites) notes() []string {
	notes := []string{"clients, link and server share this machine's CPUs"}
	if b.precedes {
		notes = append(notes, "clients, link and servers precede other programs (nice −20)")
	}
	return notes
}

// site is one server, with its clients and the link.
type site struct {
	clients, server, origin *namespace
	link                    func() testbed.LinkStats
	user                    *Link // nil for a wire
}

// Raise replaces all sites by new ones.
func (b *Sites) Raise(ctx context.Context, l testbed.Layout, arms []testbed.Settings) ([]testbed.Site, error) {
	if l.Clients < 1 || l.Clients > maxClients {
		return nil, fmt.Errorf("%d client addresses: from 1 to %d", l.Clients, maxClients)
	}
	if err := b.raze(); err != nil {
		return nil, err
	}
	out := make([]testbed.Site, len(arms))
	for i, arm := range arms {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s := &site{}
		b.sites = append(b.sites, s)
		if err := s.build(l, l.Seed+uint64(i)); err != nil {
			return nil, fmt.Errorf("build %s: %w", arm.Name, err)
		}
		host := b.host
		if len(arms) > 1 {
			host = nil // it would affect all other sites
		}
		applied, err := s.set(ctx, host, arm.Settings)
		var un *testbed.ErrUnavailable
		if err != nil && !errors.As(err, &un) {
			return nil, fmt.Errorf("set up %s: %w", arm.Name, err)
		}
		out[i] = s.describe(b, l, applied, err)
	}
	return out, nil
}

// Global switches the host's settings, with the journal.
func (b *Sites) Global(_ context.Context, settings []setting.Setting) error {
	return b.host.Switch(settings)
}

func (s *site) build(l testbed.Layout, seed uint64) (err error) {
	if s.clients, err = newNamespace(); err != nil {
		return err
	}
	if s.server, err = newNamespace(); err != nil {
		return err
	}
	for _, ns := range []*namespace{s.clients, s.server} {
		if err := ns.do(loopback); err != nil {
			return err
		}
	}
	if !l.Origin {
		if err := s.join(l.Link, seed, s.clients, clientEnd, s.server, serverEnd); err != nil {
			return err
		}
		return s.clients.do(func() error { return population(l.Clients) })
	}
	if s.origin, err = newNamespace(); err != nil {
		return err
	}
	if err := wire(s.clients, clientEnd, s.server, serverEnd); err != nil {
		return err
	}
	if err := s.join(l.Link, seed, s.server, forwardEnd, s.origin, originEnd); err != nil {
		return err
	}
	return errors.Join(s.origin.do(loopback), s.clients.do(func() error { return population(l.Clients) }))
}

func loopback() error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find the loopback: %w", err)
	}
	return netlink.LinkSetUp(lo)
}

// population gives the clients their further addresses, and the full range of
// ports, so that the server runs out of resources first.
func population(n int) error {
	link, err := netlink.LinkByName(clientEnd.Device)
	if err != nil {
		return fmt.Errorf("find the clients' device: %w", err)
	}
	for _, a := range sources(n)[1:] {
		if err := netlink.AddrAdd(link, &netlink.Addr{IPNet: ipNet(netip.PrefixFrom(a, 32))}); err != nil {
			return fmt.Errorf("give clients the address %s: %w", a, err)
		}
	}
	return os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte("1024 65535"), 0)
}

// sources returns the addresses of n clients.
func sources(n int) []netip.Addr {
	out := make([]netip.Addr, n)
	for i, a := 0, clientEnd.IPv4.Addr(); i < n; i, a = i+1, a.Next() {
		out[i] = a
	}
	return out
}

// join puts a link between two namespaces: a veth pair, or linerate's own, which does the same on
// every kernel.
func (s *site) join(l testbed.Link, seed uint64, nsA *namespace, a end, nsB *namespace, b end) (err error) {
	if l.IsWire() {
		s.link = func() testbed.LinkStats { return wireStats(nsA, a.Device) }
		return wire(nsA, a, nsB, b)
	}
	if s.user, err = Join(End{In: nsA.do, Device: a.Device}, End{In: nsB.do, Device: b.Device}, l, seed); err != nil {
		return err
	}
	s.link = s.user.Stats
	return errors.Join(nsA.do(func() error { return raise(a) }), nsB.do(func() error { return raise(b) }))
}

// wireStats returns a veth's statistics, for both directions together.
func wireStats(ns *namespace, device string) testbed.LinkStats {
	s := testbed.LinkStats{How: "veth"}
	_ = ns.do(func() error { // a removed namespace has no statistics
		link, err := netlink.LinkByName(device)
		if err != nil {
			return err
		}
		if n := link.Attrs().Statistics; n != nil {
			s.Packets, s.Bytes = n.RxPackets+n.TxPackets, n.RxBytes+n.TxBytes
		}
		return nil
	})
	return s
}

// set applies a site's settings to its server's namespace.
func (s *site) set(ctx context.Context, host *knob.HostSysctls, settings []setting.Setting) (applied testbed.Applied, err error) {
	t := &knob.Target{In: s.server.do, InSys: s.server.doSys, Host: host, Devices: map[string]string{"ingress": serverEnd.Device, "egress": serverEnd.Device}}
	path, others := setting.Path{}, []setting.Setting(nil)
	for _, one := range settings {
		if one.Mechanism != setting.TCP {
			others = append(others, one)
		} else if path, err = s.route(path, one); err != nil {
			return applied, err
		}
	}
	applied, err = t.ApplyAll(ctx, others)
	applied.Digest = setting.Digest(settings)
	return applied, err
}

// route adds TCP settings for the path to the clients, which are attributes
// of the route.
func (s *site) route(path setting.Path, add setting.Setting) (setting.Path, error) {
	path.InitCwnd = max(path.InitCwnd, add.Path.InitCwnd)
	path.InitRwnd = max(path.InitRwnd, add.Path.InitRwnd)
	path.Congestion = cmp.Or(add.Path.Congestion, path.Congestion)
	return path, s.server.do(func() error {
		if known, err := os.ReadFile("/proc/sys/net/ipv4/tcp_available_congestion_control"); err == nil && path.Congestion != "" && !slices.Contains(strings.Fields(string(known)), path.Congestion) {
			return testbed.Unavailable(add, "this kernel has %s", strings.Join(strings.Fields(string(known)), ", "))
		}
		if add.Path.ULP != "" {
			if err := probeULP(add.Path.ULP); err != nil {
				return testbed.Unavailable(add, "the kernel refuses it: %v", err)
			}
		}
		link, err := netlink.LinkByName(serverEnd.Device)
		if err != nil {
			return fmt.Errorf("find %s: %w", serverEnd.Device, err)
		}
		r := &netlink.Route{LinkIndex: link.Attrs().Index, Scope: netlink.SCOPE_LINK, Dst: ipNet(serverEnd.IPv4.Masked()), Src: serverEnd.IPv4.Addr().AsSlice(),
			InitCwnd: path.InitCwnd, InitRwnd: path.InitRwnd, Congctl: path.Congestion}
		if err := netlink.RouteReplace(r); err != nil {
			return fmt.Errorf("set %s: %w", add, err)
		}
		return nil
	})
}

// probeULP requests an upper-layer protocol on an unconnected socket: a kernel
// that supports it returns ENOTCONN, others do not know it.
func probeULP(name string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_ULP, name); err != nil && err != unix.ENOTCONN {
		return err
	}
	return nil
}

func (s *site) describe(b *Sites, l testbed.Layout, applied testbed.Applied, unavailable error) testbed.Site {
	out := testbed.Site{
		Clients: s.clients.do, Server: s.server.do, Address: serverEnd.IPv4.Addr(), Sources: sources(l.Clients),
		Applied: applied, Unavailable: unavailable, Link: s.link,
		Enter: func() (func() error, error) { return s.clients.enter(b.home) },
	}
	if s.origin != nil {
		out.Origin, out.OriginAddress = s.origin.do, originEnd.IPv4.Addr()
	}
	return out
}

// enter takes the calling goroutine into the namespace until leave is called.
func (ns *namespace) enter(home int) (leave func() error, err error) {
	runtime.LockOSThread()
	if err := unix.Setns(ns.fd, unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("enter a network namespace: %w", err)
	}
	return func() error {
		if err := unix.Setns(home, unix.CLONE_NEWNET); err != nil {
			// Never unlocked: the thread ends with its goroutine.
			return fmt.Errorf("leave a network namespace: %w", err)
		}
		runtime.UnlockOSThread()
		return nil
	}, nil
}

// raze removes all sites.
func (b *Sites) raze() error {
	var errs []error
	for _, s := range slices.Backward(b.sites) {
		if s.user != nil {
			errs = append(errs, s.user.Close())
		}
		for _, ns := range []*namespace{s.clients, s.server, s.origin} {
			ns.close()
		}
	}
	b.sites = nil
	return errors.Join(append(errs, b.host.Restore())...)
}

// Close closes the testbed.
func (b *Sites) Close() error {
	err := errors.Join(b.raze(), b.host.Close())
	if b.precedes {
		yield()
		b.precedes = false
	}
	unix.Close(b.home)
	return err
}
