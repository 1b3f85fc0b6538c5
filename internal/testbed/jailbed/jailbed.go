// Package jailbed is the testbed on one FreeBSD machine: a generator, a DUT and
// a receiver in three vnet jails, joined by epair(4). Real packets pass the
// real kernel, but an epair is not a NIC: every number from here says so.
//
// A process enters a jail as a whole and for good (jail_attach(2)), so this one
// stays outside. It makes the jails, runs the base system's tools in them, and
// has a helper inside open the bpf(4) descriptor of a port, which
// is handed out over a socket (wire.Door): like a packet socket on Linux, a
// descriptor keeps the network stack it was opened in.
//
// The generator's jail is the parent of all others. No jail persists: each is
// held by a cat(1) that reads from this process, so that the kernel removes
// them all when it ends, however it ends.
package jailbed

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/testbed"
)

// Label is printed with every number from jails.
const Label = "epair, not a NIC"

// prefix begins the name of every jail of ours.
const prefix = "linerate-"

// end is one device of a wire.
type end = testbed.WireEnd

// The lab's devices.
var (
	genPort, sinkPort     = testbed.GeneratorEnd, testbed.ReceiverEnd
	ingress, egress       = testbed.IngressEnd, testbed.EgressEnd
	genBypass, sinkBypass = testbed.BypassFrom, testbed.BypassTo
)

// hopEnds are the two ends of the i-th wire between routers.
func hopEnds(i int) (up, down end) { return testbed.HopEnds(i, "next0", "previous0") }

// receives tells the ends in the receiver's jail: frames end there.
func receives(e end) bool { return strings.HasPrefix(e.Device, "sink") }

// arm names the ends of the n-th arm's wires outside its DUT.
func arm(e end, n int) end {
	e.Device = fmt.Sprintf("%s-%d", e.Device, n)
	return e
}

// quiet brings up an end that only engines use: it has no addresses. What
// arrives at a receiving one is seen by bpf(4) and goes no further (ifconfig(8),
// monitor); such an end cannot send.
func quiet(e end) [][]string {
	up := []string{"/sbin/ifconfig", e.Device, "up"}
	if receives(e) {
		up = append(up, "monitor")
	}
	return [][]string{{"/sbin/ifconfig", e.Device, "ether", e.MAC.String()}, up}
}

// addressed is an end that a network stack uses.
func addressed(e end) [][]string {
	return [][]string{
		{"/sbin/ifconfig", e.Device, "ether", e.MAC.String()},
		{"/sbin/ifconfig", e.Device, "inet", e.IPv4.String(), "up"},
		{"/sbin/ifconfig", e.Device, "inet6", e.IPv6.String(), "no_dad"},
	}
}

// neighbour writes down who is at the other end of a wire.
func neighbour(peer end) [][]string {
	return [][]string{
		{"/usr/sbin/arp", "-s", peer.IPv4.Addr().String(), peer.MAC.String()},
		{"/usr/sbin/ndp", "-n", "-s", peer.IPv6.Addr().String(), peer.MAC.String()},
	}
}

// behind routes the whole network of a neighbour to it: thousands of
// destinations then need one neighbour. Two halves win over the connected
// route by their length.
func behind(peer end) (all [][]string) {
	for _, p := range []netip.Prefix{peer.IPv4, peer.IPv6} {
		for _, half := range testbed.Halves(p) {
			all = append(all, routeAdd(half, p.Addr()))
		}
	}
	return all
}

func routeAdd(to netip.Prefix, via netip.Addr) []string {
	family := "-inet"
	if to.Addr().Is6() {
		family = "-inet6"
	}
	return []string{"/sbin/route", "-q", "-n", "add", family, "-net", to.String(), via.String()}
}

// router are the sysctls of a DUT: it forwards, and sends nothing
// unasked. A kernel without IPv6 or ipfw lacks some.
var router = []struct{ name, value string }{
	{"net.inet.ip.forwarding", "1"},
	{"net.inet.ip.redirect", "0"},
	{"net.inet6.ip6.forwarding", "1"},
	{"net.inet6.ip6.redirect", "0"},
	{"net.inet6.ip6.dad_count", "0"},
	{"net.inet6.ip6.auto_linklocal", "0"},
	{"net.inet.ip.fw.enable", "0"},
	{"net.inet6.ip6.fw.enable", "0"},
}

// quietFrom is where those of router begin that generator and receiver have
// too: no duplicate address detection, no ipfw.
const quietFrom = 4

// owned is the name of the n-th lab of a process.
func owned(pid, n int) string { return fmt.Sprintf("%s%d-%d", prefix, pid, n) }

var ownedName = regexp.MustCompile(`^` + prefix + `([0-9]{1,9})-[0-9]{1,9}$`)

// owner reads the owner from a jail's name; ok is false for one that is not
// owned by a process.
func owner(name string) (pid int, ok bool) {
	m := ownedName.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	pid, err := strconv.Atoi(m[1])
	return pid, err == nil
}

// link is what netstat -i counts for a device.
type link struct{ received, receiveDrops, sent, sendDrops uint64 }

// readLinks reads netstat -inbd.
func readLinks(text string) map[string]link {
	links := map[string]link{}
	var at map[string]int
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) > 0 && f[0] == "Name" {
			at = columns(f)
			continue
		}
		if len(f) < 4 || at == nil || !strings.HasPrefix(f[2], "<Link#") {
			continue
		}
		// A device without an address has one word less.
		short := len(at) - len(f)
		number := func(column string) uint64 {
			i := at[column] - short
			if i < 0 || i >= len(f) {
				return 0
			}
			n, _ := strconv.ParseUint(f[i], 10, 64)
			return n
		}
		links[f[0]] = link{received: number("Ipkts"), receiveDrops: number("Idrop"), sent: number("Opkts"), sendDrops: number("Drop")}
	}
	return links
}

func columns(header []string) map[string]int {
	at := map[string]int{}
	for i, name := range header {
		at[name] = i
	}
	return at
}

// runLines is what a shell in a jail does with the commands it reads, a line
// each: it runs their words, which it does not look at, until one fails, and
// names that one. One behind a dash may fail.
const runLines = `set -f
while read -r line; do
	case $line in
	"- "*) ${line#- } </dev/null >/dev/null 2>&1 ;;
	*) $line </dev/null || { failed=$?; echo "($line)" >&2; exit $failed; } ;;
	esac
done
exit 0`

// newEpair makes a pair of which both ends are renamed, and moves those for
// which a jail is named.
const newEpair = `set -e
made=$(/sbin/ifconfig epair create)
pair=${made%a}
/sbin/ifconfig "${pair}a" name "$1" >/dev/null
[ -z "$2" ] || /sbin/ifconfig "$1" vnet "$2"
/sbin/ifconfig "${pair}b" name "$3" >/dev/null
[ -z "$4" ] || /sbin/ifconfig "$3" vnet "$4"`

// lines writes commands as runLines reads them; IPv6's may fail, on a kernel
// without it.
func lines(commands [][]string) string {
	var b strings.Builder
	for _, c := range commands {
		if ofIPv6(c) {
			b.WriteString("- ")
		}
		b.WriteString(strings.Join(c, " ") + "\n")
	}
	return b.String()
}

// gone ends a wire by one of its ends, which may be gone already.
func gone(device string) []string { return []string{"-", "/sbin/ifconfig", device, "destroy"} }

// sysctls is one command for all variables of a DUT; unknown ones are passed
// over.
func sysctls(from int) []string {
	argv := []string{"/sbin/sysctl", "-i", "-q"}
	for _, s := range router[from:] {
		argv = append(argv, s.name+"="+s.value)
	}
	return argv
}

// ofIPv6 reports whether a command concerns IPv6 only.
func ofIPv6(argv []string) bool {
	return argv[0] == "/usr/sbin/ndp" || slices.Contains(argv, "inet6") || slices.Contains(argv, "-inet6")
}
