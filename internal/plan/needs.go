package plan

import (
	"fmt"
	"strings"

	"linerate/internal/calc"
	"linerate/internal/hint"
)

// ParseNeeds parses the load that a host must carry, by name: link, rtt, states, connections,
// connection_rate; "" means not given. Errors begin with the name.
func ParseNeeds(given map[string]string) (n Needs, err error) {
	for _, f := range []struct {
		name  string
		unit  calc.Unit
		into  *float64
		most  float64 // more than any host carries, and small enough for exact arithmetic
		limit string
	}{
		{"link", calc.BitsPerSecond, &n.Link, 100e12, "100 Tb/s"},
		{"rtt", calc.Seconds, &n.RTT, 3600, "an hour"},
		{"states", calc.Count, &n.States, 1e12, "1T"},
		{"connections", calc.Count, &n.Connections, 1e12, "1T"},
		{"connection_rate", calc.BitsPerSecond, &n.ConnectionRate, 100e12, "100 Tb/s"},
	} {
		text := given[f.name]
		if text == "" {
			continue
		}
		f.name = strings.ReplaceAll(f.name, "_", "-") // as the flag is spelled
		v, err := calc.ParseWithUnit(text, f.unit)
		if err != nil {
			return n, hint.Usage(fmt.Errorf("%s: %w", f.name, err))
		}
		if v <= 0 {
			return n, hint.Usagef("%s %s: must be above zero", f.name, text)
		}
		if v > f.most {
			return n, hint.Usagef("%s %s: want %s at most", f.name, text, f.limit)
		}
		*f.into = v
	}
	return n, nil
}
