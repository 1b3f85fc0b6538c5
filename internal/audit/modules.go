package audit

import (
	"cmp"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/setting"
)

// module reports names whose module is never loaded, or is loaded too late.
func (a *auditor) module(j judged) []candidate {
	if j.rec == nil || j.st.Module == "" || j.Stage != fact.Sysctl {
		return nil
	}
	if a.f.OS == fact.Linux {
		return a.linuxModule(j)
	}
	exists, known := a.running(j.Name)
	when := a.earliest(j.st.Module)
	if exists && when != afterwards || when == never && !known && !a.f.Read("/boot/loader.conf") {
		return nil // loaded, or it is unknown what the loader loads
	}
	switch when {
	case never:
		c := a.says("LR-NOMODULE", "freebsd", j.Line, with{"module": j.st.Module})
		c.sets(setting.Loader, j.st.Module+"_load", "YES")
		return []candidate{c}
	case afterwards:
		if slices.Contains(a.Rules.Classes["sysctl-reloaded"], j.st.Module) && a.f.RCYes("firewall_enable") {
			return nil // rc.d/ipfw applies sysctl.conf again behind these modules, before its rules
		}
		return []candidate{a.says("LR-ORDER", "freebsd", j.Line, with{"module": j.st.Module})}
	}
	return nil
}

// arrival is the time at which a module is loaded into the kernel.
type arrival int

const (
	never      arrival = iota
	afterwards         // by rc(8), after sysctl.conf is first applied
	early              // by the loader, or built in
)

func (a *auditor) earliest(module string) arrival {
	m, known := a.f.Module(module)
	if known && m.InKernel || slices.Contains(a.Rules.InGeneric, module) || slices.ContainsFunc(m.Lines, func(l fact.Line) bool {
		return l.Stage == fact.Loader && l.Effective && strings.EqualFold(l.Value, "YES")
	}) {
		return early
	}
	if a.Rules.RCModules[module] == "cloned_interfaces" {
		v, _ := a.f.RCValue("cloned_interfaces")
		if strings.Contains(v, strings.TrimPrefix(module, "if_")) {
			return afterwards
		}
	}
	if len(m.Lines) > 0 || a.f.RCYes(a.Rules.RCModules[module]) || known && m.Loaded != nil && *m.Loaded {
		return afterwards
	}
	return never
}

// listedModules reports modules in kld_list that are renamed or missing on the release.
func (a *auditor) listedModules() []candidate {
	var all []candidate
	for _, m := range a.f.Modules {
		rec, ok := a.c.Lookup(a.f.OS, m.Name+"_load")
		i := slices.IndexFunc(m.Lines, func(l fact.Line) bool { return l.Stage == fact.RCConf && l.Effective && !l.Default })
		if a.f.OS != fact.FreeBSD || !ok || i < 0 || rec.Exists(a.f.Release) || m.InKernel || m.Loaded != nil && *m.Loaded || slices.Contains(a.Rules.InGeneric, m.Name) {
			continue
		}
		rule, values := "LR-REMOVED", with{"since": since(rec), "note": note(rec)}
		if to := a.successor(rec); to != nil {
			if slices.Contains(a.Rules.InGeneric, strings.TrimSuffix(to.Name, "_load")) {
				continue // under any name: if_tun and if_tap are modules of if_tuntap
			}
			rule, values["new"] = "LR-RENAMED", strings.TrimSuffix(to.Name, "_load")
		}
		c := a.says(rule, "module", called(m.Name, m.Lines[i]), values)
		c.Sources = append(slices.Clone(rec.Sources), "libexec/rc/rc.d/kld")
		all = append(all, c)
	}
	return all
}

// loadedBy returns the module that a line of loader.conf loads.
func loadedBy(l fact.Line) (module string, ok bool) {
	module, ok = strings.CutSuffix(l.Name, "_load")
	return module, ok && l.Stage == fact.Loader
}

// withoutIt says what the host's system does with a line whose name it does not know.
func (a *auditor) withoutIt(l fact.Line) string {
	words := a.Rules.Consequences[a.f.OS]
	if _, ok := loadedBy(l); ok && words["module"] != "" {
		return words["module"]
	}
	if a.product != nil && l.Stage == fact.Sysctl && a.product.Unknown != "" {
		return a.product.Unknown
	}
	return cmp.Or(words[string(l.Stage)], "Nothing is set.")
}
