package netbenches

import (
	"slices"
	"strings"
	"testing"
)

// TestRoles: a file's role depends only on its path, and possible keys take precedence over all other roles.
func TestRoles(t *testing.T) {
	for p, want := range map[string]Role{
		"t/results/l/bench.a.1.receiver":           RoleReceiver,
		"t/results/l/bench.a.1.receiver_2":         RoleReceiver,
		"t/results/l/bench.a.1.sender":             RoleSender,
		"t/results/l/bench.a.1.sender_gen2":        RoleSender,
		"t/results/l/bench.a.1.senders":            RoleValues,
		"t/results/l/bench.a.1":                    RoleRaw,
		"t/results/l/bench.a.12345":                RoleValues,
		"t/results/l/bench.a.info":                 RoleInfo,
		"t/results/l/a.pps":                        RoleValues,
		"t/results/l/GNUPLOT.data":                 RoleGnuplot,
		"t/results/l/gnuplot.data.max":             RoleGnuplot,
		"t/results/l/ReadMe":                       RoleReadme,
		"bench-lab-8nodes.config":                  RoleValues,
		"lab-8nodes.config":                        RoleValues,
		"t/results/l/bench.a.1.before":             RoleProfile,
		"t/results/l/bench.a.during":               RoleProfile,
		"t/results/l/a.pmc.txt":                    RoleProfile,
		"t/results/l/a.folded2":                    RoleProfile,
		"t/results/l/a.SVG":                        RoleProfile,
		"t/results/l/console.log":                  RoleProfile,
		"t/configs/a/README.md":                    RoleConfig,
		"t/config/a/etc/rc.conf":                   RoleConfig,
		"t/results/configs/rc.conf":                RoleValues,
		"t/configs/a/etc/ssh/ssh_host_ed_x":        RoleSecret,
		"t/configs/a/root/.ssh/ID_RSA":             RoleSecret,
		"pktgen.configs/x.PEM":                     RoleSecret,
		"t/configs/a/usr/local/etc/racoon/psk.txt": RoleSecret,
		"t/results/l/x.p12":                        RoleSecret,
	} {
		if got := roleOf(p); got != want {
			t.Errorf("%s: %s, want %s", p, got, want)
		}
	}
}

// TestPlaces: a folder's place depends on the folders around the last "results".
func TestPlaces(t *testing.T) {
	for dir, want := range map[string]Place{
		"/archive/AMD_GX-412TC_4Cores/Intel_i210AT/pf/results/fbsd11": {"AMD_GX-412TC_4Cores", "AMD GX-412TC", 4, "Intel i210AT", "pf", "fbsd11"},
		"Xeon_E5-2650-8Cores-Chelsio_T540-CR/nic/fib/result/a/b/":     {"Xeon_E5-2650-8Cores-Chelsio_T540-CR", "Xeon E5-2650-8Cores-Chelsio T540-CR", 0, "nic", "fib", "a/b"},
		"2x_Xeon_16xCores/n/t/results/x":                              {"2x_Xeon_16xCores", "2x Xeon", 16, "n", "t", "x"},
		"results/only":                                                {Label: "only"},
		"topic/results":                                               {Topic: "topic"},
		"a_2Cores/n/old/results/v1/results/v2":                        {"old", "old", 0, "results", "v1", "v2"},
	} {
		if got := ParsePlace(dir); got != want {
			t.Errorf("%s: %+v; want %+v", dir, got, want)
		}
	}
	if p := ParsePlace("AMD_GX_4Cores/nic/topic"); p != (Place{}) {
		t.Errorf("a folder outside results has the place %+v", p)
	}
	p := ParsePlace("/somewhere/else/A_4Cores/Intel_X/t/results/l")
	if got := p.Canonical(); got != "A_4Cores/Intel X/t/l" {
		t.Errorf("canonical %q depends on where the archive lies", got)
	}
}

func TestRawFolders(t *testing.T) {
	for dir, want := range map[string][2]string{
		"t/results/l":         {"t/results/l", ""},
		"t/results/l/RAW":     {"t/results/l", ""},
		"t/results/l/raw":     {"t/results/l", ""},
		"t/results/l/RAW.8rx": {"t/results/l", "8rx"},
		"t/results/l/RAWS":    {"t/results/l/RAWS", ""},
	} {
		if study, q := rawQualifier(dir); study != want[0] || q != want[1] {
			t.Errorf("%s: study %q, series %q", dir, study, q)
		}
	}
	for study, want := range map[string]string{"c/n/t/results/l": "c/n/t", "c/n/t/result/l/m": "c/n/t", "c/n/t": "", "results/l": ".", ".": ""} {
		if got := topicDir(study); got != want {
			t.Errorf("topic of %s: %q, want %q", study, got, want)
		}
	}
	for base, want := range map[string]string{"bench.info": "", "bench.a.b.info": "a.b", "a.info": "a"} {
		if got := InfoKey(base); got != want {
			t.Errorf("key of %s: %q, want %q", base, got, want)
		}
	}
}

// TestRevisions: if .info does not state it, a folder's label says what was measured.
func TestRevisions(t *testing.T) {
	for label, want := range map[string][2]string{ // revision, release
		"fbsd16-n311215.D58513":  {"n311215", "16"},
		"fbsd12-head.r332390":    {"r332390", "12-head"},
		"fbsd11.1-yandex":        {"", "11.1"},
		"FreeBSD-15.0-CURRENT":   {"", "15.0-CURRENT"},
		"fbsd11-routing.r308000": {"r308000", "11-routing"},
		"r287478":                {"r287478", ""},
		"n1234":                  {"", ""},
		"OpenBSD":                {"", ""},
	} {
		if got := [2]string{RevisionOf(label), releaseOf(label)}; got != want {
			t.Errorf("%s: %q, want %q", label, got, want)
		}
	}
	for uname, want := range map[string]Uname{
		"FreeBSD a 16.0-CURRENT FreeBSD 16.0-CURRENT #1 main-n311215-0123456789ab: Mon amd64": {"FreeBSD", "16.0-CURRENT", "n311215-0123456789ab", "amd64"},
		"FreeBSD a 12.0 #0 r332390M: x arm64":                                                 {"FreeBSD", "12.0", "r332390", "arm64"},
		"FreeBSD a 12.0 #0 rX332390 i386":                                                     {"FreeBSD", "12.0", "", "i386"},
		"FreeBSD a":                                                                           {},
		"":                                                                                    {},
	} {
		if got := ParseUname(uname); got != want {
			t.Errorf("%s: %+v, want %+v", uname, got, want)
		}
	}
}

// TestImages: the label is the second field of an image's name, only in generation 1.
func TestImages(t *testing.T) {
	for _, c := range []struct {
		in   Info
		want string
	}{
		{Info{Early: true, Image: "/tmp/BSDRP-287478-upgrade.img.xz"}, "287478"},
		{Info{Early: true, Image: "/tmp/plain"}, "plain"},
		{Info{Image: "/tmp/BSDRP-287478-upgrade.img.xz"}, "BSDRP-287478-upgrade.img.xz"},
		{Info{}, ""},
	} {
		if got := c.in.ImageLabel(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.in, got, c.want)
		}
	}
}

func TestDates(t *testing.T) {
	for text, want := range map[string]string{
		"Fri Sep 11 19:51:06 CEST 2015":        "2015-09-11T17:51:06Z",
		"Fri  Jan  1   9:51:06 CET 2016":       "2016-01-01T08:51:06Z",
		"Fri 11 Sep 2015 19:51:06 UTC":         "2015-09-11T19:51:06Z",
		"May  6, 2016 at 12:44:40 AM CEST":     "2016-05-05T22:44:40Z",
		"May  6, 2016 at 12:44:40 PM GMT":      "2016-05-06T12:44:40Z",
		"2015-09-11T19:51:06Z":                 "",
		"Fri Sep 41 19:51:06 CEST 2015":        "",
		"":                                     "",
		strings.Repeat("Fri Sep 11 ", 100_000): "",
	} {
		at, ok := Info{Start: text}.Started()
		if got := at.Format("2006-01-02T15:04:05Z07:00"); ok != (want != "") || ok && got != want {
			t.Errorf("%.40s: %s, %v; want %q", text, got, ok, want)
		}
	}
}

// TestInfoIsNotSourced: text that a shell would run or expand is refused, with its line.
func TestInfoIsNotSourced(t *testing.T) {
	for text, says := range map[string]string{
		"CFG=a\nIMAGE=$(id)":          "line 2: not NAME=value",
		"CFG='a' b":                   "line 1: not NAME=value",
		"CFG=\"a":                     "line 1: not NAME=value",
		"CFG=\"$HOME\"":               "line 1: not NAME=value",
		"CFG=a\\b":                    "line 1: not NAME=value",
		"1CFG=a":                      "line 1: not NAME=value without shell syntax",
		"C-FG=a":                      "line 1: not NAME=value without shell syntax",
		"rm -rf /":                    "line 1: not NAME=value without shell syntax",
		"CFG=a|b":                     "not NAME=value",
		"UNAME='`id`'":                "not NAME=value",
		" \r\n\t\n":                   "empty",
		"# CFG=a\nexport CFG=\"a\"\n": "line 2: not NAME=value without shell syntax",
	} {
		if in, err := ParseInfo([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %+v, %v; want %q", text, in, err, says)
		}
	}
	in, err := ParseInfo([]byte("# made by hand\r\nCFG='configs/a/'  # the set\r\nIMAGE=none\r\nPKTGEN=\"x/y.config\"\r\nOTHER=1\r\nUNAME=\r\n"))
	if want := (Info{Config: "a", Workload: "y.config"}); err != nil || in != want {
		t.Errorf("%+v, %v; want %+v", in, err, want)
	}
	one, err := ParseInfo([]byte("Image: none\nCFG: none\nFreeBSD a 10\nOpenBSD b 5\nEnd time: x: y\n"))
	if want := (Info{Early: true, Uname: "FreeBSD a 10"}); err != nil || one != want {
		t.Errorf("%+v, %v; want %+v", one, err, want)
	}
}

// TestSeriesNames: file names are split using .info; if they disagree, the file name wins.
func TestSeriesNames(t *testing.T) {
	for name, c := range map[string]struct {
		key                     string
		info                    *Info
		image, config, workload string
	}{
		"no .info":             {"forwarding.aim.off", nil, "", "forwarding.aim.off", ""},
		"configuration":        {"on", &Info{Config: "on"}, "", "on", ""},
		"and workload":         {"on.inet4", &Info{Config: "on", Workload: "inet4"}, "", "on", "inet4"},
		"workload not in name": {"on", &Info{Config: "on", Workload: "inet4"}, "", "on", ""},
		"image in front":       {"287478.on", &Info{Early: true, Image: "B-287478-x", Config: "on"}, "287478", "on", ""},
		"image not in name":    {"on", &Info{Early: true, Image: "B-287478-x", Config: "on"}, "287478", "on", ""},
		"revision before it":   {"r1.on", &Info{Early: true, Config: "on"}, "r1", "on", ""},
		"workload behind it":   {"on.64B", &Info{Early: true, Config: "on"}, "", "on", "64B"},
		"renamed":              {"better", &Info{Early: true, Config: "on"}, "", "better", ""},
		"renamed, second":      {"r1.on", &Info{Config: "on"}, "", "r1.on", ""},
		"alone":                {"", &Info{}, "", "", ""},
	} {
		s := &Series{Key: c.key, Info: c.info}
		s.name()
		if s.Image != c.image || s.Config != c.config || s.Workload != c.workload {
			t.Errorf("%s: image %q, configuration %q, workload %q; want %+v", name, s.Image, s.Config, s.Workload, c)
		}
	}
	for name, s := range map[string]*Series{"r1/on": {Image: "r1", Config: "on"}, "on": {Config: "on"}, "r1": {Image: "r1"}, "only": {}} {
		if got := variantName(s); got != name {
			t.Errorf("%+v has the name %q, want %q", s, got, name)
		}
	}
}

// TestConfigFor: the configuration set of a series is the one with the name nearest to the run's.
func TestConfigFor(t *testing.T) {
	tree := &Tree{Configs: map[string]*Config{}}
	for _, dir := range []string{"c/n/t/configs/on", "c/n/t/configs/off-default", "c/n/t/configs/pf-stateful", "c/n/t/configs/ab", "c/n/t/configs/b_a", "c/n/t/configs/a-b", "c/n/one/config"} {
		tree.Configs[dir] = &Config{settings: map[string]Assignment{"dir": {Value: dir}}}
	}
	tree.bySet()
	for name, c := range map[string]struct {
		s    Series
		want string
	}{
		"by name":               {Series{Study: "c/n/t/results/l", Config: "on"}, "c/n/t/configs/on"},
		"published under":       {Series{Study: "c/n/t/results/l", Config: "x", Published: "on"}, "c/n/t/configs/on"},
		"published before name": {Series{Study: "c/n/t/results/l", Config: "off-default", Published: "on"}, "c/n/t/configs/on"},
		"by .info":              {Series{Study: "c/n/t/results/l", Config: "x", Info: &Info{Config: "on"}}, "c/n/t/configs/on"},
		"a default more":        {Series{Study: "c/n/t/results/l", Config: "off"}, "c/n/t/configs/off-default"},
		"a doubled letter":      {Series{Study: "c/n/t/results/l", Config: "pf-statefull"}, "c/n/t/configs/pf-stateful"},
		"two alike":             {Series{Study: "c/n/t/results/l", Config: "A.B"}, ""},
		"none":                  {Series{Study: "c/n/t/results/l", Config: "zzz"}, ""},
		"the only one":          {Series{Study: "c/n/one/results/l", Config: "zzz"}, "c/n/one/config"},
		"another topic":         {Series{Study: "c/n/u/results/l", Config: "on"}, ""},
		"no topic":              {Series{Study: "l", Config: "on"}, ""},
	} {
		got := ""
		if found := tree.configFor(&c.s); found != nil {
			got = found.settings["dir"].Value
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestGroups: configurations are compared with the same workload and image, images with the same
// configuration; a single one is in no group.
func TestGroups(t *testing.T) {
	s := func(image, config, workload, qualifier string) *Series {
		return &Series{Image: image, Config: config, Workload: workload, Qualifier: qualifier}
	}
	var got []string
	for _, g := range groups([]*Series{s("r1", "on", "4", ""), s("r1", "off", "4", ""), s("r2", "on", "4", ""), s("r1", "on", "6", ""), s("r1", "on", "4", "8rx"), s("r1", "off", "4", "8rx"), s("r1", "on", "4", "")}) {
		labels := []string{}
		for _, x := range g.series {
			labels = append(labels, g.label(x))
		}
		got = append(got, strings.Join(labels, " "))
	}
	want := []string{"on off", "on off", "r1 r2"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestControl: the README's reference, otherwise a name that says so, otherwise the first.
func TestControl(t *testing.T) {
	a, b, c := &Series{Config: "1024"}, &Series{Config: "2048-default"}, &Series{Config: "4096"}
	g := group{series: []*Series{a, b, c}, label: func(s *Series) string { return s.Config }}
	if got := g.control(map[*Series]int{c: 2, a: 1}); got != c {
		t.Errorf("control %+v against the README", got)
	}
	if got := g.control(nil); got != b {
		t.Errorf("control %+v, want the default", got)
	}
	g.series = []*Series{c, a}
	if got := g.control(nil); got != c {
		t.Errorf("control %+v, want the first", got)
	}
}
