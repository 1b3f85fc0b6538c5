package linux

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
)

// ParseCPUInfo parses /proc/cpuinfo.
func ParseCPUInfo(text string) fact.CPU {
	var c fact.CPU
	packages, cores := map[string]bool{}, map[string]bool{}
	var pkg, implementer, part string
	for _, line := range fact.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "processor":
			c.Count++
			pkg = ""
		case "model name", "Model", "cpu model":
			c.Model = cmp.Or(c.Model, value)
		case "CPU implementer":
			implementer = value
		case "CPU part":
			part = value
		case "cpu MHz":
			if mhz, err := strconv.ParseFloat(value, 64); err == nil {
				c.MHz = max(c.MHz, mhz)
			}
		case "physical id":
			pkg = value
			packages[value] = true
		case "core id":
			cores[pkg+"/"+value] = true
		case "flags", "Features":
			if c.Features == nil {
				c.Features = strings.Fields(strings.ToUpper(value))
			}
		}
	}
	if c.Model == "" && implementer != "" { // ARM kernels print no model name
		c.Model = "ARM implementer " + implementer + " part " + part
	}
	c.Packages, c.Cores = len(packages), len(cores)
	if c.Cores > 0 {
		c.ThreadsPerCore = c.Count / c.Cores
	}
	slices.Sort(c.Features)
	return c
}

// ParseMeminfo parses /proc/meminfo, or that of a node, which has the node before each key.
func ParseMeminfo(text string) fact.Memory {
	var m fact.Memory
	for _, line := range fact.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		kib := fact.Number(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
		if kib > 1<<50 {
			continue
		}
		switch key[strings.LastIndexByte(key, ' ')+1:] {
		case "MemTotal":
			m.Physical = kib << 10
		case "MemFree":
			m.Free = kib << 10
		case "SwapTotal":
			m.Swap = kib << 10
		}
	}
	return m
}

// ParseInterrupts parses /proc/interrupts. Rates are averages since boot.
func ParseInterrupts(text string, uptime float64) []fact.Interrupt {
	lines := fact.Lines(text)
	if len(lines) == 0 {
		return nil
	}
	cpus := len(strings.Fields(lines[0]))
	var list []fact.Interrupt
	for _, line := range lines[1:] {
		label, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || len(list) >= 65_536 {
			continue
		}
		w := strings.Fields(rest)
		i := fact.Interrupt{Name: "irq" + label}
		n := 0
		for n < len(w) && n < cpus && strings.Trim(w[n], "0123456789") == "" {
			i.Total += fact.Number(w[n])
			n++
		}
		if n < len(w) {
			i.Name += ": " + w[len(w)-1]
			i.Device, i.Queue = device(w[len(w)-1])
		}
		if uptime > 0 {
			i.Rate = float64(int(float64(i.Total)/uptime*10)) / 10
		}
		if strings.Trim(label, "0123456789") == "" {
			list = append(list, i)
		}
	}
	return list
}

// device splits the names that drivers give their vectors: eth0-TxRx-3, virtio2-input.0,
// mlx5_comp3@pci:0000:81:00.0.
func device(s string) (name, queue string) {
	if i := strings.IndexAny(s, "-@"); i > 0 {
		return s[:i], s[i+1:]
	}
	return s, ""
}

// IRQ returns the number in an interrupt's name, -1 if it has none.
func IRQ(name string) int {
	s, _, _ := strings.Cut(strings.TrimPrefix(name, "irq"), ":")
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// ParseModules parses /proc/modules.
func ParseModules(text string) []fact.Module {
	yes := true
	var mods []fact.Module
	for _, line := range fact.Lines(text) {
		if w := strings.Fields(line); len(w) > 2 {
			mods = append(mods, fact.Module{Name: w[0], Loaded: &yes})
		}
	}
	return mods
}

// ParseBuiltin parses modules.builtin, the list of built-in modules.
func ParseBuiltin(text string) []string {
	var names []string
	for _, line := range fact.Lines(text) {
		name := strings.TrimSuffix(line[strings.LastIndexByte(line, '/')+1:], ".ko")
		if name != "" {
			names = append(names, strings.ReplaceAll(name, "-", "_"))
		}
	}
	return names
}

// ParseMounts parses /proc/self/mounts or /etc/fstab.
func ParseMounts(text string) []fact.Mount {
	var mounts []fact.Mount
	for _, line := range fact.Lines(text) {
		if w := strings.Fields(line); len(w) >= 4 && w[0][0] != '#' && len(mounts) < 65_536 {
			mounts = append(mounts, fact.Mount{Point: w[1], Type: w[2]})
		}
	}
	return mounts
}

// ParseListeners parses /proc/net/tcp, tcp6, udp or udp6: sockets in state LISTEN (0A), and
// unconnected UDP sockets (07).
func ParseListeners(protocol, text string) []fact.Listener {
	state := "0A"
	if strings.HasPrefix(protocol, "udp") {
		state = "07"
	}
	var list []fact.Listener
	for _, line := range fact.Lines(text) {
		w := strings.Fields(line)
		if len(w) < 5 || w[3] != state || len(list) >= 4096 {
			continue
		}
		address, hex, ok := strings.Cut(w[1], ":")
		port, err := strconv.ParseUint(hex, 16, 16)
		if !ok || err != nil {
			continue
		}
		l := fact.Listener{Protocol: protocol, Port: int(port), Local: loopback(address)}
		if !slices.Contains(list, l) {
			list = append(list, l)
		}
	}
	return list
}

// loopback reports addresses of 127/8, ::1 and IPv4-mapped ones, in the kernel's format: 32-bit
// words in little-endian order.
func loopback(address string) bool {
	v4 := strings.TrimPrefix(address, "0000000000000000FFFF0000")
	return len(v4) == 8 && strings.HasSuffix(v4, "7F") || address == "00000000000000000000000001000000"
}

// CountIPTables counts the rules of iptables-save.
func CountIPTables(text string) (rules int, tracking bool) {
	for _, line := range fact.Lines(text) {
		if strings.HasPrefix(line, "-A ") {
			rules++
			tracking = tracking || tracked(strings.Fields(strings.ReplaceAll(line, " --", " ")))
		}
	}
	return rules, tracking
}

// tracked reports whether an iptables rule, given as words, needs connection tracking.
func tracked(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(trackingWords, w) })
}

// trackingWords lists iptables matches and targets that need connection tracking.
var trackingWords = []string{"ctstate", "state", "ctstatus", "connlimit", "MASQUERADE", "SNAT", "DNAT", "REDIRECT", "CONNMARK", "CT"}

// NodeName returns 3 for "node3"; -1 for other names.
func NodeName(s string) int {
	var n int
	if _, err := fmt.Sscanf(s, "node%d", &n); err != nil || fmt.Sprintf("node%d", n) != s {
		return -1
	}
	return n
}

// IsCPU reports whether a name is that of a CPU in sysfs: cpu0.
func IsCPU(name string) bool {
	n, ok := strings.CutPrefix(name, "cpu")
	return ok && n != "" && strings.Trim(n, "0123456789") == ""
}
