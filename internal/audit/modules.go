package audit

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/setting"
)

// module reports names whose module nothing loads, and those set before it is loaded.
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
		return nil // it is there, or what the loader loads is not known
	}
	f, as := Finding{Name: j.Name, Sources: j.rec.Sources}.at(j.Line), unloaded
	switch when {
	case never:
		f.ID, f.Kind, f.Severity, f.Action = "LR-NOMODULE:"+j.Name, Unknown, Warning, Change
		f.Message = fmt.Sprintf("%s comes with the module %s, which nothing here loads", j.Name, j.st.Module)
		f.Why = "Without the module the name does not exist. " + a.consequence(j.Stage)
		f.sets(setting.Loader, j.st.Module+"_load", "YES")
		f.Fix = fmt.Sprintf("Load it: %s_load=\"YES\" in /boot/loader.conf. Or remove the line.", j.st.Module)
	case afterwards:
		as, f.ID, f.Kind, f.Severity, f.Action = late, "LR-ORDER:"+j.Name, Order, Info, Change
		f.Message = fmt.Sprintf("%s is set before its module %s is loaded", j.Name, j.st.Module)
		f.Why = "rc.d/sysctl runs first and skips names that do not exist yet; rc.d/sysctl_lastload sets them after the network and the services are up. In between the default holds."
		f.Fix = fmt.Sprintf("If that matters, load the module early: %s_load=\"YES\" in /boot/loader.conf.", j.st.Module)
		f.Sources = append(slices.Clone(f.Sources), "libexec/rc/rc.d/sysctl", "libexec/rc/rc.d/sysctl_lastload")
	default:
		return nil
	}
	return one(as, f)
}

// When a module gets into the kernel.
type arrival int

const (
	never      arrival = iota
	afterwards         // by rc(8), after the first reading of sysctl.conf
	early              // by the loader, or it is in the kernel
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

// listedModules reports modules of kld_list that the release has under another name, or
// not at all.
func (a *auditor) listedModules() []candidate {
	var all []candidate
	for _, m := range a.f.Modules {
		rec, ok := a.c.Lookup(a.f.OS, m.Name+"_load")
		i := slices.IndexFunc(m.Lines, func(l fact.Line) bool { return l.Stage == fact.RCConf && l.Effective && !l.Default })
		if a.f.OS != fact.FreeBSD || !ok || i < 0 || rec.Exists(a.f.Release) || m.InKernel || m.Loaded != nil && *m.Loaded || slices.Contains(a.Rules.InGeneric, m.Name) {
			continue
		}
		f := Finding{ID: "LR-REMOVED:" + m.Name, Name: m.Name, Kind: Removed, Severity: Warning, Action: Change, Sources: append(slices.Clone(rec.Sources), "libexec/rc/rc.d/kld")}.at(m.Lines[i])
		f.Message = fmt.Sprintf("kld_list names the module %s, which does not exist on %s%s", m.Name, a.on(), since(rec))
		f.Why = "rc.d/kld says that it is unable to load the module, and the boot goes on without. " + note(rec)
		f.Fix = fmt.Sprintf("Take %s out of the list.", m.Name)
		if to := a.successor(rec); to != nil {
			name := strings.TrimSuffix(to.Name, "_load")
			f.ID, f.Kind = "LR-RENAMED:"+m.Name, Renamed
			f.Message = fmt.Sprintf("kld_list names the module %s, which is %s on %s", m.Name, name, a.on())
			f.Fix = fmt.Sprintf("Write %s for %s in the list.", name, m.Name)
		}
		all = append(all, one(gone, f)...)
	}
	return all
}

// loadedBy is the module that a line of loader.conf loads.
func loadedBy(j judged) (module string, ok bool) {
	module, ok = strings.CutSuffix(j.Name, "_load")
	return module, ok && j.Stage == fact.Loader
}

// onlyYes reports words for yes that rc.conf takes and the loader does not.
func (a *auditor) onlyYes(j judged) []candidate {
	module, loads := loadedBy(j)
	if !loads || a.f.OS != fact.FreeBSD || !slices.Contains([]string{"ON", "TRUE", "1", "Y", "ENABLE", "ENABLED"}, strings.ToUpper(strings.TrimSpace(j.Value))) {
		return nil
	}
	return one(outOfRange, Finding{ID: "LR-RANGE:" + j.Name, Name: j.Name, Kind: Range, Severity: Warning, Action: Change, Sources: []string{"stand/lua/config.lua", "loader.conf(5)"},
		Message: fmt.Sprintf("%s=%s loads nothing: the loader takes YES alone for yes", j.Name, j.Value),
		Why:     "rc.conf knows several words for yes; the loader compares with YES, in capitals or not.",
		Fix:     fmt.Sprintf("Write %s_load=\"YES\", or remove the line.", module)}.at(j.Line))
}

// withoutIt is what the host's system does with a line whose name it does not
// know.
func (a *auditor) withoutIt(j judged) string {
	if _, ok := loadedBy(j); ok && a.f.OS == fact.FreeBSD {
		return "The loader looks for the module's file, says on the console that it cannot load it, and boots on without."
	}
	return a.consequence(j.Stage)
}
