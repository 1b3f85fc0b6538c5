package netbenches_test

// Fictitious archives in the formats of the real one. All numbers come from a seeded generator.

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// fictitious are the size of the archive to write.
type fictitious struct {
	Studies  int
	Variants int // per study; the first is the control
	Trials   int // per variant
	Rows     int // reports per log
	Seed     uint64
}

// writeArchive writes an archive below dir.
func writeArchive(dir string, o fictitious) error {
	w := writer{dir: dir, o: o, r: rand.New(rand.NewPCG(o.Seed, 0x6e62))}
	for i := range o.Studies {
		w.study(i)
	}
	return w.err
}

type writer struct {
	dir string
	o   fictitious
	r   *rand.Rand
	err error
}

func (w *writer) file(path string, data []byte) {
	if w.err != nil {
		return
	}
	full := filepath.Join(w.dir, filepath.FromSlash(path))
	if w.err = os.MkdirAll(filepath.Dir(full), 0o755); w.err == nil {
		w.err = os.WriteFile(full, data, 0o644)
	}
}

// tunables are those that the studies vary, with the file that sets each.
var tunables = []struct{ name, file, line string }{
	{"kern.random.harvest.mask", "etc/rc.conf", "harvest_mask=\"%d\"\n"},
	{"net.pf.states_hashsize", "boot/loader.conf.local", "net.pf.states_hashsize=\"%d\"\n"},
	{"hw.igb.rxd", "boot/loader.conf.local", "hw.igb.rxd=\"%d\"\n"},
	{"net.isr.maxthreads", "boot/loader.conf.local", "net.isr.maxthreads=\"%d\"\n"},
	{"dev.igb.0.fc", "etc/sysctl.conf", "dev.igb.0.fc=%d\ndev.igb.1.fc=%[1]d\n"},
}

// study writes a topic with its configuration sets, logs, reductions and README.
func (w *writer) study(i int) {
	t := tunables[i%len(tunables)]
	topic := fmt.Sprintf("Test_CPU-%d_%dCores/Intel_i210AT/%s.%d", i%23, 1<<(i%5), t.name, i)
	results := topic + "/results/fbsd14-n26" + strconv.Itoa(1000+i)
	base := 400_000 + 600_000*w.r.Float64()
	for v := range w.o.Variants {
		name := strconv.Itoa(v * 10)
		if v == 0 {
			name = "default"
		}
		w.config(topic+"/configs/"+name, t.file, t.line, v)
		rate := base * (1 + 0.02*float64(v)*w.r.Float64())
		w.series(results, name, rate)
	}
	w.file(results+"/README.md", []byte("Impact of "+t.name+" on forwarding\n  - a machine that never was\n"))
}

func (w *writer) config(set, file, line string, v int) {
	w.file(set+"/etc/rc.conf", []byte("hostname=\"dut\"\ngateway_enable=\"YES\"\nifconfig_igb1=\"inet 198.18.0.1/24 -tso4 -lro\"\nifconfig_igb2=\"inet 198.19.0.1/24 -tso4 -lro\"\n"))
	w.file(set+"/etc/sysctl.conf", []byte("# nothing\n"))
	w.file(set+"/boot/loader.conf.local", []byte("hw.usb.no_pf=\"1\"\n"))
	if v > 0 {
		full := filepath.Join(w.dir, filepath.FromSlash(set), filepath.FromSlash(file))
		old, err := os.ReadFile(full)
		if err != nil && w.err == nil {
			w.err = err
		}
		w.file(set+"/"+file, append(old, []byte(fmt.Sprintf(line, v*10))...))
	}
}

// series writes the logs of a variant, and the results of the archive's script in the order of ls.
func (w *writer) series(results, name string, rate float64) {
	w.file(results+"/bench."+name+".info", []byte("IMAGE=\"\"\nCFG=\""+name+"\"\nPKTGEN=\"\"\nUNAME=\"FreeBSD dut 14.0-STABLE FreeBSD 14.0-STABLE #0 n265000: Mon Jan  1 00:00:00 UTC 2024  amd64\""))
	order := make([]string, w.o.Trials)
	for i := range order {
		order[i] = strconv.Itoa(i + 1)
	}
	slices.SortFunc(order, func(a, b string) int { return strings.Compare(a+".", b+".") })
	var pps strings.Builder
	for _, n := range order {
		rows := w.rates(rate * (1 + 0.006*w.r.NormFloat64()))
		w.file(results+"/bench."+name+"."+n+".receiver", receiverLog(rows))
		w.file(results+"/bench."+name+"."+n+".sender", senderLog(w.rates(1_488_000)))
		pps.WriteString(strconv.FormatFloat(scriptMedian(rows), 'g', 8, 64) + "\n")
	}
	w.file(results+"/"+name+".pps", []byte(pps.String()))
}

func (w *writer) rates(mean float64) []int {
	rows := make([]int, w.o.Rows)
	for i := range rows {
		rows[i] = int(mean * (1 + 0.001*w.r.NormFloat64()))
	}
	return rows
}

// receiverLog returns a receiver's log with one report per second.
func receiverLog(rows []int) []byte {
	return log("pkt-gen -N -f rx -i igb2 -w 4 -W", "receiver_body", rows, "Terminated\n")
}

// senderLog returns a sender's log with one report per second.
func senderLog(rows []int) []byte {
	sum := 0
	for _, r := range rows {
		sum += r
	}
	return log("pkt-gen -f tx -N -i igb1 -n 80000000 -l 60 -4 -d 198.19.10.1:2001-198.19.10.100 -D 00:00:5e:00:53:01 -s 198.18.10.1:2001-198.18.10.20 -w 4 -U",
		"sender_body", rows, fmt.Sprintf("Sent %d packets %d bytes 42 events 60 bytes each in %d.00 seconds.\nSpeed: %d pps Bandwidth: %d bps (raw %d bps). Average batch: 512.00 pkts\n",
			sum, 60*sum, len(rows), sum/max(1, len(rows)), 480*sum, 672*sum))
}

func log(command, body string, rows []int, end string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "CMD on gen: %s\n", command)
	for i, what := range []string{"main [2889] interface is igb2", "main [3012] using default burst size: 512", "main [3020] running on 1 cpus (have 8)",
		"extract_ip_range [367] range is 10.0.0.1:1234 to 10.0.0.1:1234", "extract_ip_range [367] range is 10.1.0.1:1234 to 10.1.0.1:1234",
		"main [3115] mapped 334980KB at 0x801dff000", "start_threads [2549] Wait 4 secs for phy reset", "start_threads [2551] Ready..."} {
		fmt.Fprintf(&b, "997.%06d %s\n", i*11, what)
	}
	fmt.Fprintf(&b, "998.000000 %s [1900] reading from netmap:igb2 fd 3 main_fd 3\n", body)
	for i, r := range rows {
		fmt.Fprintf(&b, "%03d.%06d main_thread [2639] %d pps (%d pkts %d bps in 1000000 usec) 17.00 avg_batch 0 min_space\n", (999+i)%1000, 1000+i, r, r, 480*r)
	}
	b.WriteString(end)
	return b.Bytes()
}

// scriptMedian returns what the archive's script computes for a log by receiverLog,
// which has 10 lines before the first report and one after the last.
func scriptMedian(rows []int) float64 {
	kept := slices.Clone(rows[min(len(rows), 5):max(5, len(rows)-9)])
	slices.Sort(kept)
	n := len(kept)
	if n == 0 {
		return 0
	}
	if n%2 == 1 {
		return float64(kept[n/2])
	}
	return float64(kept[n/2-1]+kept[n/2]) / 2
}
