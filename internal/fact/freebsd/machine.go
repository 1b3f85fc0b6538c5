package freebsd

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"linerate/internal/fact"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

// mitigationNames lists the settings that show the state of a mitigation of speculative execution
// attacks (sys/x86/x86/cpu_machdep.c, amd64/pmap.c).
var mitigationNames = []string{"vm.pmap.pti", "hw.ibrs_active", "hw.ibrs_disable", "hw.mds_disable_state",
	"hw.spec_store_bypass_disable_active", "machdep.mitigations.ibrs.active", "machdep.mitigations.mds.state",
	"machdep.mitigations.rngds.state", "machdep.mitigations.taa.state", "machdep.mitigations.zenbleed.enable", "machdep.mitigations.rsb_ctxswitch"}

// AddMachine sets processors and memory from the running values.
func AddMachine(f *fact.Facts, v Values) {
	f.Arch = cmp.Or(v.Get("hw.machine_arch"), v.Get("hw.machine"))
	f.Hostname = v.Get("kern.hostname")
	f.Kernel = strings.TrimSpace(firstLine(v.Get("kern.version")))
	f.KernelIdent = v.Get("kern.ident")
	f.Hypervisor = v.Get("kern.vm_guest")
	f.Clocksource = v.Get("kern.timecounter.hardware")
	f.CPU.Model = v.Get("hw.model")
	f.CPU.Count = v.Int("hw.ncpu")
	f.CPU.Cores = v.Int("kern.smp.cores")
	f.CPU.ThreadsPerCore = v.Int("kern.smp.threads_per_core")
	f.CPU.MHz = float64(v.Uint("hw.clockrate"))
	for _, n := range mitigationNames {
		if s, ok := v.Value[n]; ok {
			if f.CPU.Mitigations == nil {
				f.CPU.Mitigations = map[string]string{}
			}
			f.CPU.Mitigations[n] = s
		}
	}
	page := v.Uint("hw.pagesize")
	f.Memory = fact.Memory{Physical: v.Uint("hw.physmem"), Real: v.Uint("hw.realmem"),
		PageSize: page, KernelMap: v.Uint("vm.kmem_size"), Swap: v.Uint("vm.swap_total"),
		Free: v.Uint("vm.stats.vm.v_free_count") * page}
	f.CPU.Domains = domains(v)
}

// domains returns the NUMA domains: their CPUs from dev.cpu.N.%domain, their memory from
// vm.phys_segs.
func domains(v Values) []fact.Domain {
	n := v.Int("vm.ndomains")
	if n <= 0 || n > 256 {
		return nil
	}
	list := make([]fact.Domain, n)
	for i := range list {
		list[i].ID = i
	}
	for name, value := range v.Value {
		if rest, ok := strings.CutPrefix(name, "dev.cpu."); ok {
			if cpu, ok := strings.CutSuffix(rest, ".%domain"); ok {
				if d, c := fact.Int(value), fact.Int(cpu); d < n {
					list[d].CPUs = append(list[d].CPUs, c)
				}
			}
		}
	}
	for d, bytes := range segments(v.Get("vm.phys_segs")) {
		if d >= 0 && d < n {
			list[d].MemoryBytes += bytes
		}
	}
	for i := range list {
		slices.Sort(list[i].CPUs)
	}
	return list
}

// segments sums vm.phys_segs by domain.
func segments(text string) map[int]uint64 {
	sum := map[int]uint64{}
	var start, end uint64
	for _, line := range fact.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "start":
			start, _ = strconv.ParseUint(strings.TrimPrefix(value, "0x"), 16, 64)
		case "end":
			end, _ = strconv.ParseUint(strings.TrimPrefix(value, "0x"), 16, 64)
		case "domain":
			if d, err := strconv.Atoi(value); err == nil && end > start {
				sum[d] += end - start
			}
			start, end = 0, 0
		}
	}
	return sum
}

var (
	smpLine     = lazy.Regexp(`^FreeBSD/SMP: (\d+) package\(s\)(?: x (\d+) cache groups)? x (\d+) core\(s\)(?: x (\d+) hardware threads)?`)
	cpuLine     = lazy.Regexp(`^CPU: (.*?) ?\(([\d.]+)-MHz `)
	featureLine = lazy.Regexp(`^  [A-Za-z0-9 ]*Features\d?=0x[0-9a-f]+<([^>].*)>$`)
	memoryLine  = lazy.Regexp(`^(real|avail) memory\s*= (\d+) `)
	queuesLine  = lazy.Regexp(`(?i)^([a-z0-9_]+\d+): using (\d+) rx queues (\d+) tx queues`)
	ringsLine   = lazy.Regexp(`(?i)^([a-z0-9_]+\d+): using (\d+) tx descriptors and (\d+) rx descriptors`)
	netmapLine  = lazy.Regexp(`^([a-z0-9_]+\d+): netmap queues/slots: TX (\d+)/(\d+), RX (\d+)/(\d+)`)
	chelsioLine = lazy.Regexp(`^(c[cxl]\w*\d+): (\d+) txq, (\d+) rxq \(NIC\)`)
	descLine    = lazy.Regexp(`^([a-z][a-z0-9_]*\d+): <([^>]+)>`)
)

// bootMarker starts each boot in the message buffer.
const bootMarker = "---<<BOOT>>---"

// AddDmesg adds facts from the last boot's messages: processors, memory if the running values are
// unknown, NICs' queues and rings.
func AddDmesg(f *fact.Facts, text string) {
	if i := strings.LastIndex(text, bootMarker); i >= 0 {
		text = text[i:]
	}
	desc := map[string]string{}
	for _, line := range fact.Lines(text) {
		dmesgCPU(f, line)
		dmesgNIC(f, line)
		if m := descLine().FindStringSubmatch(line); m != nil {
			desc[m[1]] = m[2]
		}
	}
	for i := range f.NICs {
		n := &f.NICs[i]
		n.Description = cmp.Or(n.Description, desc[n.Name])
	}
	slices.Sort(f.CPU.Features)
	f.CPU.Features = slices.Compact(f.CPU.Features)
}

// AddComplaints adds the messages in which the system complains about a setting or a limit, without
// duplicates.
func AddComplaints(f *fact.Facts, text string) {
	seen := map[string]bool{}
	for _, line := range fact.Lines(text) {
		c, ok := complaint(strings.TrimSpace(line))
		if ok && !seen[c.Text] && len(f.Complaints) < 1000 {
			seen[c.Text] = true
			f.Complaints = append(f.Complaints, c)
		}
	}
}

func dmesgCPU(f *fact.Facts, line string) {
	if m := smpLine().FindStringSubmatch(line); m != nil {
		f.CPU.Packages = fact.Int(m[1])
		groups, threads := max(1, fact.Int(m[2])), max(1, fact.Int(m[4]))
		if f.CPU.Cores == 0 {
			f.CPU.Cores = f.CPU.Packages * groups * fact.Int(m[3])
		}
		f.CPU.ThreadsPerCore = cmp.Or(f.CPU.ThreadsPerCore, threads)
		if f.CPU.Count == 0 {
			f.CPU.Count = f.CPU.Packages * groups * fact.Int(m[3]) * threads
		}
	}
	if m := cpuLine().FindStringSubmatch(line); m != nil {
		f.CPU.Model = cmp.Or(f.CPU.Model, m[1])
		if mhz, err := strconv.ParseFloat(m[2], 64); err == nil && f.CPU.MHz == 0 {
			f.CPU.MHz = mhz
		}
	}
	if m := featureLine().FindStringSubmatch(line); m != nil && len(f.CPU.Features) < 4096 {
		f.CPU.Features = append(f.CPU.Features, strings.Split(m[1], ",")...)
	}
	if m := memoryLine().FindStringSubmatch(line); m != nil {
		n, _ := strconv.ParseUint(m[2], 10, 64)
		if m[1] == "real" && f.Memory.Real == 0 {
			f.Memory.Real = n
		}
		if m[1] == "avail" && f.Memory.Physical == 0 {
			f.Memory.Physical = n
		}
	}
}

// dmesgNIC parses the messages in which drivers print queues and descriptors.
func dmesgNIC(f *fact.Facts, line string) {
	if m := queuesLine().FindStringSubmatch(line); m != nil {
		withNIC(f, m[1], func(n *fact.NIC) { n.RXQueues, n.TXQueues = fact.Int(m[2]), fact.Int(m[3]) })
	}
	if m := chelsioLine().FindStringSubmatch(line); m != nil {
		withNIC(f, m[1], func(n *fact.NIC) { n.TXQueues, n.RXQueues = fact.Int(m[2]), fact.Int(m[3]) })
	}
	if m := ringsLine().FindStringSubmatch(line); m != nil {
		withNIC(f, m[1], func(n *fact.NIC) { n.TXDescriptors, n.RXDescriptors = fact.Int(m[2]), fact.Int(m[3]) })
	}
	if m := netmapLine().FindStringSubmatch(line); m != nil {
		withNIC(f, m[1], func(n *fact.NIC) {
			n.TXQueues, n.RXQueues = cmp.Or(n.TXQueues, fact.Int(m[2])), cmp.Or(n.RXQueues, fact.Int(m[4]))
			n.TXDescriptors, n.RXDescriptors = cmp.Or(n.TXDescriptors, fact.Int(m[3])), cmp.Or(n.RXDescriptors, fact.Int(m[5]))
		})
	}
}

func withNIC(f *fact.Facts, name string, do func(*fact.NIC)) {
	for i := range f.NICs {
		if f.NICs[i].Name == name {
			do(&f.NICs[i])
		}
	}
}

// complaintTable holds FreeBSD's complaints about settings and limits, and what each is about: $1
// is a group of the pattern.
var complaintTable = sync.OnceValue(func() []complaintAbout {
	return list.Map(list.Table(wordsText, "complaint"), func(row []string) complaintAbout {
		return complaintAbout{row[0], regexp.MustCompile(row[1])}
	})
})

type complaintAbout struct {
	about   string
	pattern *regexp.Regexp
}

func complaint(line string) (fact.Complaint, bool) {
	for _, c := range complaintTable() {
		if at := c.pattern.FindStringSubmatchIndex(line); at != nil {
			about := string(c.pattern.ExpandString(nil, c.about, line, at))
			return fact.Complaint{Text: clip(line, 300), About: strings.TrimRight(about, ".:,")}, true
		}
	}
	return fact.Complaint{}, false
}
