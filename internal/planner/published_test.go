package planner

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/plan"
)

// said is a setting that somebody published, and the host that it is about.
type said struct {
	who, name, theirs string
	on                *fact.Facts
	role              string
	needs             Needs
}

// published are settings that their authors recommend or run. Hosts are as they
// describe theirs; what they do not tell is as a plain host has it.
func published() []said {
	big := func(f *fact.Facts) {
		f.Memory.Physical, f.NICs[0].SpeedBits = 256<<30, 100e9
		f.CPU.Governor, f.CPU.IOMMU = "powersave", "DMA-FQ"
		run(f, "net.ipv4.tcp_mem", "3000000 4000000 6000000")
		run(f, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave")
	}
	esnet, wan := box(fact.Linux, "6.12", big), Needs{Link: 100e9, RTT: 0.01}
	ec2, web := box(fact.Linux, "6.12", serves), Needs{Link: 10e9, RTT: 0.1}
	drops, quiet := box(fact.Linux, "6.12", loses), box(fact.Linux, "6.12")
	dsl := box(fact.FreeBSD, "14.3", routes, filters, pppoe)
	return []said{
		{"ESnet", "net.ipv4.tcp_rmem", "4096 87380 134217728", esnet, "endpoint", wan},
		{"ESnet", "net.ipv4.tcp_wmem", "4096 65536 134217728", esnet, "endpoint", wan},
		{"ESnet", "net.core.rmem_max", "134217728", esnet, "endpoint", wan},
		{"ESnet", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance", esnet, "cdn", wan},
		{"Netflix", "net.core.somaxconn", "1000", ec2, "web", web},
		{"Netflix", "net.core.netdev_max_backlog", "5000", ec2, "web", web},
		{"Netflix", "net.core.rmem_max", "16777216", ec2, "web", web},
		{"Netflix", "net.ipv4.tcp_wmem", "4096 12582912 16777216", ec2, "web", web},
		{"Netflix", "net.ipv4.tcp_rmem", "4096 12582912 16777216", ec2, "web", web},
		{"Netflix", "net.ipv4.tcp_tw_reuse", "1", ec2, "web", web},
		{"Cloudflare", "net.ipv4.tcp_rmem", "at most 4 MiB", quiet, "cdn", web},
		{"Red Hat", "ethtool -G ixgbe0 rx", "larger, where frames are dropped", drops, "router", Needs{}},
		{"Red Hat", "net.core.netdev_max_backlog", "larger, where softnet drops", drops, "router", Needs{}},
		{"Red Hat", "net.core.netdev_budget", "larger, where time is squeezed", drops, "router", Needs{}},
		{"OPNsense", "net.isr.dispatch", "deferred, for PPPoE", dsl, "router", Needs{}},
		{"OPNsense", "net.isr.maxthreads", "-1", dsl, "router", Needs{}},
	}
}

// row is a line of the page's table: what they say, what a plan of that host
// says, and why.
func (s said) row(p plan.Plan) string {
	ours, why := "nothing", "No rule, need or counter of such a host asks for it."
	for _, l := range p.LeftAlone {
		if l.Name == s.name {
			ours, why = "leave it", l.Reason
		}
	}
	for _, x := range p.Settings {
		if nameOf(x) == s.name {
			ours, why = "`"+x.Value+"`", x.Reason
			if x.Formula != "" {
				why = x.Formula
			}
			if x.Evidence.Kind == plan.Unmeasured {
				ours += ", unmeasured"
			}
		}
	}
	return fmt.Sprintf("| %s | `%s` | %s | %s | %s |\n", s.who, s.name, s.theirs, ours, strings.ReplaceAll(why, "|", "\\|"))
}

// TestPublishedSettings keeps the page's table what plans say.
func TestPublishedSettings(t *testing.T) {
	const page, begin, end = "../../docs/guide/published-settings.md", "<!-- generated: go test ./internal/planner -run Published -update -->\n", "<!-- end -->"
	var b strings.Builder
	b.WriteString("| who | setting | they say | a plan of such a host says | why |\n|---|---|---|---|---|\n")
	for _, s := range published() {
		b.WriteString(s.row(planOf(t, s.on, s.role, s.needs)))
	}
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(data), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s lacks its marks", page)
	}
	want := head + begin + "\n" + b.String() + end + tail
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(data) != want {
		t.Errorf("%s is not what plans say; run: go test ./internal/planner -run Published -update", page)
	}
}
