package redact

// The kinds of appliances' configurations.
const (
	Sense     = "sense"     // config.xml of OPNsense and pfSense
	VyOS      = "vyos"      // config.boot
	UCI       = "uci"       // OpenWrt's files below /etc/config
	Database  = "database"  // TrueNAS' tunables, as sqlite3 prints them
	Versioned = "versioned" // files that tell a product's release
)

// senseContainers are elements that hold others of which some are kept; an
// element of another name goes with what is in it, as far as its lines are its own.
const senseContainers = `(opnsense|pfsense|system|interfaces|filter|rule|nat|outbound|onetoone|shaper|dnshaper|OPNsense|Firewall|Filter|rules|Interfaces|settings|TrafficShaper|pipes|pipe|queues|queue|rules|target|item|IDS|general|Netflow|collect|unbound|unboundplus|wireguard|HAProxy|openvpn|openvpn-server)`

// senseLeaves are elements whose value is a number or one of few words.
const senseLeaves = `(version|optimization|statepolicy|state-policy|maximumstates|maximumfrags|maximumtableentries|adaptivestart|adaptiveend|srctrack|syncookies|syncookies_adaptstart|syncookies_adaptend|disablefilter|disablescrub|scrub_interface_disable|scrubnodf|scrubrnid|` +
	`powerd_enable|powerd_ac_mode|powerd_battery_mode|powerd_normal_mode|crypto_hardware|thermal_hardware|hwpstate|hwpstate_control_level|pti_disabled|mds_disable|hn_altq_enable|usevirtualterminal|pf_share_forward|` +
	`disablechecksumoffloading|disablesegmentationoffloading|disablelargereceiveoffloading|disablevlanhwfilter|hw_settings_overwrite|ipv6allow|disableipv6|` +
	`(tcp|udp|icmp|other|sctp)[a-z]+timeout|enable|enabled|mtu|mss|mode|media|ips|bandwidth|bandwidthMetric|scheduler|codel_enable|codel_target|codel_interval|codel_limit|codel_flows|fqcodel_quantum|fqcodel_limit|fqcodel_flows|param_fq_codel_[a-z]+|param_codel_[a-z]+|number|sched|aqm|bw|bwscale|bandwidthtype|qlimit|default|disabled|scheduler_type|vpnid)`

// senseStates are those that a line may begin in: an element, and a comment, may close on a
// later one.
var senseStates = []string{Sense, Sense + ".leaf", Sense + ".list", Sense + ".list.value", Sense + ".list.hide", Sense + ".list.hide.more", Sense + ".if", Sense + ".if.leaf"}

// senseRules keep of config.xml the tunables, and of the rest the elements that an
// audit reads. Of users, certificates, keys, networks and descriptions nothing
// stays: not because they are known for secrets, but because nothing asks for them.
func senseRules() []rule {
	const start, list, face = Sense, "sense.list", "sense.if"
	var rules []rule
	for _, at := range senseStates { // what is commented out is no setting
		rules = append(rules, on(at, `{_}<!--`, drop, at+".c"), on(at+".c", `-->`, drop, at), on(at+".c", `[^-]+|-`, drop, ""))
	}
	rules = append(rules,
		on(start, `{_}<[?]xml [^>]*>`, keep, ""),
		on(start, `{_}<sysctl`, keep, "sense.open.list").before(`[ >]`),
		on(start, `{_}<interfaces>`, keep, face),
		on(start, `{_}<bandwidth>`, keep, "").before(`{_}<item|{_}$`), on(start, `{_}</bandwidth>`, keep, ""), // pfSense's holds items
		on(start, `[0-9a-f]+-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+`, keep, "").before(`</(pipe|target)>`), // by which a rule names a pipe
		on(start, `{_}</?`+senseContainers, keep, "sense.open").before(`[ />]`),
		on(start, `{_}<`+senseLeaves, keep, "sense.leaf").before(`[ />]`),
		on(start, `{_}<interface>(wan|lan|opt[0-9]+)</interface>|{_}<p?dnpipe>`, keep, ""), on(start, `[^<]+`, mask, "").before(`</p?dnpipe>`), on(start, `</p?dnpipe>`, keep, ""), // a rule's limiter: that it has one
		on(start, `{_}<hostname>`, keep, "sense.host"),
		on(start, `[^<]+|<[^>]*>?`, drop, ""),
	)
	for _, s := range []struct{ state, then string }{{"sense.open", start}, {"sense.open.list", list}} {
		rules = append(rules, on(s.state, ` version="[0-9.]+"| uuid="[0-9a-f-]+"`, keep, ""), on(s.state, `/?>`, keep, s.then), on(s.state, `[^/>]+|/`, drop, ""))
	}
	for _, s := range []struct{ leaf, then string }{{"sense.leaf", start}, {face + ".leaf", face}, {list + ".value", list}} {
		word := `[^<> \t/]+`
		if s.then == list { // of several numbers
			word = `[^<> ,\t/]+`
		}
		rules = append(rules,
			on(s.leaf, `/>`, keep, s.then), on(s.leaf, `</[A-Za-z0-9_-]+>`, keep, s.then), on(s.leaf, `>`, keep, ""),
			on(s.leaf, `(normal|high-latency|satellite|aggressive|conservative|if-bound|floating|hadp|adp|min|max|hiadaptive|adaptive|minimum|maximum|dhcp|dhcp6|pppoe|ppp|track6|slaac|none|automatic|hybrid|advanced|disabled|default|cryptodev|aesni|aesni_cryptodev|coretemp|amdtemp|enabled|[KMG]?bit|[KMG]?b|pcap|netmap|divert|fq_codel|fq_pie|codel|pie|PRIQ|CBQ|HFSC|FAIRQ|CODELQ|droptail|qfq|rr|fifo|wf2q[+])`, keep, "").before(`[< ]`),
			on(s.leaf, word, value, ""))
		if s.then == list {
			rules = append(rules, on(s.leaf, `[ \t,]+`, keep, ""))
		}
		rules = append(rules, on(s.leaf, `[ \t]+|/`, drop, ""))
	}
	return append(rules,
		on("sense.host", `</hostname>`, keep, start), on("sense.host", `[A-Za-z0-9._-]+`, keep, ""), on("sense.host", `[^<]`, mask, ""),
		// The list of tunables.
		on(list, `{_}</sysctl>`, keep, start),
		on(list, `{_}<item( uuid="[0-9a-f-]+")?>|{_}</item>`, keep, ""),
		on(list, `{_}<(tunable|value)/>`, keep, ""),
		on(list, `{_}<tunable>`, keep, list+".name"),
		on(list, `{_}<value`, keep, list+".value").before(`>`),
		on(list, `[^<]+|<[^>]*>?`, drop, ""),
		on(list+".name", `{secret}`, mask, list+".hide").before(`<`),
		on(list+".name", `{root}[.]{name}|[a-z0-9_]+_load`, keep, "").before(`<`),
		on(list+".name", `</tunable>`, keep, list),
		on(list+".name", `[^<]+`, mask, list+".hide"),
		// of a name that goes, the value too
		on(list+".hide", `</tunable>|{_}<value>`, keep, ""), on(list+".hide", `{_}</item>`, keep, list), on(list+".hide", `{_}</sysctl>`, keep, start), on(list+".hide", `</value>`, keep, ""), on(list+".hide", `{_}<[^>]*>?`, drop, list+".hide.more"), on(list+".hide", `[^<]+`, mask, ""),
		on(list+".hide.more", `</[^>]*>`, drop, list+".hide"), on(list+".hide.more", `[^<]+|<`, drop, ""),
		// The interfaces: their names, devices, sizes and whether they have addresses.
		on(face, `{_}</interfaces>`, keep, start),
		on(face, `{_}<(if)>`, keep, face+".device"),
		on(face, `{_}<(ipaddr|ipaddrv6)`, keep, face+".leaf").before(`[/>]`),
		on(face, `{_}<`+senseLeaves, keep, face+".leaf").before(`[/>]`),
		on(face, `{_}</?(wan|lan|opt[0-9]+|lo0|wireguard|openvpn|enc0|ipsec|l2tp|pppoe)>`, keep, ""),
		on(face, `[^<]+|<[^>]*>?`, drop, ""),
		on(face+".device", `[a-z][a-z0-9_]*[0-9]+([._][a-z0-9]+)*|openvpn|wireguard|ipsec`, keep, "").before(`<`),
		on(face+".device", `</if>`, keep, face), on(face+".device", `[^<]+`, mask, ""),
	)
}

// vyosRules keep the words of VyOS' tree that an audit reads.
func vyosRules() []rule {
	const path = `(system|interfaces|firewall|qos|policy|traffic-policy|option|kernel|conntrack|ip|ipv6|arp|neigh[a-z]+|tcp|udp|global-options|offload|offload-options|ring-buffer|flowtable|multipath|timeout|flow-accounting)`
	const leaf = `(disable-imt|disable-mitigations|disable-power-saving|performance|table-size|expect-table-size|hash-size|half-open-connections|max-retrans|loose|all-ping|broadcast-ping|directed-broadcast|log-martians|syn-cookies|twa-hazards-protection|` +
		`mtu|gro|gso|lro|rps|rfs|sg|tso|rx|tx|speed|duplex|smp-affinity|smp_affinity|layer4-hashing|amd-pstate-driver|bandwidth|target|ip-src-route|ipv6-src-route|receive-redirects|ipv6-receive-redirects|send-redirects|icmp|other|stream|close|close-wait|established|fin-wait|last-ack|syn-recv|syn-sent|time-wait)`
	const older = `(generic-receive|generic-segmentation|scatter-gather|tcp-segmentation|udp-fragmentation)` // offloads up to 1.3
	// Policies and flow tables have names of their users; interfaces do not.
	const policy, port = `(shaper|cake|fq-codel|rate-control|fair-queue)`, `interface{b}['"]?(eth|bond|br|pppoe|wg|vtun|vti|tun)[0-9]+([.][0-9]+)*['"]?`
	rules := []rule{
		on(VyOS, `{_}(//|/[*]){_}Release version: [A-Za-z0-9 .-]*`, keep, "vyos.skip"),
		on(VyOS, `{_}//.*`, comment, ""), on(VyOS, `{_}/[*].*`, drop, ""),
		on(VyOS, `{_}[}]{_}`, keep, ""),
		on(VyOS, `{_}set{b}`, keep, "vyos.set"),
		// sysctl's own list; a container's environment has values as well
		on(VyOS, `{_}(parameter|all|custom){b}`, keep, "vyos.param").before(`['"]?({root}[.]|` + Mark + `)`),
		on(VyOS, `{_}(`+port+`|egress|out|`+policy[1:], keep, "vyos.more").before(`[ \t{]|$`),
		on(VyOS, `{_}(sysctl|ethernet{b}eth[0-9]+|`+path[1:], keep, "vyos.more").before(`[ \t{]|$`),
		on(VyOS, `{_}`+leaf, keep, "vyos.value").before(`[ \t{]|$`),
		on(VyOS, `{_}dhcp-options{b}`, mask, "vyos.hide").before(`[{]`), // a name there may be of an account
		on(VyOS, `{_}address{b}`, keep, "vyos.address"), on(VyOS, `{_}host-name{b}`, keep, "vyos.host"), on(VyOS, `{_}`+older+`{b}`, keep, "vyos.switch"),
		// of an address its family alone
		on("vyos.address", `['"]`, keep, ""), on("vyos.address", `dhcp|dhcpv6`, keep, "").before(`['" \t]|$`), on("vyos.address", `:`, keep, "vyos.skip"), on("vyos.address", `[{]`, keep, ""), on("vyos.address", `[^:'"{]+`, mask, ""),
		on("vyos.host", `['"]`, keep, ""), on("vyos.host", `[A-Za-z0-9][A-Za-z0-9.-]*['"]?`, keep, "").before(`$`), on("vyos.host", `[{]`, keep, ""), on("vyos.host", `[^{]+`, mask, ""),
		on("vyos.switch", `['"{]|{b}`, keep, ""), on("vyos.switch", `on|off`, keep, "").before(`['" \t]|$`), on("vyos.switch", `[^'"{ \t]+`, mask, ""),
		on(VyOS, `[^{}]+`, mask, "vyos.skip"),
		on(VyOS, `[{]`, keep, ""),
		on("vyos.set", `(sysctl){b}(parameter|all|custom){b}`, keep, "vyos.name"),
		on("vyos.set", port, keep, "").before(`[ \t]|$`),
		on("vyos.set", `(flowtable|egress|out|(policy|traffic-policy){b}`+policy+`){b}`, keep, "vyos.named"), on("vyos.named", `[^ \t]+`, mask, "vyos.set"),
		on("vyos.set", `['"]?(hardware|software)['"]?`, keep, ""),
		on("vyos.set", `(ethernet{b}eth[0-9]+|`+path[1:], keep, "").before(`[ \t]`),
		on("vyos.set", `address{b}`, keep, "vyos.address"), on("vyos.set", `host-name{b}`, keep, "vyos.host"), on("vyos.set", older+`{b}`, keep, "vyos.switch"),
		on("vyos.set", leaf, keep, "vyos.value").before(`[ \t]|$`),
		on("vyos.set", `{b}`, keep, ""),
		on("vyos.set", `.+`, mask, ""),
		on("vyos.name", `['"]?{secret}['"]?`, mask, "vyos.skip").before(`[ \t]`),
		on("vyos.name", `['"]?{root}[.]{name}['"]?`, keep, "vyos.value").before(`[ \t]`),
		on("vyos.name", `.+`, mask, ""),
		on("vyos.param", `['"]?{secret}['"]?`, mask, "vyos.hide").before(`[ \t{]`),
		on("vyos.param", `['"]?{root}[.]{name}['"]?`, keep, "vyos.in").before(`[ \t{]`),
		on("vyos.param", `[^{]+`, mask, "vyos.hide"),
		on("vyos.in", `{_}[}]`, keep, VyOS), on("vyos.in", `{_}value{b}`, keep, "vyos.in.value"), on("vyos.in", `{b}|[{]`, keep, ""), on("vyos.in", `[^{}]+`, mask, ""),
		on("vyos.hide", `{_}[}]`, keep, VyOS), on("vyos.hide", `[{]`, keep, ""), on("vyos.hide", `[^{}]+`, mask, ""),
		on("vyos.more", `{b}|[{]|hardware|software`, keep, ""),
		on("vyos.more", `[^ \t{]+`, mask, ""),
		on("vyos.skip", `[{]`, keep, ""), on("vyos.skip", `[^{]+`, mask, ""),
		on("vyos.value", `value{b}`, keep, ""),
		on("vyos.value", leaf, keep, "").before(`[ \t]|$`),
		on("vyos.value", `(throughput|latency|network-throughput|network-latency|enable|disable|auto)`, keep, "").before(`[ \t'"]|$`),
	}
	for _, at := range []string{"vyos.value", "vyos.in.value"} {
		rules = append(rules, on(at, `{b}|[{'"]`, keep, ""), on(at, `[^ \t'"{]+`, value, ""))
	}
	return rules
}

// uciRules keep the options of OpenWrt that an audit reads.
func uciRules() []rule {
	const names = `(packet_steering|steering_flows|flow_offloading|flow_offloading_hw|synflood_protect|syn_flood|drop_invalid|tcp_syncookies|tcp_ecn|tcp_window_scaling|mtu|mtu_fix|masq|enabled|download|upload|qdisc|script|linklayer|overhead|deepness|powersave|txqueuelen|disabled)`
	return []rule{
		on(UCI, `{_}#.*`, comment, ""),
		on(UCI, `{_}config{b}['"]?[a-z_-]+['"]?`, keep, "uci.name").before(`[ \t]|$`),
		on(UCI, `{_}option{b}['"]?`+names+`['"]?{b}`, keep, "uci.value"),
		on(UCI, `{_}(option{b}['"]?(ifname|device|name|interface)|list{b}['"]?(ports|device|network))['"]?{b}`, keep, "uci.device"),
		on(UCI, `{_}option{b}['"]?hostname['"]?{b}`, keep, "uci.host"), on("uci.host", `['"]`, keep, ""), on("uci.host", `[A-Za-z0-9][A-Za-z0-9._-]*['"]?`, keep, "").before(`$`), on("uci.host", `.+`, mask, ""),
		on(UCI, `{_}(option|list){b}['"]?[a-z0-9_]+['"]?`, keep, "uci.skip").before(`[ \t]`),
		on(UCI, `{_}`, keep, "rest"),
		on("uci.name", `{b}|['"]`, keep, ""), on("uci.name", `(loopback|globals|lan|wan|wan6|wwan|guest|eth[0-9]+|irqbalance)`, keep, "").before(`['" \t]|$`), on("uci.name", `[^ \t'"]+`, mask, ""),
		on("uci.skip", `{b}`, keep, ""), on("uci.skip", `[^ \t].*`, mask, ""),
		on("uci.value", `{b}|['"]`, keep, ""), on("uci.value", `#.*`, comment, ""), on("uci.value", `(cake|fq_codel|simple|simplest|simplest_tbf|layer_cake|piece_of_cake)([.]qos)?|none|ethernet|atm`, keep, "").before(`['" \t]|$`), on("uci.value", `[^ \t'"#]+`, value, ""),
		on("uci.device", `{b}|['"]`, keep, ""), on("uci.device", `(@?(eth|lan|wan|br-lan|br-wan|lo|wwan|usb|pppoe-wan|sfp|en[a-z]*|wlan|br|tun|tap|wg|ppp|gre|bond|ath|rax?|ge|se|bat)[0-9a-z]*([.@:][0-9a-z]+)*)`, keep, "").before(`['" \t]|$`), on("uci.device", `[^ \t'"]+`, mask, ""),
	}
}

// databaseRules keep names of tunables and their values, a line each.
func databaseRules() []rule {
	return []rule{
		on(Database, `{secret}[\t].*`, mask, ""),
		on(Database, `{root}[.]{name}|[a-z0-9_]+(_load|_enable|_flags)|zfs_[a-z0-9_]+`, keep, "database.v").before(`[\t]`),
		on(Database, `[^\t]+`, mask, "database.x"),
		on("database.v", `[\t]`, keep, ""),
		on("database.v", `(sysctl|loader|rc|udev|zfs|SYSCTL|LOADER|RC|UDEV|ZFS)`, keep, "").before(`[\t]|$`),
		on("database.v", `"|'| `, keep, ""),
		on("database.v", `[^\t"' ]+`, value, ""),
		on("database.x", `[\t]`, keep, ""), on("database.x", `[^\t]+`, mask, ""),
		on(Versioned, `{_}"(CORE_VERSION|CORE_ABI|CORE_SERIES|version)"{_}:{_}"[A-Za-z0-9 ._-]*",?`, keep, "rest"),
		on(Versioned, `DISTRIB_(RELEASE|TARGET|ARCH|ID)=['"]?[A-Za-z0-9 ._/+-]*['"]?`, keep, "rest"),
		on(Versioned, `(TrueNAS|FreeNAS)?[A-Z-]*[0-9]+[.][0-9A-Za-z._-]*`, keep, "rest").before(`[ \t]|$`),
		on(Versioned, `.+`, drop, ""),
	}
}
