package redact

// pfRules keep the words of pf.conf(5), numbers and interfaces; names,
// addresses and labels go. A macro's numbers go as well: they may be anything.
func pfRules() []rule {
	var rules []rule
	for _, at := range []string{"pf.w", "pf.m"} {
		rules = append(rules,
			on(at, `[] \t{}(),<>:![]+`, keep, ""),
			on(at, `#.*`, comment, ""),
			on(at, `[\\]`, keep, ""),
			on(at, `[$][A-Za-z0-9_]+`, keep, ""))
	}
	const word = `[^] \t{}(),<>:!#"'=\\[]+`
	return append(rules,
		on("pf.w", `label{b}("[^"]*"?|[^ \t]+)`, mask, ""),
		on("pf.w", `(include|load{b}anchor{b}[^ \t]+{b}from){b}"{path}"`, keep, ""),
		on("pf.w", `(on{b}!?{_}|loginterface{b})[a-z][a-z0-9_.]*`, keep, "").before(`[ \t]|$`),
		on("pf.w", `{root}[.]{name}`, keep, ""),
		on(PF, `{_}[A-Za-z_][A-Za-z0-9_]*{_}=`, keep, "pf.m"),
		on(PF, ``, keep, "pf.w"),
		on("pf.w", `["'=]`, keep, ""),
		on("pf.w", word, value, ""),
		on("pf.m", `[="]|'`, keep, ""),
		on("pf.m", `[0-9][^ \t{}(),"'#]*`, mask, ""),
		on("pf.m", word, value, ""),
	)
}

// ipfwRules are of ipfw's rules, and of scripts that make them.
func ipfwRules() []rule {
	rules := []rule{
		on(IPFW, `[ \t;&|(){}!]+`, keep, ""),
		on(IPFW, `[A-Za-z_][A-Za-z0-9_]*=`, keep, "ipfw.a"),
		on(IPFW, ``, keep, "ipfw.w"),
		on("ipfw.w", `[;&|]+`, keep, IPFW),
		on("ipfw.w", `(#|//).*`, comment, ""),
		on("ipfw.w", `[ \t(){},<>:!=]+`, keep, ""),
		on("ipfw.w", `[\\]$`, keep, ""),
		on("ipfw.w", `{ref}`, keep, ""),
		on("ipfw.w", `["']`, keep, ""),
		on("ipfw.w", `/sbin/ipfw|-[a-z]+`, keep, "").before(`[ \t"']|$`),
		on("ipfw.w", `(via|recv|xmit|if){b}[a-z][a-z0-9_.]*`, keep, "").before(`[ \t]|$`),
		on("ipfw.w", `[^ \t;&|(){},<>:!#"'=$]+`, value, ""),
		on("ipfw.a", `["']`, keep, ""), on("ipfw.a", `#.*`, comment, ""), on("ipfw.a", `{ref}`, keep, ""),
		on("ipfw.a", `{b}|,`, keep, ""), on("ipfw.a", `;`, keep, IPFW),
		on("ipfw.a", `/sbin/ipfw|-[a-z]`, keep, "").before(`[ \t"']|$`),
		on("ipfw.a", `[a-z]+`, value, "").before(`[ \t"',;]|$`),
		on("ipfw.a", `[^ \t"',;#]+`, mask, ""),
	}
	return rules
}

func linuxFirewallRules() []rule {
	const word = `[^] \t{}(),<>:!#"'=;@$[]+`
	return []rule{
		on(NFT, `{_}#.*`, comment, ""),
		on(NFT, `{_}`, keep, "nft.w"),
		on("nft.w", `{_}#.*`, drop, ""), // a rule's handle
		on("nft.w", `comment{b}("[^"]*"?|[^ \t;}]+)`, mask, ""),

		on("nft.w", `{b}|[]{}(),<>:!=;@$[]+`, keep, ""),
		on("nft.w", `"[^"]*"?|'[^']*'?`, mask, ""),
		on("nft.w", word, value, ""),
		on(IPTables, `{_}#.*`, comment, ""),
		on(IPTables, `--(comment|log-prefix|nflog-prefix|string|hex-string|set|match-set){b}("[^"]*"?|[^ \t]+)`, mask, ""),
		on(IPTables, `/[*].*[*]/`, mask, ""),
		on(IPTables, `{b}|[],:!{}()[]+`, keep, ""),
		on(IPTables, `"[^"]*"?|'[^']*'?`, mask, ""),
		on(IPTables, `-A|--[a-z-]+|-[a-zA-Z]`, keep, "").before(`[ \t]`),
		on(IPTables, `[^] \t,:!{}()"'[]+`, value, ""),
	}
}
