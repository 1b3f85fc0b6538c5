package host

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/fact"
)

// Query is one command of a base system that only looks. Only this package
// makes queries, so that what reads a host cannot run anything else.
type Query struct {
	id   string
	argv []string
	why  string
	// module must be in the kernel: asked without it, the kernel complains to
	// console and log, and an observer leaves no trace.
	module string
	// slow queries may take several times as long as others.
	slow bool
	// file is what it reads: where that is not, there is nothing to ask.
	file string
}

// ID names the query; a bundle keeps its output under this name.
func (q Query) ID() string { return q.id }

// Argv is the command and its arguments.
func (q Query) Argv() []string { return slices.Clone(q.argv) }

// Why says what the output is wanted for.
func (q Query) Why() string { return q.why }

// Module is the kernel module without which the query must not be asked, ""
// for most.
func (q Query) Module() string { return q.module }

// File is the file without which the query must not be asked, "" for most.
func (q Query) File() string { return q.file }

// Slow reports a command that may take minutes on a healthy host.
func (q Query) Slow() bool { return q.slow }

// String is the command line, for people and as a source's name.
func (q Query) String() string { return strings.Join(q.argv, " ") }

func query(id, line, why string) Query { return Query{id: id, argv: strings.Fields(line), why: why} }

// needs is a query that only a kernel with the module is asked.
func (q Query) needs(module string) Query { q.module = module; return q }

func (q Query) slowly() Query { q.slow = true; return q }

// tunablesQuery asks TrueNAS' database for its tunables, read-only, with tabs
// between; other systems have no such file.
var tunablesQuery = Query{id: "sqlite-tunables", argv: []string{"sqlite3", "-readonly", "-separator", "\t", "/data/freenas-v1.db",
	"SELECT tun_var, tun_value, tun_type, tun_enabled FROM system_tunable"}, why: "TrueNAS: tunables of its database", file: TrueNASDatabase}

// TrueNASDatabase is where TrueNAS keeps its settings.
const TrueNASDatabase = "/data/freenas-v1.db"

// freebsdQueries are the commands for a FreeBSD host, all of its base system since 11.
var freebsdQueries = []Query{
	query("uname", "uname -a", "release and kernel"),
	query("freebsd-version", "freebsd-version -ku", "patch level of kernel and userland"),
	query("sysctl-a", "sysctl -a", "every running value"),
	query("sysctl-at", "sysctl -at", "the type of every setting"),
	query("sysctl-aNT", "sysctl -aNT", "what the loader can set"),
	query("sysctl-aNW", "sysctl -aNW", "what can be set at run time"),
	query("kenv", "kenv", "what the loader passed to the kernel"),
	query("kldstat", "kldstat", "modules loaded"),
	query("kldstat-v", "kldstat -v", "modules compiled in"),
	query("dmesg", "dmesg", "CPU, memory, NICs, the system's own complaints"),
	query("pciconf", "pciconf -lvbc", "NICs and their PCI links (as root)"),
	query("pciconf-lv", "pciconf -lv", "NICs"),
	query("ifconfig", "ifconfig -avm", "interfaces, offloads, media").slowly(), // asks SFPs and PHYs of each port
	query("ifconfig-a", "ifconfig -a", "interfaces, should the long question take too long"),
	query("netstat-m", "netstat -m", "network memory and what was denied"),
	query("netstat-Q", "netstat -Q", "netisr: dispatch, queues, drops"),
	query("netstat-i", "netstat -ibdnW", "packets, errors and drops of each interface"),
	query("netstat-s", "netstat -s", "protocol counters"),
	query("netstat-L", "netstat -Lan", "listening sockets and their queues"),
	query("vmstat-i", "vmstat -i", "interrupts and their rates"),
	query("vmstat-z", "vmstat -z", "kernel memory zones and their failures"),
	query("mount", "mount", "file systems and their options"),
	query("conftxt", "sysctl -n kern.conftxt", "options the kernel was built with"),
	query("pfctl-si", "pfctl -vsi", "pf: state table and counters").needs("pf"),
	query("pfctl-sm", "pfctl -sm", "pf: limits").needs("pf"),
	query("pfctl-st", "pfctl -st", "pf: timeouts").needs("pf"),
	query("pfctl-sr", "pfctl -sr", "pf: rules, to count them").needs("pf"),
	query("pfctl-sn", "pfctl -sn", "pf: translations, to count them").needs("pf"),
	query("ipfw-list", "ipfw -a list", "ipfw: rules, to count them").needs("ipfw"),
	query("ipfw-nat", "ipfw nat show config", "ipfw: translations").needs("ipfw_nat"),
	query("ipfw-pipe", "ipfw pipe show", "dummynet pipes").needs("dummynet"),
	tunablesQuery,
}

// linuxQueries are the commands for a Linux host in addition to /proc and /sys; each is
// optional.
var linuxQueries = []Query{
	query("nft", "nft list ruleset", "rules, to count them"),
	query("tc-qdisc", "tc -s qdisc show", "queue disciplines: drops"),
	query("iptables", "iptables-save", "rules, to count them"),
	tunablesQuery,
}

// Queries lists the commands for a system, in order.
func Queries(os string) []Query {
	switch os {
	case fact.FreeBSD:
		return slices.Clone(freebsdQueries)
	case fact.Linux:
		return slices.Clone(linuxQueries)
	}
	return nil
}

// QueryOf returns a system's query by its id; it panics on an unknown one,
// which is a mistake of the program.
func QueryOf(os, id string) Query {
	for _, q := range Queries(os) {
		if q.id == id {
			return q
		}
	}
	panic(fmt.Sprintf("host: no query %q of %q", id, os))
}

// EthtoolQueries are the commands for each Linux interface, id is "ethtool-k-eth0".
func EthtoolQueries(nic string) []Query {
	if !validInterface(nic) {
		return nil
	}
	var queries []Query
	for _, c := range []struct{ flag, why string }{
		{"-k", "offloads"}, {"-g", "rings"}, {"-l", "queues"}, {"-a", "flow control"}, {"-S", "drops"},
	} {
		queries = append(queries, Query{id: "ethtool" + c.flag + "-" + nic, argv: []string{"ethtool", c.flag, nic}, why: c.why})
	}
	return queries
}

// IRQQuery asks FreeBSD which CPUs an interrupt may use.
func IRQQuery(irq int) Query {
	n := fmt.Sprint(irq)
	return Query{id: "cpuset-irq" + n, argv: []string{"cpuset", "-g", "-x", n}, why: "interrupt affinity"}
}

// validInterface accepts what both systems allow in an interface's name and
// no path or option can be made of.
func validInterface(s string) bool {
	if s == "" || len(s) > 32 || s[0] == '-' || s[0] == '.' {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@:") == ""
}
