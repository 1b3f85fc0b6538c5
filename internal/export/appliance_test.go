package export

import (
	"encoding/json"
	"encoding/xml"
	"os/exec"
	"strings"
	"testing"

	"linerate/internal/appliance"
	"linerate/internal/plan"
	"linerate/internal/setting"
)

// appliancePlan is a plan for a form, with what the form holds and what it does not.
func appliancePlan(t *testing.T, os string) plan.Plan {
	t.Helper()
	p := sample(t, os)
	if os == "linux" {
		p.Settings = append(p.Settings, step(setting.Offload, os, "gro", "eth0", "on"), step(setting.Offload, os, "lro", "eth0", "off"), step(setting.Ring, os, "rx", "eth1", "4096"),
			step(setting.Sysctl, os, "net.netfilter.nf_conntrack_max", "", "1048576"), step(setting.Sysctl, os, "net.netfilter.nf_conntrack_tcp_timeout_established", "", "7440"))
	} else {
		p.Settings = append(p.Settings, plan.Step{Name: "states", Mechanism: setting.PFLimit, Value: "5000000", Where: plan.Where{Runtime: true}, Evidence: plan.Evidence{Kind: plan.Arithmetic, Text: "x"}})
	}
	p.Digest = ""
	p, err := plan.Seal(p)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSenseForms: what a form gives is what the reader of the product's configuration
// finds, and XML whatever the reasons say.
func TestSenseForms(t *testing.T) {
	for form, want := range map[string]string{"opnsense": "net.core.somaxconn net.ipv4.tcp_rmem net.ipv4.tcp_congestion_control net.isr.maxthreads", "pfsense": "net.core.somaxconn net.ipv4.tcp_rmem net.ipv4.tcp_congestion_control"} {
		text, err := Write(appliancePlan(t, "freebsd"), form)
		if err != nil {
			t.Fatal(err)
		}
		if err := xml.Unmarshal([]byte(text), new(struct{})); err != nil {
			t.Errorf("%s: %v in %s", form, err, text)
		}
		c := appliance.Named(form).Read([]appliance.File{{Path: "/conf/config.xml", Text: "<" + form + ">" + text + "</" + form + ">"}})
		var names []string
		for _, l := range c.Lines {
			if !l.Default {
				names = append(names, l.Name)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s", form, got, want)
		}
		if !strings.Contains(text, "pf limit states") && !strings.Contains(text, "states = 5000000") {
			t.Errorf("%s does not say that pf's limit is not in it: %s", form, text)
		}
	}
}

// TestVyOSForm: the commands are those that VyOS takes, and its reader finds in them
// what was planned.
func TestVyOSForm(t *testing.T) {
	text, err := Write(appliancePlan(t, "linux"), "vyos")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"set system sysctl parameter net.ipv4.tcp_rmem value '4096 131072 6291456'\n", "set system conntrack table-size '1048576'\n", "set firewall global-options timeout tcp established '7440'\n# before 1.5: set system conntrack timeout tcp established '7440'\n", "set system conntrack hash-size '65536'\n",
		"set interfaces ethernet eth0 offload gro\n", "delete interfaces ethernet eth0 offload lro\n", "set interfaces ethernet eth1 ring-buffer rx '4096'\n", "set interfaces ethernet eth0 mtu '9000'\n", "commit-confirm 10\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if strings.Contains(text, "\nrm -rf") {
		t.Errorf("a reason left its comment: %s", text)
	}
	c := appliance.Named("vyos").Read([]appliance.File{{Path: "/config/config.boot", Text: text}})
	found := map[string]string{}
	for _, l := range c.Lines {
		if !l.Default {
			found[l.Name] = l.Value
		}
	}
	if found["net.core.somaxconn"] != "4096" || found["net.netfilter.nf_conntrack_max"] != "1048576" || found["module.nf_conntrack.hashsize"] != "65536" {
		t.Errorf("%v", found)
	}
}

// TestTrueNASForms: each line is a call that sh(1) makes of one argument, which is JSON
// of the fields that the middleware's tunable.create takes.
func TestTrueNASForms(t *testing.T) {
	for form, want := range map[string]string{"truenas-core": "SYSCTL net.core.somaxconn LOADER net.isr.maxthreads", "truenas-scale": "SYSCTL net.core.somaxconn SYSCTL net.netfilter.nf_conntrack_max SYSCTL net.netfilter.nf_conntrack_tcp_timeout_established ZFS zfs_arc_max"} {
		system := map[string]string{"truenas-core": "freebsd", "truenas-scale": "linux"}[form]
		p := appliancePlan(t, system)
		if system == "linux" {
			s := step(setting.ModParam, system, "zfs/zfs_arc_max", "", "8589934592")
			s.Reason = "it's " + strings.Repeat("long ", 40)
			p.Settings, p.Digest = append(p.Settings, s), ""
			var err error
			if p, err = plan.Seal(p); err != nil {
				t.Fatal(err)
			}
		}
		text, err := Write(p, form)
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("sh", "-euc", "midclt() { [ $# = 3 ] && echo \"$3\"; }\n"+text).Output()
		if err != nil {
			t.Fatalf("%s: %v in %s", form, err, text)
		}
		var got []string
		for line := range strings.Lines(string(out)) {
			var call struct{ Type, Var, Value, Comment string }
			if err := json.Unmarshal([]byte(line), &call); err != nil || len([]rune(call.Comment)) > 100 || call.Value == "" {
				t.Errorf("%s: %v in %s", form, err, line)
			}
			got = append(got, call.Type, call.Var)
		}
		all := strings.Join(got, " ")
		for pair := range strings.SplitSeq(want, " ") {
			if !strings.Contains(all, pair) {
				t.Errorf("%s: no %s in %s", form, pair, all)
			}
		}
		if !strings.Contains(text, "Not in this form:") {
			t.Errorf("%s does not say what it lacks: %s", form, text)
		}
	}
}
