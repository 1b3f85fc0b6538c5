package plan

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"linerate/internal/fact"
)

// said is a setting that somebody published, and the host that it is for.
type said struct {
	// who published it, and where
	who, at, name, theirs string
	on                    *fact.Facts
	role                  string
	needs                 Needs
}

// Sources of the published settings.
const (
	perfsonar  = "https://docs.perfsonar.net/previous_releases/3.5.1/manage_tuning.html"
	fdc        = "https://portal.fdcservers.net/index.php?rp=%2Fknowledgebase%2F9%2FOS-and-Kernel-Tuning-Needed-for-25100-Gbps-Throughput.html"
	netflix    = "https://www.brendangregg.com/blog/2017-12-31/reinvent-netflix-ec2-tuning.html"
	cloudflare = "https://blog.cloudflare.com/optimizing-tcp-for-high-throughput-and-low-latency/"
	rhel7      = "https://docs.redhat.com/en/documentation/Red_Hat_Enterprise_Linux/7/html/performance_tuning_guide/sect-red_hat_enterprise_linux-performance_tuning_guide-networking-configuration_tools"
	redhat     = "https://access.redhat.com/sites/default/files/attachments/20150325_network_performance_tuning.pdf"
	opnsense   = "https://docs.opnsense.org/troubleshooting/performance.html"
	issue      = "https://github.com/opnsense/core/issues/5415"
)

// published are settings that their authors recommend or use. Hosts are as their authors describe them;
// unstated facts are those of a plain host.
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
	multi := box(fact.FreeBSD, "14.3", routes, filters)
	return []said{
		{"ESnet, by perfSONAR", perfsonar, "net.ipv4.tcp_rmem", "4096 87380 134217728, on 40G or beyond 100 ms", esnet, "endpoint", wan},
		{"ESnet, by perfSONAR", perfsonar, "net.ipv4.tcp_wmem", "4096 65536 134217728", esnet, "endpoint", wan},
		{"ESnet, by perfSONAR", perfsonar, "net.core.rmem_max", "268435456", esnet, "endpoint", wan},
		{"ESnet, by FDC", fdc, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "looked at for 100G", esnet, "cdn", wan},
		{"Netflix, 2017", netflix, "net.core.somaxconn", "1000", ec2, "web", web},
		{"Netflix, 2017", netflix, "net.core.netdev_max_backlog", "5000", ec2, "web", web},
		{"Netflix, 2017", netflix, "net.core.rmem_max", "16777216", ec2, "web", web},
		{"Netflix, 2017", netflix, "net.ipv4.tcp_wmem", "4096 12582912 16777216", ec2, "web", web},
		{"Netflix, 2017", netflix, "net.ipv4.tcp_rmem", "4096 12582912 16777216", ec2, "web", web},
		{"Netflix, 2017", netflix, "net.ipv4.tcp_max_syn_backlog", "8096", ec2, "web", web},
		{"Netflix, 2017", netflix, "net.ipv4.tcp_slow_start_after_idle", "0", ec2, "web", web},
		{"Netflix, 2017", netflix, "net.ipv4.tcp_tw_reuse", "1", ec2, "web", web},
		{"Cloudflare, 2015", cloudflare, "net.ipv4.tcp_rmem", "at most 4 MiB", quiet, "cdn", web},
		{"Cloudflare, 2022", cloudflare, "net.ipv4.tcp_rmem", "8192 262144 536870912, with a kernel patch of their own", quiet, "cdn", web},
		{"Cloudflare, 2022", cloudflare, "net.ipv4.tcp_notsent_lowat", "131072", quiet, "cdn", web},
		{"Red Hat, RHEL 7", rhel7, "ethtool -G ixgbe0 rx", "larger, where frames are dropped", drops, "router", Needs{}},
		{"Red Hat, RHEL 7", rhel7, "net.core.dev_weight", "larger, to drain a queue faster", drops, "router", Needs{}},
		{"Red Hat, 2015", redhat, "net.core.netdev_max_backlog", "larger, where softnet drops", drops, "router", Needs{}},
		{"Red Hat, 2015", redhat, "net.core.netdev_budget", "larger, where time is squeezed", drops, "router", Needs{}},
		{"OPNsense", opnsense, "net.isr.maxthreads", "-1, with RSS", multi, "router", Needs{}},
		{"OPNsense", opnsense, "net.isr.bindthreads", "1, with RSS", multi, "router", Needs{}},
		{"OPNsense", opnsense, "net.inet.rss.enabled", "1, to be tested (0 by default)", multi, "router", Needs{}},
		{"a user of OPNsense", issue, "net.isr.dispatch", "deferred, for PPPoE", dsl, "router", Needs{}},
		{"a user of OPNsense", issue, "net.isr.maxthreads", "-1, for PPPoE", dsl, "router", Needs{}},
	}
}

// row returns the published value, a plan's value for that host, and the reason.
func (s said) row(p Plan) string {
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
			if x.Evidence.Kind == Unmeasured {
				ours += ", unmeasured"
			}
		}
	}
	return fmt.Sprintf("%s (%s)\n  %s = %s\n  plan: %s\n  %s\n", s.who, s.at, s.name, s.theirs, ours, why)
}

// TestPublishedSettings compares plans with published settings in a golden file.
func TestPublishedSettings(t *testing.T) {
	var b strings.Builder
	for _, s := range published() {
		b.WriteString(s.row(planOf(t, s.on, s.role, s.needs)))
	}
	const golden = "testdata/published.golden"
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("%s differs from the plans (-update rewrites it); they say\n%s", golden, b.String())
	}
}
