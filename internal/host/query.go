package host

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/list"
)

// Query is one read-only command of a base system. Only this package creates queries, so that
// readers of hosts cannot run anything else.
type Query struct {
	id   string
	argv []string
	why  string
	// module must be loaded: without it, the query makes the kernel log a complaint, and an
	// observer must leave no trace.
	module string
	// slow queries may take several times as long as others.
	slow bool
	// file is the file that it reads: without it the query is skipped.
	file string
}

// ID names the query, and its output in a bundle.
func (q Query) ID() string { return q.id }

// Argv is the command and its arguments.
func (q Query) Argv() []string { return slices.Clone(q.argv) }

// Why says what the output is needed for.
func (q Query) Why() string { return q.why }

// Module returns the kernel module that the query requires, "" for most.
func (q Query) Module() string { return q.module }

// File returns the file that the query requires, "" for most.
func (q Query) File() string { return q.file }

// Slow reports a command that may take minutes on a healthy host.
func (q Query) Slow() bool { return q.slow }

// String is the command line, for people and as a source's name.
func (q Query) String() string { return strings.Join(q.argv, " ") }

// tunablesQuery reads the tunables in TrueNAS' database, read-only and tab-separated; other systems
// have no such file.
var tunablesQuery = Query{id: "sqlite-tunables", argv: []string{"sqlite3", "-readonly", "-separator", "\t", "/data/freenas-v1.db",
	"SELECT tun_var, tun_value, tun_type, tun_enabled FROM system_tunable"}, why: "TrueNAS: tunables of its database", file: TrueNASDatabase}

// TrueNASDatabase is the database of TrueNAS' settings.
const TrueNASDatabase = "/data/freenas-v1.db"

//go:embed queries.txt
var queriesText string

// Queries returns the commands for a system, in order.
func Queries(os string) (all []Query) {
	for _, row := range list.Table(queriesText, os) {
		q := Query{id: row[0], argv: strings.Fields(row[1]), why: row[2]}
		if len(row) > 3 {
			if q.slow = row[3] == "slow"; !q.slow {
				q.module = row[3]
			}
		}
		all = append(all, q)
	}
	if all != nil {
		all = append(all, tunablesQuery)
	}
	return all
}

// QueryOf returns a system's query by ID; it panics on an unknown one, which is a programming
// error.
func QueryOf(os, id string) Query {
	for _, q := range Queries(os) {
		if q.id == id {
			return q
		}
	}
	panic(fmt.Sprintf("host: no query %q of %q", id, os))
}

// EthtoolQueries returns the commands for a Linux interface; IDs are like "ethtool-k-eth0".
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

// IRQQuery returns the FreeBSD query for the CPUs that an interrupt may use.
func IRQQuery(irq int) Query {
	n := fmt.Sprint(irq)
	return Query{id: "cpuset-irq" + n, argv: []string{"cpuset", "-g", "-x", n}, why: "interrupt affinity"}
}

// validInterface reports whether s is a valid interface name on both systems and cannot be a path
// or an option.
func validInterface(s string) bool {
	if s == "" || len(s) > 32 || s[0] == '-' || s[0] == '.' {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@:") == ""
}
