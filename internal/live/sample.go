package live

import (
	_ "embed" // sample.sh
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"linerate/internal/apply"
)

//go:embed sample.sh
var sampleScript string

// Sample is one reading of a host's counters. Times are in seconds since boot; a
// counter that the host lacks is NaN or zero.
type Sample struct {
	At     time.Time     // by this machine's clock
	Took   time.Duration // time until the host answered
	Boot   string
	Uptime float64
	Clock  float64 // host's clock, in Unix seconds
	CPUs   int
	Busy   float64 // CPU time that was not idle
	Kernel float64 // of Busy, the kernel's: system, interrupts and their threads, softirq
	Ticked float64 // of Kernel, counted by ticks
	// Interrupts is the kernel's time in interrupts, their threads and softirqs;
	// InterruptsTicked is the part counted by ticks.
	Interrupts, InterruptsTicked float64
	Passed                       float64 // CPU time, idle or not: a finer clock than FreeBSD's uptime
	Tick                         float64 // resolution of these times
	Running                      float64 // runnable threads
	// Available is the share of memory that programs can still allocate.
	Available float64
	Packets   float64 // received and sent by all interfaces except loopback
	Drops     float64
	DroppedAt map[string]float64 // by place
	// Segments counts the segments that TCP sent, Again the retransmitted ones.
	Segments, Again float64
	States          float64 // share of the connection table in use
	Connections     []connection
	// Owner is the study that has locked the host; "" if none, or if only root can tell.
	Owner    string
	Services []string // processes of the watched service, with their start times

	unread error // why Kernel and Interrupts are NaN
}

// parseSample parses the output of sample.sh.
func parseSample(text string) (Sample, error) {
	p := parsing{Sample: Sample{DroppedAt: map[string]float64{}}, values: map[string]float64{}}
	whole := false
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		whole = f[0] == "end"
		if read := readers[f[0]]; read != nil {
			read(&p, f[1:])
		}
	}
	if whole && p.Boot == "" && p.Tick > 0 {
		return Sample{}, apply.Identity{NoBoot: true}.Switchable()
	}
	if !whole || p.Boot == "" || p.Tick == 0 {
		return Sample{}, fmt.Errorf("the answer is cut off, or not from Linux or FreeBSD: %.80q", text)
	}
	p.counted()
	return p.Sample, nil
}

// parsing is a sample with the values it is computed from.
type parsing struct {
	Sample
	values map[string]float64
	names  []string // of the counters whose values are on the next line
}

var readers = map[string]func(p *parsing, f []string){
	"boot":   func(p *parsing, f []string) { p.Boot = strings.Join(f, " ") },
	"uptime": func(p *parsing, f []string) { p.Uptime = number(f, 0) },
	"clock":  func(p *parsing, f []string) { p.Clock = number(f, 0) },
	"hz":     func(p *parsing, f []string) { p.Tick = 1 / max(1, number(f, 0)) },
	"core":   func(p *parsing, _ []string) { p.CPUs++ },
	"cores":  func(p *parsing, f []string) { p.CPUs = int(number(f, 0)) },
	// user nice system idle iowait irq softirq steal (proc(5)); guest time is included
	// in the first two.
	"cpu": func(p *parsing, f []string) {
		p.Passed = sum(f[:min(8, len(f))]) * p.Tick
		p.kernel(number(f, 2), number(f, 5)+number(f, 6))
		p.Busy = p.Kernel + (number(f, 0)+number(f, 1))*p.Tick
	},
	// user nice system interrupt idle (kern.cp_time)
	"cp_time": func(p *parsing, f []string) {
		p.Passed = sum(f) * p.Tick
		p.kernel(number(f, 2), number(f, 3))
		p.Busy = p.Kernel + (number(f, 0)+number(f, 1))*p.Tick
	},
	"running":       func(p *parsing, f []string) { p.Running = number(f, 0) },
	"memory":        func(p *parsing, f []string) { p.values["memory"] = number(f, 0) },
	"available":     func(p *parsing, f []string) { p.values["available"] = number(f, 0) },
	"dev":           (*parsing).device,
	"link":          (*parsing).link,
	"softnet":       (*parsing).softnet,
	"snmp":          (*parsing).snmp,
	"tcp":           (*parsing).prose,
	"ip":            (*parsing).prose,
	"states":        func(p *parsing, f []string) { p.States = share(number(f, 0), number(f, 1)) },
	"entries":       func(p *parsing, f []string) { p.values["entries"] = number(f, 0) },
	"entries-limit": func(p *parsing, f []string) { p.States = share(p.values["entries"], number(f, 0)) },
	"conn":          (*parsing).connection,
	"owner":         func(p *parsing, f []string) { p.Owner = strings.Join(f, " ") },
	"service":       func(p *parsing, f []string) { p.Services = append(p.Services, strings.Join(f, " ")) },
}

// kernel takes the ticks of kernel time.
func (p *parsing) kernel(system, interrupts float64) {
	p.Kernel, p.Interrupts = (system+interrupts)*p.Tick, interrupts*p.Tick
	p.Ticked, p.InterruptsTicked = p.Kernel, p.Interrupts
}

// share returns how much of a table is in use; a table without a limit never fills.
func share(used, limit float64) float64 {
	if limit <= 0 {
		return 0
	}
	return used / limit
}

// number returns a field as a number; 0 if it is not a finite number.
func number(f []string, i int) float64 {
	if i >= len(f) {
		return 0
	}
	v, err := strconv.ParseFloat(f[i], 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

func sum(f []string) (total float64) {
	for i := range f {
		total += number(f, i)
	}
	return total
}

// device parses a line of /proc/net/dev: bytes packets errs drop … received,
// and from the ninth field the same for sent.
func (p *parsing) device(f []string) {
	if len(f) < 13 || f[0] == "lo" {
		return
	}
	p.Packets += number(f, 2) + number(f, 10)
	p.dropped(atInterfaces, number(f, 4)+number(f, 12))
}

// Places where packets are dropped, as shown to people.
const (
	atInterfaces = "interfaces"
	atBacklog    = "backlogs of the CPUs"
	atListen     = "listen queues"
	atSockets    = "queues of sockets"
	atInput      = "IP input"
	atOutput     = "IP output"
	atFragments  = "reassembly"
)

func (p *parsing) dropped(at string, n float64) {
	p.Drops += n
	p.DroppedAt[at] += n
}

// link parses a line of netstat -ibnd: Name Mtu Network Address Ipkts Ierrs Idrop
// Ibytes Opkts Oerrs Obytes Coll Drop, where the address may be missing.
func (p *parsing) link(f []string) {
	if len(f) < 11 || strings.HasPrefix(f[0], "lo") || strings.HasPrefix(f[0], "pflog") {
		return
	}
	last := len(f) - 1
	p.Packets += number(f, last-8) + number(f, last-4)
	p.dropped(atInterfaces, number(f, last-7)+number(f, last-6)+number(f, last-3)+number(f, last))
}

// softnet parses a CPU's line of softnet_stat: processed, dropped, … in hex.
func (p *parsing) softnet(f []string) {
	if len(f) > 1 {
		if n, err := strconv.ParseUint(f[1], 16, 64); err == nil {
			p.dropped(atBacklog, float64(n))
		}
	}
}

// snmp parses a line of names, then one of values, each prefixed by the group.
func (p *parsing) snmp(f []string) {
	if len(f) < 2 {
		return
	}
	if _, err := strconv.ParseFloat(f[1], 64); err != nil {
		p.names = f
		return
	}
	if len(p.names) == 0 || p.names[0] != f[0] {
		return
	}
	for i := 1; i < min(len(f), len(p.names)); i++ {
		p.values[f[0]+p.names[i]] = number(f, i)
	}
}

// prose parses a line of netstat -s: a number and what it counts.
func (p *parsing) prose(f []string) {
	text := strings.Join(f, " ")
	for _, c := range prosaic {
		if !strings.HasSuffix(text, c.phrase) {
			continue
		}
		if c.at != "" {
			p.dropped(c.at, number(f, 0))
		} else {
			p.values[c.name] += number(f, 0)
		}
		return
	}
}

// prosaic lists the counters of netstat -s by the ends of their lines, with the place for drops.
var prosaic = []struct{ phrase, name, at string }{
	{" bytes) retransmitted", "again", ""},
	{" packets sent", "segments", ""},
	{" listen queue overflows", "", atListen},
	{" discarded due to full reassembly queue", "", atSockets},
	{" discarded due to memory problems", "", atInput},
	{" output packets dropped due to no bufs, etc.", "", atOutput},
	{" dropped due to full socket buffers", "", atSockets},
	{" fragments dropped (dup or out of space)", "", atFragments},
}

// counted fills in what is derived from several lines.
func (p *parsing) counted() {
	v := p.values
	p.Available = v["available"] / max(1, v["memory"])
	p.Segments, p.Again = v["Tcp:OutSegs"]+v["segments"], v["Tcp:RetransSegs"]+v["again"]
	p.dropped(atListen, v["TcpExt:ListenDrops"])
	p.dropped(atSockets, v["TcpExt:TCPBacklogDrop"]+v["TcpExt:TCPRcvQDrop"])
	p.dropped(atInput, v["Ip:InDiscards"])
	p.dropped(atOutput, v["Ip:OutDiscards"])
}
