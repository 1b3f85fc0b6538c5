package knob

import (
	_ "embed" // knob.sh, read.sh and sysctls.txt
	"slices"
	"strconv"
	"strings"

	"linerate/internal/list"
	"linerate/internal/setting"
)

// Script holds shell functions, for any POSIX sh on Linux or FreeBSD, that
// read and write a host's settings: knob_read, knob_names and knob_write.
// They make all lasting changes on hosts, local and remote; Target applies
// the lab's variants.
var Script = write + Reading

//go:embed knob.sh
var write string

// Reading is the read-only part of Script, functions only, so that what a capture
// carries cannot write.
//
//go:embed read.sh
var Reading string

// Key identifies one setting of a host; Device is "" if it has none.
type Key struct {
	Mechanism setting.Mechanism
	Device    string
	Name      string
}

// Native returns a value in the form in which the mechanism reads it back:
// plans say on and off where the kernel says 1 and 0.
func Native(k Key, value string) string {
	if k.Mechanism == setting.NAPI && k.Name == "threaded" {
		switch value {
		case "on":
			return "1"
		case "off":
			return "0"
		}
	}
	return folded(value)
}

// AtRuntime reports whether a mechanism has running values: loader and rc.conf
// variables are only read when something starts.
func AtRuntime(m setting.Mechanism) bool { return m != setting.Loader && m != setting.RC }

// Companions returns the settings, as patterns, that also change when one is
// written, so that a revert must restore them too: netdev_fix_features disables
// what depends on an offload (net/core/dev.c).
func Companions(k Key) []Key {
	switch k.Mechanism {
	case setting.Sysctl:
		return list.Map(strings.Fields(sysctlCompanions[k.Name]), func(n string) Key { return Key{Mechanism: setting.Sysctl, Name: n} })
	case setting.Offload:
		return []Key{{setting.Offload, k.Device, "*"}}
	case setting.Link:
		if k.Name == "state" {
			// addrconf_ifdown (net/ipv6/addrconf.c), fib_disable_ip
			// (net/ipv4/fib_frontend.c).
			return []Key{{setting.Address, k.Device, "*"}, {setting.Route, k.Device, "*"}}
		}
	case setting.PFLimit:
		// pfctl also sets both, to 60 and 120 % of the limit
		// (pfctl_load_options in sbin/pfctl/pfctl.c).
		if k.Name == "states" {
			return []Key{{setting.PFTimeout, "", "adaptive.start"}, {setting.PFTimeout, "", "adaptive.end"}}
		}
	case setting.Channels, setting.Ring:
		return []Key{{setting.RPS, k.Device, "*"}, {setting.RFS, k.Device, "*"}, {setting.XPS, k.Device, "*"}}
	}
	return nil
}

// sysctlsText lists peculiarities of sysctls.
//
//go:embed sysctls.txt
var sysctlsText string

// The tables of sysctlsText.
var (
	sysctlCompanions = list.Pairs(sysctlsText, "companions")
	exclusive        = list.Pairs(sysctlsText, "exclusive")
	oneWay           = list.Pairs(sysctlsText, "one-way")
	locking          = list.Pairs(sysctlsText, "locking")
	needed           = named("needed")
	reserving        = named("reserving")
	ticks            = named("ticks")
	powersOfTwo      = named("powers")
)

func named(table string) []string { return strings.Fields(list.Table(sysctlsText, table)[0][0]) }

// PutBack reports whether a prior value, one of those in before, must be written to
// restore it: the 0 of an exclusive pair follows from its partner. If both were 0, the
// ratio's is written, since the other's cannot be.
func PutBack(k Key, before map[Key]string) bool {
	pair, is := exclusive[k.Name]
	if k.Mechanism != setting.Sysctl || !is || before[k] != "0" {
		return true
	}
	return strings.HasSuffix(k.Name, "_ratio") && before[Key{Mechanism: setting.Sysctl, Name: pair}] == "0"
}

// NoReturn returns why a setting cannot be restored by writing the present values; "" if
// no reason is known.
func NoReturn(k Key, now map[Key]string) string {
	// dirty_ratio_handler in mm/page-writeback.c clears the bytes only when the ratio changes,
	// but the ratio is already 0.
	if k.Mechanism == setting.Sysctl && k.Name == "vm.dirty_bytes" && now[k] == "0" && now[Key{Mechanism: setting.Sysctl, Name: exclusive[k.Name]}] == "0" {
		return "vm.dirty_ratio is 0 too, and writing 0 to it, which it then has, takes no bytes away"
	}
	return ""
}

// NotWritable returns why a value cannot be written although it is the
// setting's own default, so that a revert would need a boot; "" if no reason
// is known.
func NotWritable(os string, k Key, value string) string {
	if os == "freebsd" && k.Mechanism == setting.Sysctl && value != "" && oneWay[k.Name] == value {
		return "the kernel does not take " + value + " back at run time though it is the default"
	}
	return ""
}

// Lossy returns why writing a value cannot be undone exactly, because it
// destroys other state; "" if no reason is known.
func Lossy(os string, k Key, value string) string {
	n := numbers(value)
	switch {
	case k.Mechanism == setting.Link && k.Name == "mtu" && len(n) == 1 && n[0] < 1280:
		// RFC 8200, section 5; addrconf_ifdown in net/ipv6/addrconf.c.
		return "below 1280 the interface loses its IPv6 addresses"
	case os == "linux" && strings.HasPrefix(k.Name, "net.ipv6.conf.") && strings.HasSuffix(k.Name, ".disable_ipv6") && value != "0":
		return "the interface loses its IPv6 addresses and routes"
	case os == "linux" && k.Mechanism == setting.Sysctl && len(n) == 1 && slices.Equal(n, numbers(locking[k.Name])):
		return "the kernel takes no other value of it until the next boot"
	}
	return ""
}

// Starves says how a value could deprive the host's own revert timer of the processes,
// files or memory that it needs to restore the present value; "" if it could not.
func Starves(k Key, value, now string) string {
	n, was := numbers(value), numbers(now)
	switch {
	case k.Mechanism != setting.Sysctl || len(n) != 1 || len(was) != 1:
	case slices.Contains(needed, k.Name) && n[0] < was[0]:
		return "below what it is now it could leave the host's own switch without what it needs to strike"
	case slices.Contains(needed, k.Name) && exclusive[k.Name] != "" && was[0] == 0 && n[0] > 0:
		return "in place of " + exclusive[k.Name] + " it could leave the host's own switch without what it needs to strike"
	case k.Name == "vm.overcommit_memory" && n[0] == 2, k.Name == "vm.overcommit" && n[0] != 0:
		return "without promised memory the host's own switch might start no program to strike"
	case slices.Contains(reserving, k.Name) && n[0] > 4*was[0]:
		return "more than four times the memory that is held back now could leave the host's own switch none to strike with"
	}
	return ""
}

// Cuts says how setting a key may cut off a user who is connected through the
// interface management; "" if it may not. If the interface is unknown (""), it
// only names what is dangerous on any interface.
func Cuts(k Key, value, management string) string {
	switch {
	case k.Mechanism == setting.Route:
		return "changes a route"
	case k.Mechanism == setting.NFT && value == "drop":
		return "drops what no rule accepts"
	case k.Mechanism == setting.Link && k.Name == "state" && value == "down" && (management == "" || k.Device == management):
		return "takes the link down"
	case k.Mechanism == setting.Link && k.Name == "mtu" && management != "" && k.Device == management:
		return "changes the MTU of the link you came by"
	}
	return ""
}

// Order sorts keys into the order in which to set them: those that create or
// reset others come first. The agent handles remaining conflicts, such as a
// lower bound above its upper one, by retrying.
func Order(keys []Key) []Key {
	keys = slices.Clone(keys)
	list.Sort(keys, func(a, b Key) int { return rank(a) - rank(b) })
	return keys
}

var mechanismRank = []setting.Mechanism{setting.Module, setting.ModParam, setting.Channels, setting.Ring, setting.Coalesce,
	setting.Link, setting.Offload, setting.Sysctl, setting.NAPI, setting.RPS, setting.RFS, setting.XPS, setting.IRQ,
	setting.Governor, setting.PFLimit, setting.Address, setting.Route, setting.NFT}

func rank(k Key) int {
	r := 10 * slices.Index(mechanismRank, k.Mechanism)
	switch {
	case strings.HasSuffix(k.Name, "ip_forward"), strings.Contains(k.Name, ".conf.all."):
		return r
	case strings.Contains(k.Name, ".conf.default."):
		return r + 1
	case strings.Contains(k.Name, ".conf."):
		return r + 3
	}
	return r + 2
}

// Same reports whether got is what the system makes of want: white space, bases
// and leading zeros are ignored, and some settings are rounded (see rounded).
func Same(k Key, want, got string) bool {
	want, got = Native(k, want), folded(got)
	if want == got {
		return true
	}
	switch k.Mechanism {
	case setting.RPS, setting.XPS:
		return mask(want) == mask(got)
	case setting.IRQ:
		return cpuList(want) != "" && cpuList(want) == cpuList(got)
	case setting.Route: // the kernel adds a metric and other attributes
		return want != "absent" && strings.HasPrefix(got, want+" ")
	}
	w, g := numbers(want), numbers(got)
	if w == nil || len(w) != len(g) {
		return false
	}
	for i := range w {
		if w[i] != g[i] && (i > 0 || !rounded(k, w[i], g[i])) {
			return false
		}
	}
	return true
}

// rounded reports whether the kernel rounds want to got: to powers of two, or to ticks.
func rounded(k Key, want, got uint64) bool {
	switch {
	case k.Mechanism == setting.RFS, k.Name == "net.core.rps_sock_flow_entries":
		return got == powerOfTwo(want)
	case slices.Contains(ticks, k.Name):
		return want > 0 && got >= want && got < want+10
	case slices.Contains(powersOfTwo, k.Name):
		return got == powerOfTwo(want)
	}
	return false
}

func powerOfTwo(n uint64) uint64 {
	p := uint64(1)
	for p < n && p < 1<<62 {
		p *= 2
	}
	return p
}

// numbers parses integers in any base; nil if any field is not one.
func numbers(s string) []uint64 {
	var list []uint64
	for _, f := range strings.Fields(s) {
		n, err := strconv.ParseInt(f, 0, 64)
		if err != nil {
			u, err := strconv.ParseUint(f, 0, 64)
			if err != nil {
				return nil
			}
			n = int64(u) //nolint:gosec // compared only
		}
		list = append(list, uint64(n)) //nolint:gosec // compared only
	}
	return list
}

// mask normalises a bitmap as printed by the kernel: words of 32 bits, with commas.
func mask(s string) string {
	words := strings.Split(strings.TrimPrefix(strings.ToLower(s), "0x"), ",")
	for i := 1; i < len(words); i++ {
		words[i] = strings.Repeat("0", max(0, 8-len(words[i]))) + words[i]
	}
	return strings.TrimLeft(strings.Join(words, ""), "0")
}

// cpuList expands "0-2,5" to "0,1,2,5"; "" if it is not such a list.
func cpuList(s string) string {
	var all []string
	for part := range strings.SplitSeq(s, ",") {
		lo, hi, ranged := strings.Cut(part, "-")
		if !ranged {
			hi = lo
		}
		a, err1 := strconv.Atoi(lo)
		b, err2 := strconv.Atoi(hi)
		if err1 != nil || err2 != nil || a < 0 || b < a || b > 8191 {
			return ""
		}
		for ; a <= b; a++ {
			all = append(all, strconv.Itoa(a))
		}
	}
	return strings.Join(all, ",")
}

func folded(s string) string { return strings.Join(strings.Fields(s), " ") }
