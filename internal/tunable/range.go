package tunable

import (
	"math/big"

	"linerate/internal/fact/release"
	"linerate/internal/setting"
)

// Domain is what kind of values a tunable takes.
type Domain string

// The domains.
const (
	Whole    Domain = "number"   // one whole number
	Vectors  Domain = "numbers"  // several
	Switch   Domain = "switch"   // on or off, as words
	Choice   Domain = "choice"   // one of some words
	Presence Domain = "presence" // there or not
	Text     Domain = "text"     // anything that its reader understands
)

// Range is what values a tunable takes on a release, and what becomes of
// others. It has one rule for all: what the record says, and where that is
// silent what the type and the mechanism imply.
type Range struct {
	Domain Domain
	// Least and Most bound a whole number; nil for other domains, and for
	// vectors without bounds of their elements.
	Least, Most *big.Int
	// Entire: all values of the number's type are taken.
	Entire bool
	// Outside is what becomes of other values; Beyond of numbers that the type cannot hold,
	// where that differs. "" while not known.
	Outside, Beyond Outside
}

// RangeOn is what the tunable takes on a release (zero: the newest known).
func (r *Record) RangeOn(rel release.Release) Range {
	s := r.At(rel)
	x := Range{Domain: domain(s), Outside: s.Constraints.Outside}
	switch x.Domain {
	case Whole:
		if x.bound(s); x.Entire && r.overflow(s) != "" {
			x.Outside = "" // nothing is outside but what the type cannot hold
		}
		if x.Beyond = r.overflow(s); x.Outside == Fatal && x.Beyond == Wrapped {
			x.Beyond = Fatal // the number that remains is outside, too
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

// domain is the kind of values a state takes.
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

// bound gives a number its bounds: the record's, else those of its type.
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

// implied is what becomes of a value outside the range where the record does not say. It
// implies nothing for FreeBSD's sysctls with a custom handler: their records must say.
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

// switches are what the readers of words like YES and NO make of another word.
var switches = map[setting.Mechanism]Outside{
	setting.RC:      Off,     // rc.subr(8): checkyesno warns and takes NO
	setting.Module:  Off,     // the loader loads for "YES" alone
	setting.Loader:  Off,     // as the loader's
	setting.Ethtool: Refused, // ethtool(8)
	setting.Systemd: OwnSize, // "Failed to parse boolean value, ignoring"
	setting.Cmdline: OwnSize, // passed over, with a line in the log
	setting.Sysctl:  Refused, setting.Mount: Refused, setting.Tunefs: Refused, setting.Ifconfig: Refused, setting.Firewall: Refused, setting.LoginConf: OwnSize,
	setting.KernelOption: Refused, setting.Service: Refused, setting.Qdisc: Refused, setting.Route: Refused, setting.CC: Refused, setting.Socket: Refused, setting.Limit: OwnSize,
	setting.Sysfs: Refused, setting.Procfs: Refused,
}

// readers are what Linux makes of a value outside: its sysctls, files and
// netlink answer EINVAL, a module does not load, the command line's word is
// passed over, as are a line of systemd's and of limits.conf.
var readers = map[setting.Mechanism]Outside{
	setting.Sysctl: Refused, setting.Sysfs: Refused, setting.Procfs: Refused, setting.Ethtool: Refused, setting.Qdisc: Refused, setting.Route: Refused, setting.Socket: Refused,
	setting.CC: Refused, setting.Module: Refused, setting.Cmdline: OwnSize, setting.Systemd: OwnSize, setting.Limit: OwnSize, setting.Service: Refused,
}

// firm are FreeBSD's tools that check before the kernel sees the value.
var firm = map[setting.Mechanism]Outside{setting.Ifconfig: Refused, setting.Tunefs: Refused, setting.Mount: Refused, setting.Firewall: Refused, setting.Service: Refused}

// overflow is what becomes of a number that the type cannot hold: sysctl(8)
// and the loader's environment keep the low bits (sbin/sysctl/sysctl.c,
// sys/kern/kern_environment.c); Linux refuses.
func (r *Record) overflow(s State) Outside {
	if r.OS == FreeBSD && (s.Mechanism == setting.Sysctl || s.Mechanism == setting.Loader) {
		return Wrapped
	}
	if r.OS == Linux {
		return readers[s.Mechanism]
	}
	return firm[s.Mechanism]
}

// impliedReset is what setting a tunable costs where its record is silent: a
// running system reads the value whenever it needs it; what only a boot reads
// costs one, or a load of its module, or a restart of its service.
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
