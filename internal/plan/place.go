package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/appliance"
	"linerate/internal/fact"
	"linerate/internal/fact/factexpr"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

// place sets how a setting is made: its mechanism, its file, and whether it can be set at run time.
func (p *planning) place(s *Step, r *tunable.Record, template, device string) error {
	state := r.At(p.Facts.Release)
	switch state.Mechanism {
	case setting.Sysctl:
		s.Mechanism = setting.Sysctl
		if p.Facts.OS == fact.FreeBSD && !state.Reversible() && state.Settable != tunable.Runtime {
			s.Mechanism = setting.Loader
		}
	case setting.Loader:
		s.Mechanism = setting.Loader
	case setting.RC:
		s.Mechanism = setting.RC
	case setting.Module:
		s.Mechanism, s.Name, s.Value = setting.Module, moduleName(s.Name), "loaded"
		s.Current = Current{Value: p.moduleNow(s.Name)}
		if v := s.Current.Value; v != nil && *v == "loaded" {
			s.Current.Origin = "until the next boot"
		}
	case setting.Firewall:
		limit, ok := setting.OfPFLimit(s.Name)
		if !ok {
			return nil
		}
		s.Mechanism, s.Name = setting.PFLimit, limit
	case setting.Ifconfig, setting.Ethtool, setting.Sysfs, setting.Procfs:
		return p.placeDevice(s, template, device)
	default:
		return nil // linerate has no place for it: a kernel option, a mount, another program's file
	}
	s.Where = Where{File: PlaceOf(p.Facts.OS, s.Mechanism), Runtime: runtimeTakes(s, state)}
	if a := appliance.Of(p.Facts); a != nil && (s.Mechanism == setting.PFLimit || !a.Keeps(s.Where.File) && (s.Mechanism == setting.Sysctl || s.Mechanism == setting.Loader)) {
		s.Where.Place = a.PlaceOf(template, p.Facts.Product.Version, s.Mechanism == setting.Loader)
	}
	return nil
}

func runtimeTakes(s *Step, state tunable.State) bool {
	switch s.Mechanism {
	case setting.Loader:
		return false
	case setting.RC:
		_, _, ok := setting.RCEffect(s.Name, s.Value)
		return ok
	case setting.Sysctl:
		return state.Reversible()
	}
	return true
}

// properties maps catalogue names to the settings of interfaces, interrupts and CPUs that knobs can set.
var properties = map[string]property{
	"ifconfig:lro": {setting.Offload, "lro", ""}, "ifconfig:tso": {setting.Offload, "tso", "tso4"},
	"ifconfig:mtu": {setting.Link, "mtu", ""}, "ifconfig:rxcsum": {setting.Offload, "rxcsum", ""}, "ifconfig:txcsum": {setting.Offload, "txcsum", ""},
	"ethtool -K IF gro": {setting.Offload, "gro", "generic-receive-offload"}, "ethtool -K IF lro": {setting.Offload, "lro", "large-receive-offload"},
	"ethtool -K IF tso": {setting.Offload, "tso", "tcp-segmentation-offload"},
	"ethtool -G IF rx":  {setting.Ring, "rx", ""}, "ethtool -G IF tx": {setting.Ring, "tx", ""},
	"ethtool -L IF combined":        {setting.Channels, "combined", ""},
	"/sys/class/net/IF/mtu":         {setting.Link, "mtu", ""},
	"/proc/irq/N/smp_affinity_list": {setting.IRQ, "", ""}, "/sys/devices/system/cpu/cpuN/cpufreq/scaling_governor": {setting.Governor, "", ""},
}

// property is a setting of an interface or, without a name, of the interrupt or the CPU in place of the interface. option is the
// name of the feature in an interface's facts, if different.
type property struct {
	mechanism    setting.Mechanism
	name, option string
}

// value returns the property of an interface from its facts.
func (k property) value(nic *fact.NIC) (string, bool) {
	count := map[string]int{"ring rx": nic.RXDescriptors, "ring tx": nic.TXDescriptors, "link mtu": nic.MTU, "channels combined": nic.RXQueues}
	switch {
	case k.mechanism == setting.Offload && nic.Options != nil:
		return factexpr.Offload(nic, cmp.Or(k.option, k.name)), true
	case count[string(k.mechanism)+" "+k.name] > 0:
		return strconv.Itoa(count[string(k.mechanism)+" "+k.name]), true
	}
	return "", false
}

func (p *planning) placeDevice(s *Step, template, device string) error {
	known, ok := properties[template]
	if !ok || device == "" {
		return nil
	}
	s.Mechanism, s.Name, s.Device = known.mechanism, known.name, device
	if known.name == "" {
		s.Name, s.Device = device, ""
	}
	s.Where = Where{File: PlaceOf(p.Facts.OS, known.mechanism), Runtime: true}
	return nil
}

// setBy tells the user where to make a setting that linerate cannot make.
func setBy(r *tunable.Record, name, value string) string {
	switch r.Mechanism {
	case setting.KernelOption:
		return "build a kernel with " + name + "."
	case setting.Cmdline:
		return fmt.Sprintf("add %s%s to the kernel's command line.", strings.TrimSuffix(strings.TrimPrefix(name, "kernel: "), value), value)
	case setting.Ethtool:
		return fmt.Sprintf("%s %s.", name, value)
	case setting.Systemd:
		return fmt.Sprintf("%s%s in a drop-in of the service's unit.", strings.TrimPrefix(name, "systemd "), value)
	}
	return fmt.Sprintf("set it by %s.", r.Mechanism)
}

// moduleName returns a module's own name: the catalogue uses tcp_rack_load (loader.conf) or "module nf_conntrack".
func moduleName(name string) string {
	return strings.TrimPrefix(strings.TrimSuffix(name, "_load"), "module ")
}

// moduleNow returns whether a module is loaded now, as a value; nil if unknown.
func (p *planning) moduleNow(name string) *string {
	m, ok := p.Facts.Module(name)
	state := "absent"
	switch {
	case ok && (m.InKernel || m.Loaded != nil && *m.Loaded):
		state = "loaded"
	case !p.Facts.Live():
		return nil
	}
	return &state
}

// moduleLasts reports whether a module is available and a file loads it at boot.
func (p *planning) moduleLasts(name string) bool {
	if p.Facts.Product != nil {
		if a := appliance.Named(p.Facts.Product.Name); a != nil && slices.Contains(a.Loads, name) {
			return true
		}
	}
	m, ok := p.Facts.Module(name)
	return ok && (m.InKernel || m.Loaded != nil && *m.Loaded && slices.ContainsFunc(m.Lines, func(l fact.Line) bool { return l.Effective }))
}

// instance replaces the placeholder of a template by a device: dev.igb.N.fc of igb0 becomes dev.igb.0.fc.
func instance(template, device string) string {
	unit := strings.TrimLeft(device, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-")
	for _, hole := range [][2]string{{".N.", "." + unit + "."}, {"/N/", "/" + device + "/"}, {"/cpuN/", "/" + device + "/"}, {"IF", device}} {
		if strings.Contains(template, hole[0]) {
			return strings.Replace(template, hole[0], hole[1], 1)
		}
	}
	return template + " " + device
}

// deviceNames converts the result of an Each expression: strings or interfaces.
func deviceNames(v any) ([]string, error) {
	var out []string
	switch v := v.(type) {
	case []string:
		return v, nil
	case []*factexpr.NIC:
		for _, n := range v {
			out = append(out, n.Name)
		}
		return out, nil
	case []any:
		for _, x := range v {
			switch x := x.(type) {
			case string:
				out = append(out, x)
			case *factexpr.NIC:
				out = append(out, x.Name)
			default:
				return nil, fmt.Errorf("each has a %T, want interfaces or their names", x)
			}
		}
		return out, nil
	}
	return nil, errors.New("each is not a list")
}

// text formats a value for a file.
func text(v any) string {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(math.Trunc(v), 'f', 0, 64)
	case bool:
		if v {
			return "1"
		}
		return "0"
	}
	return fmt.Sprint(v)
}
