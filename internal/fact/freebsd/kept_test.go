package freebsd

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/fact"
	"linerate/internal/fact/redact"
)

// TestWhatOfFilesIsKept: configuration lines read the same from what captures keep of them.
func TestWhatOfFilesIsKept(t *testing.T) {
	for _, c := range []struct {
		path, kind string
		lines      []string
		read       func(text, path string) any
	}{
		{"/etc/rc.conf", redact.RC, []string{`ifconfig_em0="dhcp -lro"`, `ifconfig_em0="DHCP metric 10"`, `ifconfig_em0_ipv6="inet6 auto_linklocal accept_rtadv autoconf"`, `powerd_flags="-a hiadaptive -b adaptive -n minimum"`,
			`cloned_interfaces="lagg0 bridge0"`, `kld_list="cc_htcp if_wg"`}, func(text, path string) any {
			rc := ReadRC(tree{path: text})
			var f fact.Facts
			AddRCInterfaces(&f, rc)
			return []any{wordsOf(rc), len(rc.Problems), f.NICs == nil, nicsOf(f)}
		}},
		{"/etc/pf.conf", redact.PF, []string{"set loginterface em0", "set fail-policy drop", "set limit states 1000000", "set skip on lo0", "pass in quick proto tcp from any to any port 443 keep state (max-src-conn 100)", "nat on em0 from any to any -> (em0)"},
			func(text, path string) any {
				var pf fact.PF
				problems := ReadPF(tree{path: text}, path, &pf)
				for i := range pf.Options {
					pf.Options[i].Text = ""
				}
				for i := range pf.FileLimits {
					pf.FileLimits[i].Text = ""
				}
				return []any{pf, len(problems)}
			}},
		{"/etc/ipfw.rules", redact.IPFW, []string{"ipfw add 50 divert natd ip4 from any to any via em0", "ipfw nat 1 config if em0 same_ports", "ipfw add allow tcp from any to me 22 keep-state", "ipfw pipe 1 config bw 10Mbit/s"}, func(text, path string) any {
			var fw fact.IPFW
			ReadIPFW(tree{path: text}, path, &fw)
			for i := range fw.NATLines {
				fw.NATLines[i].Text = ""
			}
			return fw
		}},
		{"/etc/sysctl.conf", redact.Sysctl, []string{"hw.acpi.lid_switch_state=S3", "net.inet.ip.forwarding=1"}, func(text, path string) any { return wordsOf(ReadSysctlConf(tree{path: text})) }},
		{"", redact.Values, []string{"hw.mds_disable_state: inactive", "machdep.mitigations.taa.state: TSX not present", "machdep.mitigations.rngds.state: Not applicable"}, func(text, _ string) any { return ParseValues(text, nil) }},
	} {
		for _, line := range c.lines {
			text, _ := redact.Text(c.kind, line+"\n")
			if d := cmp.Diff(c.read(line+"\n", c.path), c.read(text, c.path)); d != "" {
				t.Errorf("%s: from a capture (%s): %s", line, text, d)
			}
		}
	}
}

// TestDefaultsOfVariables: an expansion that assigns a default to a variable is not a command.
func TestDefaultsOfVariables(t *testing.T) {
	for line, want := range map[string]string{`: ${_localbase="/usr/local"}`: `: ${_localbase="` + redact.Mark + `"}`, `: ${x_enable:=NO}`: `: ${x_enable:=NO}`, `: ${pin:=1234}`: `: ${pin:=` + redact.Mark + `}`} {
		text, _ := redact.Text(redact.RC, line)
		if c := ReadRC(tree{"/etc/rc.conf": text}); text != want || len(c.Problems) > 0 {
			t.Errorf("%s becomes %s: %+v", line, text, c.Problems)
		}
	}
}

func wordsOf(c Config) []string {
	var all []string
	for _, l := range c.Lines {
		all = append(all, l.Name+"="+l.Value)
	}
	return all
}

func nicsOf(f fact.Facts) []string {
	var all []string
	for _, n := range f.NICs {
		all = append(all, n.Name, n.Driver, n.Kind)
		all = append(all, slices.Concat(n.ConfigFlags, n.Members)...)
		if n.IPv4 > 0 {
			all = append(all, "IPv4")
		}
		if n.IPv6 > 0 {
			all = append(all, "IPv6")
		}
	}
	return all
}
