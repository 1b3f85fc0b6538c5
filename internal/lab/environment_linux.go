package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"linerate/internal/study"
)

// Environment reads what a reader must know of this machine. What cannot be
// read stays empty: it is then not known, and never guessed.
func Environment() study.Environment {
	e := study.Environment{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Mitigations: mitigations()}
	e.Hostname, _ = os.Hostname()
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		e.Kernel = unix.ByteSliceToString(u.Release[:]) + " " + unix.ByteSliceToString(u.Version[:])
		e.Arch = unix.ByteSliceToString(u.Machine[:])
	}
	e.CPU = cpuField("model name")
	if e.CPU == "" {
		e.CPU = cpuField("CPU implementer")
	}
	e.MemoryBytes = memory()
	e.Governor = line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	e.Clocksource = line("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	e.Hypervisor = hypervisor()
	return e
}

func line(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(first)
}

func cpuField(name string) string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for l := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(l, ":")
		if strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func memory() uint64 {
	var kb uint64
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscanf(string(data), "MemTotal: %d kB", &kb); err != nil {
		return 0
	}
	return kb << 10
}

// hypervisor is what firmware calls the machine, or that the CPU has the
// flag of one.
func hypervisor() string {
	if v := strings.TrimSpace(line("/sys/class/dmi/id/sys_vendor") + " " + line("/sys/class/dmi/id/product_name")); v != "" {
		return v
	}
	if strings.Contains(" "+cpuField("flags")+" ", " hypervisor ") {
		return "virtual machine"
	}
	return ""
}

// mitigations are the kernel's answers to CPU vulnerabilities, without those
// the CPU does not have.
func mitigations() map[string]string {
	const dir = "/sys/devices/system/cpu/vulnerabilities"
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return out
	}
	for _, e := range entries {
		if v := line(filepath.Join(dir, e.Name())); v != "" && v != "Not affected" {
			out[e.Name()] = v
		}
	}
	return out
}
