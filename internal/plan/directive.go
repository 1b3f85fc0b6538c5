package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/setting"
)

// directive returns the line that sets a setting in the file at path.
func directive(os, path string, s Step) (string, error) {
	if want := PlaceOf(os, s.Mechanism); want != path {
		return "", hint.With(fmt.Errorf("%s is not read there", s.Mechanism), "its place is %s", orNone(want))
	}
	switch path {
	case LinuxSysctl:
		return s.Name + "=" + s.Value, nil
	case FreeBSDSysctl:
		return s.Name + "=" + s.Value, noComment(s.Value)
	case LinuxModprobe:
		module, param, ok := strings.Cut(s.Name, "/")
		if !ok || strings.ContainsAny(s.Value, " \t\"") {
			return "", errors.New("want MODULE/PARAMETER and a value of one word")
		}
		return fmt.Sprintf("options %s %s=%s", module, param, s.Value), nil
	case LinuxModules:
		return loaded(s, s.Name)
	case LinuxUdev:
		return udevRule(s)
	case LinuxTmpfiles:
		return fmt.Sprintf("w- /sys/devices/system/cpu/%s/cpufreq/scaling_governor - - - - %s", s.Name, s.Value), plainWord(s.Value)
	case FreeBSDLoader:
		return fmt.Sprintf("%s=%s", s.Name, quoted(s.Value)), noQuotes(s.Value)
	case FreeBSDRC:
		return rcLine(s)
	}
	return "", fmt.Errorf("nothing is known about %s", path)
}

func orNone(path string) string {
	if path == "" {
		return "none: it can only be set on the running host"
	}
	return path
}

func loaded(s Step, line string) (string, error) {
	if s.Value != "loaded" {
		return "", errors.New("a drop-in file can load a module, not keep it away")
	}
	return line, nil
}

// attributes maps settings of an interface that udev itself writes to their sysfs attributes.
var attributes = map[setting.Mechanism]map[string]string{
	setting.Link: {"mtu": "mtu", "txqueuelen": "tx_queue_len"},
	setting.NAPI: {"threaded": "threaded", "defer-hard-irqs": "napi_defer_hard_irqs", "gro-flush-timeout": "gro_flush_timeout"},
}

// queueFiles maps settings of one queue to their files in sysfs.
var queueFiles = map[setting.Mechanism]string{
	setting.RPS: "rps_cpus", setting.RFS: "rps_flow_cnt", setting.XPS: "xps_cpus",
}

// ethtoolFlags maps settings to the options of ethtool(8) that set them.
var ethtoolFlags = map[setting.Mechanism]string{
	setting.Offload: "-K", setting.Ring: "-G", setting.Coalesce: "-C", setting.Channels: "-L",
}

// udevRule returns the rule that sets a property of an interface when it appears.
func udevRule(s Step) (string, error) {
	if err := errors.Join(plainWord(s.Value), plainWord(s.Name), plainWord(s.Device)); err != nil {
		return "", err
	}
	match := fmt.Sprintf(`ACTION=="add", SUBSYSTEM=="net", KERNEL=="%s", `, s.Device)
	if flag, ok := ethtoolFlags[s.Mechanism]; ok {
		return match + fmt.Sprintf(`RUN+="/sbin/ethtool %s %s %s %s"`, flag, s.Device, s.Name, s.Value), nil
	}
	if file, ok := queueFiles[s.Mechanism]; ok {
		return match + fmt.Sprintf(`ATTR{queues/%s/%s}="%s"`, s.Name, file, s.Value), nil
	}
	attr, ok := attributes[s.Mechanism][s.Name]
	if !ok {
		return "", fmt.Errorf("%s has no property %q that lasts", s.Mechanism, s.Name)
	}
	return match + fmt.Sprintf(`ATTR{%s}="%s"`, attr, strings.NewReplacer("on", "1", "off", "0").Replace(s.Value)), nil
}

// rcLine returns the line that sets an rc.conf variable or appends to one. Its file is read after
// rc.conf, whose own line stays.
func rcLine(s Step) (string, error) {
	switch s.Mechanism {
	case setting.Module:
		return loaded(s, fmt.Sprintf(`kld_list="${kld_list-} %s"`, s.Name))
	case setting.Link:
		if s.Name != "mtu" {
			return "", fmt.Errorf("an interface has no %q here", s.Name)
		}
		return addToIfconfig(s.Device, "mtu "+s.Value), plainWord(s.Value)
	case setting.Offload:
		flag := map[string]string{"on": s.Name, "off": "-" + s.Name}[s.Value]
		if flag == "" {
			return "", fmt.Errorf("%q is neither on nor off", s.Value)
		}
		return addToIfconfig(s.Device, flag), plainWord(s.Name)
	}
	if !shellName(s.Name) {
		return "", fmt.Errorf("%q is not the name of a variable", s.Name)
	}
	return s.Name + "=" + quoted(shellEscape(s.Value)), nil
}

func addToIfconfig(device, words string) string {
	name := "ifconfig_" + strings.NewReplacer(".", "_", "-", "_", "/", "_", "+", "_").Replace(device)
	return fmt.Sprintf(`%s="${%s-} %s"`, name, name, words)
}

func shellName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// shellEscape escapes what a shell would expand within double quotes.
func shellEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(s)
}

func quoted(s string) string { return `"` + s + `"` }

func noQuotes(s string) error {
	if strings.ContainsAny(s, "\"\\$") {
		return fmt.Errorf("the loader cannot take %q: quotes, backslashes and $ have a meaning there", s)
	}
	return nil
}

// noComment returns an error for a text with # or quotes, which FreeBSD's sysctl(8) strips from lines and values.
func noComment(s string) error {
	if strings.ContainsAny(s, "#\"'") {
		return fmt.Errorf("sysctl.conf cannot hold %q: # begins a comment, and quotes are taken off", s)
	}
	return nil
}

// plainWord returns an error for a text that needs quoting in a udev rule.
func plainWord(s string) error {
	if s == "" || strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:,") != "" || slices.Contains([]string{".", ".."}, s) {
		return fmt.Errorf("%q is not one plain word", s)
	}
	return nil
}
