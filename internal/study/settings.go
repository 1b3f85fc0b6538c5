package study

import (
	"fmt"
	"regexp"
	"slices"

	"linerate/internal/list"
	"linerate/internal/setting"
	"linerate/internal/yamlfile"
)

// ScopeHost marks a setting that is global to the kernel: it changes more
// than the testbed and needs the operator's consent.
const ScopeHost = "host"

// ends are the devices of a DUT by their role. A live host uses its real device names.
var ends = []string{"ingress", "egress"}

// deviceRE is an interface's name (dev_valid_name of net/core/dev.c; ifconfig(8)).
var deviceRE = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.@-]{0,14}$`)

// checkPlace refuses settings that the study's testbed has no way to do.
func (s *Spec) checkPlace() *yamlfile.Problem {
	for i, v := range s.Variants {
		for j, set := range v.Settings {
			path := fmt.Sprintf("variants[%d].settings[%d]", i, j)
			t := set.target()
			switch {
			case !s.OnMachines() && (t.machines || len(set.Undo) > 0):
				return yamlfile.Wrong(path, "files, rc, loader, image, pf, ipfw and undo are of testbeds of machines").Advise("give the study testbed: {kind: ssh, file: lab.yaml}")
			case s.OnMachines() && t.boot != "" && s.Reset != ResetReboot:
				return yamlfile.Wrong(path+"."+t.key, "%s", t.boot).Advise("give the study reset: reboot")
			case s.OnMachines() && set.Scope != "":
				return yamlfile.Wrong(path+".scope", "a machine is the DUT's whole: no setting of it is global to another")
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
