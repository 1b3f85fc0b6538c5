package audit_test

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/audit"
	"linerate/internal/fact"
)

// portVariable is the reason why a port's rc.conf variable is not judged.
const portVariable = "variables of rc.conf for scripts that the catalogue does not know"

// TestCoverage: settings are counted by whether they could be judged, and a host is called fine only
// if all settings of its files could be.
func TestCoverage(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		live  map[string]string
		os    string
		want  audit.Coverage
		says  string // in the last lines
		never string
	}{
		{name: "nothing set", want: audit.Coverage{}, says: "no settings found; there was nothing to judge", never: "leave it"},
		{name: "a packet filter alone", files: map[string]string{"/etc/pf.conf": "pass all\n"}, want: audit.Coverage{}, says: "none of the mistakes that", never: "nothing to judge"},
		{name: "all known", files: map[string]string{"/etc/sysctl.conf": "net.t.run=6"},
			want: audit.Coverage{Set: 1, SetKnown: 1}, says: "nothing to say; leave it as it is\n1 line read, 1 without a finding\ncoverage: files set 1 name, all in the catalogue."},
		{name: "none known", os: fact.Linux, live: map[string]string{"net.core.somaxconn": "4096", "vm.swappiness": "60"},
			want: audit.Coverage{Running: 2}, says: "the catalogue knows none of this host's settings; it cannot judge them\ncoverage: 2 values running, none in the catalogue.", never: "leave it"},
		{name: "none of the files known", files: map[string]string{"/etc/rc.conf": `port_flags="-x"`}, live: map[string]string{"net.t.run": "5"},
			want: audit.Coverage{Set: 1, Running: 1, RunningKnown: 1, Unjudged: []audit.Unjudged{{Name: "port_flags", Why: portVariable}}},
			says: "the catalogue knows none of what the files set; it cannot judge that", never: "leave it"},
		{name: "one of two", files: map[string]string{"/etc/sysctl.conf": "net.t.run=6", "/etc/rc.conf": `port_flags="-x"`},
			want: audit.Coverage{Set: 2, SetKnown: 1, Unjudged: []audit.Unjudged{{Name: "port_flags", Why: portVariable}}},
			says: "no finding in what could be judged\n2 lines read, 2 without a finding\ncoverage: files set 2 names, 1 in the catalogue. Not judged (variables of\n  rc.conf for scripts that the catalogue does not know): port_flags.", never: "leave it"},
		{name: "a default that depends on memory", files: map[string]string{"/boot/loader.conf": `net.t.computed="8000000"`},
			want: audit.Coverage{Set: 1, SetKnown: 1, Unjudged: []audit.Unjudged{{Name: "net.t.computed", Why: "its default is computed from what is not known of the host"}}},
			says: "Not judged (its default is\n  computed from what is not known of the host): net.t.computed."},
		{name: "findings where no tunable is set", os: fact.Linux, files: map[string]string{"/etc/systemd/system/x.service": "[Unit]\nLimitNOFILE=5\n"}, want: audit.Coverage{}, says: "1 error, 0 warnings, 0 info\n", never: "nothing to judge"},
		{name: "one running value known", live: map[string]string{"net.t.run": "5", "net.t.else": "1"}, want: audit.Coverage{Running: 2, RunningKnown: 1},
			says: "no file sets anything; no finding among the 1 value running that the catalogue knows", never: "leave it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := tree(t, "14.3", c.files)
			if c.os != "" {
				f.OS = c.os
			}
			for name, v := range c.live {
				setLive(f, name, v)
			}
			f.Normalise()
			r, err := audit.Run(audit.Input{Facts: f, Catalogue: smallCatalogue(t), Rules: smallRules()})
			if err != nil {
				t.Fatal(err)
			}
			got, want := r.Coverage, c.want
			if got.Set != want.Set || got.SetKnown != want.SetKnown || got.Running != want.Running || got.RunningKnown != want.RunningKnown || !slices.Equal(got.Unjudged, want.Unjudged) {
				t.Errorf("%+v, want %+v", got, want)
			}
			var b strings.Builder
			if err := r.Write(&b, audit.Style{}); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(b.String(), c.says) || c.never != "" && strings.Contains(b.String(), c.never) {
				t.Errorf("%s\nwant %q, and never %q", b.String(), c.says, c.never)
			}
		})
	}
}

// TestBootWords: command-line words about what to boot are not tunables, and are not counted.
func TestBootWords(t *testing.T) {
	f := tree(t, "6.12", map[string]string{"/etc/default/grub": `GRUB_CMDLINE_LINUX="root=/dev/vda1 rootflags=subvol=a rd.lvm.lv=a/b quiet mitigations=off nosuch=1"`})
	c := run(t, f, "endpoint").Coverage
	if c.Set-c.SetKnown != 1 || len(c.Unjudged) != 1 || c.Unjudged[0].Name != "cmdline.nosuch" {
		t.Errorf("%+v", c)
	}
}
