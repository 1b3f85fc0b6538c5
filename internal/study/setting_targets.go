package study

import (
	"cmp"
	"math"
	"net/netip"
	"strconv"
	"strings"

	"linerate/internal/calc"
	"linerate/internal/hint"
	"linerate/internal/lazy"
	"linerate/internal/setting"
	"linerate/internal/yamlfile"
)

// Limits on what settings create.
const (
	maxRules       = 100_000
	maxElements    = 1 << 20
	maxRoutes      = 1 << 20
	maxHops        = 16
	maxPolicyRules = 10_000
	maxCPUs        = 1024
	// maxInitialWindow exceeds the segments in 64 KiB, the largest window
	// before window scaling takes effect.
	maxInitialWindow = 1000
)

func checkFirewall(s *Setting, path string) *yamlfile.Problem {
	f := s.Firewall
	switch {
	case f.Linear == 0 && f.SetElements == 0 && f.MapElements == 0 && !f.Stateful:
		return yamlfile.Wrong(path, "the firewall does nothing").Advise("give linear, table, map or stateful")
	case f.Optimise && f.Linear == 0:
		return yamlfile.Wrong(path+".optimise", "there are no linear rules to merge").Advise("add linear: N")
	}
	return cmp.Or(
		yamlfile.Within(path+".linear", f.Linear, 0, maxRules),
		yamlfile.Within(path+".table", f.SetElements, 0, maxElements),
		yamlfile.Within(path+".map", f.MapElements, 0, maxElements),
		yamlfile.OneOf(path+".by", cmp.Or(f.By, setting.ByNFT), setting.ByNFT, setting.ByIptablesLegacy, setting.ByIptablesNFT, setting.ByPF, setting.ByIPFW),
	)
}

func checkRoute(s *Setting, path string) *yamlfile.Problem {
	if s.Via == "" {
		return yamlfile.Wrong(strings.TrimSuffix(path, ".route"), "the route has no next hop").Advise("add via: ADDRESS, ingress, egress or blackhole")
	}
	if _, err := netip.ParsePrefix(s.Route); err != nil {
		return yamlfile.Wrong(path, "route %q is not a prefix", s.Route).Advise("write 240.0.0.0/8; routes: {count: N} is a table of many")
	}
	return nil
}

func checkRoutes(s *Setting, path string) *yamlfile.Problem {
	return cmp.Or(yamlfile.Within(path+".count", s.Routes.Count, 1, maxRoutes),
		yamlfile.OneOf(path+".mix", cmp.Or(s.Routes.Mix, setting.MixHosts), setting.MixHosts, setting.MixFull))
}

// HopLinks lists what can link the routers of hops, other than plain wires.
var HopLinks = []string{"vlan", "gre", "ipip", "vxlan", "wireguard", "ipsec"}

func checkHops(s *Setting, path string) *yamlfile.Problem {
	if p := yamlfile.Within(path, s.Hops, 1, maxHops); p != nil || s.Over == "" {
		return p
	}
	return yamlfile.OneOf(strings.TrimSuffix(path, "hops")+"over", s.Over, HopLinks...)
}

func checkCommand(s *Setting, path string) *yamlfile.Problem {
	if len(s.Command) == 0 {
		return yamlfile.Wrong(path, "the command is empty").Advise("write command: [PROGRAM, ARGUMENT, …]")
	}
	return nil
}

var congestionRE = lazy.Regexp(`^[a-z0-9][a-z0-9._-]{0,63}$`)

func checkTCP(s *Setting, path string) *yamlfile.Problem {
	t := *s.TCP
	switch {
	case t == setting.Path{}:
		return yamlfile.Wrong(path, "the setting sets nothing").Advise("give initcwnd, initrwnd, congestion or ulp")
	case t.Congestion != "" && !congestionRE().MatchString(t.Congestion):
		return yamlfile.Wrong(path+".congestion", "congestion %q is not the name of a congestion control", t.Congestion)
	}
	return cmp.Or(yamlfile.Within(path+".initcwnd", t.InitCwnd, 0, maxInitialWindow), yamlfile.Within(path+".initrwnd", t.InitRwnd, 0, maxInitialWindow),
		yamlfile.OneOf(path+".ulp", t.ULP, "", "tls"))
}

func tcpNames(s *Setting) map[string]string {
	t, out := s.TCP, map[string]string{}
	for name, value := range map[string]string{"tcp:congestion": t.Congestion, "tcp:ulp": t.ULP} {
		if value != "" {
			out[name] = value
		}
	}
	for name, n := range map[string]int{"tcp:initcwnd": t.InitCwnd, "tcp:initrwnd": t.InitRwnd} {
		if n != 0 {
			out[name] = strconv.Itoa(n)
		}
	}
	return out
}

// wrongLine returns the problem with a line of a server's configuration.
func wrongLine(path string, err error) *yamlfile.Problem {
	if err == nil {
		return nil
	}
	return yamlfile.Wrong(path, "%v", err).Advise("%s", hint.Of(err))
}

// Disk is a file system (setting.Disk).
type Disk struct {
	Type     string `yaml:"type"`
	Options  string `yaml:"options,omitempty"`
	Features string `yaml:"features,omitempty"`
	Size     string `yaml:"size,omitempty"`
}

func (f *Disk) parse() (setting.Disk, error) {
	d := setting.Disk{Type: f.Type, Options: f.Options, Features: f.Features, Size: setting.DefaultDiskSize}
	if f.Size != "" {
		v, err := calc.Parse(f.Size, calc.Bytes)
		if err != nil {
			return d, err
		}
		d.Size = int64(min(math.Round(v), 1<<62))
	}
	return d, d.Check()
}

func (f *Disk) check(path string) *yamlfile.Problem {
	_, err := f.parse()
	return wrongLine(path, err)
}

// names returns the properties in which the file system differs from the default one.
func (f *Disk) names() map[string]string {
	out := map[string]string{}
	if f.Type != setting.DefaultDisk().Type {
		out["filesystem"] = f.Type
	}
	if f.Size != "" {
		out["filesystem size"] = f.Size
	}
	for o := range strings.SplitSeq(f.Options, ",") {
		if name, value, _ := strings.Cut(o, "="); name != "" && name != "defaults" {
			out["mount:"+name] = cmp.Or(value, "on")
		}
	}
	for o := range strings.SplitSeq(f.Features, ",") {
		if name, off := strings.CutPrefix(o, "^"); name != "" {
			out["mkfs:"+name] = map[bool]string{true: "off", false: "on"}[off]
		}
	}
	return out
}
