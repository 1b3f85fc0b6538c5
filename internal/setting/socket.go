package setting

import (
	"strconv"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/lazy"
)

// SocketOption is an option that can be set per TCP connection on Linux, when it is accepted
// (bpf_setsockopt of bpf-helpers(7); socket(7), tcp(7)).
type SocketOption struct {
	// Name is the sysctl that sets the option's default, else the option's own name, as in the
	// catalogue; Alias is what users type.
	Name, Alias string
	// Level and Number are arguments of setsockopt(2).
	Level, Number int
	Text          bool // the value is a word
	Min, Max      int32
	Unit          string
}

// The levels of setsockopt(2).
const (
	solSocket = 1
	solTCP    = 6
	maxInt32  = 1<<31 - 1
)

// twoTicks is the smallest TCP timer (TCP_TIMEOUT_MIN) in µs, with 1,000 kernel ticks per second;
// with slower ticks the kernel refuses larger values, too.
const twoTicks = 2000

// SocketOptions lists the options known to be safe to set on a connection that was just accepted.
var SocketOptions = []SocketOption{
	{Name: "net.ipv4.tcp_congestion_control", Alias: "tcp-congestion", Level: solTCP, Number: 13, Text: true},
	{Name: "net.ipv4.tcp_notsent_lowat", Alias: "notsent-lowat", Level: solTCP, Number: 25, Min: 1, Max: maxInt32, Unit: "bytes"},
	{Name: "TCP_BPF_IW", Alias: "initcwnd", Level: solTCP, Number: 1001, Min: 1, Max: 1000, Unit: "segments"},
	{Name: "TCP_BPF_SNDCWND_CLAMP", Alias: "cwnd-clamp", Level: solTCP, Number: 1002, Min: 1, Max: 1 << 20, Unit: "segments"},
	{Name: "TCP_BPF_DELACK_MAX", Alias: "delack-max", Level: solTCP, Number: 1003, Min: twoTicks, Max: 200_000, Unit: "µs"},
	{Name: "net.ipv4.tcp_rto_min_us", Alias: "rto-min", Level: solTCP, Number: 1004, Min: twoTicks, Max: 200_000, Unit: "µs"},
	{Name: "TCP_WINDOW_CLAMP", Alias: "window-clamp", Level: solTCP, Number: 10, Min: 1024, Max: maxInt32, Unit: "bytes"},
	{Name: "TCP_USER_TIMEOUT", Alias: "user-timeout", Level: solTCP, Number: 18, Min: 1, Max: maxInt32, Unit: "ms"},
	{Name: "SO_MAX_PACING_RATE", Alias: "pacing-rate", Level: solSocket, Number: 47, Min: 1000, Max: maxInt32, Unit: "bytes/s"},
	{Name: "SO_SNDBUF", Alias: "sndbuf", Level: solSocket, Number: 7, Min: 2048, Max: maxInt32 / 2, Unit: "bytes"},
	{Name: "SO_RCVBUF", Alias: "rcvbuf", Level: solSocket, Number: 8, Min: 1024, Max: maxInt32 / 2, Unit: "bytes"},
}

// SocketOptionNamed returns the option with a name or alias.
func SocketOptionNamed(name string) (SocketOption, error) {
	known := []string{}
	for _, o := range SocketOptions {
		if o.Name == name || o.Alias == name {
			return o, nil
		}
		known = append(known, o.Alias)
	}
	return SocketOption{}, hint.With(hint.Usagef("%s cannot be set for single connections", name),
		"those that can: %s; others are tried on the whole host, in windows", strings.Join(known, ", "))
}

var congestionName = lazy.Regexp(`^[a-z0-9][a-z0-9._-]{0,14}$`)

// Parse parses a value of the option: a word, or a number within its range.
func (o SocketOption) Parse(value string) (int32, error) {
	if o.Text {
		if !congestionName().MatchString(value) {
			return 0, hint.Usagef("%s=%s: not the name of a congestion control", o.Alias, value)
		}
		return 0, nil
	}
	v, err := strconv.ParseInt(value, 10, 32)
	if err != nil || v < int64(o.Min) || v > int64(o.Max) {
		return 0, hint.Usagef("%s=%s: not a number of %s within %d and %d", o.Alias, value, o.Unit, o.Min, o.Max)
	}
	return int32(v), nil
}
