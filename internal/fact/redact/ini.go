package redact

// iniSections are the sections of the kinds that have some; the last, empty one
// is any other.
var iniSections = map[string][]string{
	Systemd:  {"any"},
	Tuned:    {"main", "sysctl", "any"},
	Networks: {"connection", "ethtool", "ethernet", "802-3-ethernet", "any"},
}

// iniRules read files of sections: those of systemd, tuned and NetworkManager.
func iniRules() []rule {
	var rules []rule
	for _, kind := range []string{Systemd, Tuned, Networks} {
		states := []string{kind}
		for _, s := range iniSections[kind] {
			states = append(states, kind+"."+s)
		}
		for _, at := range states {
			rules = append(rules, on(at, `{_}[#;].*`, comment, ""))
			for _, s := range iniSections[kind] {
				if s != "any" {
					rules = append(rules, on(at, `{_}[[]`+s+`[]]{_}`, keep, kind+"."+s))
				}
			}
			rules = append(rules, on(at, `{_}[[][A-Za-z0-9 ._-]+[]]{_}`, keep, kind+".any"))
		}
		for _, s := range iniSections[kind] {
			rules = append(rules, iniSection(kind, kind+"."+s, s)...)
		}
		rules = append(rules, on(kind, `.+`, drop, ""))
	}
	return rules
}

// iniSection are the keys of a section.
func iniSection(kind, at, section string) []rule {
	var rules []rule
	switch {
	case kind == Systemd:
		rules = append(rules,
			on(at, `{_}(OriginalName|Name|Driver){_}={_}`, keep, at+".w"),
			on(at, `{_}[A-Za-z0-9]+{_}={_}`, keep, at+".v").in(setSystemd))
	case section == "main":
		rules = append(rules, on(at, `{_}(include|reapply_sysctl|dynamic_tuning|daemon){_}={_}`, keep, at+".w"))
	case kind == Tuned && section == "sysctl":
		rules = append(rules,
			on(at, `{_}drop{_}={_}`, keep, at+".d"), on(at+".d", `{root}[./]{name}|[ \t,]+`, keep, ""), on(at+".d", `[^ \t,]+`, mask, ""),
			on(at, `{_}{secret}{_}=`, keep, at+".x"),
			on(at, `{_}{root}[./]{name}{_}=[<>]?{_}`, keep, at+".v"))
	case section == "connection":
		rules = append(rules, on(at, `{_}interface-name{_}={_}`, keep, at+".w"))
	case section == "ethernet", section == "802-3-ethernet":
		rules = append(rules, on(at, `{_}mtu{_}={_}`, keep, at+".v"))
	case section == "ethtool":
		rules = append(rules, on(at, `{_}(ring|feature|coalesce|channels|pause)-[a-z0-9-]+{_}={_}`, keep, at+".v"))
	}
	if kind == Tuned && section == "any" { // tuned-main.conf has no sections
		rules = append(rules, on(at, `{_}reapply_sysctl{_}={_}`, keep, at+".w"))
	}
	if section == "any" && kind == Tuned {
		rules = append(rules, on(Tuned, `{_}reapply_sysctl{_}={_}`, keep, at+".w"))
	}
	return append(rules,
		on(at, `{_}[A-Za-z_]{name}{_}={_}`, keep, at+".x"),
		on(at, `{_}`, keep, at+".p"), // a line of its own form
		on(at+".p", `.+`, mask, ""),
		on(at+".w", `[ \t,]+`, keep, ""), on(at+".w", `[A-Za-z0-9_.*?!-]+`, keep, ""), on(at+".w", `#.*`, comment, ""), on(at+".w", `[^ \t,]+`, mask, ""),
		on(at+".v", `[ \t",]+|[<>=]|infinity|unlimited|[0-9]+%`, keep, ""), on(at+".v", `[#;].*`, comment, ""), on(at+".v", `[$][{][^}]*[}]?`, mask, ""), on(at+".v", `[^ \t",<>=#;]+`, value, ""),
		on(at+".x", `{b}`, keep, ""), on(at+".x", `[^ \t]+`, keep, "").in(setPlain), on(at+".x", `[^ \t]+`, mask, ""),
	)
}
