package freebsd

import (
	"io/fs"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
)

// tree is a machine's files in memory.
type tree map[string]string

func (t tree) Read(p string) (string, error) {
	if text, ok := t[p]; ok {
		return text, nil
	}
	return "", fs.ErrNotExist
}

func (t tree) List(dir string) ([]string, error) {
	seen := map[string]bool{}
	for p := range t {
		if rest, ok := strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			seen[name] = true
		}
	}
	if len(seen) == 0 {
		return nil, fs.ErrNotExist
	}
	var names []string
	for n := range seen {
		names = append(names, n)
	}
	sort.Strings(names)
	return names, nil
}

// effective returns the effective value of a name.
func effective(c Config, name string) (string, bool) {
	for _, l := range slices.Backward(c.Lines) {
		if l.Name == name && l.Effective {
			return l.Value, true
		}
	}
	return "", false
}

// set lists "file:line name=value", with a dash before lines without effect.
func set(c Config) []string {
	var out []string
	for _, l := range c.Lines {
		if l.Default {
			continue
		}
		s := path.Base(l.File) + " " + l.Name + "=" + l.Value
		if !l.Effective {
			s = "-" + s
		}
		out = append(out, s)
	}
	return out
}

func complaints(c Config) []string {
	var out []string
	for _, p := range c.Problems {
		out = append(out, strings.Join([]string{path.Base(p.File), p.Kind, p.Message}, ": "))
	}
	return out
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func TestLoaderReadsInTheLoadersOrder(t *testing.T) {
	c := ReadLoader(tree{
		"/boot/device.hints":           `hint.uart.0.flags="0x10"`,
		"/boot/loader.conf":            "a=1\nloader_conf_files=\"/boot/extra.conf\"\nx.y = \"z\" # why\n",
		"/boot/extra.conf":             `a="2"`,
		"/boot/loader.conf.local":      `a="3"`,
		"/boot/loader.conf.d/20.conf":  `a="5"`,
		"/boot/loader.conf.d/10.conf":  `a="4"`,
		"/boot/loader.conf.d/README":   `a="9"`,
		"/boot/loader.conf.d/x.off":    `a="9"`,
		"/boot/loader.conf.d/net":      `a="9"`,
		"/boot/loader.conf.bak":        `a="8"`,
		"/boot/nextboot.conf":          "nextboot_enable=\"NO\" \nkernel=\"old\"",
		"/boot/loader.conf.d/sub/x.no": "",
	}, release.MustParse("14.3"))
	equal(t, "lines", set(c), []string{
		"device.hints hint.uart.0.flags=0x10",
		"loader.conf a=1", "loader.conf loader_conf_files=/boot/extra.conf", "loader.conf x.y=z",
		"extra.conf a=2", "10.conf a=4", "20.conf a=5", "loader.conf.local a=3",
	})
	if v, _ := effective(c, "a"); v != "3" {
		t.Errorf("a = %q, want the last file's value", v)
	}
	if c.Lines[0].Stage != fact.Hints {
		t.Errorf("device.hints lines are %q", c.Lines[0].Stage)
	}
	if len(c.Ignored) != 1 || c.Ignored[0].Name != "/boot/loader.conf.bak" {
		t.Errorf("ignored %+v", c.Ignored)
	}
	if len(c.Problems) != 1 || c.Problems[0].File != "/boot/loader.conf.d/net" {
		t.Errorf("problems %+v", c.Problems)
	}
}

func TestLocalComesLastSince14_1(t *testing.T) {
	files := tree{"/boot/loader.conf.local": "a=1\n", "/boot/loader.conf.d/x.conf": "a=2\n"}
	for release, want := range map[string]string{"14.0": "2", "14.1": "1", "15.0": "1"} {
		c := ReadLoader(files, releaseOf(release))
		if v, _ := effective(c, "a"); v != want {
			t.Errorf("%s: a = %q, want %q", release, v, want)
		}
	}
	files["/boot/defaults/loader.conf"] = "loader_conf_files=\"/boot/loader.conf\"\nlocal_loader_conf_files=\"/boot/loader.conf.local\"\nloader_conf_dirs=\"/boot/loader.conf.d\"\n"
	c := ReadLoader(files, releaseOf("14.0"))
	if v, _ := effective(c, "a"); v != "1" {
		t.Errorf("the tree's own defaults file must decide: a = %q", v)
	}
}

func releaseOf(s string) release.Release { return release.MustParse(s) }

func TestLoaderLines(t *testing.T) {
	for _, c := range []struct{ name, release, line, want, problem string }{
		{"plain", "14.3", `kern.hz="100"`, "kern.hz=100", ""},
		{"word", "14.3", `kern.hz=100`, "kern.hz=100", ""},
		{"spaces", "14.3", "  kern.hz \t= \"100\"  # comment", "kern.hz=100", ""},
		{"negative", "14.3", `hw.ix.rx_process_limit=-1`, "hw.ix.rx_process_limit=-1", ""},
		{"path unquoted", "14.3", `entropy=/boot/entropy`, "", "malformed line: the value wants double quotes"},
		{"single quotes", "14.3", `a='1'`, "", "malformed line: the value wants double quotes"},
		{"no equals", "14.3", `hw.ix.num_queues"16"`, "", `malformed line: want name="value"`},
		{"trailing", "14.3", `a="1" b="2`, "", `malformed line: "2" after the value`},
		{"greedy", "14.3", `a="1" b="2"`, "", "the loader fails to parse variable 'a': stray quote at position '2'; a comment on the same line must hold no quotes"},
		{"trailing word", "14.3", `a="1" x`, "", `malformed line: "x" after the value`},
		{"semicolon", "14.3", `a=1; b=2`, "", `malformed line: "; b=2" after the value`},
		{"quotes in comment", "14.3", `a="1" # say "hi"`, "", "the loader fails to parse variable 'a': stray quote at position '2'; a comment on the same line must hold no quotes"},
		{"quotes in comment, 12", "12.4", `a="1" # say "hi"`, "a=1", ""},
		{"quotes in comment of a module", "14.3", `pf_load="YES" # "pf"`, "", "a second quoted text on the line (its comment?) becomes part of the value"},
		{"module", "14.3", `if_igb_load="yes"`, "if_igb_load=YES", ""},
		{"escape", "14.3", `a="x\"y"`, `a=x"y`, ""},
		{"variable", "14.3", `a="${kernel}/$b.c"`, "a=/", ""},
		{"bad variable", "14.3", `a="${"`, "", "the loader fails to parse variable 'a': malformed variable expression at position '1'"},
		{"exec", "14.3", `exec="echo hello"`, "", ""},
		{"unterminated", "11.4", `a="1`, "", "malformed line: the value wants double quotes; this loader reads no further in this file"},
		{"empty", "14.3", `a=""`, "a=", ""},
		{"no value", "14.3", `a=`, "", "malformed line: the value wants double quotes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ReadLoader(tree{"/boot/loader.conf": c.line}, release.MustParse(c.release))
			var line, problem string
			if len(got.Lines) > 0 {
				line = got.Lines[0].Name + "=" + got.Lines[0].Value
			}
			if len(got.Problems) > 0 {
				problem = got.Problems[0].Message
			}
			if line != c.want || problem != c.problem {
				t.Errorf("%s\n got %q, problem %q\nwant %q, problem %q", c.line, line, problem, c.want, c.problem)
			}
		})
	}
}

func TestForthLoaderStopsAtASyntaxError(t *testing.T) {
	files := tree{"/boot/loader.conf": "a=1\nb='2'\nc=3\n", "/boot/loader.conf.local": "d=4\n"}
	equal(t, "11.4", set(ReadLoader(files, release.MustParse("11.4"))),
		[]string{"loader.conf a=1", "-loader.conf c=3", "loader.conf.local d=4"})
	equal(t, "12.4", set(ReadLoader(files, release.MustParse("12.4"))),
		[]string{"loader.conf a=1", "loader.conf c=3", "loader.conf.local d=4"})
}

func TestLoaderIncludesEndAndReportWhatIsMissing(t *testing.T) {
	c := ReadLoader(tree{
		"/boot/loader.conf": "loader_conf_files=\"/boot/loader.conf /boot/a.conf /boot/none.conf\"\n",
		"/boot/a.conf":      "loader_conf_files=\"/boot/loader.conf /boot/a.conf\"\nx=1\n",
	}, release.MustParse("14.3"))
	equal(t, "problems", complaints(c), []string{"loader.conf: include: /boot/none.conf is not there"})
	if v, _ := effective(c, "x"); v != "1" {
		t.Errorf("x = %q", v)
	}
}

func TestLoadedByLoader(t *testing.T) {
	c := ReadLoader(tree{"/boot/loader.conf": "if_igb_load=YES\ncc_load=yes\ncc_name=cc_htcp\npf_load=YES\npf_load=NO\n"}, release.MustParse("14.3"))
	loaded := LoadedByLoader(c.Lines)
	if len(loaded) != 2 || loaded["cc_htcp"].Number != 2 || loaded["if_igb"].Number != 1 {
		t.Errorf("loaded %+v", loaded)
	}
}

func TestSysctlConf(t *testing.T) {
	c := ReadSysctlConf(tree{
		"/etc/sysctl.conf": `# comment
net.inet.tcp.tso=0   # why
 kern.ipc.maxsockbuf = "16777216"
net.inet.ip.redirect: 0
a.quoted='x # y' # dropped
a.hash=x\#y
ZFS Tuning: The plan is to use large amounts of memory
net.inet.ip.forwarding
dev.igb.0.fc=0
net.inet.tcp.tso=1
`,
		"/etc/sysctl.conf.local":      "net.inet.tcp.tso=0\n",
		"/etc/sysctl.conf.sample":     "x.y=1\n",
		"/etc/sysctl.kld.d/pf.conf":   "net.pf.request_maxcount=1000000\n",
		"/etc/sysctl.kld.d/README.md": "nothing",
	})
	equal(t, "lines", set(c), []string{
		"sysctl.conf net.inet.tcp.tso=0", "sysctl.conf kern.ipc.maxsockbuf=16777216", "sysctl.conf net.inet.ip.redirect=0",
		"sysctl.conf a.quoted=x # y", `sysctl.conf a.hash=x\#y`, "sysctl.conf dev.igb.0.fc=0", "sysctl.conf net.inet.tcp.tso=1",
		"sysctl.conf.local net.inet.tcp.tso=0", "pf.conf net.pf.request_maxcount=1000000",
	})
	equal(t, "problems", complaints(c), []string{
		"sysctl.conf: syntax: sysctl: unknown oid 'ZFS Tuning' at line 7",
		"sysctl.conf: syntax: no '=': the line only shows net.inet.ip.forwarding and sets nothing",
	})
	if n := c.Lines[1]; n.Number != 3 || n.Text != ` kern.ipc.maxsockbuf = "16777216"` {
		t.Errorf("line kept as %+v", n)
	}
	if len(c.Ignored) != 1 {
		t.Errorf("ignored %+v", c.Ignored)
	}
}

func TestRCOrder(t *testing.T) {
	c := ReadRC(tree{
		"/etc/defaults/rc.conf":     "rc_conf_files=\"/etc/rc.conf /etc/rc.conf.local\"\ngateway_enable=\"NO\"\nsource_rc_confs() {\n  local i\n}\nif [ -r /etc/defaults/vendor.conf ]; then\n. /etc/defaults/vendor.conf\nfi\n",
		"/etc/defaults/vendor.conf": "gateway_enable=YES\n",
		"/etc/rc.conf":              "gateway_enable=NO\nrc_conf_files=\"$rc_conf_files /etc/rc.conf.site\"\n",
		"/etc/rc.conf.local":        "x=1\n",
		"/etc/rc.conf.site":         "x=2\n",
		"/etc/rc.conf.old":          "x=3\n",
		"/etc/rc.conf.d/pf":         "pf_flags=-q\n",
		"/etc/rc.conf.d/netif/a":    "y=1\n",
	})
	equal(t, "lines", set(c), []string{
		"rc.conf gateway_enable=NO", "rc.conf rc_conf_files=/etc/rc.conf /etc/rc.conf.local /etc/rc.conf.site",
		"rc.conf.local x=1", "rc.conf.site x=2", "a y=1", "pf pf_flags=-q",
	})
	if len(c.Problems) != 0 {
		t.Errorf("problems %+v", c.Problems)
	}
	if len(c.Ignored) != 1 || c.Ignored[0].Name != "/etc/rc.conf.old" {
		t.Errorf("ignored %+v", c.Ignored)
	}
}

func TestShell(t *testing.T) {
	for _, c := range []struct {
		name, text string
		set        []string
		problems   []string
	}{
		{"quotes", `a="x y" b='p "q" $r' c=p\ q`, []string{"a=x y", `b=p "q" $r`, "c=p q"}, nil},
		{"continuation", "kld_list=\"a \\\n b\"\nx=1", []string{"kld_list=a  b", "x=1"}, nil},
		{"multi-line quote", "a=\"1\n2\"\nb=3", []string{"a=1\n2", "b=3"}, nil},
		{"reference", "if=igb0\nifconfig_igb1=\"up $if ${if}x ${none}\"", []string{"if=igb0", "ifconfig_igb1=up igb0 igb0x "}, nil},
		{"appending", "l=a\nl=\"$l b\"", []string{"l=a", "l=a b"}, nil},
		{"default", `: ${x:="y z"}`, []string{"x=y z"}, nil},
		{"default not taken", "x=1\n: ${x:=2}\ny=${x:-3} z=${q:-4} w=${x:+5}", []string{"x=1", "y=1", "z=4", "w=5"}, nil},
		{"comment", "a=1 # b=2\n#c=3\nd=x#y", []string{"a=1", "d=x#y"}, nil},
		{"command output", "h=$(hostname)\nb=`date`", []string{"-h=", "-b="}, []string{
			"the value of h needs execution: it is a command's output", "the value of b needs execution: it is a command's output"}},
		{"dot", `ifconfig_em0.10="up"`, nil, []string{"ifconfig_em0.10: not found (sh has no '.' in names: write ifconfig_em0_10)"}},
		{"spaces", "gateway_enable = YES", nil, []string{"gateway_enable: not found (no spaces around '=' in a shell assignment)"}},
		{"plus equals", `kld_list+=" pf"`, nil, []string{"kld_list+= pf: not found (sh has no '+=')"}},
		{"conditional", "if [ -f /x ]; then\n a=1\nelse a=2\nfi\nb=3", []string{"-a=1", "-a=2", "b=3"},
			[]string{"a conditional or loop: what it sets is not known without running it"}},
		{"case", "case $x in\n(a) b=1;;\n c|d) b=2;;\nesac\ne=1", []string{"-b=1", "-b=2", "e=1"},
			[]string{"a conditional or loop: what it sets is not known without running it"}},
		{"and", "[ -f /x ] && a=1\nb=2", []string{"-a=1", "b=2"}, []string{"runs a command ([): its effect is not known without running it"}},
		{"function", "f() {\n a=1\n}\nb=2", []string{"-a=1", "b=2"}, []string{"a function: not a setting"}},
		{"subshell", "(a=1)\nb=2", []string{"-a=1", "b=2"}, nil},
		{"unset", "a=1\nunset a\nb=2", []string{"-a=1", "b=2"}, nil},
		{"export", "export A=1", []string{"A=1"}, nil},
		{"environment of a command", "A=1 ls > /tmp/x 2>&1", nil, []string{"runs a command (A=1): its effect is not known without running it"}},
		{"pattern", "a=b.c\nd=${a%.c}", []string{"a=b.c", "-d="}, []string{"the value of d needs execution: it edits ${a} with a pattern"}},
		{"unclosed", `a="1`, nil, []string{"Unterminated quoted string"}},
		{"include", ". /etc/site.conf\n. /etc/none.conf\nb=1", []string{"s=1", "b=1"}, []string{"/etc/none.conf is not among the files here"}},
		{"carriage return", "a=\"YES\"\r\nb=1", []string{"a=YES\r", "b=1"}, nil},
		{"no lists", "a=1\nb=(x y)\nc=3", []string{"a=1", "c=3"}, []string{"sh has no lists in parentheses"}},
		{"fi without if", "a=1\nfi\nb=2", []string{"a=1", "b=2"}, []string{"\"fi\" unexpected: it closes nothing"}},
		{"bytes that are no UTF-8", "a=1 # Z\xfcrich\nb=\"\xe4\"\nc=2", []string{"a=1", "b=\xe4", "c=2"}, nil},
		{"another shell's expansion", "a=1\nb=${a/x/y}\nc=3", []string{"a=1", "-b=", "c=3"}, []string{"the value of b needs execution: it edits ${a} with a pattern"}},
		{"a word with references", "a=x\nb=${a:+$a }y\nc=\"${c-}${a:+${a} z}\"\nd=${a:+'$a'}", []string{"a=x", "b=x y", "c=x z", "-d="}, []string{"the value of d needs execution: its default needs execution"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ReadRC(tree{"/etc/rc.conf": c.text, "/etc/site.conf": "s=1\n"})
			var lines []string
			for _, l := range got.Lines {
				s := l.Name + "=" + l.Value
				if !l.Effective {
					s = "-" + s
				}
				lines = append(lines, s)
			}
			var problems []string
			for _, p := range got.Problems {
				problems = append(problems, p.Message)
			}
			equal(t, "set", lines, c.set)
			equal(t, "problems", problems, c.problems)
		})
	}
}

// TestShellBoundsValues: a value that doubles itself line by line stays small.
func TestShellBoundsValues(t *testing.T) {
	for _, l := range ReadRC(tree{"/etc/rc.conf": "a=" + strings.Repeat("x", 32) + "\n" + strings.Repeat("a=$a$a\n", 40)}).Lines {
		if len(l.Value) > maxValue {
			t.Fatalf("a value grew to %d bytes", len(l.Value))
		}
	}
}

// TestShellStandsDeepNesting: a hostile file cannot exhaust the stack.
func TestShellStandsDeepNesting(t *testing.T) {
	for _, opener := range []string{"(", "{ ", "if ", "$(", "${a:-", "`", "\"$(", "case x in ("} {
		c := ReadRC(tree{"/etc/rc.conf": "a=1\n" + strings.Repeat(opener, 500_000)})
		if v, _ := effective(c, "a"); v != "1" {
			t.Errorf("%q: a is %q", opener, v)
		}
	}
}

// TestShellBoundsLines: the many problems of one line share a single copy of its text.
func TestShellBoundsLines(t *testing.T) {
	c := ReadRC(tree{"/etc/rc.conf": strings.Repeat("x y;", 8000) + strings.Repeat("z", 65_000) + "\nb=1\n"})
	if len(c.Problems) != 8001 {
		t.Errorf("%d problems", len(c.Problems))
	}
	first := c.Problems[0].Text
	for _, p := range c.Problems {
		if len(p.Text) > maxRaw+len("…") || unsafe.StringData(p.Text) != unsafe.StringData(first) {
			t.Fatalf("%d bytes of text, or a separate copy", len(p.Text))
		}
	}
	if l := c.Lines[0]; l.Number != 2 || l.Text != "b=1" {
		t.Errorf("then %+v", l)
	}
}

func TestShellKeepsLineNumbersAndText(t *testing.T) {
	c := ReadRC(tree{"/etc/rc.conf": "# one\n\nkld_list=\"pf \\\n ipfw\"\n  gateway_enable=YES # x\n"})
	if l := c.Lines[0]; l.Number != 3 || l.Text != `kld_list="pf \` {
		t.Errorf("%+v", l)
	}
	if l := c.Lines[1]; l.Number != 5 || l.Text != "  gateway_enable=YES # x" {
		t.Errorf("%+v", l)
	}
	mods := c.Modules()
	if len(mods) != 2 || mods["ipfw"].Number != 3 {
		t.Errorf("modules %+v", mods)
	}
}

func TestInterfacesOfRC(t *testing.T) {
	c := ReadRC(tree{"/etc/rc.conf": `cloned_interfaces="lagg0 vlan10 gif0:sticky"
wireguard_interfaces="wg0"
ifconfig_lagg0="laggproto lacp laggport ix0 laggport ix1 198.18.0.1/24"
ifconfig_vlan10="inet 198.18.1.1/24 vlan 10 vlandev lagg0"
ifconfig_ix0="up -lro -tso mtu 9000"
ifconfig_ix0_ipv6="inet6 2001:2::1/64"
ifconfig_ix0_alias0="inet 198.18.2.1/32"
ifconfig_em0_name="wan"
create_args_bridge0="up"
vlans_ix1="5 dmz"
ifconfig_DEFAULT="DHCP"
`})
	var f fact.Facts
	AddRCInterfaces(&f, c)
	var got []string
	for _, n := range f.NICs {
		got = append(got, strings.Join([]string{n.Name, n.Driver, n.Kind, n.Parent, strings.Join(n.Members, "+"), strings.Join(n.ConfigFlags, "")}, " "))
	}
	equal(t, "interfaces", got, []string{"lagg0 lagg lagg  ix0+ix1 ", "vlan10 vlan vlan lagg0  ", "gif0 gif tunnel   ", "wg0 wg tunnel   ",
		"ix0 ix ethernet   -lro-tso", "bridge0 bridge bridge   ", "ix1.5 vlan vlan ix1  ", "dmz vlan vlan ix1  "})
	ix, _ := f.NIC("ix0")
	if ix.MTU != 9000 || ix.IPv4 != 1 || ix.IPv6 != 1 || len(ix.Configured) != 3 {
		t.Errorf("%+v", ix)
	}
}

func TestPF(t *testing.T) {
	pf := &fact.PF{}
	problems := ReadPF(tree{"/etc/pf.conf": `# comment
ext_if = "igb0"   # the world
most = "250000"
ports = "{ 80, 443 }"
set limit states $most
set limit { src-nodes 5000, frags 20000 }
set timeout { tcp.established 3600, interval 5 }
set skip on { lo0, igb2 }
set optimization aggressive
table <bad> persist { 198.18.0.1,
   198.18.0.2 }
scrub in on $ext_if all max-mss 1440 no-df fragment reassemble
no scrub on lo0
nat on $ext_if from 198.18.0.0/15 to any -> ($ext_if) sticky-address
rdr pass on $ext_if proto tcp to port 80 -> 198.18.0.9
anchor "spam/*"
anchor "inline" {
	block in quick from <bad>
	pass out
}
match in all scrub (max-mss 1300)
pass in on $ext_if proto tcp to port $ports \
    keep state (source-track rule, max-src-conn 100)
pass in proto tcp to port 22 synproxy state
pass out route-to (igb1 198.18.0.1) no state
antispoof for $ext_if
include "/etc/pf.more"
include "/etc/pf.none"
`, "/etc/pf.more": "block drop all\n"}, "/etc/pf.conf", pf)
	if pf.Rules != 8 || pf.Translations != 2 || pf.SourceTracking != 2 {
		t.Errorf("%+v", pf)
	}
	var limits []string
	for _, l := range append(pf.FileLimits, pf.Timeouts...) {
		limits = append(limits, strings.Join([]string{l.Name, strconv.FormatUint(l.Value, 10), strconv.Itoa(l.Line)}, " "))
	}
	equal(t, "limits", limits, []string{"states 250000 5", "src-nodes 5000 6", "frags 20000 6", "tcp.established 3600 7", "interval 5 7"})
	if len(pf.Scrub) != 2 || pf.Scrub[0].MaxMSS != 1440 || pf.Scrub[1].MaxMSS != 1300 {
		t.Errorf("scrub %+v", pf.Scrub)
	}
	if len(problems) != 1 || problems[0].Message != "/etc/pf.none is not there" || problems[0].Line != 28 {
		t.Errorf("%+v", problems)
	}
	if len(pf.Options) != 2 || pf.Options[0].Value != "lo0 igb2" || pf.Options[1].Name != "optimization" || pf.Options[1].Value != "aggressive" {
		t.Errorf("%+v", pf.Options)
	}
}

func TestIPFW(t *testing.T) {
	fw := &fact.IPFW{}
	ReadIPFW(tree{"/etc/ipfw.rules": `#!/bin/sh
cmd="ipfw -q add"
pif=igb0
ipfw -q -f flush
$cmd 00010 allow all from any to any via lo0
$cmd 00101 check-state
/sbin/ipfw add 200 allow tcp from any to any setup keep-state; ipfw add 201 deny log ip from any to any
ipfw -q nat 1 config if $pif same_ports \
   reset
$cmd 300 nat 1 ip from any to any via ${pif}
ipfw pipe 1 config bw 100Mbit/s
ipfw table bad create type addr
ipfw table bad add 198.18.0.0/15
`}, "/etc/ipfw.rules", fw)
	if fw.Rules != 5 || fw.Stateful != 1 || fw.NAT != 1 || fw.Pipes != 1 || len(fw.NATLines) != 2 {
		t.Errorf("%+v", fw)
	}
	plain := &fact.IPFW{}
	ReadIPFW(tree{"/etc/fw": "add 100 allow ip from any to any\nadd divert 8668 ip from any to any\n"}, "/etc/fw", plain)
	if plain.Rules != 2 || plain.NAT != 1 {
		t.Errorf("%+v", plain)
	}
	running := &fact.IPFW{}
	AddIPFWList(running, "00100 12 3400 allow ip from any to any via lo0\n00200 0 0 nat 1 ip from any to any\n65535 5 400 allow ip from any to any\n")
	AddIPFWNAT(running, "ipfw nat 1 config if igb0\n")
	if running.Rules != 2 || running.NAT != 1 || len(running.NATLines) != 2 {
		t.Errorf("%+v", running)
	}
}

func TestKernelConfig(t *testing.T) {
	equal(t, "options", ParseKernelConfig("options\tCONFIG_AUTOGENERATED\nident\tGENERIC\nmaxusers 512\noptions\tNMBCLUSTERS=65536 # x\noptions IPSEC\ndevice em\n"),
		[]string{"CONFIG_AUTOGENERATED", "IPSEC", "NMBCLUSTERS=65536", "maxusers=512"})
}

// TestStrangeStatements: only the first word that pfctl does not know is reported; a redacted word is not.
func TestStrangeStatements(t *testing.T) {
	for text, line := range map[string]int{
		"set block-policy drop\npass\n": 0, "set blokc-policy drop\nblok in all\npass\n": 1, "pass\nblok in all\nand more\n": 2, "REDACTED in all\nset REDACTED yes\npass\n": 0, "REDACTED\nREDACTED and REDACTED\n": 1,
		"pass\npass to any port { 22, 80 keep state\nblock\n": 2, "pass proto tcp to port {\n 22\n 80\n}\n": 0,
		"no nat on em0\nanchor \"a\" {\n pass\n}\nload anchor a from \"/x\"\n": 0,
	} {
		problems := ReadPF(tree{"/etc/pf.conf": text}, "/etc/pf.conf", &fact.PF{})
		if len(problems) != min(line, 1) || line > 0 && problems[0].Line != line {
			t.Errorf("%q: %+v, want line %d", text, problems, line)
		}
	}
}
