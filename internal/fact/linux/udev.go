package linux

import (
	"strings"

	"linerate/internal/fact"
	"linerate/internal/lazy"
)

// ReadUdevRules reads udev(7) rules that set attributes of network devices, or run sysctl, ethtool
// and ip when one appears.
func ReadUdevRules(files fact.Files) Config {
	var c Config
	for p, text := range fact.Texts(files, dropIns(files, ".rules", "/etc/udev/rules.d", "/run/udev/rules.d")...) {
		for number, raw := range joined(text) {
			s := strings.TrimSpace(raw)
			if s != "" && s[0] != '#' {
				c.add(p, number, raw, fact.Udev, "when the device appears", udevRule(s)...)
			}
		}
	}
	return c
}

// udevPart matches KEY=="value": a condition or an assignment of a rule.
var udevPart = lazy.Regexp(`([A-Za-z_]+(?:\{[^}"]*\})?)\s*([=!+:-]?=)\s*"([^"]*)`)

// compared matches keys that can only be compared: udev passes over a rule that assigns one.
var compared = lazy.Regexp(`^(?:ACTION|DEVPATH|KERNELS?|SUBSYSTEMS?|DRIVERS?|TAGS)$`)

// udevRule parses one rule: conditions and assignments separated by commas.
func udevRule(s string) []assignment {
	var all []assignment
	link, net, module := "*", false, false
	for _, part := range udevPart().FindAllStringSubmatch(s, -1) {
		key, op, value := part[1], part[2], part[3]
		switch {
		case op == "=" && compared().MatchString(key):
			return nil
		case key == "SUBSYSTEM" && op == "==":
			net, module = value == "net", value == "module"
		case (key == "KERNEL" || key == "NAME" || key == "ENV{INTERFACE}") && op == "==" && !strings.ContainsAny(value, "*?[|") && validName(value):
			link = value
		case strings.HasPrefix(key, "ATTR{") && op == "=" && net:
			all = append(all, attribute(link, strings.TrimSuffix(key[5:], "}"), value)...)
		case strings.HasPrefix(key, "RUN") && module && (op == "+=" || op == "="):
			all = append(all, applied(link, value)...)
		case strings.HasPrefix(key, "RUN") && (op == "+=" || op == "="):
			all = append(all, commands(strings.NewReplacer("%k", link, "$name", link, "$kernel", link, "%E{INTERFACE}", link).Replace(value))...)
		}
	}
	return all
}

// Applied is the prefix of names that record sysctls applied again when a module is loaded; the
// module's name follows, and the value is a prefix of the sysctls' paths, "/" for all.
const Applied = "udev.module."

// applied reads a command that applies sysctl.d after a module is loaded: systemd-sysctl
// --prefix=/net/netfilter (sysctl.d(5)), or sysctl(8).
func applied(module, command string) []assignment {
	if !strings.Contains(command, "sysctl") || module == "*" {
		return nil
	}
	prefix := "/"
	for _, w := range strings.Fields(command) {
		if p, ok := strings.CutPrefix(w, "--prefix="); ok {
			prefix = "/" + strings.TrimLeft(strings.TrimPrefix(strings.ReplaceAll(p, ".", "/"), "/proc/sys"), "/")
		}
	}
	return []assignment{{Applied + strings.ReplaceAll(module, "-", "_"), prefix}}
}

func attribute(link, name, value string) []assignment {
	if !validName(name) {
		return nil
	}
	if strings.Contains(name, "/") {
		return []assignment{{"/sys/class/net/" + link + "/" + name, value}}
	}
	return []assignment{{"link." + link + "." + name, value}}
}
