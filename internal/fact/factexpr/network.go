package factexpr

import (
	"slices"
	"strings"

	"linerate/internal/fact"
)

// Network holds the interfaces of a host and their interrupts.
type Network struct {
	// Drivers lists the drivers of network ports, sorted; Ports is the number of ports, Link the
	// speed of the fastest in bit/s, NICQueues the largest number of receive queues.
	Drivers   []string `expr:"drivers"`
	Ports     int      `expr:"ports"`
	Link      int      `expr:"link"`
	NICQueues int      `expr:"nic_queues"`
	// AddressedPorts counts ports with an address, BridgedPorts those in a bridge.
	AddressedPorts int `expr:"addressed_ports"`
	BridgedPorts   int `expr:"bridged_ports"`
	// IPv4Links and IPv6Links count interfaces of any kind with an address of the family, except
	// loopback.
	IPv4Links int `expr:"ipv4_links"`
	IPv6Links int `expr:"ipv6_links"`

	// CARP means that an interface has a vhid of carp(4), running or configured in rc.conf.
	CARP bool `expr:"carp"`

	// Driver reports whether a port has the driver, Enabled whether an offload (LRO, TSO4 …) is on
	// for some port, HasNIC whether an interface of a driver, including cloned ones (pfsync),
	// exists and is not down.
	Driver  func(name string) bool   `expr:"driver"`
	Enabled func(option string) bool `expr:"enabled"`
	// LROOf reports whether LRO is on for some port of the driver.
	LROOf  func(driver string) bool `expr:"lro_of"`
	HasNIC func(driver string) bool `expr:"has_nic"`

	NICs       []*NIC       `expr:"nics"`
	Interrupts []*Interrupt `expr:"interrupts"`
}

// NIC is a network interface in expressions: its facts and values derived from them.
// Unknown numbers are 0.
type NIC struct {
	fact.NIC
	// Domain is its NUMA domain, -1 if unknown.
	Domain int `expr:"domain"`
	Speed  int `expr:"speed"`
	// Ether means that it is a port, physical or virtual.
	Ether bool `expr:"ether"`
	// Offload is "on", "off" or "default" (package function Offload).
	Offload func(option string) string `expr:"offload"`
	// Asked and Refused report whether rc.conf itself switches the option on or off; Live means
	// that the running state of the options is known.
	Asked   func(option string) bool `expr:"asked"`
	Refused func(option string) bool `expr:"refused"`
	Live    bool                     `expr:"live"`
	// BusiestRate is the interrupt rate of its busiest queue per second, BusyQueues the number of
	// queues with interrupts.
	BusiestRate float64 `expr:"busiest_rate"`
	BusyQueues  int     `expr:"busy_queues"`
}

// Interrupt is an interrupt source in expressions.
type Interrupt struct {
	fact.Interrupt
	// Number is the interrupt's number. Local lists the CPUs of its interface's NUMA domain
	// (0-7,16-23), Remote means that it may run only on others; both are empty if unknown.
	Number string `expr:"number"`
	Local  string `expr:"local"`
	Remote bool   `expr:"remote"`
}

func networkOf(f *fact.Facts) Network {
	v := Network{Drivers: []string{}, NICs: make([]*NIC, 0, len(f.NICs)), Interrupts: make([]*Interrupt, 0, len(f.Interrupts))}
	on, ports := map[string]bool{}, map[string]bool{}
	for i := range f.NICs {
		n := &f.NICs[i]
		v.NICs = append(v.NICs, viewNIC(n))
		if n.Hardware() {
			v.addPort(n)
			ports[n.Name] = true
			for _, o := range n.Options {
				on[o] = true
			}
		}
	}
	for _, n := range f.NICs {
		if n.Kind == fact.KindBridge {
			v.BridgedPorts += countIn(ports, n.Members)
		}
	}
	for _, n := range f.NICs {
		if n.Kind == fact.KindLoopback {
			continue
		}
		v.CARP = v.CARP || n.CARP || slices.ContainsFunc(n.Configured, withVHID)
		v.IPv4Links += min(n.IPv4, 1)
		v.IPv6Links += min(n.IPv6, 1)
	}
	v.addInterrupts(f)
	slices.Sort(v.Drivers)
	v.Driver = func(name string) bool { return slices.Contains(v.Drivers, name) }
	v.Enabled = func(option string) bool { return on[option] }
	v.LROOf = func(driver string) bool {
		return slices.ContainsFunc(f.NICs, func(n fact.NIC) bool {
			return ports[n.Name] && n.Driver == driver && slices.Contains(n.Options, "LRO")
		})
	}
	v.HasNIC = f.HasInterface
	return v
}

// withVHID reports a line of rc.conf that configures a carp(4) address.
func withVHID(l fact.Line) bool { return slices.Contains(strings.Fields(l.Value), "vhid") }

func (v *Network) addPort(n *fact.NIC) {
	v.Ports++
	v.Link, v.NICQueues = max(v.Link, toInt(n.SpeedBits)), max(v.NICQueues, n.RXQueues)
	if n.IPv4+n.IPv6 > 0 {
		v.AddressedPorts++
	}
	if n.Driver != "" && !slices.Contains(v.Drivers, n.Driver) {
		v.Drivers = append(v.Drivers, n.Driver)
	}
}

func countIn(set map[string]bool, names []string) int {
	n := 0
	for _, name := range names {
		if set[name] {
			n++
		}
	}
	return n
}

// addInterrupts lists the sources, and adds those of queues to their interfaces.
func (v *Network) addInterrupts(f *fact.Facts) {
	byName := make(map[string]*NIC, len(v.NICs))
	for _, n := range v.NICs {
		byName[n.Name] = n
	}
	for _, i := range f.Interrupts {
		n := byName[i.Device]
		x := &Interrupt{Interrupt: i}
		if n != nil {
			x.place(domainCPUs(f, n.Domain))
		}
		v.Interrupts = append(v.Interrupts, x)
		if n == nil || i.Queue == "" {
			continue
		}
		if i.Rate > 0 {
			n.BusyQueues++
		}
		n.BusiestRate = max(n.BusiestRate, i.Rate)
	}
}

// domainCPUs returns the CPUs of a NUMA domain; none if there is only one domain.
func domainCPUs(f *fact.Facts, id int) []int {
	for _, d := range f.CPU.Domains {
		if d.ID == id && len(f.CPU.Domains) > 1 {
			return d.CPUs
		}
	}
	return nil
}

// place sets where an interrupt runs and where its interface's memory is.
func (x *Interrupt) place(local []int) {
	number, _, _ := strings.Cut(strings.TrimPrefix(x.Name, "irq"), ":")
	if strings.Trim(number, "0123456789") == "" {
		x.Number = number
	}
	x.Local = fact.Ranges(local)
	x.Remote = len(local) > 0 && len(x.CPUs) > 0 && !slices.ContainsFunc(x.CPUs, func(c int) bool { return slices.Contains(local, c) })
}

// configured returns the state of an interface's option in files; the last word wins.
func configured(n *fact.NIC, option string) (on, said bool) {
	for _, flag := range slices.Backward(n.ConfigFlags) {
		if name, off := strings.CutPrefix(strings.ToLower(flag), "-"); name == strings.ToLower(option) {
			return !off, true
		}
	}
	return false, false
}

// viewNIC converts an interface, without its interrupts.
func viewNIC(n *fact.NIC) *NIC {
	domain := -1
	if n.Domain != nil {
		domain = *n.Domain
	}
	return &NIC{
		NIC: *n, Domain: domain, Speed: toInt(n.SpeedBits), Ether: n.Hardware(), Live: n.Options != nil,
		Offload: func(option string) string { return Offload(n, option) },
		Refused: func(option string) bool { on, said := configured(n, option); return said && !on },
		Asked:   func(option string) bool { on, said := configured(n, option); return said && on },
	}
}
