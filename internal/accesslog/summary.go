package accesslog

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"linerate/internal/hint"
	"linerate/internal/show"
)

// SummaryVersion of the JSON document.
const SummaryVersion = 1

// Summary is a tally as a document: what logs --json prints and logs merge
// adds up. Times are in seconds. It holds the whole histogram, so that merged
// summaries have exact counts and percentiles as good as one log's.
type Summary struct {
	Version     int                `json:"version"`
	Sources     []string           `json:"sources"`
	Format      string             `json:"format"`
	Filter      string             `json:"filter"`
	Lines       int64              `json:"lines"`
	BadLines    int64              `json:"bad_lines"`
	BadReasons  map[string]int64   `json:"bad_reasons"`
	Selected    int64              `json:"selected"`
	Mean        float64            `json:"mean"`
	Percentiles map[string]float64 `json:"percentiles"` // p50 … p99.9, min and max
	BinSeconds  float64            `json:"bin_seconds"`
	Bins        []SummaryBin       `json:"bins"`  // those that hold requests
	Under       map[string]float64 `json:"under"` // share strictly under, by threshold
	UnderCounts map[string]int64   `json:"under_counts"`
	Groups      []Group            `json:"groups,omitempty"`
	Slowest     []SlowRequest      `json:"slowest,omitempty"`
	ClockJumps  int64              `json:"clock_jumps,omitempty"`
	Histogram   SummaryHistogram   `json:"histogram"`
}

// SummaryBin is one linear bin, [from, to) in seconds; the last bin of all
// (number 4095) has no upper end.
type SummaryBin struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Count int64   `json:"count"`
}

// SummaryHistogram is a serialised histogram: pairs of a latency in
// microseconds and how many requests took it, to three significant digits.
type SummaryHistogram struct {
	Unit   string `json:"unit"` // "us"
	Digits int    `json:"digits"`
	// Resolution of the log's own times in microseconds: 1000 where all are
	// whole milliseconds, as NGINX writes them, else 1.
	Resolution int64      `json:"resolution"`
	Counts     [][2]int64 `json:"counts"`
}

// quantiles that a summary states.
var quantiles = []struct {
	name string
	q    float64
}{{"p50", .5}, {"p75", .75}, {"p90", .9}, {"p95", .95}, {"p99", .99}, {"p99.9", .999}}

// Summary turns a tally into its document.
func (t *Tally) Summary(sources []string) *Summary {
	s := &Summary{Version: SummaryVersion, Sources: sources, Format: t.opts.Format.Name, Filter: t.Filter(),
		Lines: t.Lines, BadLines: t.BadLines(), BadReasons: map[string]int64{}, Selected: t.Selected,
		Percentiles: map[string]float64{}, Under: map[string]float64{}, UnderCounts: map[string]int64{}, Bins: []SummaryBin{},
		BinSeconds: float64(t.opts.binWidth()) / 1e6, Groups: t.Groups(), Slowest: t.Slowest(), ClockJumps: t.Backward,
		Histogram: SummaryHistogram{Unit: "us", Digits: 3, Resolution: t.resolution(), Counts: [][2]int64{}}}
	for r, n := range t.Bad {
		if n > 0 {
			s.BadReasons[reasonTexts[r]] = n
		}
	}
	for i, n := range t.Bins {
		if n > 0 {
			s.Bins = append(s.Bins, SummaryBin{float64(int64(i)*t.opts.binWidth()) / 1e6, float64(int64(i+1)*t.opts.binWidth()) / 1e6, n})
		}
	}
	for i, u := range t.opts.Under {
		s.UnderCounts[u.String()] = t.Under[i]
	}
	for _, bar := range t.Hist.Distribution() {
		if bar.Count > 0 {
			s.Histogram.Counts = append(s.Histogram.Counts, [2]int64{bar.From, bar.Count})
		}
	}
	s.Mean = zeroNaN(t.Mean() / 1e6)
	s.derive(t)
	return s
}

// derive fills what follows from the counts.
func (s *Summary) derive(t *Tally) {
	if s.Selected > 0 {
		for _, q := range quantiles {
			s.Percentiles[q.name] = float64(t.Quantile(q.q)) / 1e6
		}
		s.Percentiles["min"], s.Percentiles["max"] = float64(t.Min)/1e6, float64(t.Max)/1e6
	}
	for name, n := range s.UnderCounts {
		s.Under[name] = share(n, s.Selected)
	}
}

func share(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

func zeroNaN(f float64) float64 {
	if math.IsNaN(f) {
		return 0
	}
	return f
}

// String is the filter in words, for headings.
func (f *Filter) String() string {
	text := ""
	add := func(format string, args ...any) {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf(format, args...)
	}
	for _, r := range f.Statuses {
		if r.From == r.To {
			add("status %d", r.From)
		} else {
			add("status %d–%d", r.From, r.To)
		}
	}
	if len(f.Methods) > 0 {
		add("method %v", f.Methods)
	}
	if f.Path != "" {
		add("path %s", f.Path)
	}
	if f.Host != "" {
		add("host %s", f.Host)
	}
	if !f.Since.IsZero() {
		add("since %s", f.Since.Format(time.RFC3339))
	}
	if !f.Until.IsZero() {
		add("until %s", f.Until.Format(time.RFC3339))
	}
	if text == "" {
		return "every request"
	}
	return text
}

// Bounds of a summary that is read back: it may come from anywhere.
const (
	maxSummary = 16 << 20
	maxCounts  = 1 << 16
	maxLines   = 1 << 53 // of a log; sums of few of them do not overflow
)

// ReadSummary reads a document that logs --json printed.
func ReadSummary(name string, r io.Reader) (*Summary, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxSummary+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > maxSummary {
		return nil, fmt.Errorf("read %s: larger than %s", name, show.Bytes(maxSummary))
	}
	var s Summary
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, hint.With(fmt.Errorf("read %s: %w", name, err), "summaries are what linerate logs prints with %s", hint.Option("json", ""))
	}
	if s.Version != SummaryVersion {
		return nil, fmt.Errorf("read %s: version %d of the document, this linerate knows %d", name, s.Version, SummaryVersion)
	}
	if err := s.valid(); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return &s, nil
}

func (s *Summary) valid() error {
	if s.BinSeconds <= 0 || math.IsInf(s.BinSeconds, 0) || len(s.Bins) > maxBins || len(s.Histogram.Counts) > maxCounts {
		return fmt.Errorf("its bins or histogram are out of bounds")
	}
	if s.Lines < 0 || s.Lines > maxLines || s.ClockJumps < 0 || s.Selected < 0 || s.BadLines < 0 || s.Selected > s.Lines {
		return fmt.Errorf("its counts contradict each other")
	}
	for name, v := range s.Percentiles {
		if !(v >= 0 && 1e6*v <= MaxLatency) {
			return fmt.Errorf("its %.20q is %g s", name, v)
		}
	}
	if !(s.Mean >= 0 && 1e6*s.Mean <= MaxLatency) {
		return fmt.Errorf("its mean is %g s", s.Mean)
	}
	for name, n := range s.UnderCounts {
		if n < 0 || n > s.Selected {
			return fmt.Errorf("%d of its %d requests were under %.20q", n, s.Selected, name)
		}
	}
	for _, r := range s.Slowest {
		if r.Latency < 0 || r.Latency > MaxLatency {
			return fmt.Errorf("one of its slowest requests took %d µs", r.Latency)
		}
	}
	var n int64
	for _, c := range s.Histogram.Counts {
		if c[0] < 0 || c[0] > MaxLatency || c[1] < 0 || c[1] > s.Selected {
			return fmt.Errorf("its histogram holds %d × %d µs", c[1], c[0])
		}
		n += c[1]
	}
	if n != s.Selected {
		return fmt.Errorf("its histogram holds %d requests, it says %d", n, s.Selected)
	}
	for _, b := range s.Bins {
		if i := b.From / s.BinSeconds; i < -0.5 || i > maxBins || b.Count < 0 {
			return fmt.Errorf("its bin at %v s is out of bounds", b.From)
		}
	}
	return nil
}

// MergeSummaries adds summaries up: many hosts, or many days. They must have
// bins of one width; shares are kept for the thresholds that all have.
func MergeSummaries(parts []*Summary) (*Summary, *Tally, error) {
	bin := time.Duration(math.Round(parts[0].BinSeconds * 1e9))
	if bin == defaultBin {
		bin = 0 // nobody asked for it
	}
	t := NewTally(&Options{Format: &Format{Name: parts[0].Format}, Bin: bin, Slow: 50})
	var sources []string
	groups := map[string]int64{}
	under := map[string]int64{}
	bad := map[string]int64{}
	for _, p := range parts {
		if math.Abs(p.BinSeconds-parts[0].BinSeconds) > 1e-9 {
			return nil, nil, hint.With(fmt.Errorf("summaries have bins of %v s and %v s", parts[0].BinSeconds, p.BinSeconds), "make them with one %s", hint.Option("bin", "WIDTH"))
		}
		sources = append(sources, p.Sources...)
		t.mergeSummary(p)
		for name, n := range p.UnderCounts {
			under[name] += n
			groups[name]++
		}
		for r, n := range p.BadReasons {
			bad[r] += n
		}
	}
	t.selected = same(parts, func(p *Summary) string { return p.Filter })
	s := t.Summary(sources)
	s.Format, s.BadReasons = same(parts, func(p *Summary) string { return p.Format }), bad
	for _, p := range parts {
		s.BadLines += p.BadLines
	}
	for name, n := range under {
		if groups[name] == int64(len(parts)) {
			s.UnderCounts[name] = n
		}
	}
	s.derive(t)
	return s, t, nil
}

func (t *Tally) mergeSummary(p *Summary) {
	if low := int64(math.Round(p.Percentiles["min"] * 1e6)); p.Selected > 0 {
		if t.Selected == 0 || low < t.Min {
			t.Min = low
		}
		t.Max = max(t.Max, int64(math.Round(p.Percentiles["max"]*1e6)))
	}
	t.Lines += p.Lines
	t.Selected += p.Selected
	t.Backward += p.ClockJumps
	t.Sum += int64(math.Round(p.Mean * 1e6 * float64(p.Selected)))
	t.fine = t.fine || p.Histogram.Resolution != 1000
	for _, c := range p.Histogram.Counts {
		_ = t.Hist.RecordValues(c[0], c[1])
	}
	for _, b := range p.Bins {
		i := min(int(math.Round(b.From/p.BinSeconds)), maxBins-1)
		for i >= len(t.Bins) {
			t.Bins = append(t.Bins, make([]int64, max(64, len(t.Bins)))...)
		}
		t.Bins[i] += b.Count
	}
	t.slow.merge(slowest{list: p.Slowest})
}

// same is what all parts have in common, or "mixed".
func same(parts []*Summary, of func(*Summary) string) string {
	for _, p := range parts {
		if of(p) != of(parts[0]) {
			return "mixed"
		}
	}
	return of(parts[0])
}

// seconds prints a latency in µs for people: 0.4 ms, 12 ms, 1.24 s.
func seconds(us int64) string { return show.Brief(time.Duration(us) * time.Microsecond) }

// percent prints a share to a tenth, so that columns of them line up.
func percent(v float64) string { return show.Grouped(v, 1) + " %" }

// duration prints a threshold as users write it.
func duration(d time.Duration) string { return seconds(d.Microseconds()) }

// WriteNumbers prints a summary's shares and percentiles.
func (s *Summary) WriteNumbers(w io.Writer, style show.Style) error {
	p := show.NewPage(style)
	p.Line("")
	p.Paragraph("", "", fmt.Sprintf("%d lines of %s, %s selected (%s), %d lines that could not be read",
		s.Lines, show.Plural(len(s.Sources), "log"), show.Plural(int(s.Selected), "request"), s.Filter, s.BadLines))
	for _, name := range slices.Sorted(maps.Keys(s.UnderCounts)) {
		limit := name
		if d, err := time.ParseDuration(name); err == nil {
			limit = duration(d)
		}
		p.Line(fmt.Sprintf("  %7s under %s (%d of %d)", percent(floorPercent(s.UnderCounts[name], s.Selected)), limit, s.UnderCounts[name], s.Selected))
	}
	if s.Selected > 0 {
		at := map[float64]int64{}
		for _, q := range quantiles {
			at[q.q] = int64(math.Round(s.Percentiles[q.name] * 1e6))
		}
		percentiles(p, seconds, func(q float64) int64 { return at[q] }, int64(math.Round(s.Percentiles["max"]*1e6)))
	}
	return p.Flush(w)
}
