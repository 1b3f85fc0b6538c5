package instrument

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// userHZ is the unit of /proc/stat on every Linux that Go runs on.
const userHZ = 100

// stat is what /proc/stat tells of all CPUs since boot. Idle is by the kernel's clock where
// it stops the tick of idle CPUs; System, the time of system calls, faults and threads
// outside of interrupts and softirqs, is by ticks.
type stat struct{ System, Idle time.Duration }

func readStat() (stat, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return stat{}, err
	}
	return parseStat(string(text))
}

// parseStat reads the first line: cpu user nice system idle iowait …
func parseStat(text string) (stat, error) {
	line, _, _ := strings.Cut(text, "\n")
	f := strings.Fields(line)
	if len(f) < 6 || f[0] != "cpu" {
		return stat{}, fmt.Errorf("/proc/stat begins with %.40q", line)
	}
	var times [3]time.Duration
	for i, field := range f[3:6] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return stat{}, fmt.Errorf("read /proc/stat: %w", err)
		}
		times[i] = time.Duration(n) * (time.Second / userHZ)
	}
	return stat{System: times[0], Idle: times[1] + times[2]}, nil
}
