package remoteload

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"linerate/internal/hint"
	"linerate/internal/load"
)

// end is one end of the flows.
type end struct {
	first, last netip.Addr
	port        uint16
}

// endsOf returns both ends of a workload's flows.
func endsOf(f load.FlowSpace) (src, dst end) {
	return end{f.Src, plus(f.Src, max(f.SrcSpan, 1)-1), f.SrcPort}, end{f.Dst, plus(f.Dst, max(f.DstSpan, 1)-1), f.DstPort}
}

// plus returns the n-th address after a.
func plus(a netip.Addr, n int) netip.Addr {
	for range n {
		a = a.Next()
	}
	return a
}

// pktGenWait is how long pkt-gen waits for the link after it has opened the
// interface, in seconds.
const pktGenWait = 2

// pktGenIdle returns how long a paced pkt-gen may wait for the start of a second
// once it is ready (sender_body in pkt-gen.c); at full speed it starts at once.
func pktGenIdle(o load.Offer) time.Duration {
	if o.Rate == (load.Rate{}) {
		return 0
	}
	return 2 * time.Second
}

// fcs is the length of the frame check sequence, which pkt-gen's lengths exclude.
const fcs = 4

// job is a task for pkt-gen.
type job struct {
	spec  load.Spec
	offer load.Offer
}

// sending returns the command line of a generator.
func (e *PktGen) sending(j job) ([]string, error) {
	argv, err := pktGenLine(j, threadsOf(e.Generate))
	return slices.Concat([]string{e.name()}, argv, e.Generate), err
}

// receiving returns the command line of a receiver.
func (e *PktGen) receiving(device string) []string {
	return slices.Concat([]string{e.name(), "-N", "-f", "rx", "-i", device, "-w", strconv.Itoa(pktGenWait)}, e.Receive)
}

// threadsOf returns how many threads a testbed's options (-p N) give pkt-gen: each thread
// sends at the rate given by -R (sender_body in pkt-gen.c), and sends its share of -n.
func threadsOf(words []string) float64 {
	n := 1
	for i, w := range words {
		value, ok := strings.CutPrefix(w, "-p")
		if ok && value == "" && i+1 < len(words) {
			value = words[i+1]
		}
		if v, err := strconv.Atoi(value); ok && err == nil && v > 0 {
			n = v
		}
	}
	return float64(n)
}

func pktGenLine(j job, threads float64) ([]string, error) {
	f := j.spec.Flows
	addresses := max(f.SrcSpan, 1) * max(f.DstSpan, 1)
	ports := max(f.Count/addresses, 1)
	if f.Reply {
		return nil, errors.New("pkt-gen sends one direction: whether two can share an interface is not known")
	}
	if ports*addresses != f.Count || f.DstPorts > 1 || int(f.SrcPort)+ports-1 > 65535 {
		return nil, hint.With(fmt.Errorf("pkt-gen combines all addresses with all source ports, and the workload wants %d flows of %d pairs of addresses", f.Count, addresses),
			"give the workload flows: that are a multiple of sources: times destinations:")
	}
	src, dst := endsOf(f)
	argv := []string{"-N", "-f", "tx", "-i", j.spec.Device, "-w", strconv.Itoa(pktGenWait), "-l", strconv.Itoa(j.spec.Sizes[0] - fcs),
		family(f.Src), "-s", span(src, ports), "-d", span(dst, 1)}
	if j.spec.SrcMAC != nil {
		argv = append(argv, "-S", j.spec.SrcMAC.String())
	}
	if j.spec.DstMAC != nil {
		argv = append(argv, "-D", j.spec.DstMAC.String())
	}
	if pps := j.offer.Rate.FramesPerSecond(j.spec.Sizes); pps >= 1 {
		argv = append(argv, "-R", strconv.FormatFloat(math.Max(1, pps/threads), 'f', 0, 64))
	}
	if n := pktGenFrames(j); n > 0 {
		argv = append(argv, "-n", strconv.FormatUint(n, 10))
	}
	return argv, nil
}

// pktGenFrames returns after how many frames pkt-gen ends by itself: all frames
// of a paced offer (it is interrupted if it cannot keep the rate); 0: no limit.
func pktGenFrames(j job) uint64 {
	if n := j.offer.Limit.Packets; n > 0 {
		return n
	}
	return uint64(math.Round(j.offer.Rate.FramesPerSecond(j.spec.Sizes) * j.offer.Limit.Duration.Seconds()))
}

func family(a netip.Addr) string {
	if a.Is6() {
		return "-6"
	}
	return "-4"
}

// span formats a range of addresses and ports for pkt-gen.
func span(e end, ports int) string {
	return netip.AddrPortFrom(e.first, e.port).String() + "-" + netip.AddrPortFrom(e.last, e.port+uint16(ports)-1).String()
}
