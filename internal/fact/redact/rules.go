package redact

import "strings"

// The kinds of text that are known. Others keep nothing.
const (
	// Whole is the kernel's own counters and names, which nobody writes.
	Whole    = "whole"
	Sysctl   = "sysctl"   // sysctl.conf(5), sysctl.d(5)
	Loader   = "loader"   // loader.conf(5), device.hints(5)
	RC       = "rc"       // rc.conf(5)
	Grub     = "grub"     // /etc/default/grub
	BootLine = "cmdline"  // a kernel's command line
	Modprobe = "modprobe" // modprobe.d(5)
	Modules  = "modules"  // modules-load.d(5)
	Systemd  = "systemd"  // systemd.link(5), systemd.network(5)
	Tuned    = "tuned"    // tuned.conf
	Profile  = "profile"  // the names of tuned's active profiles
	Networks = "nm"       // NetworkManager's connections
	Netplan  = "netplan"
	Ifcfg    = "ifcfg"      // Red Hat's interfaces, and other files of assignments
	Ifupdown = "interfaces" // interfaces(5)
	Script   = "script"     // rc.local
	Cloud    = "cloud"      // cloud-init's bootcmd
	Udev     = "udev"       // rules of udev(7)
	Limits   = "limits"     // limits.conf(5)
	LXC      = "lxc"        // lxc.container.conf(5), and Proxmox VE's
	Manager  = "manager"    // what runs a container
	Fstab    = "fstab"      // fstab(5), /proc/self/mounts
	PF       = "pf"         // pf.conf(5), pfctl -s rules
	IPFW     = "ipfw"       // scripts of ipfw(8), ipfw list
	NFT      = "nft"        // nft(8)
	IPTables = "iptables"   // iptables-save, iptables -L
	Daemon   = "daemon"     // lines of a daemon's configuration that matter
	Release  = "release"    // os-release(5)
	Name     = "name"       // a file whose name alone matters
	Names    = "names"      // names that are counted

	Values   = "values"   // sysctl -a
	Kenv     = "kenv"     // kenv(1)
	Tree     = "tree"     // small files of /proc and /sys: path, tab, line
	Ifconfig = "ifconfig" // ifconfig(8)
	Messages = "dmesg"    // FreeBSD's messages
	Mount    = "mount"    // mount(8) of FreeBSD
	Applied  = "applied"  // what linerate keeps of what it applied
	Options  = "options"  // a kernel's configuration: kern.conftxt
	Uname    = "uname"
)

// allRules is the table.
func allRules() []rule {
	var all []rule
	for _, some := range [][]rule{
		sysctlRules(), loaderRules(), shellRules(RC, rcAssignments()), shellRules(Grub, grubAssignments()), shellRules(Ifcfg, ifcfgAssignments()),
		bootLineRules(), modprobeRules(), iniRules(), interfaceRules(), commandRules(Script, ""), cloudRules(), udevRules(), fstabRules(), limitRules(), containerRules(),
		pfRules(), ipfwRules(), linuxFirewallRules(), daemonRules(), answerRules(), appliedRules(), treeRules(), senseRules(), vyosRules(), uciRules(), databaseRules(),
		{on(Name, `.+`, drop, ""), on(Names, `{b}`, keep, ""), on(Names, `[^ \t]+`, mask, "")},
		{on("rest", `{b}`, keep, ""), on("rest", `.+`, mask, "")},
		// unknown is the value of a name that nobody knows.
		{on("unknown", `{b}|["']`, keep, ""), on("unknown", `#.*`, comment, ""), on("unknown", `[^ \t"'#]+`, keep, "").in(setPlain), on("unknown", `[^ \t"'#]+`, mask, "")},
	} {
		all = append(all, some...)
	}
	return hideHashes(all)
}

// hideHashes puts before every rule that keeps references one that masks what crypt(3)
// makes of passwords, $6$salt$hash, which looks like several references.
func hideHashes(rules []rule) []rule {
	var all []rule
	for _, r := range rules {
		if r.act == keep && strings.HasPrefix(r.pattern, "[$]") && r.pattern != `[$][(]` {
			all = append(all, on(r.at, `[$][0-9a-z][0-9a-z]?[0-9a-z]?[0-9a-z]?[$][^ \t"'}]*`, mask, ""))
		}
		all = append(all, r)
	}
	return all
}

// endsOfLine are the states in which a new line finds what is not its kind's
// own: quotes over several lines, sections.
func endsOfLine() map[string]string {
	ends := map[string]string{}
	for _, kind := range []string{RC, Grub, Ifcfg} {
		for _, mode := range shellModes {
			for _, open := range []string{"d", "s", "c", "b", "dc", "db"} {
				ends[kind+"."+mode+open] = kind + "." + mode + open
			}
		}
		for _, quote := range []string{"", "d", "s"} {
			for _, part := range []string{"=v", "=x"} {
				if quote != "" {
					ends[kind+".b"+quote+part] = kind + ".b" + quote
				}
			}
		}
		for _, inside := range []string{".rd", ".rs"} {
			ends[kind+inside] = kind + inside
		}
	}
	for kind, sections := range iniSections {
		for _, s := range sections {
			for _, state := range []string{"", ".v", ".w", ".x", ".p", ".d"} {
				ends[kind+"."+s+state] = kind + "." + s
			}
		}
	}
	ends[Values+".skip"] = Values + ".skip"
	ends[VyOS+".in"], ends[VyOS+".hide"], ends[VyOS+".in.value"] = VyOS+".in", VyOS+".hide", VyOS+".in"
	for _, at := range senseStates {
		ends[at], ends[at+".c"] = at, at+".c"
	}
	for _, within := range []string{"list.name", "if.device"} {
		section, _, _ := strings.Cut(within, ".")
		ends[Sense+"."+within] = Sense + "." + section
	}
	ends[PF+".quote"] = PF + ".quote"
	return ends
}

func sysctlRules() []rule {
	return []rule{
		on(Sysctl, `{_}[#;].*`, comment, ""),
		on(Sysctl, `{_}-?{_}[A-Za-z0-9_.]*visible_passphrase{_}[=:]`, keep, "sysctl.v"),
		on(Sysctl, `{_}-?{_}{secret}{_}[=:]`, keep, "rest"),
		on(Sysctl, `{_}-?{_}net[./](ipv4[./]tcp_(allowed_)?congestion_control|core[./]default_qdisc){_}=`, keep, "sysctl.n"),
		on(Sysctl, `{_}-?{_}{root}[./]{name}{_}[=:]`, keep, "sysctl.v"),
		on(Sysctl, `{_}-?{_}{root}[./]{name}`, keep, "sysctl.v"),
		on(Sysctl, `{_}-?{_}[A-Za-z_]{name}{_}=`, keep, "unknown"),
		on(Sysctl, `{_}`, keep, "rest"),
		on("sysctl.v", `{b}|["',]`, keep, ""),
		on("sysctl.v", `[#;].*|//.*`, comment, ""),
		on("sysctl.v", `[^ \t"',#;]+`, value, ""),
		// names of modules, misspelt ones among them
		on("sysctl.n", `{b}|["']`, keep, ""),
		on("sysctl.n", `#.*`, comment, ""),
		on("sysctl.n", `[A-Za-z][a-z0-9_]+|[A-Z]+`, keep, "").before(`[ \t"']|$`),
		on("sysctl.n", `[^ \t"'#]+`, value, ""),
	}
}

func loaderRules() []rule {
	rules := []rule{
		on(Loader, `{_}#.*`, comment, ""),
		on(Loader, `{_}[A-Za-z0-9_.]*visible_passphrase{_}=`, keep, "loader.v"),
		on(Loader, `{_}{secret}{_}=`, keep, "loader.x"),
		on(Loader, `{_}{root}[.]{name}{_}=`, keep, "loader.v"),
		on(Loader, `{_}[A-Za-z0-9_-]+_(load|type){_}=`, keep, "loader.v"),
		on(Loader, `{_}[A-Za-z0-9_-]+_name{_}=`, keep, "loader.m"),
		on(Loader, `{_}(local_)?loader_conf_(files|dirs){_}=|{_}nextboot_conf{_}=|{_}kernels?{_}=|{_}module_path{_}=`, keep, "loader.p"),
		on(Loader, `{_}[A-Za-z0-9_.]+{_}=`, keep, "loader.v").in(setLoader),
		on(Loader, `{_}[A-Za-z0-9_.-]+{_}=`, keep, "loader.x"),
		on(Loader, `{_}{root}[.]{name}`, keep, "loader.v"),
		on(Loader, `{_}`, keep, "rest"),
	}
	for _, quoted := range []string{"", "d"} {
		rules = append(rules,
			on("loader.m"+quoted, `(/boot/(kernel|modules)/)?[A-Za-z0-9_.-]+[.]ko`, keep, ""),
			on("loader.m"+quoted, `if_[a-z0-9_]+`, keep, ""),
			on("loader.p"+quoted, `{path}`, keep, ""),
			on("loader.x"+quoted, `[^ \t"#$\\]+`, keep, "").in(setPlain))
	}
	for _, s := range []string{"loader.v", "loader.x", "loader.p", "loader.m"} {
		rules = append(rules, on(s, `"`, keep, s+"d"), on(s+"d", `"`, keep, s))
		for _, state := range []string{s, s + "d"} {
			rules = append(rules, on(state, `{b}|'|[\\]`, keep, ""), on(state, `[$]([{][A-Za-z0-9_.-]+[}]|[A-Za-z0-9_.-]+)`, keep, ""), on(state, `#[^"]*`, comment, "loader.c"))
		}
		act := mask
		if s == "loader.v" {
			act = value
		}
		// A value without quotes that has other signs is malformed, and must stay so.
		rules = append(rules, on(s, `[A-Za-z0-9_.-]+`, act, ""), on(s, `[^A-Za-z0-9_." \t]`, keep, "rest"), on(s+"d", `[^ \t"'#$\\]+`, act, ""), on(s+"d", `[$]`, mask, ""))
	}
	// Since 13 the last quote of a line ends the value, one of a comment too.
	return append(rules, on("loader.c", `"`, keep, ""), on("loader.c", `[^"]+`, drop, ""))
}

// bootLineRules are words of a kernel's command line.
func bootLineRules() []rule {
	return append([]rule{on(BootLine, `#.*`, comment, "")}, bootWords(BootLine, ` \t`)...)
}

// bootWords are the parameters of a kernel in a state, between signs.
func bootWords(at, between string) []rule {
	return []rule{
		on(at, `[ \t]+`, keep, ""),
		on(at, `{ref}`, keep, ""),
		on(at, `sysctl[.]{secret}=[^`+between+`"']*`, mask, ""),
		on(at, `sysctl[.]{root}[./][A-Za-z0-9_./-]+=`, keep, at+"=v"),
		on(at, `[A-Za-z0-9_.-]+=`, keep, at+"=v").in(setBoot),
		on(at, `[A-Za-z_][A-Za-z0-9_.-]*=`, keep, at+"=x").before(`[^ \t=]`), // no key in base64
		on(at, `[A-Za-z0-9_.-]+`, keep, "").in(setBoot).before(`[` + between + `"']|$`),
		on(at, `[^`+between+`"'$]+`, mask, ""),
		on(at+"=v", `[ \t]+`, keep, at),
		on(at+"=v", `,`, keep, ""),
		on(at+"=v", `[^,`+between+`"'$]+`, value, ""),
		on(at+"=v", ``, keep, at).before(`["'$]`),
		on(at+"=x", `[ \t]+`, keep, at),
		on(at+"=x", `[^`+between+`"'$]+`, keep, at).in(setPlain),
		on(at+"=x", `[^`+between+`"'$]+`, mask, ""),
		on(at+"=x", ``, keep, at).before(`["'$]`),
	}
}

// containerRules keep the sysctls of a container's configuration, and that a snapshot
// of it follows.
func containerRules() []rule {
	return []rule{
		on(LXC, `{_}#.*`, comment, ""), on(LXC, `{_}[[]`, keep, "lxc.s"),
		on(LXC, `{_}lxc[.]sysctl[.]{secret}{_}[=:]`, keep, "rest"),
		on(LXC, `{_}lxc[.]sysctl[.]{root}[.]{name}{_}[=:]`, keep, "lxc.v"),
		on(LXC, `.+`, drop, ""),
		on("lxc.s", `[]]`, keep, ""), on("lxc.s", `[^]]+`, mask, ""),
		on("lxc.v", `{b}`, keep, ""), on("lxc.v", `[^ \t]+`, value, ""),
		on(Manager, `(lxc|lxc-libvirt|systemd-nspawn|docker|podman|openvz|wsl|rkt|pouch|proot|container-other)`, keep, "rest"), on(Manager, `.+`, drop, ""),
	}
}

// limitRules keep open files, processes and locked memory of limits.conf, of whomever.
func limitRules() []rule {
	const who, item, value = Limits + ".t", Limits + ".i", Limits + ".v"
	return []rule{
		on(Limits, `{_}#.*`, comment, ""), on(Limits, `{_}([*]|root|@?(nginx|www-data|haproxy|apache|httpd|postgres|mysql|mariadb|redis|mongod|mongodb|elasticsearch|opensearch|memcached?|rabbitmq|varnish|squid|named|bind|unbound|kafka|cassandra|zookeeper|influxdb|prometheus|clickhouse|tomcat))`, keep, who).before(`[ \t]`), on(Limits, `{_}[^ \t#]+`, mask, who),
		on(who, `{b}`, keep, ""), on(who, `(soft|hard|-)`, keep, item).before(`[ \t]`), on(who, `.+`, mask, ""),
		on(item, `{b}`, keep, ""), on(item, `(nofile|nproc|memlock)`, keep, value).before(`[ \t]`), on(item, `.+`, mask, ""),
		on(value, `{b}`, keep, ""), on(value, `#.*`, comment, ""), on(value, `([0-9]+|unlimited|infinity|-1)`, keep, "").before(`[ \t]|$`), on(value, `[^ \t#]+`, mask, ""),
	}
}

func modprobeRules() []rule {
	return append(commandRules("modprobe.c", ""), []rule{
		on(Modprobe, `{_}#.*`, comment, ""),
		on(Modprobe, `{_}options{b}[A-Za-z0-9_-]+`, keep, "modprobe.o"),
		on(Modprobe, `{_}install{b}[A-Za-z0-9_-]+{b}`, keep, "modprobe.c"),
		on(Modprobe, `{_}(blacklist|softdep|alias|remove)`, keep, "rest").before(`[ \t]`),
		on(Modprobe, `{_}`, keep, "rest"),
		on("modprobe.o", `{b}`, keep, ""),
		on("modprobe.o", `[A-Za-z0-9_]+=`, keep, "modprobe.v").in(setParam),
		on("modprobe.o", `[A-Za-z0-9_]+=`, keep, "modprobe.x"),
		on("modprobe.o", `[A-Za-z0-9_]+`, keep, "").in(setParam),
		on("modprobe.o", `[^ \t=]+`, mask, ""),
		on("modprobe.v", `{b}`, keep, "modprobe.o"),
		on("modprobe.v", `,`, keep, ""),
		on("modprobe.v", `[^, \t]+`, value, ""),
		on("modprobe.x", `{b}`, keep, "modprobe.o"),
		on("modprobe.x", `[^ \t]+`, keep, "").in(setPlain),
		on("modprobe.x", `[^ \t]+`, mask, ""),
		on(Modules, `{_}[#;].*`, comment, ""),
		on(Modules, `{_}`, keep, "modules.n").before(`[^ \t]`),
		on("modules.n", `(nf|nft|xt|ip|ip6|ipt|ip6t|ebt|arpt|tcp|sch|act|cls|br|vhost|virtio|snd|i2c|ipmi|dm|rpc|ib|rdma|mlx4|mlx5)[_-][a-z0-9_-]+`, keep, "rest").before(`[ \t]|$`),
		on("modules.n", `[A-Za-z0-9_-]+`, keep, "rest").in(setModule),
		on("modules.n", `.+`, mask, ""),
		on(Profile, `{_}[A-Za-z0-9_-]+`, keep, ""),
	}...)
}

func fstabRules() []rule {
	return []rule{
		on(Fstab, `{_}#.*`, comment, ""),
		on(Fstab, `{b}`, keep, ""),
		on(Fstab, `/dev/[A-Za-z0-9_./-]+|(PART)?(UUID|LABEL)=[A-Za-z0-9_./-]+|/swap[a-z0-9.]*`, keep, "fstab.p").before(`[ \t]`),
		on(Fstab, `[a-z0-9_]+`, keep, "fstab.p").in(setWord).before(`[ \t]`),
		on(Fstab, `[^ \t]+`, mask, "fstab.p"),
		on("fstab.p", `{b}`, keep, ""),
		on("fstab.p", `/[A-Za-z0-9_./-]*|none|swap`, keep, "fstab.t").before(`[ \t]`),
		on("fstab.p", `[^ \t]+`, mask, "fstab.t"),
		on("fstab.t", `{b}`, keep, ""),
		on("fstab.t", `fuse[a-z0-9.]*`, keep, "fstab.o").before(`[ \t]`),
		on("fstab.t", `[a-z0-9._]+`, keep, "fstab.o").in(setWord).before(`[ \t]`),
		on("fstab.t", `[^ \t]+`, mask, "fstab.o"),
		on("fstab.o", `,`, keep, ""),
		on("fstab.o", `{b}`, keep, "fstab.q"),
		on("fstab.q", `,`, keep, ""),
		on("fstab.q", `(size|nr_inodes|rsize|wsize|nconnect|timeo|retrans|commit|stripe|logbsize|logbufs|journal_async_commit|data|barrier|mode|errors)=[0-9a-z%-]+`, keep, "").before(`[, \t]|$`),
		on("fstab.q", `[A-Za-z0-9_]+`, keep, "").in(setWord).before(`[, \t]|$`),
		on("fstab.q", `[^, \t]+`, mask, ""),
		on("fstab.q", `{b}`, keep, "fstab.n"),
		on("fstab.n", `{b}`, keep, ""),
		on("fstab.n", `#.*`, comment, ""),
		on("fstab.n", `[0-9]`, keep, "").before(`[ \t]|$`),
	}
}

// daemonRules keep of a daemon's configuration the directives that a tunable is
// coupled to, with numbers and known words.
func daemonRules() []rule {
	return []rule{
		on(Daemon, `{_}#.*`, comment, ""),
		on(Daemon, `{_}`, keep, "daemon.v").before(`(.*[ \t;{}=])?(listen|accept_filter|sendfile|worker_processes|worker_connections|aio|Listen|AcceptFilter|ListenBacklog|EnableSendfile|tcp-listen-queue)[ \t;{}=]`),
		on(Daemon, `.+`, drop, ""),
		on("daemon.v", `[ \t;{}=]+`, keep, ""),
		on("daemon.v", `#.*`, comment, ""),
		on("daemon.v", `[^ \t;{}=#]+`, value, ""),
		on(Release, `(ID|ID_LIKE|VERSION_ID)=["']?[a-z0-9._ -]*["']?`, keep, "rest"), // other names are whatever somebody called it
		on(Release, `.+`, drop, ""),
	}
}
