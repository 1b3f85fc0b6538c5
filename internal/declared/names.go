package declared

import (
	"bytes"
	"slices"
	"strings"

	"linerate/internal/lazy"
)

// families matches the first two components of sysctl names; keys of other programs can look
// similar (fs.s3a.endpoint of Hadoop).
const families = `(?:` + linux + `|` + freebsd + `)`

// freebsd matches FreeBSD's names. OpenBSD and macOS share some: bsdText decides.
const freebsd = `net[./](?:inet6?|link|isr|bpf|pf|pfsync|route|rtsock|netlink|enc|iflib|graph|key|local)[./]|net[./](?:fibs|add_addr_allfibs)|` +
	`kern[./](?:[a-z]+_[a-z]|ipc|max|coredump|random|sched|geom|eventtimer|elf|securelevel|hz|racct|cam|timecounter|threads|sugid|msgbuf|evdev|vty|vt[./]|corefile|ngroups|smp|consmute|crypto|dfl|nbuf|nswbuf|polling|shutdown|sgrow|bootfile|hostuuid)|` +
	`security[./](?:bsd|jail|mac)[./]|machdep[./]|vfs[./](?:zfs|read_|write_|ufs|ffs|nfs|lorunning|hirunning|usermount|vmio|root|maxbcache|aio|timestamp|unmapped)|` +
	`hw[./](?:[a-z]+[./][a-z_]|intr|ibrs|vga|mds|spec_|x2apic)|compat[./]linux|debug[./](?:debugger|kdb|minidump|trace_on|witness|acpi|cpufreq)|dev[./][a-z_0-9]+[./][0-9$]`

const linux = `net[./](?:ipv4|ipv6|core|netfilter|nf_conntrack_max|bridge|unix|mptcp|sctp|mpls|ax25|appletalk|iw_cm|rds|smc|xfrm|token-ring|ipx|decnet)|` +
	`kernel[./][a-z_]|user[./]max_|sunrpc[./]|abi[./]|` +
	`fs[./](?:file-|inotify|aio-|nr_open|suid_dumpable|protected_|pipe-|mqueue|epoll|quota|xfs|nfs|fuse|may_detach|lease|leases|dir-notify|overflow|binfmt|fanotify|mount-max|verity|inode|dentry)|` +
	`dev[./](?:hpet|raid|cdrom|tty|scsi|mac_hid|i915)`

// sysctlName matches a complete name, in which templates may replace a part. Names under vm have
// two components: vm.kubevirt.io/os is a label.
const sysctlName = `(?:` + families + `(?:[\w./*:%@-]|` + inserted + `)*|vm[./](?:[a-z_0-9-]|` + inserted + `)+)`

const inserted = `\{\{[^{}]*\}\}|\$\{[^{}]*\}|\$\w+|<%=[^<>]*%>`

var (
	// sysfs also has such directories.
	sysfs = lazy.Regexp(`^kernel[./](?:mm|debug|slab)[./]`)
	// begins matches the beginning of a name.
	begins  = lazy.Regexp(`^(?:` + families + `|vm[./][a-z])`)
	bsdText = lazy.Regexp(`(?i)freebsd|/boot/loader\.conf|\bsysrc\b|opnsense|pfsense|\bjail`)
	bsdName = lazy.Regexp(`^(?:` + freebsd + `)`)
	bsdOrVM = lazy.Regexp(`^(?:vm[./]|` + freebsd + `)`)
	// linuxName matches names that FreeBSD lacks: vm is on both.
	linuxName = lazy.Regexp(`^(?:` + linux + `)`)
	// otherBSD matches systems that share some of FreeBSD's names.
	otherBSD = lazy.Regexp(`(?i)openbsd|netbsd|dragonfly|darwin|mac ?os|\bosx|homebrew|launch(?:d\b|ctl)`)
)

// settingWords occur in files that declare settings without names of sysctls.
var settingWords = strings.Fields("kernelParams kernelModules ernelArg kernel_arg hould_exist shouldExist /proc/sys/ base64, data: b64 sysfs: modules: os_config OSConfig OsConfig sysctl_config ysctlConfig")

// mentions reports whether a text may declare settings: parsing is slow, and most texts have none.
func mentions(text []byte) bool {
	for i, c := range text {
		if c != '.' && c != '/' {
			continue
		}
		from := i
		for from > 0 && text[from-1] >= 'a' && text[from-1] <= 'z' {
			from--
		}
		if n := i - from; n >= 2 && n <= len("security") && begins().Match(text[from:min(from+40, len(text))]) {
			return true
		}
	}
	return slices.ContainsFunc(settingWords, func(w string) bool { return bytes.Contains(text, []byte(w)) })
}

var (
	wholeName = lazy.Regexp(`^` + sysctlName + `$`)
	// fullLine matches a line that is an assignment, as in sysctl.conf or in a list.
	fullLine = lazy.Regexp(`^-?["']?(` + sysctlName + `)["']?\s*(=|:)\s*(.*)$`)
	// inWords matches assignments among words: sysctl -w a=b, name=a value=b.
	inWords = lazy.Regexp(`(?:^|[\s"'&|;(\[,])(["']?)(` + sysctlName + `)=("[^"]*"|'[^']*'|[^\s"'&|;\])<>]+)`)
	// quotedWord matches a quoted shell word with an assignment that may have blanks.
	quotedWord = lazy.Regexp(`(["'])(` + sysctlName + `)\s*=\s*([^"']*)(["'])`)
	// moduleWords matches Ansible's short form: sysctl: name=a value=b.
	moduleWords = lazy.Regexp(`\bname=["']?(` + sysctlName + `)["']?\s.*?\bvalue=(?:"([^"]*)"|'([^']*)'|(\S+))`)
	// echoed matches a write below /proc/sys.
	echoed = lazy.Regexp(`\becho\s+(?:-n\s+)?["']?([^"'>|]*?)["']?\s*(?:>|\|\s*(?:sudo\s+)?tee)\s*["']?/proc/sys/((?:[\w./-]|` + inserted + `)+)`)
	// echoedLine matches an unquoted line written to a file.
	echoedLine = lazy.Regexp(`\becho\s+(` + sysctlName + `)\s+=\s*([^"'|>]+?)\s*>`)
	// replaced matches the replacement line of a sed command.
	replaced = lazy.Regexp(`\bsed\b.*[@|#]\s*(` + sysctlName + `)\s*=\s*([^@|#"']+)[@|#]g?["']`)
	// asked matches a search for a setting in a file.
	asked = lazy.Regexp(`\b[ef]?grep\b[^|;&]*`)
	// told matches a message about a setting that is not written to a file.
	told = lazy.Regexp(`^(?:echo|printf)\s[^>|]*\bsysctl\s[^>|]*$|^-e\s|\bbhyveload\b`)
	// codeSet matches an assignment in a language in which strings are quoted.
	codeSet = lazy.Regexp(`(?:^|[\s{;.(])["']?(` + sysctlName + `)["']?\s*=>?\s*("(?:[^"\\]|\\.)*"|''[^']*''|'[^']*'|\[[^\]]*\]|[^;,}#]+)`)
	// aksSet matches a sysctl in the spelling of Azure node pools.
	aksSet = lazy.Regexp(`^\s*((?:net|vm|fs|kernel|transparent)_[a-z0-9_]+)\s*=\s*([^#]+)`)
	// aksKeys matches keys around those of Azure node pools.
	aksKeys = lazy.Regexp(`(?i)sysctl|linux_?os_?config`)
	// nixWraps matches functions that give a value a priority.
	nixWraps = lazy.Regexp(`^(?:\w+\.)?mk(?:Default|Force|Override\s+-?\d+)\s+`)
	number   = lazy.Regexp(`^-?(?:\d+|0x[0-9a-fA-F]+)$`)
)

// aksNames maps the keys of Azure node pools to sysctls; its API accepts only these.
var aksNames = func() map[string]string {
	names := map[string]string{}
	for name := range strings.FieldsSeq(`fs.aio-max-nr fs.file-max fs.inotify.max_user_watches fs.nr_open kernel.threads-max
		net.core.netdev_max_backlog net.core.optmem_max net.core.rmem_default net.core.rmem_max net.core.somaxconn
		net.core.wmem_default net.core.wmem_max net.ipv4.neigh.default.gc_thresh1 net.ipv4.neigh.default.gc_thresh2
		net.ipv4.neigh.default.gc_thresh3 net.ipv4.tcp_fin_timeout net.ipv4.tcp_keepalive_intvl net.ipv4.tcp_keepalive_probes
		net.ipv4.tcp_keepalive_time net.ipv4.tcp_max_syn_backlog net.ipv4.tcp_max_tw_buckets net.ipv4.tcp_tw_reuse
		net.netfilter.nf_conntrack_buckets net.netfilter.nf_conntrack_max vm.max_map_count vm.swappiness vm.vfs_cache_pressure
		net.ipv4.ip_local_port_range`) {
		names[squeeze(name)] = name
	}
	for _, end := range []string{"min", "max"} { // one sysctl in two keys
		names["netipv4iplocalportrange"+end] = portRange
	}
	for _, what := range []string{"enabled", "defrag"} {
		names["transparenthugepage"+what] = "/sys/kernel/mm/transparent_hugepage/" + what
	}
	return names
}()

const portRange = "net.ipv4.ip_local_port_range"

// squeeze returns a name without separators: netCoreSomaxconn and net_core_somaxconn are the same.
func squeeze(name string) string {
	return strings.ToLower(separators.Replace(name))
}

var separators = strings.NewReplacer(".", "", "_", "", "-", "")

// azure returns the sysctl that a key of an Azure node pool sets.
func azure(key string) (string, bool) {
	name, ok := aksNames[squeeze(key)]
	return name, ok && !strings.Contains(key, ".")
}

// azureSet adds what a key of an Azure node pool sets; one end of the port range waits for the
// other one.
func (h *Host) azureSet(key, name, value, place string, at int) {
	switch {
	case strings.HasPrefix(name, "/sys/"):
		h.add("/etc/rc.d/rc.local", "echo "+value+" > "+name, place, at)
	case name != portRange || strings.HasSuffix(squeeze(key), "range"):
		h.set(name, value, place, at)
	default:
		last := len(h.Unresolved) - 1
		if last < 0 || h.Unresolved[last].half == "" {
			h.Unresolved = append(h.Unresolved, Unresolved{Name: name, At: at, Why: "only one end of the range is set", half: value})
			return
		}
		first, second := h.Unresolved[last].half, value
		if h.Unresolved = h.Unresolved[:last]; strings.HasSuffix(squeeze(key), "min") {
			first, second = second, first
		}
		h.set(name, first+" "+second, place, at)
	}
}
