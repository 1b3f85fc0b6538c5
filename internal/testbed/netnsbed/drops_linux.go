package netnsbed

import (
	"fmt"
	"os"
	"strings"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/safchain/ethtool"
	"github.com/vishvananda/netlink"

	"linerate/internal/drop"
	"linerate/internal/fact"
	"linerate/internal/fact/linux"
)

// ownDrops returns the drops of a DUT behind a device in the generator's namespace.
func ownDrops(gen *namespace, device string, dut routers) (drop.Counters, error) {
	c := drop.Counters{}
	err := gen.do(func() error {
		l, err := netlink.LinkByName(device)
		if err == nil {
			c["generator.output_drops"] = l.Attrs().Statistics.TxDropped
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read what %s dropped: %w", device, err)
	}
	for _, read := range dropReads(dut) {
		if err := read.in.do(func() error { return read.of(c) }); err != nil {
			return nil, fmt.Errorf("read what the DUT dropped: %w", err)
		}
	}
	return c, nil
}

// dropRead is a kind of counter, with its namespace.
type dropRead struct {
	in *namespace
	of func(drop.Counters) error
}

func dropReads(dut routers) []dropRead {
	reads := []dropRead{{dut.first, ingressDrops}, {dut.last(), egressDrops}}
	for _, ns := range append([]*namespace{dut.first}, dut.more...) {
		reads = append(reads, dropRead{ns, stackDrops}, dropRead{ns, nftDrops})
	}
	return reads
}

// file is a source of counters below a directory in /proc.
type file struct {
	path string
	add  func(text string)
}

// readFiles sums up the counters in files; files that the kernel lacks are
// skipped.
func readFiles(c drop.Counters, f *fact.Facts, dir string, files []file) {
	for _, file := range files {
		if text, err := os.ReadFile(dir + file.path); err == nil {
			file.add(string(text))
		}
	}
	for _, n := range f.Counters {
		name := n.Name
		if strings.HasSuffix(name, ".processed") {
			continue
		}
		if strings.HasPrefix(name, "softnet.") && strings.HasSuffix(name, ".dropped") {
			name = "softnet.dropped"
		}
		c[name] += n.Value
	}
}

// machineDrops reads counters that exist once per machine and appear in its
// initial namespace.
func machineDrops() drop.Counters {
	var f fact.Facts
	c := drop.Counters{}
	readFiles(c, &f, "/proc/1/net/", []file{
		{"softnet_stat", func(t string) { linux.AddSoftnet(&f, t) }},
		{"stat/arp_cache", func(t string) { linux.AddNeighbours(&f, "arp", t) }},
		{"stat/ndisc_cache", func(t string) { linux.AddNeighbours(&f, "ndisc", t) }},
	})
	slabBytes(c)
	return c
}

// slabBytes reads the size of all slab caches, and of the cache of connection
// tracking states; the rest of a state's memory is in caches of all sizes.
func slabBytes(c drop.Counters) {
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if w := strings.Fields(line); len(w) == 3 && w[0] == "Slab:" {
				c[drop.SlabBytes] = fact.Number(w[1]) << 10
			}
		}
	}
	if text, err := os.ReadFile("/proc/slabinfo"); err == nil { // only root can read it
		for line := range strings.Lines(string(text)) {
			if w := strings.Fields(line); len(w) > 3 && w[0] == "nf_conntrack" {
				c[drop.StateObjectBytes] = fact.Number(w[1]) * fact.Number(w[3])
			}
		}
	}
}

// stackDrops reads the counters of the calling thread's namespace.
func stackDrops(c drop.Counters) error {
	var f fact.Facts
	readFiles(c, &f, "/proc/thread-self/net/", []file{
		{"snmp", func(t string) { linux.AddSNMP(&f, "snmp", t) }},
		{"netstat", func(t string) { linux.AddSNMP(&f, "netstat", t) }},
		{"snmp6", func(t string) { linux.AddSNMP6(&f, t) }},
		{"stat/nf_conntrack", func(t string) { linux.AddConntrack(&f, t) }},
	})
	if text, err := os.ReadFile("/proc/sys/net/netfilter/nf_conntrack_count"); err == nil {
		c[drop.States] += fact.Number(string(text))
	}
	return nil
}

// egressDrops reads the drops of the peer's ring and of the queueing discipline.
func egressDrops(c drop.Counters) error {
	l, err := netlink.LinkByName(egress.Device)
	if err != nil {
		return err
	}
	c["egress.output_drops"] = l.Attrs().Statistics.TxDropped
	qdiscs, err := netlink.QdiscList(l)
	if err != nil {
		return err
	}
	for _, q := range qdiscs {
		if s := q.Attrs().Statistics; s != nil && s.Queue != nil && q.Attrs().Parent == netlink.HANDLE_ROOT {
			c["qdisc."+q.Type()+".drops"] += uint64(s.Queue.Drops)
		}
	}
	return nil
}

// ingressDrops reads the drops of the veth's own receive queues (ethtool -S).
func ingressDrops(c drop.Counters) error {
	e, err := ethtool.NewEthtool()
	if err != nil {
		return err
	}
	defer e.Close()
	stats, err := e.Stats(ingress.Device)
	if err != nil {
		return err
	}
	for name, n := range stats {
		switch {
		case strings.HasSuffix(name, "_xdp_drops"):
			c["ingress.xdp_drops"] += n
		case strings.HasPrefix(name, "rx_queue_") && strings.HasSuffix(name, "_drops"):
			c["ingress.rx_drops"] += n
		}
	}
	return nil
}

// nftDrops sums up the counters of rules that count and then drop.
func nftDrops(c drop.Counters) error {
	conn, err := nftables.New()
	if err != nil {
		return nil //nolint:nilerr // no nftables: no rule drops
	}
	chains, err := conn.ListChains()
	if err != nil {
		return nil //nolint:nilerr // no nftables: no rule drops
	}
	for _, chain := range chains {
		rules, err := conn.GetRules(chain.Table, chain)
		if err != nil {
			return fmt.Errorf("read the rules of %s: %w", chain.Name, err)
		}
		for _, r := range rules {
			c["nft.drop"] += dropped(r)
		}
	}
	return nil
}

// dropped returns what a rule counted right before it drops.
func dropped(r *nftables.Rule) (n uint64) {
	var counter *expr.Counter
	for _, e := range r.Exprs {
		switch e := e.(type) {
		case *expr.Counter:
			counter = e
		case *expr.Verdict:
			if counter != nil && e.Kind == expr.VerdictDrop {
				n += counter.Packets
			}
		}
	}
	return n
}
