package redact

// commandRules read scripts for the commands that set tunables: sysctl(8),
// ethtool(8), ip(8) and ifconfig(8) of an MTU or a queue, echo into /proc and
// /sys. Of every other command nothing stays. quote is the state to which a
// double quote leads, "" where quotes are a part of the script.
func commandRules(at, quote string) []rule {
	quoted := on(at, `["']`, keep, "")
	if quote != "" {
		quoted = on(at, `"`, keep, quote)
	}
	const end, tee = `[ \t;&|"']`, `[|]{_}(sudo{b})?tee{b}(-a{b})?`
	rules := []rule{
		on(at, `[] \t;&|[]+`, keep, ""), quoted,
		on(at, `#.*`, comment, ""),
		on(at, `(sudo|exec|then|do|fi|done|else|-)`, keep, "").before(end + `|$`),
		on(at, `([a-z/]*/)?(systemd-)?sysctl`, keep, at+".sysctl").before(`[ \t;&|"',]`),
		on(at, `([a-z/]*/)?ethtool`, keep, at+".ethtool").before(end),
		on(at, `([a-z/]*/)?(ip|ifconfig)`, keep, at+".link").before(`[ \t][^;&|]*(mtu|txqueuelen|txqlen)[ \t]`),
		on(at, `(echo|printf){b}[^;&|>]*(>>?|`+tee+`){_}[^ \t;&|]*(secret|key)[^;&|]*`, mask, ""),
		on(at, `echo{b}["']?[0-9a-f,]+["']?{_}>>?{_}(/sys|/proc)/[A-Za-z0-9_./*-]*(cpus|affinity|affinity_list|_rxqs)`, keep, ""),
		on(at, `(echo|printf)`, keep, at+".echo").before(`{b}["']?[^;&|<>"'$]*["']?{_}(>>?|` + tee + `){_}(/proc/sys/|/sys/|/proc/irq/)`),
		on(at, `[^]; \t&|"'[][^;&|"']*`, mask, ""),
	}
	for _, s := range []string{".sysctl", ".set", ".ethtool", ".link", ".linked", ".echo"} {
		if quote != "" {
			rules = append(rules, on(at+s, `"`, keep, quote))
		}
		if s == ".echo" {
			rules = append(rules, on(at+s, tee+`(/proc/sys/|/sys/|/proc/irq/)[A-Za-z0-9_./*:@-]+`, keep, ""))
		}
		rules = append(rules, on(at+s, `[;&|]+`, keep, at), on(at+s, `#.*`, comment, ""))
		if s != ".set" {
			rules = append(rules, on(at+s, `[] \t,"'[]+`, keep, ""))
		}
	}
	const word = `[^] \t,;&|"'=[]+`
	return append(append(rules, ethtoolWords(at+".ethtool", `] \t,;&|"'[`)...),
		on(at+".ethtool", `[^] \t,;&|"'[]+`, value, ""),

		on(at+".sysctl", `-[a-zA-Z]+|--(system|all|load|ignore|quiet|write|strict)|--(prefix|load)=/[a-z0-9/._-]+|/etc/sysctl[a-z0-9/._-]*[.]conf|>/dev/null`, keep, "").before(`[] \t;&|"',[]|$`),
		on(at+".sysctl", `{secret}=[^ \t;&|]*`, mask, ""),
		on(at+".sysctl", `{root}[./]{name}=`, keep, at+".set"),
		on(at+".sysctl", word, mask, ""), on(at+".sysctl", `=`, keep, ""),
		// A value may be quoted, with blanks.
		on(at+".set", `"[-0-9a-z_ \t]*"|'[-0-9a-z_ \t]*'`, mask, at+".sysctl").before(`[^ \t;&|]`),
		on(at+".set", `["'][0-9 \t]+["']`, keep, at+".sysctl"),
		on(at+".set", `["']`, keep, ""),
		on(at+".set", `{b}[0-9]+`, keep, "").before(`([ \t]+[0-9]+)*["']`),
		on(at+".set", `[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)+`, keep, "").before(`[] \t;&|"']|$`),
		on(at+".set", `{b}|,`, keep, at+".sysctl"),
		on(at+".set", `[^ \t;&|"',]+`, value, ""),

		on(at+".link", `(link|set|dev|up|down|(mtu|txqueuelen|txqlen){b}[0-9]+)`, keep, "").before(`[ \t]`),
		on(at+".link", `{dev}`, keep, at+".linked").before(end+`|$`),
		on(at+".link", `-[a-zA-Z0-9]+`, keep, ""),
		on(at+".link", word, mask, at+".linked"),
		on(at+".linked", `(mtu|txqueuelen|txqlen){b}[0-9]+`, keep, "").before(end+`|$`),
		on(at+".linked", `(dev|up|down)`, keep, "").before(end+`|$`),
		on(at+".linked", `[^] \t,;&|"'[]+`, mask, ""),

		on(at+".echo", `-[neE]+`, keep, "").before(`[ \t]`),
		on(at+".echo", `>>?{_}(/proc/sys/|/sys/|/proc/irq/)[A-Za-z0-9_./*:@-]+`, keep, ""),
		on(at+".echo", `[^] \t,;&|"'<>[]+`, value, ""),
	)
}

// ethtoolWords are ethtool's flag and interface, and the options that belong
// to no value.
func ethtoolWords(at, end string) []rule {
	return []rule{
		on(at, `(-[A-Za-z]|--[a-z-]+){b}({dev})`, keep, "").before(`[` + end + `]|$`),
		on(at, `[;]`, keep, ""),
		on(at, `{ref}`, keep, ""),
		on(at, `(sopass|key|hkey|password){b}[^;&|"']*`, mask, ""),
	}
}

func cloudRules() []rule {
	return append([]rule{
		on(Cloud, `(bootcmd|runcmd):`, keep, "cloud.c"),
		on(Cloud, `[a-z_]+:`, keep, "rest"),
		on(Cloud, `{b}-?{_}|-{b}`, keep, "cloud.c"),
	}, commandRules("cloud.c", "")...)
}

func interfaceRules() []rule {
	rules := []rule{
		on(Ifupdown, `{_}#.*`, comment, ""),
		on(Ifupdown, `{_}iface{b}{if}`, keep, "rest"),
		on(Ifupdown, `{_}(auto|allow-hotplug){b}{if}`, keep, "rest"),
		on(Ifupdown, `{_}(up|pre-up|post-up|down|pre-down|post-down){b}`, keep, "interfaces.c"),
		on(Ifupdown, `{_}(mtu|offload-[a-z0-9-]+|hardware-dma-ring-[a-z0-9-]+|hardware-irq-coalesce-[a-z0-9-]+|ethernet-pause-[a-z0-9-]+){b}`, keep, "interfaces.v"),
		on(Ifupdown, `{_}[a-z0-9-]+{b}.*`, drop, ""),
		on(Ifupdown, `.+`, drop, ""),
		on("interfaces.v", `{b}`, keep, ""), on("interfaces.v", `[^ \t]+`, value, ""),
		on(Netplan, `{_}(-{b})?["']?[A-Za-z0-9_.#:-]+["']?:{_}`, keep, "netplan.c").before(`(#.*)?$`),
		on(Netplan, `{_}mtu{_}:{_}`, keep, "netplan.v"),
		on(Netplan, `{_}[a-z0-9-]+-offload{_}:{_}`, keep, "netplan.v"),
		on(Netplan, `{_}(-{b})?["']?[A-Za-z0-9_.#-]+["']?:{_}`, keep, "netplan.x").before(`[{].*(mtu|-offload){_}:`),
		on(Netplan, `{_}#.*`, comment, ""),
		on(Netplan, `.+`, drop, ""),
		on("netplan.c", `.+`, drop, ""),
		on("netplan.v", `{b}`, keep, ""), on("netplan.v", `#.*`, comment, ""), on("netplan.v", `[^ \t#]+`, value, ""),
		on("netplan.x", `[{},: \t]+`, keep, ""), on("netplan.x", `(mtu|[a-z0-9-]+-offload){_}:{_}`, keep, "netplan.y"),
		on("netplan.x", `#.*`, comment, ""),
		on("netplan.x", `[A-Za-z0-9_-]+{_}:{_}("[^"]*"|'[^']*'|[^],{}" \t]*)`, mask, ""),
		on("netplan.x", `[^][{},: \t]+`, mask, ""),
		on("netplan.y", `[^{}, \t]+`, value, "netplan.x"),
	}
	return append(rules, commandRules("interfaces.c", "")...)
}

func udevRules() []rule {
	rules := []rule{
		on(Udev, `{_}#.*`, comment, ""),
		on(Udev, `[ \t,]+`, keep, ""),
		on(Udev, `(ACTION|SUBSYSTEMS?|KERNELS?|NAME|DRIVERS?|ENV[{]INTERFACE[}]){_}[=!+:]*={_}"[A-Za-z0-9_.*?|!-]*"`, keep, ""),
		on(Udev, `ATTR[{](tx_queue_len|gro_flush_timeout|napi_defer_hard_irqs|threaded|mtu|speed|gso_max_size)[}]{_}={_}"`, keep, "udev.v"),
		on(Udev, `ATTR[{]queues/[A-Za-z0-9_.*-]+/(rps|xps)_cpus[}]{_}={_}"[0-9a-fA-F,]*"`, keep, ""),
		on(Udev, `ATTR[{](queues|device|statistics|bridge|bonding)/[A-Za-z0-9_./*-]+[}]{_}={_}"`, keep, "udev.v"),
		on(Udev, `RUN([{][a-z]+[}])?{_}[+:]?={_}"`, keep, "udev.c"),
		on(Udev, `[A-Za-z_]+([{][^}]*[}])?{_}[=!+:-]*{_}"[^"]*"?`, mask, ""),
		on(Udev, `[^," \t]+`, mask, ""), on(Udev, `"[^"]*"?`, mask, ""),
		on("udev.v", `"`, keep, Udev), on("udev.v", `{b}`, keep, ""), on("udev.v", `[^ \t"]+`, value, ""),
	}
	return append(rules, commandRules("udev.c", Udev)...)
}
