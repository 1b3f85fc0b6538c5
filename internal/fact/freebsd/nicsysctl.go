package freebsd

import (
	"cmp"
	"strconv"
	"strings"
	"sync"

	"linerate/internal/fact"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

// flowControl maps values of dev.<driver>.N.fc (sys/dev/e1000/e1000_osdep.h; same for ixgbe and
// ixl).
var flowControl = map[string]string{"0": "none", "1": "rx", "2": "tx", "3": "full"}

// queueNode matches the queues that a driver exports below dev.<driver>.N.
var queueNode = lazy.Regexp(`^(?:iflib\.)?(rx|tx)q(\d+)\.|^queue_?(rx|tx)_?(\d+)\.|^queue(\d+)\.|^(rx|tx)_?queue_?(\d+)\.|^(rxq|txq)\.(\d+)\.`)

// AddNICValues adds the running values of interfaces: queues, descriptors, flow control, NUMA
// domain and description.
func AddNICValues(f *fact.Facts, v Values) {
	queues := countQueues(v)
	for i := range f.NICs {
		n := &f.NICs[i]
		unit := strings.TrimPrefix(n.Name, n.Driver)
		if n.Kind != fact.KindEthernet || n.Driver == "" || strings.Trim(unit, "0123456789") != "" {
			continue
		}
		base := "dev." + n.Driver + "." + unit + "."
		n.Description = cmp.Or(n.Description, v.Get(base+"%desc"))
		if d, ok := v.Value[base+"%domain"]; ok {
			if domain, err := strconv.Atoi(strings.TrimSpace(d)); err == nil {
				n.Domain = &domain
			}
		}
		if fc := flowControl[strings.TrimSpace(v.Get(base+"fc"))]; fc != "" {
			n.FlowControl = fc
		}
		q := queues[base]
		n.RXQueues = cmp.Or(v.Int(base+"nrxq"), v.Int(base+"conf.channels"), v.Int(base+"act_vq_pairs"), q[0], n.RXQueues)
		n.TXQueues = cmp.Or(v.Int(base+"ntxq"), v.Int(base+"conf.channels"), v.Int(base+"act_vq_pairs"), q[1], n.TXQueues)
		n.RXDescriptors = cmp.Or(v.Int(base+"qsize_rxq"), v.Int(base+"conf.rx_queue_size"), v.Int(base+"iflib.override_nrxds"), n.RXDescriptors)
		n.TXDescriptors = cmp.Or(v.Int(base+"qsize_txq"), v.Int(base+"conf.tx_queue_size"), v.Int(base+"iflib.override_ntxds"), n.TXDescriptors)
	}
}

// countQueues counts receive and transmit queues by device prefix.
func countQueues(v Values) map[string][2]int {
	count := map[string][2]int{}
	for _, name := range v.Names {
		if !strings.HasPrefix(name, "dev.") {
			continue
		}
		parts := strings.SplitN(name, ".", 4)
		if len(parts) < 4 {
			continue
		}
		m := queueNode().FindStringSubmatch(parts[3])
		if m == nil {
			continue
		}
		base := strings.Join(parts[:3], ".") + "."
		dir := cmp.Or(m[1], m[3], m[6], strings.TrimSuffix(m[8], "q"))
		number := fact.Int(cmp.Or(m[2], m[4], m[5], m[7], m[9])) + 1
		c := count[base]
		if dir != "tx" {
			c[0] = max(c[0], number)
		}
		if dir != "rx" {
			c[1] = max(c[1], number)
		}
		count[base] = c
	}
	return count
}

// nicDropNames maps the drivers' own names of counters of frames lost by the hardware or a full
// ring to counter names.
var nicDropNames = sync.OnceValue(func() map[string]string {
	return list.Pairs(countersText, "nic")
})

// AddNICCounters adds the drivers' own counters of losses.
func AddNICCounters(f *fact.Facts, v Values) {
	for _, name := range v.Names {
		parts := strings.SplitN(name, ".", 4)
		if len(parts) < 4 || parts[0] != "dev" {
			continue
		}
		counter, ok := nicDropNames()[parts[3]]
		nic := parts[1] + parts[2]
		if _, is := f.NIC(nic); !ok || !is {
			continue
		}
		f.AddCounter("nic."+nic+"."+counter, v.Uint(name), "sysctl "+name)
	}
}
