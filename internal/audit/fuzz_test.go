package audit_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"linerate/internal/sharedtest"

	"linerate/internal/audit"
	"linerate/internal/fact"
)

// FuzzLoadRules: whatever a file of rules holds, loading it ends in rules
// that satisfy the schema or in an error, and their expressions in a program
// or an error.
func FuzzLoadRules(f *testing.F) {
	f.Add([]byte("rules: [{id: LR-X, kind: harmful, severity: info, action: keep, name: x, message: m, why: w, fix: f, sources: [s], when: 'memory > 0 && any(nics, .ether)'}]"))
	f.Add([]byte("classes: {a: [b]}\ntransforms: [c]\nrc_modules: {d: e}\npolicies: ['f.*']"))
	f.Add([]byte("rules: [{id: LR-X, each: line, names: ['[']}]"))
	f.Add([]byte("rules:\n- &a {id: LR-A}\n- *a\n- ~\n"))
	for _, name := range []string{"rules/boot.yaml", "rules/lists.yaml"} {
		if text, err := fs.ReadFile(sharedtest.Catalogue(), name); err == nil {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		set, err := audit.LoadRules(fstest.MapFS{"rules/x.yaml": {Data: text}})
		if err != nil {
			return
		}
		for _, r := range set.Rules() {
			if r.ID == "" || r.Message == "" || len(r.Sources) == 0 {
				t.Errorf("accepted %+v", r)
			}
		}
		_ = set.CheckExpressions() // an error is an answer, a panic is none
	})
}

// FuzzRunAndWrite: hostile files end in a report that holds no control
// characters on the terminal and is valid JSON.
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
				t.Errorf("%s is there twice", f.ID)
			}
			seen[f.ID] = true
		}
	})
}
