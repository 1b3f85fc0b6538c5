package redact

// answerRules are of what commands print. Most of it is the kernel's own; what
// people name and write (descriptions, hosts, devices of mounts) goes.
func answerRules() []rule {
	return append(valueRules(),
		on(Kenv, `smbios[.][a-z]+[.](maker|product|version|family)=.*`, keep, ""),
		on(Kenv, `{secret}=`, keep, "rest"),
		on(Kenv, `({root}[.]{name}|[A-Za-z0-9_-]+_load)="?`, keep, "kenv.v"),
		on(Kenv, `[A-Za-z0-9_.-]+=`, keep, "unknown"),
		on(Kenv, `.+`, drop, ""),
		on("kenv.v", `[ ",]+`, keep, ""), on("kenv.v", `[^ ",]+`, value, ""),

		on(Uname, `(FreeBSD|Linux) [A-Za-z0-9.-]+ [A-Za-z0-9.-]+ `, keep, "uname.r"), on(Uname, `.+`, drop, ""), on("uname.r", `.+`, keep, ""),

		on(Ifconfig, `[A-Za-z][A-Za-z0-9_.-]*: flags=[0-9a-f]+(<[A-Z0-9_,]*>)?.*`, keep, ""),
		on(Ifconfig, `[ \t]+(options|capabilities|ether|hwaddr|inet|inet6|media:|status:|groups:|member:|laggport:|laggproto|vlan:|vlanproto:|carp:|nd6|tunnel|supported|drivername:|id|maxage|root|lagg|plugged:|vendor:|module|lane|rx:|tx:|syncpeer:)[ =:].*`, keep, ""),
		on(Ifconfig, `[ \t]+(description:)`, keep, "rest"),
		on(Ifconfig, `.+`, drop, ""),

		on(Mount, `(/dev/)?[A-Za-z0-9_./-]+ on /[^ ]* [(][a-z0-9, =_-]+[)]`, keep, "rest"),
		on(Mount, `[^ ]+`, mask, "mount.p").before(`[ ]on[ ]`),
		on(Mount, `.+`, drop, ""),
		on("mount.p", ` on /[^ ]* [(][a-z0-9., =_-]+[)]`, keep, "rest"),

		on(Options, `(options|device|nodevice|nooptions|maxusers|machine|cpu|ident)[ \t]+[A-Za-z0-9_, \t]+(=[0-9]+)?`, keep, "rest"),
		on(Options, `.+`, drop, ""),

		// The kernel's and the drivers' own words, by how they begin.
		on(Messages, `(FreeBSD|CPU:|real memory|avail memory|---<<BOOT>>---|netisr_init:|  [A-Za-z0-9 ]*Features[0-9]*=)[^"']*`, keep, ""),
		on(Messages, `[a-z][a-z0-9_]*[0-9]+: (<[^<>]+>|[Uu]sing|netmap queues|[0-9]+ txq|[Ww]atchdog|[Uu]nable to|failed to|.*[Cc]ould not|.*queue.*hung|.*desc avail)[^"']*`, keep, ""),
		on(Messages, `(([[](zone: )?[^]]+[]])? ?)(kern[.]|PF |.*limit reached)[^"'=]*`, keep, "").before(`$`),
		on(Messages, `(sonewconn:|interrupt storm|Limiting |WARNING: |KLD |sysctl: (unknown )?oid|kldload: can't load|can't load|module_register:|pf: state limit|ipfw: )[^"=]*`, keep, "").before(`["=]|$`),
		on(Messages, `.*{root}[.][A-Za-z0-9_.%]+[^"'=]*(invalid|out of range|deprecated|ignored|obsolete|unsupported|too (large|small|big|low|high)|rounded|must be|exceeded)[^"'=]*`, keep, "rest"),
		on(Messages, `(invalid|Invalid|out of range|deprecated|Deprecated|obsolete|unsupported|bad|Bad)[^"'=]*{root}[.][A-Za-z0-9_.%]+`, keep, "rest"),
		on(Messages, `.+`, drop, ""),
	)
}

// appliedRules are of linerate's own record: names of what it set, and their values.
func appliedRules() []rule {
	return []rule{
		on(Applied, `(record|of) [a-z0-9-]+`, keep, "").before(`$`),
		on(Applied, `drift [a-z-]+ [A-Za-z0-9_.:@-]+ [A-Za-z0-9_.:/%-]+ =`, keep, "applied.v"),
		on(Applied, `drift-file /{path} (gone|[0-9TZ:-]*)`, keep, "").before(`$`),
		on(Applied, `.+`, drop, ""),
		on("applied.v", `!`, keep, "").before(`$`),
		on("applied.v", `[] \t{}(),=:<>"|/;[]+`, keep, ""),
		on("applied.v", `[^] \t{}(),=:<>"|/;[]+`, value, ""),
	}
}

// valueRules are of sysctl -a: "name: value" or "name = value". Texts stay of
// names that describe hardware and system.
func valueRules() []rule {
	const name = `[a-z][A-Za-z0-9_.%/+@:-]*`
	return []rule{
		on(Values, `[a-z0-9_.]*visible_passphrase(: |=)`, keep, "values.v"),
		on(Values, `{secret}(: |{b}={b}|=)`, keep, "rest"),
		on(Values, name+`(: |{b}={b}|=)-?[0-9]+([.][0-9]+)?`, keep, "").before(`$`),
		on(Values, `kern[.](msgbuf|geom[.]conf[a-z]*): ?.*`, drop, "values.skip"),
		on(Values, `(kern[.](ostype|osrelease|version|hostname|ident|boottime|vm_guest|sched[.]name|arandom|timecounter|eventtimer|cp_time|hz)|kernel[.](osrelease|ostype|version|hostname|arch)|hw[.](model|machine|machine_arch|platform)|vm[.](loadavg|vmtotal)|machdep[.](idle|mitigations)|hw[.]mds_disable_state|dev[.][a-z0-9_.]+[.]%[a-z]+)[A-Za-z0-9_.%]*(: |{b}={b}|=).*`, keep, ""),
		on(Values, `{root}[.]`+name+`(: ?|{b}={b}|=)`, keep, "values.v"),
		on(Values, `{_}(SEGMENT|DOMAIN) [0-9]+:`, keep, ""),
		on(Values, `{_}(start|end|domain|free list):{_}[0-9a-fx]*`, keep, ""),
		on(Values, `{_}`, keep, "values.v"),
		on("values.v", `[] \t{}(),=:<>"|/;[]+`, keep, ""),
		on("values.v", `[^] \t{}(),=:<>"|/;[]+`, value, ""),
		on("values.skip", ``, keep, Values).before(`kern[.][a-z0-9_.]+: `),
		on("values.skip", `.+`, drop, ""),
	}
}

// treeRules are of small files of /proc and /sys: path, tab, a line.
func treeRules() []rule {
	return []rule{
		on(Tree, `[^\t]*/(stable_secret|tcp_fastopen_key[a-z_]*|uuid|boot_id)\t`, keep, "rest"),
		on(Tree, `(/proc/sys/kernel/(osrelease|ostype|version|arch|hostname)|/proc/sys/net/ipv4/tcp_[a-z]*congestion_control|/proc/irq/[^\t]*|/sys/(class|bus|devices)/[^\t]*)\t.*`, keep, ""),
		on(Tree, `[^\t]*\t`, keep, "tree.v"),
		on("tree.v", `[] \t{}(),=:<>"|/;[]+`, keep, ""),
		on("tree.v", `[^] \t{}(),=:<>"|/;[]+`, value, ""),
	}
}
