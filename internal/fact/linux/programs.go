package linux

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"linerate/internal/fact"
	"linerate/internal/lazy"
	"linerate/internal/list"
	"linerate/internal/yamlfile"
)

// ReadScripts reads commands that set tunables when interfaces come up or at the end of boot:
// ifupdown's /etc/network/interfaces, Red Hat's ifcfg files, rc.local, cloud-init's bootcmd. They
// run after sysctl.d.
func ReadScripts(files fact.Files) Config {
	var c Config
	for p, text := range fact.Texts(files, append([]string{"/etc/network/interfaces"}, dropIns(files, "", "/etc/network/interfaces.d")...)...) {
		c.interfaces(p, text)
	}
	scripts := dropIns(files, "", "/etc/sysconfig/network-scripts")
	for p, text := range fact.Texts(files, slices.DeleteFunc(scripts, func(p string) bool { return !strings.HasPrefix(path.Base(p), "ifcfg-") || setAside(p) })...) {
		c.ifcfg(p, text)
	}
	for p, text := range fact.Texts(files, append([]string{"/etc/rc.local", "/etc/rc.d/rc.local"}, dropIns(files, ".cfg", "/etc/cloud/cloud.cfg.d")...)...) {
		cloud, first := strings.HasSuffix(p, ".cfg"), len(c.Lines)
		every := !cloud
		for i, raw := range fact.Lines(text) {
			s := strings.TrimSpace(raw)
			if cloud && s != "" && raw[0] != ' ' && raw[0] != '-' {
				every = strings.HasPrefix(s, "bootcmd:") // runcmd runs only at the first boot
			}
			if every && s != "" && s[0] != '#' {
				c.add(p, i+1, raw, fact.Conf, "a command at boot", commands(strings.TrimPrefix(s, "bootcmd:"))...)
			}
		}
		if m, ok := files.(interface{ Idle(path string) bool }); ok && !cloud && m.Idle(p) {
			idle(c.Lines[first:], NotExecutable)
		}
	}
	c.services(files)
	return c
}

// services reads the commands by which the host's own services set tunables.
func (c *Config) services(files fact.Files) {
	for _, p := range dropIns(files, ".service", unitDirs...) {
		text, err := files.Read(p)
		if err != nil {
			continue
		}
		for _, e := range ini(text) {
			if e.section == "Service" && strings.HasPrefix(e.key, "Exec") && e.key != "ExecStop" && e.key != "ExecStopPost" {
				c.add(p, e.number, e.text, fact.Conf, "when the service starts", commands(strings.TrimLeft(e.value, "-+!@:"))...)
			}
		}
	}
}

// ReadWrites reads what systemd-tmpfiles and sysfsutils write below /proc and /sys at boot.
func ReadWrites(files fact.Files) Config {
	var c Config
	write := func(p string, i int, raw, to, value string) {
		if name := settingOf(to); name != "" {
			c.add(p, i+1, raw, fact.Conf, "at boot", assignment{name, value})
		}
	}
	for p, text := range fact.Texts(files, dropIns(files, ".conf", "/etc/tmpfiles.d", "/run/tmpfiles.d")...) {
		for i, raw := range fact.Lines(text) {
			if w := words(raw); len(w) > 6 && strings.Trim(w[0], "+!-=") == "w" {
				write(p, i, raw, w[1], strings.Join(w[6:], " "))
			}
		}
	}
	for p, text := range fact.Texts(files, append([]string{"/etc/sysfs.conf"}, dropIns(files, ".conf", "/etc/sysfs.d")...)...) {
		for i, raw := range fact.Lines(text) {
			if to, value, ok := strings.Cut(strings.TrimSpace(raw), "="); ok && to != "" && to[0] != '#' {
				write(p, i, raw, "/sys/"+strings.TrimSpace(to), strings.TrimSpace(value))
			}
		}
	}
	return c
}

// NotExecutable is the note for lines of a script that systemd does not run.
const NotExecutable = "the script is not executable"

// interfaces reads interfaces(5): mtu, and commands.
func (c *Config) interfaces(p, text string) {
	link := ""
	for i, raw := range fact.Lines(text) {
		w := strings.Fields(raw)
		if len(w) < 2 || w[0][0] == '#' {
			continue
		}
		switch w[0] {
		case "iface":
			link = w[1]
		case "mtu":
			c.add(p, i+1, raw, fact.Conf, "", assignment{"link." + link + ".mtu", w[1]})
		case "bridge-ports", "bridge_ports":
			if validName(link) && len(c.NICs) < fact.MaxNICs {
				c.NICs = append(c.NICs, fact.NIC{Name: link, Kind: fact.KindBridge, Members: w[1:]})
			}
		case "up", "pre-up", "post-up":
			line := strings.NewReplacer("$IFACE", link, "${IFACE}", link).Replace(strings.Join(w[1:], " "))
			c.add(p, i+1, raw, fact.Conf, "when the interface comes up", commands(line)...)
		default:
			c.add(p, i+1, raw, fact.Conf, "", ethtoolKey(link, w[0], w[1])...)
		}
	}
}

// ethtoolKeys maps prefixes of keys to options of ethtool: of Debian's package ethtool in interfaces(5), and of NetworkManager.
var ethtoolKeys = []struct{ key, option string }{{"offload-", "-K"}, {"hardware-dma-ring-", "-G"}, {"hardware-irq-coalesce-", "-C"}, {"ethernet-pause-", "-A"},
	{"ring-", "-G"}, {"feature-", "-K"}, {"coalesce-", "-C"}, {"channels-", "-L"}, {"pause-", "-A"}}

// ethtoolKey translates keys such as "offload-gro off", ring-rx=4096 and feature-gro=false.
func ethtoolKey(link, key, value string) []assignment {
	for _, o := range ethtoolKeys {
		if name, ok := strings.CutPrefix(key, o.key); ok && validName(link) && validName(name) {
			return []assignment{{"ethtool " + o.option + " " + link + " " + name, cmp.Or(map[string]string{"true": "on", "false": "off"}[value], value)}}
		}
	}
	return nil
}

// ifcfg reads Red Hat's interface files, which NetworkManager of RHEL 9 still reads: the MTU, and
// ETHTOOL_OPTS, options of ethtool separated by semicolons.
func (c *Config) ifcfg(p, text string) {
	link := strings.TrimPrefix(path.Base(p), "ifcfg-")
	for i, raw := range fact.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(raw), "=")
		value = strings.Trim(value, `"'`)
		switch {
		case !validName(link):
			return
		case key == "DEVICE" && validName(value):
			link = value
		case key == "MTU":
			c.add(p, i+1, raw, fact.Conf, "", assignment{"link." + link + ".mtu", value})
		case key == "ETHTOOL_OPTS":
			value = strings.NewReplacer("${DEVICE}", link, "$DEVICE", link).Replace(value)
			for _, part := range strings.Split(value, ";") {
				c.add(p, i+1, raw, fact.Conf, "", ethtoolCommand(strings.Fields(part))...)
			}
		}
	}
}

// ReadNetworkManager reads the mtu and the ethtool settings of connections.
func ReadNetworkManager(files fact.Files) Config {
	var c Config
	const dir = "/etc/NetworkManager/system-connections"
	for p, text := range fact.Texts(files, dropIns(files, ".nmconnection", dir)...) {
		entries := ini(text)
		link := valueIn(entries, "connection", "interface-name")
		for _, e := range entries {
			switch {
			case !validName(link):
			case e.section == "ethtool":
				c.add(p, e.number, e.text, fact.Conf, "", ethtoolKey(link, e.key, e.value)...)
			case (e.section == "ethernet" || e.section == "802-3-ethernet") && e.key == "mtu" && e.value != "0": // 0: the device's own
				c.add(p, e.number, e.text, fact.Conf, "", assignment{"link." + link + ".mtu", e.value})
			}
		}
	}
	return c
}

// netplanOffloads maps netplan(5) keys to ethtool features.
var netplanOffloads = map[string]string{"receive-checksum-offload": "rx", "transmit-checksum-offload": "tx", "tcp-segmentation-offload": "tso",
	"tcp6-segmentation-offload": "tx-tcp6-segmentation", "generic-segmentation-offload": "gso", "generic-receive-offload": "gro", "large-receive-offload": "lro"}

// ReadNetplan reads the mtu and the offloads of netplan's devices, from all files in name order: a
// file in /run hides one of the same name in /etc (netplan-generate(8)).
func ReadNetplan(files fact.Files) Config {
	var c Config
	for p, text := range fact.Texts(files, dropIns(files, ".yaml", "/run/netplan", "/etc/netplan", "/usr/lib/netplan", "/lib/netplan")...) {
		if !plainYAML(text) {
			c.Problems = append(c.Problems, fact.Problem{File: p, Line: 1, Kind: fact.ProblemUnreadable, Message: "anchors, aliases or great depth or size: what it sets is not known"})
			continue
		}
		doc, err := parser.ParseBytes([]byte(text), 0)
		if err != nil || len(doc.Docs) == 0 {
			continue
		}
		lines := fact.Lines(text)
		for _, kind := range []string{"ethernets", "bonds", "bridges", "vlans"} {
			devices := mapping(doc.Docs[0].Body, "network", kind)
			list.Sort(devices, func(a, b yamlKey) int { return strings.Compare(a.key, b.key) })
			for _, d := range devices {
				for _, k := range mapping(d.value) {
					c.netplanKey(d.key, k, k.at(p, lines))
				}
			}
		}
	}
	return c
}

// yamlReference matches an anchor or an alias, with which few lines can expand to gigabytes.
var yamlReference = lazy.Regexp(`(?m)(?:^|[\s\[{,:-])[&*][A-Za-z0-9_]`)

// plainYAML reports whether a text is safe for a YAML parser, without references. Netplan's files need no more.
func plainYAML(text string) bool {
	return yamlfile.CheckShape("", yamlfile.Kind{}, []byte(text)) == nil && !yamlReference().MatchString(text)
}

// yamlKey is a key of a YAML mapping with its line and value.
type yamlKey struct {
	key   string
	line  int
	value ast.Node
}

// text returns a scalar value without quotes; "" for others.
func (k yamlKey) text() string {
	if s, ok := k.value.(ast.ScalarNode); ok {
		return s.GetToken().Value
	}
	return ""
}

// at returns the line with the key. The parser ends a line at a carriage return too, so it may
// count more lines than there are.
func (k yamlKey) at(file string, lines []string) fact.Line {
	l := fact.Line{File: file, Number: k.line}
	if k.line <= len(lines) {
		l.Text = lines[k.line-1]
	}
	return l
}

// mapping returns the keys of the mapping at a path of keys, in file order.
func mapping(n ast.Node, below ...string) (all []yamlKey) {
	m, ok := n.(ast.MapNode)
	if !ok {
		return nil
	}
	for it := m.MapRange(); it.Next(); {
		t := it.Key().GetToken()
		all = append(all, yamlKey{t.Value, t.Position.Line, it.Value()})
	}
	if len(below) == 0 {
		return all
	}
	k, _ := list.Find(all, func(k yamlKey) bool { return k.key == below[0] })
	return mapping(k.value, below[1:]...)
}

func (c *Config) netplanKey(link string, k yamlKey, at fact.Line) {
	switch {
	case !validName(link):
	case k.key == "mtu":
		c.add(at.File, at.Number, at.Text, fact.Conf, "", assignment{"link." + link + ".mtu", k.text()})
	case k.key == "link":
		c.NICs = append(c.NICs, fact.NIC{Name: link, Kind: fact.KindVLAN, Parent: k.text()})
	case netplanOffloads[k.key] != "":
		on := map[bool]string{true: "on", false: "off"}[onOff[strings.ToLower(k.text())] == "1"]
		c.add(at.File, at.Number, at.Text, fact.Conf, "", assignment{"ethtool -K " + link + " " + netplanOffloads[k.key], on})
	}
}
