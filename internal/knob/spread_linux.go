package knob

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"linerate/internal/setting"
	"linerate/internal/show"
)

// spread lets the kernel distribute the ingress's flows over the given number
// of CPUs by their hash (RPS).
func (t *Target) spread(s setting.Setting) (string, error) {
	n, err := strconv.Atoi(s.Value)
	if err != nil || n < 1 {
		return "", fmt.Errorf("%q is not a number of CPUs", s.Value)
	}
	if n > len(t.Spare) {
		return "", unavailable(s, "this machine has %s apart from the generator's", show.Plural(len(t.Spare), "CPU"))
	}
	file := filepath.Join("/sys/class/net", t.Devices["ingress"], "queues/rx-0/rps_cpus")
	mask := cpuMask(t.Spare[:n])
	err = t.InSys(func() error { return os.WriteFile(file, []byte(mask), 0) })
	if err != nil {
		return "", unavailable(s, "set rps_cpus to %s: %v", mask, err)
	}
	return "RPS over CPUs " + mask, nil
}

// cpuMask returns a set of CPUs in the kernel's format: hexadecimal, in groups of 32 bits.
func cpuMask(cpus []int) string {
	m := new(big.Int)
	for _, c := range cpus {
		m.SetBit(m, c, 1)
	}
	text := m.Text(16)
	var groups []string
	for len(text) > 8 {
		groups = append([]string{text[len(text)-8:]}, groups...)
		text = text[:len(text)-8]
	}
	return strings.Join(append([]string{text}, groups...), ",")
}
