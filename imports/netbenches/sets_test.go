package netbenches

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestUnquote: values as the readers of rc.conf, loader.conf and sysctl.conf take them.
func TestUnquote(t *testing.T) {
	for in, want := range map[string]string{
		`"a b" # c`: "a b", `'a'`: "a", `a # b`: "a", `a`: "a", ``: "", ` "a`: "a", `"a'`: "a", `"#"`: "#", `""`: "", `# a`: "", `"a" b`: "a",
	} {
		if got := unquote(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

// settled returns settings as NAME=VALUE.
func settled(s []Assignment) string {
	var out []string
	for _, a := range s {
		out = append(out, strings.ReplaceAll(a.Name+"="+a.Value, "\x00", "!"))
	}
	return strings.Join(out, " ")
}

// TestSettingsByFile: a line's meaning depends on its file.
func TestSettingsByFile(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"etc/sysctl.conf", "dev.ix.3.fc=0\nnet.inet.ip.x = 5\n#a=1\n a b=2\n=3\nnothing\n", "dev.ix.N.fc=0 net.inet.ip.x=5"},
		{"etc/sysctl.conf.local", "a=1", "a=1"},
		{"etc/sysctl.confx", "a=1", ""},
		{"boot/device.hints", "hint.a.0=\"1\"", "hint.a.0=1"},
		{"boot/loader.conf.d/x", "a=1", ""},
		{"etc/rc.conf", "pf_enable=yes\ngateway_enable=\"On\"\nipv6_gateway_enable=false\nsshd_enable=TRUE\n", "pf_enable=YES net.inet.ip.forwarding=1 net.inet6.ip6.forwarding=0 sshd_enable=YES"},
		{"etc/rc.conf.misc", "create_args_gif0=\"tunnel a b\"\ncloned_interfaces=gif0\n", "create_args_gif0=tunnel a b cloned_interfaces=gif0"},
		{"etc/rc.conf", "ifconfig_ix0=\"inet 10.0.0.1/8 -rxcsum6 txcsum mtu 9000 fib 2 unknown\"", "ifconfig:rxcsum6=off ifconfig:txcsum=on ifconfig:mtu=9000 ifconfig:fib=2"},
		{"etc/rc.conf", "ifconfig_cxl0_ipv6=\"inet6 2001:2:0:10::1/64 -lro\"", "ifconfig:lro=off !driver=cxl"},
		{"etc/rc.conf", "ifconfig_vlan7=\"inet 198.18.0.1/24\"\nifconfig_9=\"inet 198.18.0.1\"\nifconfig_ix0.5=\"198.19.0.1\"", ""},
		{"etc/rc.conf", "ifconfig_ix0=\"mtu\"", ""},
		{"etc/motd", "a=1", ""},
	} {
		if got := settled(ParseSettings(c.file, []byte(c.text))); got != c.want {
			t.Errorf("%s, %q:\n got %s\nwant %s", c.file, c.text, got, c.want)
		}
	}
}

// TestRules: two rulesets are equal if they decide alike, whatever their comments.
func TestRules(t *testing.T) {
	one := ParseSettings("etc/pf.conf", []byte("# how\nset limit states 5\nset skip on lo0\npass   all # yes\n\n"))
	two := ParseSettings("b/etc/pf.conf", []byte("set limit states 5\nset skip on lo0\npass all\n"))
	three := ParseSettings("etc/pf.conf", []byte("set limit states 5\nset skip on lo0\nblock all\n"))
	if len(one) != 2 || one[0].Value != two[0].Value || one[0].Value == three[0].Value || !strings.HasPrefix(one[0].Value, "3 lines (") {
		t.Errorf("%+v\n%+v\n%+v", one, two, three)
	}
	if one[1].Name != "pf.conf set limit states" || one[1].Value != "5" {
		t.Errorf("%+v", one[1])
	}
	if got := ParseSettings("etc/ipfw.rules", []byte("# nothing\n\n")); got != nil {
		t.Errorf("a file of comments is a ruleset: %+v", got)
	}
	if got := ParseSettings("etc/ipfw.rules", []byte("set limit 5\n")); len(got) != 1 {
		t.Errorf("only pf.conf has options: %+v", got)
	}
	for base, want := range map[string]bool{"a.rules": true, "pf.conf": true, "ipfw.conf": true, "ipf.conf": true, "bird.conf": false, "pf": false} {
		if got := isRules(base); got != want {
			t.Errorf("%s: %v", base, got)
		}
	}
}

// TestLaterFilesWin: local files override others, and those override defaults, in whatever order they were
// read; files of a set's other hosts set nothing.
func TestLaterFilesWin(t *testing.T) {
	files := []struct{ path, inside, value string }{
		{"s/etc/defaults/rc.conf", "etc/defaults/rc.conf", "1"},
		{"s/etc/rc.conf", "etc/rc.conf", "2"},
		{"s/etc/rc.conf.local", "etc/rc.conf.local", "3"},
		{"s/REF/etc/rc.conf.local", "REF/etc/rc.conf.local", "4"},
	}
	for turn := range files {
		c := &Config{}
		for _, f := range slices.Concat(files[turn:], files[:turn]) {
			c.add(f.inside, ParseSettings(f.path, []byte("x="+f.value)))
		}
		if got := c.settings["x"]; got.Value != "3" || got.File != "s/etc/rc.conf.local" {
			t.Errorf("turn %d: %+v", turn, got)
		}
	}
}

// TestDiff: differences by name, with their place; an explicit default is not a difference.
func TestDiff(t *testing.T) {
	set := func(dir, rc, sysctl string) *Config {
		c := &Config{}
		c.add("etc/rc.conf", ParseSettings(dir+"/etc/rc.conf", []byte(rc)))
		c.add("etc/sysctl.conf", ParseSettings(dir+"/etc/sysctl.conf", []byte(sysctl)))
		return c
	}
	a := set("a", "hostname=a\npf_enable=NO\nifconfig_ix0=\"inet 198.18.0.1 -tso4\"\n", "net.inet.ip.x=1\nnet.inet.ip.gone=1\n")
	b := set("b", "hostname=b\ntcp_extensions=YES\nifconfig_cxl0=\"inet 198.18.0.1 tso4\"\n", "net.inet.ip.x=2\ndev.ix.0.fc=3\n")
	var got []string
	for _, c := range Diff(a, b) {
		got = append(got, fmt.Sprintf("%s %s→%s %s %v", c.Tunable, c.Before, c.After, c.File, c.Related))
	}
	want := []string{
		"dev.ix.N.fc →3 b/etc/sysctl.conf:2 [flow-control]",
		"ifconfig:tso4 off→on b/etc/rc.conf:3 [ifconfig:tso net.inet.tcp.tso tso]",
		"net.inet.ip.gone 1→ a/etc/sysctl.conf:2 []",
		"net.inet.ip.x 1→2 b/etc/sysctl.conf:1 []",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if a.Driver() != "ix" || b.Driver() != "cxl" {
		t.Errorf("drivers %q, %q", a.Driver(), b.Driver())
	}
}

func TestAnyUnit(t *testing.T) {
	for name, want := range map[string]string{
		"dev.ix.0.fc": "dev.ix.N.fc", "dev.ix.12.iflib.x.0.y": "dev.ix.N.iflib.x.0.y", "dev.ix.0": "dev.ix.0", "dev.0.0.x": "dev.0.0.x", "hw.ix.0.x": "hw.ix.0.x", "dev.ix.N.fc": "dev.ix.N.fc",
	} {
		if got := AnyUnit(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestDrivers(t *testing.T) {
	for nic, want := range map[string]string{"Chelsio T540-CR": "cxgbe", "intel x710": "ixl", "Intel X710": "ixl", "Intel X540": "ix", "intel i210at": "igb", "Nobody's": "", "": ""} {
		if got := loadNames().driver(nic); got != want {
			t.Errorf("%s: %q, want %q", nic, got, want)
		}
	}
	if matches("[", "[") {
		t.Error("an invalid pattern matches")
	}
}
