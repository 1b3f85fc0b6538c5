package rollout

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"linerate/internal/apply"
	"linerate/internal/hint"
	"linerate/internal/live"
)

// Reading is a host's metric at one moment; for a counter, its total so far.
type Reading struct {
	Value   float64
	Counter bool
}

// Script runs a script on a host.
type Script func(ctx context.Context, text string, args []string, stdin []byte) ([]byte, error)

// ParseMeasure parses the metric of a host: command:PATH and prometheus:URL#QUERY are read from
// this machine; node:PLACE#SERIES is read on the host by run, from node_exporter at a URL or a
// file in the same format. {host} and {address} are replaced by the host's.
func ParseMeasure(text string, h apply.CheckedHost, run Script) (func(context.Context) (Reading, error), error) {
	filled := h.Fill(text)
	if rest, ok := strings.CutPrefix(filled, "node:"); ok {
		place, series, ok := strings.Cut(rest, "#")
		if !ok || series == "" || !strings.HasPrefix(place, "/") && !strings.HasPrefix(place, "http") {
			return nil, hint.With(hint.Usagef("metric %.200s: want an exporter's address and a series", text), "such as node:http://localhost:9100/metrics#node_load1, or a file of the host")
		}
		return func(ctx context.Context) (Reading, error) { return readNode(ctx, run, place, series) }, nil
	}
	once, err := live.Once(filled, h.Env())
	if err != nil {
		return nil, hint.Usage(fmt.Errorf("metric %s: %w", text, err))
	}
	return func(ctx context.Context) (Reading, error) {
		v, err := once(ctx)
		return Reading{Value: v}, err
	}, nil
}

// fetch prints a file, or a URL with whatever program the system has.
const fetch = `case $1 in
/*) cat -- "$1" ;;
*) curl -fsS -m 10 "$1" 2>/dev/null || fetch -qT 10 -o - "$1" 2>/dev/null || wget -qT 10 -O - "$1" ;;
esac`

func readNode(ctx context.Context, run Script, place, series string) (Reading, error) {
	page, err := run(ctx, fetch, []string{place}, nil)
	if err != nil {
		return Reading{}, fmt.Errorf("%s: %w", place, err)
	}
	r, ok := sumOf(string(page), series)
	if !ok {
		return r, hint.With(fmt.Errorf("%s has no %s", place, series), "give a name, or one series as it is printed: node_filefd_allocated, node_network_receive_bytes_total{device=\"eth0\"}")
	}
	return r, nil
}

// sumOf returns a series in Prometheus' text format, or the sum of all series of a name.
func sumOf(page, series string) (r Reading, found bool) {
	name, _, _ := strings.Cut(series, "{")
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if kind, ok := strings.CutPrefix(line, "# TYPE "+name+" "); ok {
			r.Counter = kind == "counter"
		}
		rest, ok := strings.CutPrefix(line, series)
		if !ok || rest == "" || !strings.ContainsAny(rest[:1], "{ \t") {
			continue
		}
		words := strings.Fields(rest[strings.LastIndexByte(rest, '}')+1:])
		if len(words) == 0 {
			continue
		}
		if v, err := strconv.ParseFloat(words[0], 64); err == nil {
			r.Value, found = r.Value+v, true
		}
	}
	return r, found
}
