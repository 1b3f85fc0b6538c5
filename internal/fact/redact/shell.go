package redact

// shellModes are what becomes of the words of a value: v of a known name
// (numbers and words), i interfaces, f files and modules, b a kernel's
// parameters, e ethtool's options, x of a name that nobody knows.
var shellModes = []string{"v", "i", "f", "b", "e", "x"}

// shellRules read assignments of sh(1), with quotes over several lines. Of
// commands only sh's own words stay, so that what is conditional is seen to be.
func shellRules(kind string, assignments []rule) []rule {
	rules := []rule{
		on(kind, `{b}`, keep, ""),
		on(kind, `#.*`, comment, ""),
		on(kind, `[;&|()]+`, keep, ""),
		on(kind, `[\\]$`, keep, ""),
		on(kind, `:{b}[$][{][A-Za-z_][A-Za-z0-9_]*:?=`, keep, kind+".n"), // set where it is not yet
		on(kind+".n", `"`, keep, ""), on(kind+".n", `[}]`, keep, kind), on(kind+".n", `[A-Za-z]+`, keep, "").in(setPlain), on(kind+".n", `[^}"]+`, mask, ""),
		on(kind, `([.]|source){b}`, keep, kind+".p").before(`"?/`),
	}
	rules = append(rules, assignments...)
	rules = append(rules,
		on(kind, `[A-Za-z_][A-Za-z0-9_]*[+]?=`, keep, kind+".x"),
		on(kind, `[^ \t;&|()<>"'$#`+"`"+`]+`, keep, "").in(setShell),
		on(kind, `[A-Za-z_][A-Za-z0-9_]*{b}=`, keep, kind+".r"), // no assignment, though it was meant for one
		on(kind, ``, keep, kind+".r"),
		on(kind+".p", `"?{path}"?`, keep, kind+".r"),

		on(kind+".r", `{b}|[<>=]|[\\]$`, keep, ""),
		on(kind+".r", `[;&|()]+`, keep, kind),
		on(kind+".r", `"`, keep, kind+".rd"), on(kind+".r", `'`, keep, kind+".rs"),
		on(kind+".r", `#.*`, comment, ""),
		on(kind+".r", `[^ \t;&|()<>"'=]+`, mask, ""),
		on(kind+".rd", `"`, keep, kind+".r"), on(kind+".rd", `([^"\\]|[\\].)+`, mask, ""), on(kind+".rd", `[\\]$`, keep, ""),
		on(kind+".rs", `'`, keep, kind+".r"), on(kind+".rs", `[^']+`, mask, ""),
	)
	for _, mode := range shellModes {
		rules = append(rules, shellValue(kind, kind+"."+mode, mode)...)
	}
	return rules
}

// shellValue reads a value in a mode: outside quotes, in double ones, in single ones.
func shellValue(kind, at, mode string) []rule {
	rules := []rule{
		on(at, `"`, keep, at+"d"), on(at, `'`, keep, at+"s"),
		on(at, `{b}|[;&|()]+`, keep, kind), on(at, `[<>]|[\\]$`, keep, ""),
		on(at+"d", `"`, keep, at), on(at+"d", `[\\]"?$`, keep, ""),
		on(at+"s", `'`, keep, at),
	}
	// What a command prints is not known, and what it is called with is not kept.
	for _, state := range []string{at, at + "d"} {
		rules = append(rules, on(state, `[$][(]`, keep, state+"c"), on(state, "`", keep, state+"b"),
			on(state+"c", `[)]`, keep, state), on(state+"c", `[^)]+`, mask, ""),
			on(state+"b", "`", keep, state), on(state+"b", "[^`]+", mask, ""))
	}
	// ${name:-word} and its kin add to what a name had; of the word as much stays as of any.
	for _, state := range []string{at, at + "d"} {
		rules = append(rules, on(state, `[$][{][A-Za-z0-9_]+(:?[-=+?]|##?|%%?)`, keep, state+"p"), on(state+"p", `[}]`, keep, state), on(state+"p", `{ref}|[ \t]+`, keep, ""), on(state+"p", `[^ \t}$]+|[$]`, mask, ""))
	}
	if kind == RC { // what a quote without its end takes in
		rules = append(rules, on(at+"d", `[A-Za-z0-9_]+_enable=`, keep, ""), on(at+"d", `[A-Za-z0-9_]+=`, keep, "").in(setRC))
	}
	if mode == "x" {
		return append(rules,
			on(at, `[$][{][A-Za-z0-9_]+[}]`, keep, ""), on(at+"d", `[$][{][A-Za-z0-9_]+[}]`, keep, ""),
			on(at, `[A-Za-z]+`, keep, "").in(setPlain).before(`[ \t;&|]|$`),
			on(at, `([^ \t;&|()<>"'\\$`+"`"+`]|[\\].)+|[$]`, mask, ""),
			on(at+"d", `{b}`, keep, ""),
			on(at+"d", `[A-Za-z]+`, keep, "").in(setPlain).before(`"`),
			on(at+"d", `([^"\\$`+"`"+`]|[\\].)+|[$]`, mask, ""),
			on(at+"s", `{b}`, keep, ""),
			on(at+"s", `[A-Za-z]+`, keep, "").in(setPlain).before(`'`),
			on(at+"s", `[^']+`, mask, ""))
	}
	for _, state := range []string{at, at + "d"} {
		rules = append(rules, on(state, `{ref}`, keep, ""), on(state, `[\\].`, mask, ""), on(state, `[$][^ \t"']*`, mask, ""))
	}
	for _, s := range []struct{ state, end string }{
		{at, ` \t;&|()<>"'$` + "`" + `\\`}, {at + "d", ` \t"$` + "`" + `\\`}, {at + "s", ` \t'`},
	} {
		rules = append(rules, on(s.state, `{b}`, keep, ""))
		rules = append(rules, shellTokens(s.state, s.end, mode, at)...)
	}
	return rules
}

// shellTokens are the words of a value in a mode.
func shellTokens(state, end, mode, at string) []rule {
	word := `[^` + end + `]+`
	switch mode {
	case "i":
		return []rule{on(state, `{if}|[0-9]+`, keep, "").before(`[` + end + `]|$`), on(state, word, mask, "")}
	case "f":
		return []rule{on(state, `{path}`, keep, "").before(`[` + end + `]|$`), on(state, word, mask, "")}
	case "b":
		return bootWords(state, end)
	case "e":
		return append(ethtoolWords(state, end), on(state, word, value, ""))
	}
	unknown := at[:len(at)-1] + "x" + state[len(at):]
	return []rule{
		// What follows such a word of ifconfig(8) and of flags may be anything.
		on(state, `(pass|password|passwd|passphrase|psk|key|nwkey|weptxkey|wepkey|wpakey|authkey|community|secret|token|user|ssid)`, keep, unknown).before(`[ \t]`),
		on(state, `-[A-Za-z]`, keep, "").before(`[` + end + `]|$`),
		on(state, `(addm|deletem|span|laggport|vlandev|vlanproto|laggproto|private|tunnelfib){b}{if}`, keep, ""),
		on(state, word, value, ""),
	}
}

func rcAssignments() []rule {
	return []rule{
		on(RC, `[A-Za-z0-9_]+_enable[+]?=`, keep, "rc.v"),
		on(RC, `{root}[.][A-Za-z0-9_.]+=`, keep, "rc.v"), // a sysctl, misplaced
		on(RC, `ifconfig_[A-Za-z0-9_]+_(descr|descriptions)[+]?=`, keep, "rc.x"),
		on(RC, `(ifconfig_[A-Za-z0-9_]+_name|cloned_interfaces|gif_interfaces|wireguard_interfaces|network_interfaces|vlans_[A-Za-z0-9_]+)[+]?=`, keep, "rc.i"),
		on(RC, `(rc_conf_files|hostname|pf_rules|firewall_script|firewall_type|ipfilter_rules|ipnat_rules|kld_list)[+]?=`, keep, "rc.f"),
		on(RC, `(ifconfig|create_args)_[A-Za-z0-9_]+[+]?=`, keep, "rc.v"),
		on(RC, `[A-Za-z0-9_]*(pass|secret|key|psk|token|cred|community)[A-Za-z0-9_]*[+]?=`, keep, "rc.x"),
		on(RC, `[A-Za-z_][A-Za-z0-9_]*[+]?=`, keep, "rc.v").in(setRC),
	}
}

func grubAssignments() []rule {
	return []rule{
		on(Grub, `GRUB_CMDLINE_[A-Z_]+[+]?=`, keep, "grub.b"),
		on(Grub, `GRUB_(DEFAULT|TIMEOUT|TIMEOUT_STYLE|TERMINAL|TERMINAL_OUTPUT|ENABLE_BLSCFG|DISABLE_[A-Z_]+|SAVEDEFAULT|GFXMODE)=`, keep, "grub.v"),
	}
}

// ifcfgAssignments serve Red Hat's files of interfaces and ufw's two files.
func ifcfgAssignments() []rule {
	return []rule{
		on(Ifcfg, `DEVICE=`, keep, "ifcfg.i"),
		on(Ifcfg, `ETHTOOL_OPTS=`, keep, "ifcfg.e"),
		on(Ifcfg, `IPT_SYSCTL=`, keep, "ifcfg.f"),
		on(Ifcfg, `(MTU|ENABLED|LOGLEVEL|IPV6|DEFAULT_[A-Z]+_POLICY|MANAGE_BUILTINS|ONBOOT|BOOTPROTO|TYPE)=`, keep, "ifcfg.v"),
	}
}
