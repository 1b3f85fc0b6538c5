package netnsbed

import (
	"os"

	"github.com/google/nftables"
	"github.com/vishvananda/netlink"
)

// probe tries what studies like to use, in namespaces that are not measured,
// and notes what this kernel lacks. A version number is never asked.
func (b *Bed) probe() {
	scratch, err := newNamespace()
	if err != nil {
		return
	}
	defer scratch.close()
	for _, p := range probes {
		if err := scratch.do(p.try); err != nil {
			b.missing = append(b.missing, p.what)
		}
	}
}

// probes are the features a study may need, each with a harmless attempt.
var probes = []struct {
	what string
	try  func() error
}{
	{"IPv6", func() error { _, err := os.Stat("/proc/sys/net/ipv6"); return err }},
	{"nftables", probeNftables},
	{"nftables flow tables", probeFlowtable},
	{"connection tracking", func() error { _, err := os.Stat("/proc/sys/net/netfilter/nf_conntrack_max"); return err }},
	{"VLAN devices", func() error {
		return probeLink(&netlink.Vlan{LinkAttrs: netlink.LinkAttrs{Name: "probe0", ParentIndex: 1}, VlanId: 2})
	}},
	{"bridge devices", func() error { return probeLink(&netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "probe1"}}) }},
	{"netem (delay and loss)", probeNetem},
}

func probeLink(l netlink.Link) error {
	if err := netlink.LinkAdd(l); err != nil {
		return err
	}
	return netlink.LinkDel(l)
}

func probeNftables() error {
	c, err := nftables.New()
	if err != nil {
		return err
	}
	c.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: "probe"})
	return c.Flush()
}

func probeFlowtable() error {
	c, err := nftables.New()
	if err != nil {
		return err
	}
	table := c.AddTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: "probe"})
	c.AddFlowtable(&nftables.Flowtable{Table: table, Name: "probe", Hooknum: nftables.FlowtableHookIngress,
		Priority: nftables.FlowtablePriorityFilter, Devices: []string{"lo"}})
	return c.Flush()
}

func probeNetem() error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	return netlink.QdiscAdd(netlink.NewNetem(netlink.QdiscAttrs{LinkIndex: lo.Attrs().Index,
		Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT}, netlink.NetemQdiscAttrs{Latency: 1}))
}
