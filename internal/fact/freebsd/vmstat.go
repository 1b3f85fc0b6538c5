package freebsd

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

var (
	// irqDevice matches the device and queue in "irq265: em0:rxq0" and in the older "irq265:
	// igb0:que 0"; timers are "cpu0:timer".
	irqDevice = lazy.Regexp(`^irq\d+: ([a-z_]+\d+)(?::(.*))?`)
	irqTimer  = lazy.Regexp(`^cpu(\d+):\s*timer`)
)

// ParseVmstatI parses `vmstat -i`: interrupt sources with totals and rates since boot.
func ParseVmstatI(text string) []fact.Interrupt {
	var list []fact.Interrupt
	for _, line := range fact.Lines(text) {
		w := strings.Fields(line)
		if len(w) < 3 || w[0] == "interrupt" || w[0] == "Total" || !fact.IsNumber(w[len(w)-2]) {
			continue
		}
		i := fact.Interrupt{Name: strings.Join(w[:len(w)-2], " "), Total: fact.Number(w[len(w)-2])}
		i.Rate, _ = strconv.ParseFloat(w[len(w)-1], 64)
		if m := irqDevice().FindStringSubmatch(i.Name); m != nil {
			i.Device, i.Queue = m[1], strings.TrimSpace(m[2])
		}
		if m := irqTimer().FindStringSubmatch(i.Name); m != nil {
			cpu := fact.Int(m[1])
			i.CPU = &cpu
		}
		if len(list) < 65_536 {
			list = append(list, i)
		}
	}
	return list
}

// AddVmstatZ parses `vmstat -z`: zones with failures or a limit (ITEM: SIZE, LIMIT, USED, FREE,
// REQ, FAIL, SLEEP[, XDOM]).
func AddVmstatZ(f *fact.Facts, text string) {
	seen := map[string]int{}
	for _, line := range fact.Lines(text) {
		name, rest, ok := cutZone(line)
		if !ok {
			continue
		}
		w := strings.Split(rest, ",")
		if len(w) < 7 {
			continue
		}
		for i := range w {
			w[i] = strings.TrimSpace(w[i])
		}
		limit, fails := fact.Number(w[1]), fact.Number(w[5])
		if seen[name]++; seen[name] > 1 {
			name += "#" + strconv.Itoa(seen[name])
		}
		if limit == 0 && fails == 0 || len(seen) > 10_000 {
			continue
		}
		base := "zone." + strings.ReplaceAll(name, " ", "_") + "."
		for i, column := range []string{"size", "limit", "used", "", "requests", "failures", "sleeps"} {
			if column != "" {
				f.AddCounter(base+column, fact.Number(w[i]), "vmstat -z")
			}
		}
	}
}

// cutZone splits at the colon before the numbers: names may contain colons.
func cutZone(line string) (name, rest string, ok bool) {
	comma := strings.IndexByte(line, ',')
	if comma < 0 {
		return "", "", false
	}
	colon := strings.LastIndexByte(line[:comma], ':')
	if colon < 1 {
		return "", "", false
	}
	return strings.TrimSpace(line[:colon]), line[colon+1:], true
}

// ParseKldstat parses `kldstat`: names of loaded files, without .ko.
func ParseKldstat(text string) []string {
	var loaded []string
	for _, line := range fact.Lines(text) {
		w := strings.Fields(line)
		if len(w) >= 5 && fact.IsNumber(w[0]) && strings.HasPrefix(w[2], "0x") {
			loaded = append(loaded, strings.TrimSuffix(w[4], ".ko"))
		}
	}
	return loaded
}

// ParseKernelModules parses `kldstat -v`: modules in the file "kernel", by the last part of their
// names (pci/em → em).
func ParseKernelModules(text string) []string {
	var in []string
	kernel := false
	for _, line := range fact.Lines(text) {
		w := strings.Fields(line)
		switch {
		case len(w) >= 5 && fact.IsNumber(w[0]) && strings.HasPrefix(w[2], "0x"):
			kernel = w[4] == "kernel"
		case kernel && len(w) == 2 && fact.IsNumber(w[0]):
			in = append(in, w[1][strings.LastIndexByte(w[1], '/')+1:])
		}
	}
	return in
}

// AddModules merges loaded files and compiled-in modules. loaded is nil if the list was not read.
func AddModules(f *fact.Facts, loaded, inKernel []string) {
	yes, no := true, false
	at := map[string]int{}
	add := func(name string) *fact.Module {
		i, ok := at[name]
		if !ok {
			i = len(f.Modules)
			at[name] = i
			f.Modules = append(f.Modules, fact.Module{Name: name})
		}
		return &f.Modules[i]
	}
	for i, m := range f.Modules {
		at[m.Name] = i
		if loaded != nil {
			f.Modules[i].Loaded = &no
		}
	}
	for _, n := range loaded {
		if n != "kernel" {
			add(n).Loaded = &yes
		}
	}
	for _, n := range inKernel {
		add(n).InKernel = true
	}
	// From here on Facts.Module can find them: later queries depend on it.
	list.Sort(f.Modules, func(a, b fact.Module) int { return cmp.Compare(a.Name, b.Name) })
}

var mountLine = lazy.Regexp(`^\S+ on (\S+) \(([^()]*)\)$`)

// ParseMount parses `mount`: "/dev/x on / (ufs, local, noatime)".
func ParseMount(text string) []fact.Mount {
	var mounts []fact.Mount
	for _, line := range fact.Lines(text) {
		m := mountLine().FindStringSubmatch(line)
		if m == nil || len(mounts) >= 65_536 {
			continue
		}
		kind, _, _ := strings.Cut(m[2], ",")
		mounts = append(mounts, fact.Mount{Point: m[1], Type: kind})
	}
	return mounts
}

// ParseFstab parses /etc/fstab.
func ParseFstab(text string) []fact.Mount {
	var mounts []fact.Mount
	for _, line := range fact.Lines(text) {
		w := strings.Fields(line[:commentAt(line)])
		if len(w) >= 4 {
			mounts = append(mounts, fact.Mount{Point: w[1], Type: w[2]})
		}
	}
	return mounts
}

// ParseKernelConfig parses a kernel's configuration (kern.conftxt, config(5)) and returns its
// options, including maxusers.
func ParseKernelConfig(text string) []string {
	var options []string
	for _, line := range fact.Lines(text) {
		w := strings.Fields(line[:commentAt(line)])
		switch {
		case len(w) >= 2 && w[0] == "options":
			options = append(options, strings.Split(strings.Join(w[1:], ""), ",")...)
		case len(w) == 2 && w[0] == "maxusers":
			options = append(options, "maxusers="+w[1])
		}
	}
	slices.Sort(options)
	return options
}
