package compare

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/stats"
)

// Output is the content of a benchmark's output: the result of each run, what it
// measures, and which direction is better. Most tools give one number per run: their
// one-second intervals are not repetitions, and are ignored.
type Output struct {
	Tool   string
	Metric string // in words, including the item if a file has several
	Unit   string
	Better stats.Direction
	Values []float64
	// Warnings are doubts that the tool itself reports: failed requests, lost
	// packets.
	Warnings []string
}

// tool parses the output of one program.
type tool struct {
	name string
	is   func(data []byte) bool
	// read gets the name of the number to read if there are several, "" for the default.
	read func(data []byte, which string) (Output, error)
}

// tools are tried in this order. Each looks for words that no other has.
var tools = []tool{
	{"iperf3", keys("start", "end", "intervals"), iperf3},
	{"hyperfine", func(d []byte) bool {
		return keys("results")(d) && bytes.Contains(d, []byte(`"command"`)) && bytes.Contains(d, []byte(`"times"`))
	}, hyperfine},
	{"fio", func(d []byte) bool { return bytes.Contains(d, []byte(`"fio version"`)) }, fio},
	{"go test -bench", goBenchLine.Match, goBench},
	{"wrk", func(d []byte) bool {
		return bytes.HasPrefix(d, []byte("Running ")) && bytes.Contains(d, []byte("Requests/sec:"))
	}, wrk},
}

// ReadTool reads a benchmark's output; ok is false if no known benchmark wrote it. which
// selects a number if a file has several: a benchmark's name, a command, or a metric.
func ReadTool(name string, data []byte, which string) (o Output, ok bool, err error) {
	if data, err = unpacked(data); err != nil {
		return o, true, fmt.Errorf("%s: %w", name, err)
	}
	data = bytes.TrimLeft(data, " \t\r\n\ufeff")
	if len(data) > MaxBytes {
		return o, false, nil
	}
	i := slices.IndexFunc(tools, func(t tool) bool { return t.is(data) })
	if i < 0 {
		return o, false, nil
	}
	if o, err = tools[i].read(data, which); err == nil {
		o.Values, err = onlyNumbers(o.Values)
	}
	if err == nil && len(o.Values) == 0 {
		err = errors.New("it contains no result: did the run end?")
	}
	o.Tool = tools[i].name
	if err != nil {
		err = fmt.Errorf("%s, output of %s: %w", name, o.Tool, err)
	}
	return o, true, err
}

// unpacked decompresses gzip data, up to MaxBytes.
func unpacked(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, MaxBytes+1))
}

// keys returns a test for JSON objects that have all the keys at the top level.
func keys(names ...string) func([]byte) bool {
	return func(data []byte) bool {
		if len(data) == 0 || data[0] != '{' {
			return false
		}
		var top map[string]json.RawMessage
		if json.Unmarshal(data, &top) != nil {
			return false
		}
		return !slices.ContainsFunc(names, func(n string) bool { return top[n] == nil })
	}
}

// iperf3 reads one run: what the receiver got, for TCP and UDP alike.
func iperf3(data []byte, _ string) (Output, error) {
	type sum struct {
		Rate   float64 `json:"bits_per_second"`
		Lost   float64 `json:"lost_percent"`
		Bytes  float64 `json:"bytes"`
		Sender *bool   `json:"sender"`
	}
	var d struct {
		Error string `json:"error"`
		End   struct {
			Received *sum `json:"sum_received"`
			Reverse  *sum `json:"sum_received_bidir_reverse"`
			Sum      *sum `json:"sum"`
		} `json:"end"`
	}
	o := Output{Metric: "throughput at the receiver", Unit: "bit/s", Better: stats.HigherIsBetter}
	if err := json.Unmarshal(data, &d); err != nil {
		return o, err
	}
	switch e := d.End; {
	case d.Error != "":
		return o, fmt.Errorf("the run failed: %.200s", d.Error)
	case e.Received != nil && e.Received.Bytes > 0:
		if o.Values = []float64{e.Received.Rate}; e.Reverse != nil {
			o.Metric, o.Values[0] = "throughput of both directions", e.Received.Rate+e.Reverse.Rate
		}
	case e.Sum != nil: // UDP in older versions: the sender's rate, and the loss
		o.Values = []float64{e.Sum.Rate * (1 - e.Sum.Lost/100)}
	}
	if s := d.End.Sum; s != nil && s.Lost > 0 {
		o.Warnings = append(o.Warnings, fmt.Sprintf("%.3g %% of the datagrams were lost", s.Lost))
	}
	return o, nil
}

// hyperfine reads all runs of one or more commands.
func hyperfine(data []byte, which string) (Output, error) {
	var d struct {
		Results []struct {
			Command string    `json:"command"`
			Times   []float64 `json:"times"`
			Codes   []*int    `json:"exit_codes"`
		} `json:"results"`
	}
	o := Output{Metric: "time", Unit: "s", Better: stats.LowerIsBetter}
	if err := json.Unmarshal(data, &d); err != nil {
		return o, err
	}
	var names []string
	for _, r := range d.Results {
		names = append(names, r.Command)
	}
	i, err := one("command", which, names)
	if err != nil {
		return o, err
	}
	o.Metric, o.Values = "time of "+names[i], d.Results[i].Times
	failed := 0
	for _, c := range d.Results[i].Codes {
		if c == nil || *c != 0 {
			failed++
		}
	}
	if failed > 0 {
		o.Warnings = append(o.Warnings, fmt.Sprintf("%d of %d runs failed", failed, len(d.Results[i].Times)))
	}
	return o, nil
}

// one returns the index of the wanted name, or of the only one.
func one(kind, which string, names []string) (int, error) {
	if len(names) == 0 {
		return 0, errors.New("it contains no result: did the run end?")
	}
	if which == "" && len(names) == 1 {
		return 0, nil
	}
	if i := slices.Index(names, which); i >= 0 {
		return i, nil
	}
	if which == "" {
		return 0, hint.With(hint.Usagef("it has results of %d: %s", len(names), strings.Join(names[:min(5, len(names))], ", ")), "choose one: %s", hint.Option("column", "NAME"))
	}
	return 0, hint.Unknown(kind, which, names)
}

// fio sums its jobs: operations or bytes per second.
func fio(data []byte, which string) (Output, error) {
	type way struct {
		IOPS  float64 `json:"iops"`
		Bytes float64 `json:"bw_bytes"`
	}
	var d struct {
		Jobs []struct {
			Name  string `json:"jobname"`
			Error int    `json:"error"`
			Read  way    `json:"read"`
			Write way    `json:"write"`
		} `json:"jobs"`
	}
	from := bytes.IndexByte(data, '{') // messages may precede it
	o := Output{Metric: "operations", Unit: "1/s", Better: stats.HigherIsBetter}
	if err := json.NewDecoder(bytes.NewReader(data[max(0, from):])).Decode(&d); err != nil {
		return o, err
	}
	if len(d.Jobs) == 0 {
		return o, nil
	}
	metrics := []string{"iops", "bw_bytes"}
	i, err := one("metric", cmp.Or(which, "iops"), metrics)
	if err != nil {
		return o, err
	}
	sum := 0.0
	for _, j := range d.Jobs {
		if sum += []float64{j.Read.IOPS + j.Write.IOPS, j.Read.Bytes + j.Write.Bytes}[i]; j.Error != 0 {
			o.Warnings = append(o.Warnings, fmt.Sprintf("the job %s failed with error %d", j.Name, j.Error))
		}
	}
	if o.Values = []float64{sum}; i == 1 {
		o.Metric, o.Unit = "read and written", "byte/s"
	}
	return o, nil
}

var goBenchLine = regexp.MustCompile(`(?m)^(Benchmark\S*)[ \t]+[0-9]+[ \t]+([0-9.]+ ns/op.*)$`)

// goBench reads one line for each benchmark and -count; which is a benchmark, or a
// benchmark and a unit: "Parse-8 allocs/op".
func goBench(data []byte, which string) (Output, error) {
	o := Output{Unit: "ns/op", Better: stats.LowerIsBetter}
	name, unit, _ := strings.Cut(which, " ")
	o.Unit = cmp.Or(unit, o.Unit)
	if strings.HasSuffix(o.Unit, "/s") {
		o.Better = stats.HigherIsBetter
	}
	var names []string
	values := map[string][]float64{}
	for _, m := range goBenchLine.FindAllSubmatch(data, -1) {
		f := strings.Fields(string(m[2]))
		for i := 0; i+1 < len(f); i += 2 {
			if v, err := strconv.ParseFloat(f[i], 64); err == nil && f[i+1] == o.Unit {
				n := strings.TrimPrefix(string(m[1]), "Benchmark")
				if values[n] == nil {
					names = append(names, n)
				}
				values[n] = append(values[n], v)
			}
		}
	}
	i, err := one("benchmark", name, names)
	if err != nil {
		return o, err
	}
	if o.Metric, o.Values = "Benchmark"+names[i], values[names[i]]; bytes.Contains(data, []byte("\nFAIL")) {
		o.Warnings = append(o.Warnings, "the tests failed")
	}
	return o, nil
}

var (
	wrkRate   = regexp.MustCompile(`(?m)^Requests/sec:\s+([0-9.]+)`)
	wrkErrors = regexp.MustCompile(`(?m)^\s+(Socket errors:.*|Non-2xx or 3xx responses:.*)$`)
)

func wrk(data []byte, _ string) (Output, error) {
	o := Output{Metric: "requests", Unit: "1/s", Better: stats.HigherIsBetter, Values: found(wrkRate, data)}
	for _, m := range wrkErrors.FindAllSubmatch(data, -1) {
		o.Warnings = append(o.Warnings, string(m[1]))
	}
	return o, nil
}

// found returns the numbers in a pattern's first group, one per run.
func found(re *regexp.Regexp, data []byte) (all []float64) {
	for _, m := range re.FindAllSubmatch(data, -1) {
		if v, err := strconv.ParseFloat(string(m[1]), 64); err == nil {
			all = append(all, v)
		}
	}
	return all
}

// Side is one side of a comparison: a sample from one or several files.
type Side struct {
	stats.Arm
	Of *Output // what a tool says about the numbers; nil for plain numbers
}

// File is a file's name and content.
type File struct {
	Name string
	Data []byte
}

// ReadSide reads the files of one side, each a run or a sample, and refuses files that
// measured different things.
func ReadSide(files []File, in Input) (Side, error) {
	var s Side
	for i, f := range files {
		o, known, err := ReadTool(f.Name, f.Data, in.Column)
		if err != nil {
			return s, err
		}
		if !known {
			arm, err := Read(f.Name, f.Data, in)
			if err != nil {
				return s, err
			}
			o = Output{Values: arm.Values}
		}
		if i > 0 && (s.Of != nil) != known || s.Of != nil && !s.Of.same(o) {
			return s, hint.Usagef("%s and %s do not measure the same", files[0].Name, f.Name)
		}
		s.Values = append(s.Values, o.Values...)
		if known {
			for k, w := range o.Warnings {
				o.Warnings[k] = f.Name + ": " + w
			}
			if s.Of != nil {
				o.Warnings = append(s.Of.Warnings, o.Warnings...)
			}
			s.Of = &o
		}
	}
	if s.Name = files[0].Name; len(files) > 1 {
		s.Name += fmt.Sprintf(" and %d more", len(files)-1)
	}
	return s, nil
}

// same reports whether the numbers of two outputs are comparable.
func (o *Output) same(other Output) bool {
	return o.Tool == other.Tool && o.Unit == other.Unit && (o.Metric == other.Metric || o.Tool == "hyperfine")
}

// Agree returns the metric and the better direction of all sides; "" for plain
// numbers. It is an error if they measured different things.
func Agree(sides []Side) (metric string, better stats.Direction, err error) {
	var first *Side
	for i := range sides {
		s := &sides[i]
		switch {
		case s.Of == nil:
		case first == nil:
			first = s
		case !first.Of.same(*s.Of):
			return "", "", hint.Usagef("%s is %s in %s, and %s %s in %s", first.Name, first.Of.Metric, first.Of.Unit, s.Name, s.Of.Metric, s.Of.Unit)
		}
	}
	if first == nil {
		return "", "", nil
	}
	return fmt.Sprintf("%s, %s (%s)", first.Of.Metric, first.Of.Unit, first.Of.Tool), first.Of.Better, nil
}
