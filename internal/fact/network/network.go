// Package network models what a host's files say of its interfaces, addresses and routes, and finds
// what in them cannot work together.
package network

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
)

// Kinds of interfaces that files create. A device has none.
const (
	VLAN   = "vlan"
	Bond   = "bond"
	Bridge = "bridge"
	VRF    = "vrf"
	Tunnel = "tunnel"
)

// Overheads are the bytes of the outer headers of kinds of tunnels, without options; 0 if it depends.
var Overheads = map[string]int{"ipip": 20, "sit": 20, "gif": 20, "isatap": 20, "gre": 24, "gretap": 38, "ip6gre": 44, "ip6gretap": 58, "ip6tnl": 40,
	"ip6ip6": 40, "ipip6": 40, "wireguard": 60, "wg": 60, "vxlan": 50, "geneve": 50, "vti": 0, "vti6": 0, "fou": 0}

// Place is a line of a file.
type Place struct {
	File string
	Line int
}

// Interface is an interface as files describe it.
type Interface struct {
	Place
	Name string
	// Kind is one of the constants, another program's word, or "" for a device.
	Kind string
	// Declared means that a file configures or creates it; others only name it.
	Declared bool
	// Master is the bond, bridge or VRF that it belongs to, Masters counts those that claim it.
	Master  string
	Masters []Name
	// Parent is what a VLAN stands on, ID its number.
	Parent string
	ID     int
	// MTU is in bytes, 0 if no file says; Largest what its driver takes, 0 if that is not known.
	MTU       int
	Largest   int
	MTUPlace  Place
	Addresses []Address
	// Dynamic means that it has an address from DHCP or another program; DHCP is the key that asks for it.
	Dynamic bool
	DHCP    Name
	// NoRA means that router advertisements are refused.
	NoRA bool
	// Bond holds a bond's options by their names in the kernel, without "_interval".
	Bond map[string]Option
	// Local is the outer address of a tunnel at this end, Overhead the bytes of its outer headers.
	Local      netip.Addr
	LocalPlace Place
	Overhead   int
}

// Option is an option of a bond.
type Option struct {
	Place
	Value string
}

// SetBond adds an option of a bond, by the name that any of the programs has for it.
func (i *Interface) SetBond(option, value string, at Place) {
	option = strings.TrimSuffix(strings.TrimSuffix(strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(option)), "sec"), "interval")
	if i.Bond == nil {
		i.Bond = map[string]Option{}
	}
	i.Bond[strings.Replace(option, "monitor", "mon", 1)] = Option{at, value}
}

// Name is the name of an interface where a file mentions it.
type Name struct {
	Place
	Name string
	// Strict means that a program refuses a name that no file defines.
	Strict bool
}

// Address is an address with the length of its network.
type Address struct {
	netip.Prefix
	Place
	// Shared means that several interfaces may have it: of a peer, anycast, another routing table.
	Shared bool
	// Group is its CARP group, "" if it has none.
	Group string
}

// Route is a static route.
type Route struct {
	Place
	// To is the destination, the default route if it has no bits; Via the gateway.
	To  netip.Prefix
	Via netip.Addr
	// Dev is its interface, Table its routing table, Metric its priority, "" if unset.
	Dev, Table, Metric string
	// OnLink means that the gateway need not be in a network of the interface.
	OnLink bool
}

// Default reports whether it is a default route.
func (r Route) Default() bool { return r.To.IsValid() && r.To.Bits() == 0 }

// Host is a model of a host's files.
type Host struct {
	Interfaces []*Interface
	Routes     []Route
	// Mentioned are interfaces that are named as parent, port or primary.
	Mentioned []Name
	// Rules are the tables that policy rules look into.
	Rules []Route
	// Open means that the host has addresses that its files do not tell.
	Open map[bool]bool
	// Elsewhere means that other programs add routes, rules or MTUs, Watched that bonds are monitored by default.
	Elsewhere, Watched bool
	// Once means that adding an address that is there already fails.
	Once     bool
	byName   map[string]*Interface
	problems []fact.Problem
}

// New returns a host without interfaces.
func New() *Host { return &Host{Open: map[bool]bool{}, byName: map[string]*Interface{}} }

// Interface returns the interface of a name, which it adds.
func (h *Host) Interface(name string) *Interface {
	if i := h.find(name); i != nil {
		return i
	}
	i := &Interface{Name: name}
	if len(h.Interfaces) < fact.MaxNICs {
		h.Interfaces, h.byName[name] = append(h.Interfaces, i), i
	}
	return i
}

func (h *Host) find(name string) *Interface { return h.byName[name] }

// Own makes an interface part of a bond, bridge or VRF.
func (h *Host) Own(port, master string, at Place, strict bool) {
	i := h.Interface(port)
	i.Master = master
	if !slices.ContainsFunc(i.Masters, func(n Name) bool { return n.Name == master }) {
		i.Masters = append(i.Masters, Name{at, master, strict})
	}
}

// Address adds an address of an interface, and reports whether it can be read; one that cannot may be any.
func (h *Host) Address(i *Interface, text string, at Place) bool {
	p, err := netip.ParsePrefix(text)
	if err != nil || p.Addr().IsUnspecified() {
		h.Open[true], h.Open[false] = true, true
		return false
	}
	i.Addresses = append(i.Addresses, Address{Prefix: p, Place: at})
	return true
}

// Problem adds a mistake, by the name of its case.
func (h *Host) Problem(at Place, name, detail string) {
	h.problems = append(h.problems, fact.Problem{File: at.File, Line: at.Line, Kind: fact.ProblemSlip, Message: name, Detail: detail})
}

// Length returns the length of an address's network, as a suffix: from a mask, dotted or a number, or
// from what the address has.
func Length(address, mask string) string {
	number, err := strconv.ParseUint(mask, 0, 32)
	if dotted, _ := netip.ParseAddr(mask); dotted.Is4() {
		number, err = uint64(binary.BigEndian.Uint32(dotted.AsSlice())), nil
	}
	switch {
	case strings.Contains(address, "/"):
		return ""
	case err == nil && number > 128:
		return "/" + strconv.Itoa(bits.OnesCount64(number))
	case err == nil:
		return "/" + mask
	case strings.Contains(address, ":"):
		return "/64"
	}
	return "/unknown"
}

// Last returns the last address of a network.
func Last(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}
