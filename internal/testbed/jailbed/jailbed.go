// Package jailbed is the testbed on one FreeBSD machine: a generator, a DUT and
// a receiver in three vnet jails, connected by epair(4). Real packets pass the
// real kernel, but an epair is not a NIC, as every number states.
//
// A process enters a jail as a whole and for good (jail_attach(2)), so this one
// stays outside. It creates the jails, runs the base system's tools in them,
// and has a helper inside open the bpf(4) descriptor of a port and pass it out
// over a socket (wire.Door): like a packet socket on Linux, a descriptor stays
// in the network stack in which it was opened.
//
// The generator's jail is the parent of all others. No jail is persistent:
// each is held by a cat(1) that reads from this process, so that the kernel
// removes them all when it ends, however it ends.
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

// prefix begins the name of every jail of linerate.
const prefix = "linerate-"

// end is one device of a wire.
type end = testbed.WireEnd

// The lab's devices.
var (
	genPort, sinkPort     = testbed.GeneratorEnd, testbed.ReceiverEnd
	ingress, egress       = testbed.IngressEnd, testbed.EgressEnd
	genBypass, sinkBypass = testbed.BypassFrom, testbed.BypassTo
)

// hopEnds returns the two ends of the i-th wire between routers.
func hopEnds(i int) (up, down end) { return testbed.HopEnds(i, "next0", "previous0") }

// receives reports whether an end is in the receiver's jail, where frames end.
func receives(e end) bool { return strings.HasPrefix(e.Device, "sink") }

// arm returns an end's name for the n-th arm, outside its DUT.
func arm(e end, n int) end {
	e.Device = fmt.Sprintf("%s-%d", e.Device, n)
	return e
}

// quiet returns the commands that bring up an end which only engines use: it has
// no addresses. At a receiving end, bpf(4) sees the frames and they go no
// further (ifconfig(8), monitor); such an end cannot send.
func quiet(e end) [][]string {
	up := []string{"/sbin/ifconfig", e.Device, "up"}
	if receives(e) {
		up = append(up, "monitor")
	}
	return [][]string{{"/sbin/ifconfig", e.Device, "ether", e.MAC.String()}, up}
}

// addressed returns the commands that bring up an end which a network stack uses.
func addressed(e end) [][]string {
	return [][]string{
		{"/sbin/ifconfig", e.Device, "ether", e.MAC.String()},
		{"/sbin/ifconfig", e.Device, "inet", e.IPv4.String(), "up"},
		{"/sbin/ifconfig", e.Device, "inet6", e.IPv6.String(), "no_dad"},
	}
}

// neighbour returns the commands that add static entries for the other end of a wire.
func neighbour(peer end) [][]string {
	return [][]string{
		{"/usr/sbin/arp", "-s", peer.IPv4.Addr().String(), peer.MAC.String()},
		{"/usr/sbin/ndp", "-n", "-s", peer.IPv6.Addr().String(), peer.MAC.String()},
	}
}

// behind routes the whole network of a neighbour via it, so that thousands of
// destinations need only one neighbour entry. Two half-size routes take
// precedence over the connected route by their length.
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

// router lists the sysctls of a DUT: it forwards, and sends nothing
// unsolicited. A kernel without IPv6 or ipfw lacks some.
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

// quietFrom is the index in router of the settings for generator and receiver
// too: no duplicate address detection, no ipfw.
const quietFrom = 4

// owned returns the name of the n-th lab of a process.
func owned(pid, n int) string { return fmt.Sprintf("%s%d-%d", prefix, pid, n) }

var ownedName = regexp.MustCompile(`^` + prefix + `([0-9]{1,9})-[0-9]{1,9}$`)

// owner parses the owner from a jail's name; ok is false if no process owns
// it.
func owner(name string) (pid int, ok bool) {
	m := ownedName.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	pid, err := strconv.Atoi(m[1])
	return pid, err == nil
}

// runLines is a shell script that runs commands read from standard input, one
// per line and without expansion, until one fails, and reports that one.
// Commands behind a dash may fail.
const runLines = `set -f
while read -r line; do
	case $line in
	"- "*) ${line#- } </dev/null >/dev/null 2>&1 ;;
	*) $line </dev/null || { failed=$?; echo "($line)" >&2; exit $failed; } ;;
	esac
done
exit 0`

// newEpair creates a pair, renames both ends, and moves those for which a
// jail is given.
const newEpair = `set -e
made=$(/sbin/ifconfig epair create)
pair=${made%a}
/sbin/ifconfig "${pair}a" name "$1" >/dev/null
[ -z "$2" ] || /sbin/ifconfig "$1" vnet "$2"
/sbin/ifconfig "${pair}b" name "$3" >/dev/null
[ -z "$4" ] || /sbin/ifconfig "$3" vnet "$4"`

// lines formats commands for runLines; IPv6 commands may fail, on a kernel
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

// gone removes a wire by one of its ends, which may be gone already.
func gone(device string) []string { return []string{"-", "/sbin/ifconfig", device, "destroy"} }

// sysctls returns one command for all variables of a DUT; it ignores unknown
// ones.
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
