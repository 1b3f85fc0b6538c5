package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/testbeds"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/port"
)

// sendFlags are the flags of load send as they were typed.
type sendFlags struct {
	device, engine, src, dst, srcMAC, dstMAC string
	srcPorts, dstPorts, size, imix, rate     string
	cpus                                     string
	flows                                    int
	stream                                   uint16
	count, seed                              uint64
	long                                     time.Duration
	random                                   bool
	elephant                                 float64
}

func newSendCmd() *cobra.Command {
	var f sendFlags
	cmd := &cobra.Command{
		Use:   "send --dev DEVICE",
		Short: "send UDP traffic through a network interface",
		Long:  sendLong,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return runSend(cmd, f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.device, "dev", "", "network interface to send through")
	fs.StringVar(&f.engine, "engine", testbeds.AutoEngine, testbeds.SendingEngines)
	fs.StringVar(&f.dstMAC, "dst-mac", "", "MAC of the next hop (default: the neighbour's)")
	fs.StringVar(&f.srcMAC, "src-mac", "", "source MAC address (default: the interface's)")
	fs.StringVar(&f.src, "src", "", "source addresses: one, FIRST-LAST or a prefix (default: the interface's own)")
	fs.StringVar(&f.dst, "dst", "", "destination addresses: one, FIRST-LAST or a prefix")
	fs.StringVar(&f.srcPorts, "src-port", "", "source ports (default 1024-65535)")
	fs.StringVar(&f.dstPorts, "dst-port", "", "destination ports: FIRST or FIRST-LAST (default 9)")
	fs.IntVar(&f.flows, "flows", 1, "distinct UDP flows, up to 4194304")
	fs.BoolVar(&f.random, "random", false, "pick flows at random instead of one after the other")
	fs.Float64Var(&f.elephant, "elephant", 0, "share of frames in the first flow, below 1")
	fs.Uint64Var(&f.seed, "seed", 1, "seed of --random")
	fs.StringVar(&f.size, "size", "64", "frame size with FCS, or sizes: 64,1518")
	fs.StringVar(&f.imix, "imix", "", `sizes: simple (7:4:1) or an RFC 6985 genome`)
	fs.StringVar(&f.rate, "rate", "max", "max, frames per second (1.5Mpps, 100k) or bits per second (3Gbps)")
	fs.DurationVar(&f.long, "time", 0, "stop after this long")
	fs.Uint64Var(&f.count, "count", 0, "stop after so many frames")
	fs.StringVar(&f.cpus, "cpu", "", "CPUs to send from: 0,1 or 0-3 (default: not pinned)")
	fs.Uint16Var(&f.stream, "stream", 1, "stream number in every frame")
	cli.JSONFlag(cmd)
	return cmd
}

const sendLong = `Offer UDP traffic, as RFC 2544 and RFC 2285 mean it. Every frame carries a
stream, a flow, a sequence and a send time, so that "linerate load receive" on the
other side knows what was lost, doubled, reordered or late. Sizes count the FCS.

    linerate load send --dev gen0 --dst-mac 02:00:00:00:00:02 \
        --src 198.18.0.1 --dst 198.19.0.1 --flows 2000 --rate 1Mpps --time 5s`

func runSend(cmd *cobra.Command, f sendFlags) error {
	spec, offer, err := f.traffic()
	if err != nil {
		return err
	}
	if err := resolve(&spec, f.imix, port.Here); err != nil {
		return err
	}
	engine, err := testbeds.EngineNamed(f.engine, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	g, err := engine.NewGenerator(spec, port.Here)
	if err != nil {
		return err
	}
	defer g.Close()
	live := newLiveLine(cmd.ErrOrStderr())
	sent, err := g.Run(cmd.Context(), offer, live.sent)
	live.End()
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return errors.Join(cli.Print(cmd, sentDoc{1, sent}, sent.Print), err)
}

// traffic turns the flags into what is to be sent, and how fast and long.
func (f sendFlags) traffic() (s load.Spec, o load.Offer, err error) {
	s = load.Spec{Device: f.device, Stream: f.stream, Seed: f.seed}
	if f.device == "" {
		return s, o, hint.With(hint.Usagef("load send needs an interface"), "for instance --dev gen0")
	}
	if f.long < 0 {
		return s, o, hint.Usagef("--time %s: from 0, no limit", f.long)
	}
	o.Limit = load.Limit{Packets: f.count, Duration: f.long}
	var errs [6]error
	s.SrcMAC, errs[0] = parseMAC("--src-mac", f.srcMAC)
	s.DstMAC, errs[1] = parseMAC("--dst-mac", f.dstMAC)
	o.Rate, errs[2] = load.ParseRate(f.rate)
	s.CPUs, errs[3] = parseCPUs(f.cpus)
	s.Sizes, errs[4] = load.ParseSizes(f.size)
	s.Flows, errs[5] = f.flowSpace()
	for _, err := range errs {
		if err != nil {
			return s, o, err
		}
	}
	return s, o, nil
}

func (f sendFlags) flowSpace() (load.FlowSpace, error) {
	fs := load.FlowSpace{Count: f.flows, Random: f.random, Elephant: f.elephant}
	if f.flows < 1 {
		return fs, hint.Usagef("--flows %d: from 1 to %d", f.flows, load.MaxFlows)
	}
	if !(f.elephant >= 0 && f.elephant < 1) {
		return fs, hint.Usagef("--elephant %g: a share of all frames, from 0 (none) to below 1", f.elephant)
	}
	if f.dst == "" {
		return fs, hint.With(hint.Usagef("load send needs destination addresses"), "for instance --dst 198.19.0.1 (RFC 2544's range), or a prefix")
	}
	var err error
	if fs.Dst, fs.DstSpan, err = load.ParseRange(f.dst); err != nil {
		return fs, err
	}
	if f.src != "" {
		if fs.Src, fs.SrcSpan, err = load.ParseRange(f.src); err != nil {
			return fs, err
		}
	}
	if fs.SrcPort, fs.SrcPorts, err = parsePorts("--src-port", f.srcPorts); err != nil {
		return fs, err
	}
	fs.DstPort, fs.DstPorts, err = parsePorts("--dst-port", f.dstPorts)
	return fs, err
}

func parseMAC(flag, s string) (net.HardwareAddr, error) {
	if s == "" {
		return nil, nil
	}
	mac, err := net.ParseMAC(s)
	if err != nil || len(mac) != 6 {
		return nil, hint.Usagef("%s %q is no MAC address (02:00:00:00:00:02)", flag, s)
	}
	return mac, nil
}

func parsePorts(flag, s string) (first uint16, span int, err error) {
	if s == "" {
		return 0, 0, nil
	}
	from, to, isRange := strings.Cut(s, "-")
	a, err1 := strconv.ParseUint(from, 10, 16)
	b, err2 := a, error(nil)
	if isRange {
		b, err2 = strconv.ParseUint(to, 10, 16)
	}
	if err1 != nil || err2 != nil || a == 0 || b < a {
		return 0, 0, hint.Usagef("%s %q: a port or FIRST-LAST, from 1 to 65535", flag, s)
	}
	if isRange {
		span = int(b-a) + 1
	}
	return uint16(a), span, nil
}

// parseCPUs reads "0,2-3".
func parseCPUs(s string) ([]int, error) {
	var cpus []int
	for _, part := range strings.Split(s, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		a, err1 := strconv.Atoi(from)
		b, err2 := a, error(nil)
		if isRange {
			b, err2 = strconv.Atoi(to)
		}
		if err1 != nil || err2 != nil || a < 0 || b < a || b > 4096 {
			return nil, hint.Usagef("--cpu %q: CPU numbers such as 0 or 0,1 or 0-3", s)
		}
		for c := a; c <= b; c++ {
			cpus = append(cpus, c)
		}
	}
	return cpus, nil
}

// resolve fills in what the device and its namespace know: the addresses that
// were not given, and whether the flows run over somebody's own address.
func resolve(s *load.Spec, imix string, in port.Place) error {
	d, err := wire.Look(s.Device, in)
	if err != nil {
		return err
	}
	if imix != "" {
		if s.Sizes, err = load.ParseIMIX(imix, d.MTU); err != nil {
			return err
		}
	}
	if !s.Flows.Src.IsValid() {
		if s.Flows.Src, err = ownAddress(d, s.Flows.Dst); err != nil {
			return err
		}
	}
	known, err := wire.Neighbours(d, in)
	if err != nil {
		return fmt.Errorf("read the neighbours of %s: %w", s.Device, err)
	}
	if s.DstMAC == nil {
		if s.DstMAC, err = nextHopMAC(d, s.Flows.Dst, known, in); err != nil {
			return err
		}
	}
	var hops []netip.Addr
	for a, mac := range known {
		end := s.Flows.DstSpan <= 1 && a == s.Flows.Dst // what is meant for it may reach it
		if mac.String() == s.DstMAC.String() && !end {
			hops = append(hops, a)
		}
	}
	if a, ok := s.Flows.Overlap(hops); ok {
		return hint.With(hint.Usagef("the flows run over %s, an address of the next hop %s: it would drop or keep those frames", a, s.DstMAC), "choose other --src or --dst addresses")
	}
	return nil
}

func ownAddress(d wire.Device, dst netip.Addr) (netip.Addr, error) {
	for _, p := range d.Addrs {
		if p.Addr().Is4() == dst.Is4() && !p.Addr().IsLinkLocalUnicast() {
			return p.Addr(), nil
		}
	}
	return netip.Addr{}, hint.With(hint.Usagef("%s has no address to send from", d.Name), "for instance --src 198.18.0.1")
}

func nextHopMAC(d wire.Device, dst netip.Addr, known map[netip.Addr]net.HardwareAddr, in port.Place) (net.HardwareAddr, error) {
	advice := "give the destination MAC address, for instance --dst-mac 02:00:00:00:00:02 (ip link show in the next hop)"
	hop, err := wire.NextHop(d, dst, in)
	if err != nil {
		return nil, hint.With(hint.Usage(err), "%s", advice)
	}
	if mac, ok := known[hop]; ok {
		return mac, nil
	}
	return nil, hint.With(hint.Usagef("the MAC address of %s is not in the neighbour table of %s", hop, d.Name), "ping it once, or %s", advice)
}

// sentDoc is the document of load send --json.
type sentDoc struct {
	Version int `json:"version"`
	load.Sent
}
