package tunable

import (
	"math/big"

	"linerate/internal/fact/release"
	"linerate/internal/setting"
)

// Domain is the kind of values of a tunable.
type Domain string

// The domains.
const (
	Whole    Domain = "number"   // one integer
	Vectors  Domain = "numbers"  // several integers
	Switch   Domain = "switch"   // on or off, as words
	Choice   Domain = "choice"   // one of some words
	Presence Domain = "presence" // present or absent
	Text     Domain = "text"     // any text that its reader accepts
)

// Range is the set of values that a tunable accepts on a release, and the treatment of others. The
// record takes precedence; what it omits follows from the type and the mechanism.
type Range struct {
	Domain Domain
	// Least and Most are the bounds of an integer; nil for other domains, and for vectors without
	// bounds of their elements.
	Least, Most *big.Int
	// Entire means that all values of the type are accepted.
	Entire bool
	// Outside is the treatment of other values; Beyond that of numbers which the type cannot hold,
	// if different. "" means unknown.
	Outside, Beyond Outside
}

// RangeOn returns the accepted values on a release (zero: the newest known).
func (r *Record) RangeOn(rel release.Release) Range {
	s := r.At(rel)
	x := Range{Domain: domain(s), Outside: s.Constraints.Outside}
	switch x.Domain {
	case Whole:
		if x.bound(s); x.Entire && r.overflow(s) != "" {
			x.Outside = "" // only numbers that the type cannot hold are outside
		}
		if x.Beyond = r.overflow(s); x.Outside == Fatal && x.Beyond == Wrapped {
			x.Beyond = Fatal // the truncated number is outside, too
		}
	case Vectors:
		x.Least, x.Most = whole(s.Constraints.Min), whole(s.Constraints.Max)
	}
	if x.Outside == "" {
		x.Outside = r.implied(s, x)
	}
	if x.Beyond == x.Outside {
		x.Beyond = ""
	}
	return x
}

// domain returns the kind of values of a state.
func domain(s State) Domain {
	switch {
	case s.Type.Integer():
		return Whole
	case s.Type == Numbers:
		return Vectors
	case s.Type == YesNo:
		return Switch
	case s.Type == Flag:
		return Presence
	case len(s.Constraints.Values) > 0:
		return Choice
	}
	return Text
}

// bound sets the bounds of a number: the record's, else those of its type.
func (x *Range) bound(s State) {
	k, w := s.Constraints, widths[s.Type]
	x.Least, x.Most = w[0], w[1]
	if n := whole(k.Min); n != nil && n.Cmp(w[0]) > 0 {
		x.Least = n
	}
	if n := whole(k.Max); n != nil && n.Cmp(w[1]) < 0 {
		x.Most = n
	}
	free := len(k.Values) == 0 && !k.PowerOfTwo && k.Multiple == 0 && !k.OnlyRaise && !k.Jiffies && k.Depends == ""
	x.Entire = free && x.Least == w[0] && x.Most == w[1]
}

func whole(f *float64) *big.Int {
	if f == nil {
		return nil
	}
	n, _ := big.NewFloat(*f).Int(nil)
	return n
}

// implied returns the treatment of values outside the range if the record does not say. It implies
// nothing for FreeBSD's sysctls with a custom handler: their records must say.
func (r *Record) implied(s State, x Range) Outside {
	switch x.Domain {
	case Switch, Presence:
		return switches[s.Mechanism]
	case Text:
		return Taken
	case Whole:
		if s.Type == Bool {
			return One
		}
		if x.Entire {
			return r.overflow(s)
		}
	}
	if r.OS == Linux {
		return readers[s.Mechanism]
	}
	return firm[s.Mechanism]
}

// switches maps a mechanism to the treatment of words other than YES and NO.
var switches = map[setting.Mechanism]Outside{
	setting.RC:      Off,     // rc.subr(8): checkyesno warns and assumes NO
	setting.Module:  Off,     // the loader loads only for "YES"
	setting.Loader:  Off,     // as for modules
	setting.Ethtool: Refused, // ethtool(8)
	setting.Systemd: OwnSize, // "Failed to parse boolean value, ignoring"
	setting.Cmdline: OwnSize, // ignored, with a message in the log
	setting.Sysctl:  Refused, setting.Mount: Refused, setting.Tunefs: Refused, setting.Ifconfig: Refused, setting.Firewall: Refused, setting.LoginConf: OwnSize,
	setting.KernelOption: Refused, setting.Service: Refused, setting.Qdisc: Refused, setting.Route: Refused, setting.CC: Refused, setting.Socket: Refused, setting.Limit: OwnSize,
	setting.Sysfs: Refused, setting.Procfs: Refused,
}

// readers maps a mechanism to Linux's treatment of values outside: sysctls, files and netlink
// return EINVAL, a module does not load; parameters of the command line, and lines of systemd and
// limits.conf, are ignored.
var readers = map[setting.Mechanism]Outside{
	setting.Sysctl: Refused, setting.Sysfs: Refused, setting.Procfs: Refused, setting.Ethtool: Refused, setting.Qdisc: Refused, setting.Route: Refused, setting.Socket: Refused,
	setting.CC: Refused, setting.Module: Refused, setting.Cmdline: OwnSize, setting.Systemd: OwnSize, setting.Limit: OwnSize, setting.Service: Refused,
}

// firm lists the mechanisms whose FreeBSD tool checks the value before the kernel does.
var firm = map[setting.Mechanism]Outside{setting.Ifconfig: Refused, setting.Tunefs: Refused, setting.Mount: Refused, setting.Firewall: Refused, setting.Service: Refused}

// overflow returns the treatment of a number that the type cannot hold: sysctl(8) and the loader's
// environment keep the low bits (sbin/sysctl/sysctl.c, sys/kern/kern_environment.c); Linux refuses
// it.
func (r *Record) overflow(s State) Outside {
	if r.OS == FreeBSD && (s.Mechanism == setting.Sysctl || s.Mechanism == setting.Loader) {
		return Wrapped
	}
	if r.OS == Linux {
		return readers[s.Mechanism]
	}
	return firm[s.Mechanism]
}

// impliedReset returns the cost of setting a tunable if its record omits it: none if a running
// system reads the value on each use; otherwise a reboot, or reloading its module, or restarting
// its service.
func (r *Record) impliedReset() Reset {
	switch {
	case r.Settable.AtRuntime():
		return NoReset
	case r.Settable == ReadOnly:
		return ""
	case r.Mechanism == setting.RC || r.Mechanism == setting.Service:
		return Restart
	case r.Module != "":
		return Reload
	}
	return NeedReboot
}
