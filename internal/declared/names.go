package declared

import (
	"regexp"
	"strings"
)

// families are the first two parts of sysctls' names; keys of other programs begin alike
// (fs.s3a.endpoint of Hadoop).
const families = `net[./](?:ipv4|ipv6|core|netfilter|nf_conntrack_max|bridge|unix|mptcp|sctp|mpls|ax25|appletalk|iw_cm|rds|smc|xfrm|token-ring|ipx|decnet)|` +
	`kernel[./][a-z_]|vm[./][a-z_]|user[./]max_|sunrpc[./]|abi[./]|` +
	`fs[./](?:file-|inotify|aio-|nr_open|suid_dumpable|protected_|pipe-|mqueue|epoll|quota|xfs|nfs|fuse|may_detach|lease|leases|dir-notify|overflow|binfmt|fanotify|mount-max|verity|inode|dentry)|` +
	`dev[./](?:hpet|raid|cdrom|tty|scsi|mac_hid|i915)`

// sysctlName is a whole name, in which templates may stand for a part.
const sysctlName = `(?:` + families + `)(?:[\w./*:-]|\{\{[^{}]*\}\}|\$\{[^{}]*\}|\$\w+)*`

var (
	wholeName = regexp.MustCompile(`^` + sysctlName + `$`)
	// fullLine is a line that only assigns, as in sysctl.conf or in a list of them.
	fullLine = regexp.MustCompile(`^-?["']?(` + sysctlName + `)["']?\s*(=|:)\s*(.*)$`)
	// inWords finds assignments among words: sysctl -w a=b, name=a value=b.
	inWords = regexp.MustCompile(`(?:^|[\s"'&|;(\[,])(["']?)(` + sysctlName + `)=("[^"]*"|'[^']*'|[^\s"'&|;\])<>]+)`)
	// quotedWord is one word of a shell with the assignment and its blanks within.
	quotedWord = regexp.MustCompile(`(["'])(` + sysctlName + `)\s*=\s*([^"']*)(["'])`)
	// moduleWords is Ansible's short form: sysctl: name=a value=b.
	moduleWords = regexp.MustCompile(`\bname=["']?(` + sysctlName + `)["']?\s.*?\bvalue=(?:"([^"]*)"|'([^']*)'|(\S+))`)
	// echoed writes below /proc/sys.
	echoed = regexp.MustCompile(`\becho\s+(?:-n\s+)?["']?([^"'>|]*?)["']?\s*(?:>|\|\s*(?:sudo\s+)?tee)\s*/proc/sys/([\w./-]+)`)
	// nixSet and hclSet assign in their languages, where a string has quotes.
	codeSet = regexp.MustCompile(`(?:^|[\s{;.(])["']?(` + sysctlName + `)["']?\s*=>?\s*("(?:[^"\\]|\\.)*"|[^;,}#]+)`)
	// aksSet is a sysctl as the node pools of Azure write it.
	aksSet = regexp.MustCompile(`^\s*((?:net|vm|fs|kernel)_[a-z0-9_]+)\s*=\s*([^#]+)`)
	// nixWraps give a priority to a value.
	nixWraps = regexp.MustCompile(`^(?:lib\.)?mk(?:Default|Force|Override\s+-?\d+)\s+`)
	number   = regexp.MustCompile(`^-?(?:\d+|0x[0-9a-fA-F]+)$`)
)

// aksNames are the sysctls of Azure's node pools, closed as its API is.
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
		names["netipv4iplocalportrange"+end] = "net.ipv4.ip_local_port_range"
	}
	return names
}()

// squeeze is a name without what separates its parts: netCoreSomaxconn and
// net_core_somaxconn are one.
func squeeze(name string) string {
	return strings.ToLower(strings.NewReplacer(".", "", "_", "", "-", "").Replace(name))
}

// azure is the sysctl that a key of an Azure node pool sets.
func azure(key string) (string, bool) {
	name, ok := aksNames[squeeze(key)]
	return name, ok && !strings.Contains(key, ".")
}
