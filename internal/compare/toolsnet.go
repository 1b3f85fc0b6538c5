package compare

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"linerate/internal/hint"
	"linerate/internal/stats"
)

// flent's data file has series of samples within one run, which are no repetitions: the
// run's number is a series' mean.
func flent(data []byte, which string) (Output, error) {
	var d struct {
		Metadata struct {
			Series map[string]struct {
				Units string   `json:"UNITS"`
				Mean  *float64 `json:"MEAN_VALUE"`
			} `json:"SERIES_META"`
		} `json:"metadata"`
		Results map[string][]*float64 `json:"results"`
	}
	o := Output{}
	if err := json.Unmarshal(data, &d); err != nil {
		return o, err
	}
	names := slices.Sorted(maps.Keys(d.Results))
	i, err := one("series", which, names)
	if err != nil {
		return o, err
	}
	series := d.Metadata.Series[names[i]]
	o.Metric, o.Unit, o.Better = "mean of "+names[i], series.Units, stats.HigherIsBetter
	switch o.Unit {
	case "Mbits/s":
		o.Unit = "Mbit/s"
	case "ms", "s", "us":
		o.Better = stats.LowerIsBetter
	case "":
		return o, fmt.Errorf("the unit of %s is not in it", names[i])
	}
	sum, n := 0.0, 0
	for _, v := range d.Results[names[i]] {
		if v != nil {
			sum, n = sum+*v, n+1
		}
	}
	switch {
	case series.Mean != nil: // of the whole run, as the tool itself counted
		o.Values = []float64{*series.Mean}
	case n > 0:
		o.Values = []float64{sum / float64(n)}
	}
	if gone := len(d.Results[names[i]]) - n; n > 0 && gone > n {
		o.Warnings = append(o.Warnings, fmt.Sprintf("%d of %d samples are missing", gone, gone+n))
	}
	return o, nil
}

// trexPort are counters of a port of TRex, as its API and console print them.
type trexPort struct {
	Out  float64 `json:"opackets"`
	In   float64 `json:"ipackets"`
	Rate float64 `json:"rx_pps"`
}

// trexPorts are the ports of TRex's statistics by number; nil of another document.
func trexPorts(data []byte) []trexPort {
	if len(data) == 0 || data[0] != '{' || !bytes.Contains(data, []byte(`"opackets"`)) {
		return nil
	}
	var top map[string]json.RawMessage
	if json.Unmarshal(data, &top) != nil {
		return nil
	}
	if inner, ok := top["stats"]; ok { // an envelope around them
		top = nil
		if json.Unmarshal(inner, &top) != nil {
			return nil
		}
	}
	var ports []trexPort
	for _, name := range slices.Sorted(maps.Keys(top)) {
		if _, err := strconv.Atoi(name); err != nil {
			continue
		}
		var p struct {
			trexPort
			Counts *float64 `json:"ipackets"`
		}
		if json.Unmarshal(top[name], &p) != nil || p.Counts == nil {
			return nil
		}
		p.In = *p.Counts
		ports = append(ports, p.trexPort)
	}
	return ports
}

// trex of one run: what all ports received, a second or in all.
func trex(data []byte, which string) (Output, error) {
	o := Output{Metric: "packets received", Unit: "1/s", Better: stats.HigherIsBetter}
	var all trexPort
	for _, p := range trexPorts(data) {
		all.Out, all.In, all.Rate = all.Out+p.Out, all.In+p.In, all.Rate+p.Rate
	}
	i, err := one("metric", cmp.Or(which, "rx_pps"), []string{"rx_pps", "ipackets", "loss"})
	if err != nil {
		return o, err
	}
	lost := 0.0
	if all.Out > 0 {
		lost = max(0, 1-all.In/all.Out)
	}
	switch i {
	case 0:
		if all.Rate == 0 && all.In > 0 {
			return o, hint.With(errors.New("rx_pps is of the moment, and the traffic had ended"), "compare all that was received in the same time: %s", hint.Option("column", "ipackets"))
		}
		o.Values = []float64{all.Rate}
	case 1:
		o.Metric, o.Unit, o.Values = "packets received in all", "packets", []float64{all.In}
	case 2:
		o.Metric, o.Unit, o.Better, o.Values = "share of packets lost", "%", stats.LowerIsBetter, []float64{100 * lost}
	}
	if lost > 0 && i != 2 {
		o.Warnings = append(o.Warnings, fmt.Sprintf("%.3g %% of the packets were lost", 100*lost))
	}
	return o, nil
}

// csitRate is a rate, or several, of FD.io CSIT's model of results.
type csitRate struct {
	Rate struct {
		Unit   string    `json:"unit"`
		Value  *float64  `json:"value"`
		Values []float64 `json:"values"`
	} `json:"rate"`
}

type csitBounds struct {
	Lower csitRate `json:"lower"`
}

// csit is one test case of FD.io CSIT (its Unified Test Interface): the trials of an
// MRR test, the lower bound that a search found.
func csit(data []byte, which string) (Output, error) {
	var d struct {
		Test    string    `json:"test_id"`
		DUT     string    `json:"dut_type"`
		Version string    `json:"dut_version"`
		Start   time.Time `json:"start_time"`
		Passed  *bool     `json:"passed"`
		Message string    `json:"message"`
		Result  struct {
			Type     string      `json:"type"`
			Received *csitRate   `json:"receive_rate"`
			NDR      *csitBounds `json:"ndr"`
			PDR      *csitBounds `json:"pdr"`
			Critical *csitBounds `json:"critical_rate"`
			Loss     *struct {
				Time struct {
					Value float64 `json:"value"`
				} `json:"time"`
			} `json:"loss"`
			Bandwidth *struct {
				Value float64 `json:"value"`
				Unit  string  `json:"unit"`
			} `json:"bandwidth"`
		} `json:"result"`
	}
	o := Output{Unit: "1/s", Better: stats.HigherIsBetter}
	if err := json.Unmarshal(data, &d); err != nil {
		return o, err
	}
	o.Origin = Origin{Version: strings.TrimSpace(d.DUT + " " + d.Version), Started: d.Start}
	if d.Passed != nil && !*d.Passed {
		o.Warnings = append(o.Warnings, fmt.Sprintf("the test failed: %.200s", d.Message))
	}
	rate := func(r csitRate) error {
		if o.Values = r.Rate.Values; r.Rate.Value != nil {
			o.Values = []float64{*r.Rate.Value}
		}
		if o.Unit = r.Rate.Unit; o.Unit == "pps" || o.Unit == "cps" {
			o.Unit = "1/s"
		} else if len(o.Values) > 0 && o.Unit == "" {
			return errors.New("the rate has no unit")
		}
		return nil
	}
	switch r := d.Result; {
	case r.Received != nil:
		o.Metric = "packets received in trials at the greatest rate"
		return o, rate(*r.Received)
	case r.NDR != nil && r.PDR != nil:
		i, err := one("metric", cmp.Or(which, "pdr"), []string{"ndr", "pdr"})
		if err != nil {
			return o, err
		}
		o.Metric = []string{"rate without loss (NDR, lower bound)", "rate with 0.5 % lost (PDR, lower bound)"}[i]
		return o, rate([]csitBounds{*r.NDR, *r.PDR}[i].Lower)
	case r.Critical != nil:
		o.Metric = "critical rate (lower bound)"
		return o, rate(r.Critical.Lower)
	case r.Loss != nil:
		o.Metric, o.Unit, o.Better, o.Values = "time lost by a reconfiguration", "s", stats.LowerIsBetter, []float64{r.Loss.Time.Value}
	case r.Bandwidth != nil:
		o.Metric, o.Unit, o.Values = "goodput", strings.Replace(r.Bandwidth.Unit, "bps", "bit/s", 1), []float64{r.Bandwidth.Value}
	}
	return o, nil
}

var (
	fioHead  = regexp.MustCompile(`(?m)^fio-[0-9]+\.`)
	fioJob   = regexp.MustCompile(`(?m)^(.*): \(groupid=\d+, jobs=\d+\): err=\s*(\d+)`)
	fioNew   = regexp.MustCompile(`(?m)^\s+(?:read|write|trim)\s*: IOPS=([0-9.]+)([kM]?), BW=\S+ \(([0-9.]+)([kMGT]?)B/s\)`)
	fioOld   = regexp.MustCompile(`(?m)^\s+(?:read|write|trim)\s*: io=\S+, bw=([0-9.]+)([KMG]?)B/s, iops=([0-9.]+)([KM]?)`)
	siFactor = map[string]float64{"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
)

// fioText is what fio prints for people: rounded to three digits or four.
func fioText(data []byte, which string) (Output, error) {
	o := Output{Metric: "operations", Unit: "1/s", Better: stats.HigherIsBetter}
	i, err := one("metric", cmp.Or(which, "iops"), []string{"iops", "bw_bytes"})
	if err != nil {
		return o, err
	}
	sum, lines := [2]float64{}, 0
	add := func(iops, factor, bytes string, k float64) error {
		a, err := strconv.ParseFloat(iops, 64)
		b, err2 := strconv.ParseFloat(bytes, 64)
		sum[0] += a * siFactor[factor]
		sum[1] += b * k
		lines++
		return errors.Join(err, err2)
	}
	for _, m := range fioNew.FindAllStringSubmatch(string(data), -1) {
		if err := add(m[1], m[2], m[3], siFactor[m[4]]); err != nil {
			return o, err
		}
	}
	binary := map[string]float64{"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
	for _, m := range fioOld.FindAllStringSubmatch(string(data), -1) {
		if err := add(m[3], m[4], m[1], binary[m[2]]); err != nil {
			return o, err
		}
	}
	for _, m := range fioJob.FindAllStringSubmatch(string(data), -1) {
		if m[2] != "0" {
			o.Warnings = append(o.Warnings, fmt.Sprintf("the job %s failed with error %s", strings.TrimSpace(m[1]), m[2]))
		}
	}
	if lines == 0 {
		return o, nil
	}
	o.Warnings = append(o.Warnings, "fio rounds what it prints: its JSON has all digits")
	if o.Values = sum[i : i+1]; i == 1 {
		o.Metric, o.Unit = "read and written", "byte/s"
	}
	return o, nil
}

var (
	iperfHead = regexp.MustCompile(`(?m)^(Connecting to host|Server listening on|iperf 3\.)`)
	iperfEnd  = regexp.MustCompile(`(?m)^\[\s*(SUM|\d+)\](?:\[[TR]X-[CS]\])?\s+0\.00-[0-9.]+\s+sec\s+\S+ \S*Bytes\s+([0-9.]+) ([KMGT]?)bits/sec(.*)receiver\s*$`)
	iperfLost = regexp.MustCompile(`\(([0-9.e+-]+)%\)`)
)

// iperfText is what iperf3 prints for people: all streams together at the receiver.
func iperfText(data []byte, _ string) (Output, error) {
	o := Output{Metric: "throughput at the receiver", Unit: "bit/s", Better: stats.HigherIsBetter}
	var streams, sums float64
	found, together := 0, 0
	for _, m := range iperfEnd.FindAllStringSubmatch(string(data), -1) {
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return o, err
		}
		if v *= siFactor[m[3]]; m[1] == "SUM" {
			sums, together = sums+v, together+1
		} else {
			streams, found = streams+v, found+1
		}
		if l := iperfLost.FindStringSubmatch(m[4]); l != nil && l[1] != "0" && (m[1] == "SUM" || together == 0) {
			o.Warnings = append(o.Warnings, l[1]+" % of the datagrams were lost")
		}
	}
	switch {
	case together > 0:
		o.Values = []float64{sums}
	case found > 0:
		o.Values = []float64{streams}
	default:
		return o, nil
	}
	if bytes.Contains(data, []byte("[RX-C]")) {
		o.Metric = "throughput of both directions"
	}
	o.Warnings = append(o.Warnings, "iperf3 rounds what it prints: its JSON has all digits")
	return o, nil
}

var (
	netperfHead = regexp.MustCompile(`(?mi)^(?:MIGRATED )?(?:(?:TCP|UDP|SCTP|DG|STREAM).*(?:STREAM|MAERTS|REQUEST/RESPONSE|RR)|OMNI.*) TEST|^THROUGHPUT=[0-9.]+$`)
	netperfKey  = regexp.MustCompile(`(?m)^THROUGHPUT=([0-9.]+)$`)
	netperfUnit = regexp.MustCompile(`(?m)^THROUGHPUT_UNITS=(.+)$`)
	netperfOmni = regexp.MustCompile(`(?m)^[0-9].* ([0-9.]+) +(10\^6bits/s|Trans/s) *$`)
	netperfWide = regexp.MustCompile(`Confidence intervals: Throughput\s*: ([0-9.]+)%`)
)

// netperfUnits are netperf's words for units.
var netperfUnits = map[string]string{"10^6bits/s": "Mbit/s", "Trans/s": "1/s"}

// netperf of one or more tests of a kind: a column of the first line of numbers below
// each banner, or what omni's keys say.
func netperf(data []byte, _ string) (Output, error) {
	o := Output{Metric: "throughput", Unit: "Mbit/s", Better: stats.HigherIsBetter, Values: found(netperfKey, data)}
	if m := netperfWide.FindSubmatch(data); m != nil {
		o.Warnings = append(o.Warnings, fmt.Sprintf("netperf did not reach the requested confidence: its interval is %s %% wide", m[1]))
	}
	if len(o.Values) > 0 {
		if m := netperfUnit.FindSubmatch(data); m != nil {
			unit := strings.TrimSpace(string(m[1]))
			o.Unit = cmp.Or(netperfUnits[unit], unit)
		}
		return o, nil
	}
	banners := netperfHead.FindAllIndex(data, -1)
	for i, b := range banners {
		end := len(data)
		if i+1 < len(banners) {
			end = banners[i+1][0]
		}
		if err := o.netperfTest(string(data[b[0]:end])); err != nil {
			return o, err
		}
	}
	return o, nil
}

// netperfTest reads one test: what of its columns is the result does not depend on
// those of CPU time that may follow (-c, -C).
func (o *Output) netperfTest(part string) error {
	if m := netperfOmni.FindStringSubmatch(part); m != nil {
		v, err := strconv.ParseFloat(m[1], 64)
		o.Unit, o.Values = netperfUnits[m[2]], append(o.Values, v)
		return err
	}
	banner, _, _ := strings.Cut(part, "\n")
	var rows [][]float64
	for line := range strings.Lines(part) {
		if row := numbers(line); len(row) >= 4 {
			rows = append(rows, row)
		}
	}
	transactions := strings.Contains(strings.ToUpper(banner), "REQUEST/RESPONSE")
	if !transactions && !strings.Contains(part, "10^6bits/s") {
		return errors.New("its throughput is not in 10^6bits/sec: run netperf without another -f")
	}
	switch {
	case len(rows) == 0:
	case transactions && len(rows[0]) > 5:
		o.Metric, o.Unit, o.Values = "transactions", "1/s", append(o.Values, rows[0][5])
	case strings.Contains(banner, "UDP"): // a line of what was sent, and one of what came
		if len(rows) < 2 || len(rows[0]) < 6 {
			break
		}
		o.Metric, o.Values = "throughput received", append(o.Values, rows[1][3])
		if sent, came := rows[0][3], rows[1][2]; came < sent {
			o.Warnings = append(o.Warnings, fmt.Sprintf("%.3g %% of the datagrams were lost", 100*(1-came/sent)))
		}
	case !transactions && len(rows[0]) > 4:
		o.Values = append(o.Values, rows[0][4])
	}
	return nil
}
