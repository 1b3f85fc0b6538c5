package study

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/list"
	"linerate/internal/setting"
)

// ScopeHost marks a setting that is global to the kernel: it changes more
// than the testbed and needs the operator's consent.
const ScopeHost = "host"

// ways are all that were registered, keyOfWay the key by which a file names each.
var ways []Way

func keyOfWay(w any) string { return keyOf(keysIn(reflect.TypeOf(w).Elem(), "yaml")[0], "yaml") }

// RegisterWays makes ways known, in the order of their keys in schemas, before any study
// is read: package kinds does, and tests of one way.
func RegisterWays(all ...Way) {
	for _, w := range all {
		if !slices.ContainsFunc(ways, func(o Way) bool { return keyOfWay(o) == keyOfWay(w) }) {
			ways = append(ways, w)
		}
	}
}

// Ways are all that are known.
func Ways() []Way { return slices.Clone(ways) }

func wayTypes() (all []reflect.Type) {
	return list.Map(ways, func(w Way) reflect.Type { return reflect.TypeOf(w).Elem() })
}

type settingKeys Setting

// Shape is a setting's keys, of whatever way.
func (Setting) Shape() reflect.Type {
	return join("yaml", reflect.TypeFor[settingKeys](), wayTypes()...)
}

// UnmarshalYAML reads a setting of any way.
func (s *Setting) UnmarshalYAML(decode func(any) error) error {
	given, err := readAll("yaml", (*settingKeys)(s), wayTypes(), decode)
	s.Own, s.Others = nil, nil
	for i, w := range given {
		if i == 0 {
			s.Own = w.(Way)
		} else {
			s.Others = append(s.Others, w)
		}
	}
	return err
}

// MarshalYAML writes a setting.
func (s Setting) MarshalYAML() (any, error) {
	out := reflect.New(s.Shape()).Elem()
	share("yaml", out, reflect.ValueOf(settingKeys(s)))
	if s.Own != nil {
		share("yaml", out, reflect.ValueOf(s.Own).Elem())
	}
	return out.Interface(), nil
}

// Setting returns what the testbed is to set.
func (s Setting) Setting() setting.Setting {
	out := setting.Setting{Value: s.Value, Device: s.Device}
	if s.Own != nil {
		s.Own.Set(&out)
	}
	return out
}

// Is reports whether a mechanism sets it.
func (s Setting) Is(m setting.Mechanism) bool { return s.Setting().Mechanism == m }

// Names are what it sets, by the names that evidence has, with the values. Nothing that
// a variant sets may be passed over: what was changed with it would be taken for
// changed alone.
func (s Setting) Names() map[string]string {
	if s.Own == nil {
		return nil
	}
	return s.Own.Names(s)
}

func (s Setting) check(path string) *Problem {
	if p := s.checkKeys(path); p != nil {
		return p
	}
	needs := s.Own.Needs()
	switch {
	case s.Scope != "" && s.Scope != ScopeHost:
		return Wrong(path+".scope", "unknown scope %q", s.Scope).Advise("known: host (global to the kernel), or none")
	case needs.Value && s.Value == "":
		return Wrong(path, "the setting has no value").Advise("add a line, value: …")
	case !needs.Value && s.Value != "":
		return Wrong(path+".value", "this kind of setting takes no value")
	case needs.Device, needs.MayDevice && s.Device != "":
		if !deviceRE.MatchString(s.Device) {
			return OneOf(path+".device", s.Device, ends...)
		}
	case s.Device != "":
		return Wrong(path+".device", "only link, napi and route settings have a device")
	}
	return s.Own.Check(s, path)
}

// checkKeys refuses keys of several ways, or of none.
func (s Setting) checkKeys(path string) *Problem {
	var named, stray []string // the keys that name a way, and those that only complete one
	var whose any
	for _, w := range append([]any{s.Own}, s.Others...) {
		if w == nil || w == Way(nil) {
			continue
		}
		if key := given("yaml", w); key == keyOfWay(w) {
			named = append(named, key)
		} else {
			stray, whose = append(stray, key), w
		}
	}
	switch {
	case len(stray) > 0:
		return Wrong(path+"."+stray[0], "only %s settings have %s", keyOfWay(whose), stray[0])
	case len(named) != 1:
		keys := list.Map(ways, func(w Way) string { return keyOfWay(w) })
		return Wrong(path, "a setting has exactly one of %s; this one has %d", strings.Join(keys, ", "), len(named)).
			Advise("begin each setting with a dash of its own, and one of these")
	}
	return nil
}

// ends are the devices of a DUT by their role. A live host has devices of its own.
var ends = []string{"ingress", "egress"}

// deviceRE is an interface's name (dev_valid_name of net/core/dev.c; ifconfig(8)).
var deviceRE = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.@-]{0,14}$`)

// checkPlace refuses settings that the study's testbed has no way to do.
func (s *Spec) checkPlace() *Problem {
	for i, v := range s.Variants {
		for j, set := range v.Settings {
			path := fmt.Sprintf("variants[%d].settings[%d]", i, j)
			needs := set.Own.Needs()
			switch {
			case !s.OnMachines() && (needs.Machines || len(set.Setting().Undo) > 0):
				return Wrong(path, "files, rc, loader, image, pf, ipfw and undo are of testbeds of machines").Advise("give the study testbed: {kind: ssh, file: lab.yaml}")
			case s.OnMachines() && needs.Boot != "" && s.Reset != ResetReboot:
				return Wrong(path+"."+keyOfWay(set.Own), "%s", needs.Boot).Advise("give the study reset: reboot")
			case s.OnMachines() && set.Scope != "":
				return Wrong(path+".scope", "a machine is the DUT's whole: no setting of it is global to another")
			}
		}
	}
	return nil
}

// Apply returns the variant's settings for the testbed, in order.
func (v Variant) Apply() []setting.Setting {
	out := make([]setting.Setting, len(v.Settings))
	for i, s := range v.Settings {
		out[i] = s.Setting()
	}
	return out
}

// ApplyLocal returns the settings that do not leave the testbed, in order.
func (v Variant) ApplyLocal() []setting.Setting { return v.apply("") }

// ApplyGlobal returns those that are global to the kernel, in order.
func (v Variant) ApplyGlobal() []setting.Setting { return v.apply(ScopeHost) }

func (v Variant) apply(scope string) (out []setting.Setting) {
	for _, s := range v.Settings {
		if s.Scope == scope {
			out = append(out, s.Setting())
		}
	}
	return out
}

// HostScope returns the settings that are declared global to the kernel.
func (v Variant) HostScope() []Setting {
	return list.Filter(v.Settings, func(s Setting) bool { return s.Scope == ScopeHost })
}

// Local is the study without the variants that set what is global to the kernel.
func (s Spec) Local() Spec {
	s.Variants = slices.DeleteFunc(slices.Clone(s.Variants), func(v Variant) bool { return len(v.HostScope()) > 0 })
	return s
}
