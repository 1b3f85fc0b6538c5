package audit_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"linerate/internal/audit"
	"linerate/internal/fact"
)

// FuzzRunAndWrite: hostile files give a report that is valid JSON and prints no control characters.
func FuzzRunAndWrite(f *testing.F) {
	f.Add("net.inet.ip.maxfragpackets=0\n", "pf_enable=\"YES\"\n", "machdep.hyperthreading_allowed=\"0\"\n")
	f.Add("\x1b[31mred=1\nnet.inet.tcp.tso=\x00\n a b c\n", "ifconfig_igb0=\"$(reboot)\"\n", "x=\"${y}\"\n")
	f.Add("dev.igb.99999999999999999999.fc=1\nnet.inet.tcp.sendbuf_max=999999999999999999999999\n", "cloned_interfaces=\"gre0 bridge0\"", "kern.ipc.nmbclusters=-1")
	c, set := known(f)
	f.Fuzz(func(t *testing.T, sysctl, rc, loader string) {
		if len(sysctl)+len(rc)+len(loader) > 1<<14 {
			return
		}
		facts := tree(t, "14.3", map[string]string{"/etc/sysctl.conf": sysctl, "/etc/rc.conf": rc, "/boot/loader.conf": loader})
		facts.Complaints = append(facts.Complaints, fact.Complaint{Text: sysctl, About: rc})
		r, err := audit.Run(audit.Input{Facts: facts, Catalogue: c, Rules: set, Role: "firewall"})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := r.Write(&b, audit.Style{}); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(b.String(), func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }) {
			t.Errorf("control characters reach the terminal: %q", b.String())
		}
		if _, err := json.Marshal(audit.ToSARIF("test", audit.SARIFHost{Report: r})); err != nil {
			t.Error(err)
		}
		seen := map[string]bool{}
		for _, f := range r.Findings {
			if seen[f.ID] {
				t.Errorf("finding %s is listed twice", f.ID)
			}
			seen[f.ID] = true
		}
	})
}
