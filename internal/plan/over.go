package plan

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/freebsd"
	"linerate/internal/fact/release"
	"linerate/internal/list"
	"linerate/internal/setting"
)

// Over returns the facts of a host after the plan is applied and the host has rebooted. It does not change f.
func (p Plan) Over(f *fact.Facts) *fact.Facts {
	g := *f
	g.Settings, g.Modules, g.NICs = slices.Clone(f.Settings), slices.Clone(f.Modules), slices.Clone(f.NICs)
	for _, r := range p.Removals() {
		without(&g, r)
	}
	for _, s := range p.Settings {
		s.over(&g)
		if s.Mechanism == setting.RC {
			for _, refused := range freebsd.RefusedValue(nil, fact.Line{File: s.Where.File, Name: s.Name, Value: s.Value, Effective: true}) {
				refused.Message = strings.ReplaceAll(refused.Message, "%s", refused.Text)
				g.Problems = append(slices.Clip(g.Problems), refused)
			}
		}
	}
	if !slices.ContainsFunc(p.Settings, func(s Step) bool { return s.Mechanism == setting.Module || strings.HasSuffix(s.Name, "_load") }) { // modules may add names to the kernel
		p.absent(f, &g)
	}
	if g.OS == fact.FreeBSD && g.Product == nil {
		g.RereadFirewalls()
	}
	return &g
}

// absent removes the values of names that the running kernel does not have.
func (p Plan) absent(f, g *fact.Facts) {
	for i, t := range g.Settings {
		if old, known := f.Tunable(t.Name); t.Live != nil && t.Namespace == fact.Kernel && f.Live() && (!known || old.Live == nil) {
			g.Settings[i].Live = nil
		}
	}
}

// Removals returns the lines that should be removed, including those that settings replace, without duplicates and sorted by
// place.
func (p Plan) Removals() []Removal {
	all := slices.Clone(p.Remove)
	for _, s := range p.Settings {
		all = append(all, s.Instead...)
	}
	list.Sort(all, func(a, b Removal) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return slices.CompactFunc(all, Removal.same)
}

// without removes a line from the facts. The line that it overrode takes effect again.
func without(g *fact.Facts, r Removal) {
	gone := func(l fact.Line) bool { return l.File == r.File && l.Number == r.Line && r.takes(l.Name) }
	for i, s := range g.Settings {
		if !slices.ContainsFunc(s.Lines, gone) {
			continue
		}
		var stages []fact.Stage
		lines := slices.DeleteFunc(slices.Clone(s.Lines), func(l fact.Line) bool {
			if gone(l) && l.Effective {
				stages = append(stages, l.Stage)
			}
			return gone(l)
		})
		for _, stage := range stages {
			if j := lastOf(lines, stage); j >= 0 {
				lines[j].Effective, lines[j].Kept = true, false
			}
		}
		g.Settings[i].Lines = lines
		if l, ok := g.Settings[i].Stands(); ok && s.Live != nil {
			g.Settings[i].Live = &l.Value
		}
	}
	for i, m := range g.Modules {
		g.Modules[i].Lines = slices.DeleteFunc(slices.Clone(m.Lines), gone)
	}
	for i, n := range g.NICs {
		g.NICs[i].Configured = slices.DeleteFunc(slices.Clone(n.Configured), gone)
	}
}

// takes reports whether removing r removes what sets a name: the whole line, or its word of a command line.
func (r Removal) takes(name string) bool {
	return r.Word == "" || strings.TrimPrefix(name, "cmdline.") == r.Word
}

// lastOf returns the index of the line of a stage that is read last.
func lastOf(lines []fact.Line, stage fact.Stage) int {
	last := -1
	for i, l := range lines {
		if l.Stage == stage && (last < 0 || l.Order >= lines[last].Order) {
			last = i
		}
	}
	return last
}

// stages maps mechanisms to the boot stages that read linerate's files.
var stages = map[setting.Mechanism]fact.Stage{
	setting.Sysctl: fact.Sysctl, setting.Loader: fact.Loader, setting.RC: fact.RCConf, setting.ModParam: fact.Modprobe,
}

// over applies a setting to the facts.
func (s Step) over(g *fact.Facts) {
	switch s.Mechanism {
	case setting.Module:
		s.loads(g, s.Name, map[bool]fact.Stage{true: fact.RCConf, false: fact.Modprobe}[g.OS == fact.FreeBSD])
		s.addWords(g)
	case setting.PFLimit:
		s.setLimit(g)
	case setting.Link, setting.Offload, setting.Ring, setting.Channels:
		s.setDevice(g)
		s.addWords(g)
	}
	if module, ok := strings.CutSuffix(s.Name, "_load"); ok && s.Mechanism == setting.Loader && strings.EqualFold(s.Value, "yes") {
		s.loads(g, module, fact.Loader)
	}
	stage, ok := stages[s.Mechanism]
	if !ok {
		return
	}
	name := s.Name
	if s.Mechanism == setting.ModParam {
		name = "module." + strings.ReplaceAll(name, "/", ".")
	}
	s.file(g, name, s.Value, stage)
}

// file adds the setting's line to the facts as the effective one.
func (s Step) file(g *fact.Facts, name, value string, stage fact.Stage) {
	namespace := fact.Kernel
	if stage == fact.RCConf {
		namespace = fact.RC
	}
	at, found := slices.BinarySearchFunc(g.Settings, name, func(t fact.Tunable, n string) int {
		return cmp.Or(cmp.Compare(t.Name, n), cmp.Compare(t.Namespace, namespace))
	})
	if !found {
		g.Settings = slices.Insert(g.Settings, at, fact.Tunable{Name: name, Namespace: namespace})
	}
	if s.Where.File != "" {
		order := room(g, s.Where.File, stage)
		t := &g.Settings[at]
		t.Lines = fileUnder(t.Lines, fact.Line{File: s.Where.File, Number: 1, Text: name + "=" + value, Name: name, Value: value, Stage: stage, Order: order, Effective: true}, g.Release)
	}
	t := &g.Settings[at]
	if l, ok := t.Stands(); ok && l.Stage != stage && l.Only == "" {
		value = l.Value // another program writes it later
	}
	if t.Live != nil || g.Live() && namespace == fact.Kernel && s.Mechanism != setting.ModParam {
		t.Live = &value
	}
}

// readAfter reports whether file is read later at boot than linerate's file own; see sysctl.d(5), loader.conf(5), rc.subr(8).
// Since FreeBSD 14.1 loader.conf.local is read last.
func readAfter(file, own string, rel release.Release) bool {
	later := path.Base(file) > path.Base(own) && path.Base(path.Dir(file)) == path.Base(path.Dir(own))
	switch own {
	case LinuxSysctl:
		return later || file == "/etc/sysctl.conf"
	case FreeBSDLoader:
		return later || file == "/boot/loader.conf.local" && (rel.IsZero() || rel.AtLeast(14, 1))
	case FreeBSDRC:
		return strings.Contains(file, "/rc.conf.d/")
	}
	return later
}

// room returns the order of a new line in linerate's file, after the lines read before that file, and increments the order of
// later lines.
func room(g *fact.Facts, own string, stage fact.Stage) int {
	order := 1
	for _, s := range g.Settings {
		for _, l := range s.Lines {
			if l.Stage == stage && !readAfter(l.File, own, g.Release) {
				order = max(order, l.Order+1)
			}
		}
	}
	moves := func(l fact.Line) bool { return l.Stage == stage && l.Order >= order }
	for i, s := range g.Settings {
		if !slices.ContainsFunc(s.Lines, moves) {
			continue
		}
		lines := slices.Clone(s.Lines)
		for j := range lines {
			if moves(lines[j]) {
				lines[j].Order++
			}
		}
		g.Settings[i].Lines = lines
	}
	return order
}

// fileUnder inserts a line of linerate's file among the lines of its setting.
func fileUnder(lines []fact.Line, l fact.Line, rel release.Release) []fact.Line {
	lines = slices.DeleteFunc(slices.Clone(lines), func(o fact.Line) bool { return o.File == l.File })
	at := len(lines)
	for i := range lines {
		switch o := &lines[i]; {
		case o.Stage != l.Stage:
		case !readAfter(o.File, l.File, rel):
			o.Effective = false
		case o.Effective:
			l.Effective, at = false, min(at, i)
		}
	}
	return slices.Insert(lines, at, l)
}

// addWords adds what rc.conf.local appends to a variable of rc.conf.
func (s Step) addWords(g *fact.Facts) {
	line, err := rcLine(s)
	if err != nil || s.Where.File != FreeBSDRC {
		return
	}
	name, value, _ := strings.Cut(line, "=")
	words, _ := strings.CutPrefix(strings.Trim(value, `"`), "${"+name+"-}")
	was, _ := g.RCValue(name)
	s.file(g, name, was+words, fact.RCConf)
}

// loads marks a module as loaded now and at boot.
func (s Step) loads(g *fact.Facts, module string, by fact.Stage) {
	i, found := slices.BinarySearchFunc(g.Modules, module, func(m fact.Module, n string) int { return cmp.Compare(m.Name, n) })
	if !found {
		g.Modules = slices.Insert(g.Modules, i, fact.Module{Name: module})
	}
	m := &g.Modules[i]
	if g.Live() {
		loaded := true
		m.Loaded = &loaded
	}
	if s.Where.File != "" {
		m.Lines = append(slices.Clone(m.Lines), fact.Line{File: s.Where.File, Number: 1, Text: s.Name, Name: s.Name, Value: s.Value, Stage: by, Order: 1, Effective: true})
	}
}

func (s Step) setLimit(g *fact.Facts) {
	value, err := strconv.ParseUint(s.Value, 10, 64)
	if err != nil {
		return
	}
	var pf fact.PF // without pf.conf only the plan's values are known
	if g.Firewall.PF != nil {
		pf = *g.Firewall.PF
	}
	limit := func(limits []fact.Limit, as fact.Limit) []fact.Limit {
		limits = slices.Clone(limits)
		if i := slices.IndexFunc(limits, func(l fact.Limit) bool { return l.Name == s.Name }); i >= 0 {
			limits[i].Value = value
			return limits
		}
		return append(limits, as)
	}
	pf.Limits = limit(pf.Limits, fact.Limit{Name: s.Name, Value: value})
	// The plan also asks for the line in pf.conf.
	pf.FileLimits = limit(pf.FileLimits, fact.Limit{Name: s.Name, Value: value, File: "/etc/pf.conf", Line: 1, Text: "set limit " + s.Name + " " + s.Value})
	g.Firewall.PF = &pf
}

func (s Step) setDevice(g *fact.Facts) {
	i := slices.IndexFunc(g.NICs, func(n fact.NIC) bool { return n.Name == s.Device })
	if i < 0 {
		return
	}
	n := &g.NICs[i]
	number, _ := strconv.Atoi(s.Value)
	switch string(s.Mechanism) + " " + s.Name {
	case "link mtu":
		n.MTU = number
	case "ring rx":
		n.RXDescriptors = number
	case "ring tx":
		n.TXDescriptors = number
	case "channels combined":
		n.RXQueues = number
	}
	if s.Mechanism != setting.Offload || n.Options == nil {
		return
	}
	words := offloadWords(s.Name)
	n.Options = slices.DeleteFunc(slices.Clone(n.Options), func(o string) bool { return slices.Contains(words, strings.ToLower(o)) })
	if s.Value == "on" {
		n.Options = append(n.Options, words...)
	}
}

// offloadWords returns the names for a feature in an interface's facts.
func offloadWords(name string) []string {
	words := []string{name}
	for _, k := range properties {
		if k.mechanism == setting.Offload && k.name == name && k.option != "" {
			words = append(words, k.option)
		}
	}
	return words
}
