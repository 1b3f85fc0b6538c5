package study

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"slices"

	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// What makes trials independent, by testbed: namespaces are rebuilt, machines
// are put back, have services restarted, or boot.
const (
	ResetNamespace = "namespace"
	ResetSettings  = "settings"
	ResetServices  = "services"
	ResetReboot    = "reboot"
)

// The designs of a study, by what they can tell apart.
const (
	// Blocks are randomised complete blocks: every block tries every arm once, in a fresh
	// random order.
	Blocks = "blocks"
	// Grouped are blocks in which arms that a boot sets alike follow each
	// other without a boot between.
	Grouped = "grouped"
	// Series are all trials of an arm, then all of the next: the method of
	// the labs before us.
	Series = "series"
	// Switchback are pairs of windows of one live host, in an order drawn pair
	// by pair.
	Switchback = "switchback"
)

// KindLive is the testbed that is a host in production, under its own traffic.
const KindLive = "live"

// OnLiveHost reports whether the testbed is a host in production.
func (s *Spec) OnLiveHost() bool { return s.Testbed.Kind == KindLive }

// OnMachines reports whether the testbed is one of machines, described by a
// file.
func (s *Spec) OnMachines() bool {
	return s.Testbed.Kind == testbed.KindSSH || s.Testbed.Kind == testbed.KindPorts
}

// checkTestbed checks testbed, reset and design together.
func (s *Spec) checkTestbed() *Problem {
	if p := OneOf("design", s.Design, Blocks, Grouped, Series, Switchback); p != nil {
		return p
	}
	if s.OnLiveHost() || s.Design == Switchback {
		return s.checkLive()
	}
	if !s.OnMachines() {
		switch {
		case s.Testbed.Kind != testbed.KindNetns:
			return Wrong("testbed.kind", "unknown testbed %q", s.Testbed.Kind).
				Advise("known: netns (network namespaces on this machine), ssh (machines of a testbed file), ports (two ports of this machine, a DUT between them), live (a host in production)")
		case s.Testbed.File != "":
			return Wrong("testbed.file", "testbed netns has no file").Advise("add kind: ssh")
		case s.Reset != ResetNamespace:
			return Wrong("reset", "testbed netns cannot reset by %q", s.Reset).Advise("known: namespace (the DUT's namespace is rebuilt)")
		}
		return nil
	}
	switch {
	case s.Design == Series && s.Looks != nil:
		return Wrong("looks", "a series is measured whole: looks need blocks").Advise("remove looks, or write design: blocks")
	case s.Testbed.File == "":
		return Wrong("testbed", "testbed %s needs a file that says which machines", s.Testbed.Kind).Advise("add file: lab.yaml to it; linerate help testbeds describes it")
	}
	return OneOf("reset", s.Reset, ResetSettings, ResetServices, ResetReboot)
}

// checkLive checks the testbed of a host in production.
func (s *Spec) checkLive() *Problem {
	switch {
	case !s.OnLiveHost():
		return Wrong("design", "design switchback is of a live host").Advise("write testbed: {kind: live, host: ssh://HOST}, or design: blocks")
	case s.Design != Switchback:
		return Wrong("design", "a live host can only be switched back and forth: its settings are one at a time").Advise("write design: switchback")
	case s.Testbed.File != "":
		return Wrong("testbed.file", "testbed live has no file").Advise("name the host: host: ssh://www1")
	}
	return OneOf("reset", s.Reset, ResetSettings)
}

// groupedBlocks is how a study may ask for design: grouped.
var groupedBlocks = regexp.MustCompile(`(?m)^blocks:[ \t]*grouped[ \t]*(#.*)?$`)

// Trees are the configuration sets that the variants name, each once.
func (s *Spec) Trees() (names []string) {
	for _, v := range s.Variants {
		for _, set := range v.Settings {
			if name := set.Setting().Name; set.Is(setting.Files) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// bootKey tells which arms a boot sets alike: those whose settings are the same.
func (s *Spec) bootKey(arm string) string {
	v, _ := s.Variant(arm)
	data, _ := json.Marshal(v.Apply()) // plain data
	return string(data)
}

// grouped orders a block's arms so that those which a boot sets alike follow
// each other, and the group that the last block ended with comes first.
func (s *Spec) grouped(rng *rand.Rand, last string) []string {
	groups := map[string][]string{}
	var keys []string
	for _, arm := range s.Arms() {
		k := s.bootKey(arm)
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], arm)
	}
	rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	if i := slices.Index(keys, last); i > 0 {
		keys[0], keys[i] = keys[i], keys[0]
	}
	var out []string
	for _, k := range keys {
		out = append(out, shuffled(groups[k], rng)...)
	}
	return out
}

// series lists a part's slots arm by arm: block is the trial's number in its
// series.
func (s *Spec) series(p Part, first int) (slots []Slot) {
	for i, arm := range s.Arms() {
		for n := range p.Blocks {
			slots = append(slots, Slot{Part: p.Name, Block: first + n, Order: i + 1, Variant: arm})
		}
	}
	return slots
}

// Reboots is how many boots of the DUT a schedule takes, about.
func (s *Spec) Reboots(slots []Slot) int {
	if s.Reset != ResetReboot {
		return 0
	}
	n, key := 1, "" // the last one puts the DUT back
	for i, slot := range slots {
		k := s.bootKey(slot.Variant)
		if i == 0 || s.Design != Grouped || k != key {
			n++
		}
		key = k
	}
	return n
}

// confounded says what a design cannot tell apart.
func (s *Spec) confounded() string {
	switch {
	case s.Design == Series:
		return "design series: each variant was measured in a stretch of its own, so an effect here may as well be what changed between the stretches (temperature, load, other traffic, time of day); the A/A arm was measured last and shows some of it. design: blocks tells them apart"
	case s.Design == Grouped && s.Reset == ResetReboot:
		return "design grouped: variants that a boot sets alike, the control and its A/A arm too, shared boots, so the noise floor leaves out what differs between boots, and so do their intervals"
	}
	return ""
}
