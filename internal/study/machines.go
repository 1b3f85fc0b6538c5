package study

import (
	"linerate/internal/list"
	"linerate/internal/setting"
	"linerate/internal/testbed"
	"linerate/internal/yamlfile"
)

// How trials are made independent, by testbed: namespaces are rebuilt;
// machines get their settings restored, their services restarted, or boot.
const (
	ResetNamespace = "namespace"
	ResetSettings  = "settings"
	ResetServices  = "services"
	ResetReboot    = "reboot"
)

// The designs of a study.
const (
	// Blocks is a design of randomised complete blocks: every block tries every arm once,
	// in a fresh random order.
	Blocks = "blocks"
	// Switchback is a design of pairs of windows on one live host, in an order
	// drawn for each pair.
	Switchback = "switchback"
)

// KindLive is the testbed kind for a host in production, under its own traffic.
const KindLive = "live"

// OnLiveHost reports whether the testbed is a host in production.
func (s *Spec) OnLiveHost() bool { return s.Testbed.Kind == KindLive }

// OnMachines reports whether the testbed consists of machines described by a
// file.
func (s *Spec) OnMachines() bool {
	return s.Testbed.Kind == testbed.KindSSH || s.Testbed.Kind == testbed.KindPorts
}

// checkTestbed checks testbed, reset and design together.
func (s *Spec) checkTestbed() *yamlfile.Problem {
	if p := yamlfile.OneOf("design", s.Design, Blocks, Switchback, Concurrent); p != nil {
		return p
	}
	if s.OnLiveHost() || s.Design != Blocks {
		return s.checkLive()
	}
	if !s.OnMachines() {
		switch {
		case s.Testbed.Kind != testbed.KindNetns:
			return yamlfile.Wrong("testbed.kind", "unknown testbed %q", s.Testbed.Kind).
				Advise("known: netns (network namespaces on this machine), ssh (machines of a testbed file), ports (two ports of this machine, a DUT between them), live (a host in production)")
		case s.Testbed.File != "":
			return yamlfile.Wrong("testbed.file", "testbed netns has no file").Advise("add kind: ssh")
		case s.Reset != ResetNamespace:
			return yamlfile.Wrong("reset", "testbed netns cannot reset by %q", s.Reset).Advise("known: namespace (the DUT's namespace is rebuilt)")
		}
		return nil
	}
	if s.Testbed.File == "" {
		return yamlfile.Wrong("testbed", "testbed %s needs a file that says which machines", s.Testbed.Kind).Advise("add file: lab.yaml to it; linerate help testbeds describes it")
	}
	return yamlfile.OneOf("reset", s.Reset, ResetSettings, ResetServices, ResetReboot)
}

// checkLive checks the testbed of a host in production.
func (s *Spec) checkLive() *yamlfile.Problem {
	switch {
	case !s.OnLiveHost():
		return yamlfile.Wrong("design", "design %s needs a live host", s.Design).Advise("write testbed: {kind: live, host: ssh://HOST}, or design: blocks")
	case s.Design == Blocks:
		return yamlfile.Wrong("design", "a live host can only be switched back and forth: its settings are one at a time").Advise("write design: switchback")
	case s.Testbed.File != "":
		return yamlfile.Wrong("testbed.file", "testbed live has no file").Advise("name the host: host: ssh://www1")
	}
	return yamlfile.OneOf("reset", s.Reset, ResetSettings)
}

// Trees lists the configuration sets that the variants name, each once.
func (s *Spec) Trees() (names []string) {
	for _, v := range s.Variants {
		for _, set := range v.Settings {
			if set.Is(setting.Files) {
				names = list.With(names, set.Setting().Name)
			}
		}
	}
	return names
}

// Reboots returns how many boots of the DUT a schedule takes; the last one restores the DUT.
func (s *Spec) Reboots(slots []Slot) int {
	if s.Reset != ResetReboot {
		return 0
	}
	return 1 + len(slots)
}
