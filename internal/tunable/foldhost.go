package tunable

import (
	"regexp"
	"slices"
	"strings"
)

// hostForms lists spellings of Linux settings that are not sysctls, with the catalogue's spelling:
// as in facts (link.eth0.mtu, module.tun.x, cmdline.mitigations), and as people type them.
var hostForms = []struct {
	form *regexp.Regexp
	with []string
}{
	{regexp.MustCompile(`^link\.[^ ]+\.([a-z_]+)$`), []string{"/sys/class/net/IF/$1"}},
	{regexp.MustCompile(`^module\.([^. ]+)\.([^ ]+)$`), []string{"module $1 $2="}},
	{regexp.MustCompile(`^/sys/module/([^/]+)/parameters/([^/]+)$`), []string{"module $1 $2="}},
	{regexp.MustCompile(`^module ([^ ]+) ([^ =]+)(=.*)?$`), []string{"module $1 $2="}},
	{regexp.MustCompile(`^systemd\.(link|network)\.[^ .]+\.([A-Za-z0-9-]+)$`), []string{"systemd .$1 $2="}},
	{regexp.MustCompile(`^cmdline\.([^ ]+)$`), []string{"kernel: $1=", "kernel: $1"}},
	{regexp.MustCompile(`^kernel: ([^ =]+)(=.*)?$`), []string{"kernel: $1=", "kernel: $1"}},
	{regexp.MustCompile(`^(?:/sys/class/net|/sys/devices/virtual/net)/[^/]+/bonding/([a-z_]+)$`), []string{"/sys/class/net/BOND/bonding/$1"}},
	{regexp.MustCompile(`^(/sys/devices/system/cpu/)cpu[0-9]+/cpufreq/([a-z_]+)$`), []string{"${1}cpufreq/policyN/$2"}},
	{regexp.MustCompile(`^(/sys/kernel/mm/hugepages/hugepages-)[0-9]+(kB/[a-z_]+)$`), []string{"${1}N$2"}},
	{regexp.MustCompile(`^sysctl\.([a-z0-9]+\..+)$`), []string{"$1"}},
	{regexp.MustCompile(`^cmdline\.sysctl\.(.+)$`), []string{"$1", "kernel: sysctl.*="}},
	{regexp.MustCompile(`^ethtool (-[KGCL]|--set-priv-flags|--set-tunable|--set-phy-tunable) [^ ]+ ([^ ]+)( .*)?$`),
		[]string{"ethtool $1 IF $2", "ethtool $1 IF $2 N", "ethtool $1 IF $2 on"}},
	{regexp.MustCompile(`^ethtool (-[ANXs]|--set-eee|--set-fec|--set-module) [^ ]+ ([^ ]+)( .*)?$`),
		[]string{"ethtool $1 IF $2", "ethtool $1 IF $2 N", "ethtool $1 IF $2 K", "ethtool $1 IF"}},
	{regexp.MustCompile(`^(tc qdisc [a-z_0-9]+ [a-z_]+)( .*)?$`), []string{"$1", "$1 N"}},
	{regexp.MustCompile(`^(?:systemd )?(Limit[A-Z]+|TasksMax|CPUAffinity)(=.*)?$`), []string{"systemd $1="}},
}

var hostPrefixes = []string{"link.", "module.", "cmdline.", "sysctl.", "systemd.", "Limit", "TasksMax", "CPUAffinity"}

// longOptions maps long options of ethtool to short ones.
var longOptions = strings.NewReplacer(" --features ", " -K ", " --offload ", " -K ", " --set-ring ", " -G ", " --coalesce ", " -C ",
	" --set-channels ", " -L ", " --pause ", " -A ", " --change ", " -s ", " --rxfh ", " -X ", " --config-nfc ", " -N ", " -U ", " -N ")

// foldHost returns the catalogue's spellings of a Linux setting that is not a sysctl, most likely
// first.
func foldHost(name string) []string {
	if !strings.ContainsAny(name, " /=") && !slices.ContainsFunc(hostPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
		return nil // most names are sysctls, looked up by the thousand
	}
	if strings.HasPrefix(name, "ethtool ") {
		name = longOptions.Replace(name)
	}
	var names []string
	for _, f := range hostForms {
		if !f.form.MatchString(name) {
			continue
		}
		for _, w := range f.with {
			if s := f.form.ReplaceAllString(name, w); s != name {
				names = append(names, s)
			}
		}
	}
	return names
}
