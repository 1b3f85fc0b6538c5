package linux

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"linerate/internal/fact"
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
		case "bond-mode", "bond-miimon", "bond-arp-interval", "bond_mode", "bond_miimon", "bond_arp_interval":
			c.bond(link, strings.ReplaceAll(w[0][5:], "_", "-"), w[1], fact.Line{File: p, Number: i + 1, Text: raw})
		case "bridge-ports", "bridge_ports":
			if validName(link) && len(c.NICs) < fact.MaxNICs {
				c.NICs = append(c.NICs, fact.NIC{Name: link, Kind: fact.KindBridge, Members: w[1:]})
			}
		case "up", "pre-up", "post-up":
			line := strings.NewReplacer("$IFACE", link, "${IFACE}", link).Replace(strings.Join(w[1:], " "))
			c.add(p, i+1, raw, fact.Conf, "when the interface comes up", commands(line)...)
		default:
			c.add(p, i+1, raw, fact.Conf, "", ifupEthtool(link, w)...)
		}
	}
}

// ifupOptions maps key prefixes that Debian's package ethtool adds to interfaces(5) to options of
// ethtool.
var ifupOptions = []struct{ key, option string }{{"offload-", "-K"}, {"hardware-dma-ring-", "-G"}, {"hardware-irq-coalesce-", "-C"}, {"ethernet-pause-", "-A"}}

// ifupEthtool translates keys such as "offload-gro off".
func ifupEthtool(link string, w []string) []assignment {
	for _, o := range ifupOptions {
		if name, ok := strings.CutPrefix(w[0], o.key); ok && validName(link) && validName(name) {
			return []assignment{{"ethtool " + o.option + " " + link + " " + name, w[1]}}
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
		entries, link := ini(text), ""
		for _, e := range entries {
			if e.section == "connection" && e.key == "interface-name" && validName(e.value) {
				link = e.value
			}
		}
		for _, e := range entries {
			switch {
			case link == "":
			case e.section == "ethtool":
				c.add(p, e.number, e.text, fact.Conf, "", nmEthtool(link, e)...)
			case (e.section == "ethernet" || e.section == "802-3-ethernet") && e.key == "mtu" && e.value != "0": // 0: the device's own
				c.add(p, e.number, e.text, fact.Conf, "", assignment{"link." + link + ".mtu", e.value})
			}
		}
	}
	return c
}

// nmEthtool translates keys such as ring-rx=4096 and feature-gro=false.
func nmEthtool(link string, e entry) []assignment {
	kind, name, ok := strings.Cut(e.key, "-")
	option := map[string]string{"ring": "-G", "feature": "-K", "coalesce": "-C", "channels": "-L", "pause": "-A"}[kind]
	if !ok || option == "" || !validName(name) {
		return nil
	}
	value := e.value
	if kind == "feature" || kind == "pause" {
		value = map[string]string{"true": "on", "false": "off"}[value]
	}
	return []assignment{{"ethtool " + option + " " + link + " " + name, value}}
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
		var doc struct {
			Network map[string]any `yaml:"network"`
		}
		if yaml.Unmarshal([]byte(text), &doc) != nil {
			continue
		}
		lines := fact.Lines(text)
		below := under(lines)
		for _, kind := range []string{"ethernets", "bonds", "bridges", "vlans"} {
			devices, _ := doc.Network[kind].(map[string]any)
			for _, link := range slices.Sorted(maps.Keys(devices)) {
				keys, _ := devices[link].(map[string]any)
				c.netplanDevice(p, lines, below[link], link, keys)
			}
		}
	}
	return c
}

// netplanDevice reads the lines below a device.
func (c *Config) netplanDevice(p string, lines []string, below []int, link string, keys map[string]any) {
	if !validName(link) {
		return
	}
	for _, i := range below {
		raw := lines[i]
		key, _, ok := strings.Cut(strings.TrimSpace(raw), ":")
		v, has := keys[key]
		if !ok || !has {
			continue
		}
		switch value := uncommented(strings.SplitN(raw, ":", 2)[1]); {
		case key == "mtu":
			c.add(p, i+1, raw, fact.Conf, "", assignment{"link." + link + ".mtu", value})
		case key == "link":
			c.NICs = append(c.NICs, fact.NIC{Name: link, Kind: fact.KindVLAN, Parent: value})
		case key == "parameters":
			for j := i + 1; j < len(lines) && indent(lines[j]) > indent(raw); j++ {
				option, set, _ := strings.Cut(uncommented(lines[j]), ":")
				c.bond(link, option, strings.TrimSpace(set), fact.Line{File: p, Number: j + 1, Text: lines[j]})
			}
		case netplanOffloads[key] != "":
			on := map[bool]string{true: "on", false: "off"}[v == true]
			c.add(p, i+1, raw, fact.Conf, "", assignment{"ethtool -K " + link + " " + netplanOffloads[key], on})
		}
	}
}

// under returns, for each key of YAML lines, the numbers of the lines below it: the nearest
// previous line with less indentation is the parent.
func under(lines []string) map[string][]int {
	type opened struct {
		depth int
		key   string
	}
	var open []opened
	found := map[string][]int{}
	for i, raw := range lines {
		s := uncommented(raw)
		if s == "" {
			continue
		}
		depth := indent(raw)
		for len(open) > 0 && open[len(open)-1].depth >= depth {
			open = open[:len(open)-1]
		}
		if n := len(open); n > 0 {
			found[open[n-1].key] = append(found[open[n-1].key], i)
		}
		open = append(open, opened{depth, strings.Trim(strings.TrimSuffix(s, ":"), `"'`)})
	}
	return found
}

func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

// uncommented trims a YAML line and removes its comment.
func uncommented(s string) string {
	if i := strings.Index(" "+s, " #"); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSpace(s)
}

// bond records an option of a bond: the mode, or that links are monitored.
func (c *Config) bond(link, option, value string, l fact.Line) {
	var flag string
	switch strings.TrimSuffix(strings.ToLower(option), "sec") {
	case "mode":
		flag = "bond-" + map[string]string{"0": "balance-rr", "1": "active-backup", "2": "balance-xor", "3": "broadcast"}[value]
		if flag == "bond-" {
			flag += value
		}
	case "miimon", "arp-interval", "mii-monitor-interval", "miimonitor", "arpinterval":
		flag = "bond-watched"
		if strings.Trim(value, "0ms") == "" {
			return
		}
	default:
		return
	}
	if validName(link) && len(c.NICs) < fact.MaxNICs {
		l.Name, l.Value, l.Effective = "bond."+link+"."+option, value, true
		c.NICs = append(c.NICs, fact.NIC{Name: link, Kind: fact.KindLAGG, Configured: []fact.Line{l}, ConfigFlags: []string{flag}})
	}
}
