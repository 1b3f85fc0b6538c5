package export

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/appliance"
	"linerate/internal/plan"
	"linerate/internal/setting"
)

// items writes a list of tunables in the format of config.xml, complete for import or for typing
// into the page; rest says where other settings are made.
func items(held func(plan.Step) bool, page, rest string) func(p plan.Plan, files []plan.File) (string, error) {
	return func(p plan.Plan, _ []plan.File) (string, error) {
		var b strings.Builder
		b.WriteString("<!--\n" + comment(title(p, " ")) + comment("  For "+page+", item by item. Restoring a backup's section of tunables replaces all\n  that are there: merge these into it.\n") + "-->\n<sysctl>\n")
		for _, s := range p.Settings {
			if !held(s) {
				continue
			}
			b.WriteString("  <item>\n")
			for _, e := range []struct{ tag, text string }{{"tunable", s.Name}, {"value", s.Value}, {"descr", clean(s.Reason)}} {
				fmt.Fprintf(&b, "    <%[1]s>%[2]s</%[1]s>\n", e.tag, escaped(e.text))
			}
			b.WriteString("  </item>\n")
		}
		b.WriteString("</sysctl>\n")
		if not := left(p, " ", held); not != "" {
			b.WriteString("<!--" + comment(not) + "  " + rest + "\n-->\n")
		}
		return b.String(), nil
	}
}

// comment makes a text valid within an XML comment.
func comment(s string) string { return strings.ReplaceAll(s, "--", "- -") }

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}

// ofKernel reports whether OPNsense's list of tunables, for the loader and sysctl(8), can hold a
// setting.
func ofKernel(s plan.Step) bool {
	return s.Mechanism == setting.Sysctl || s.Mechanism == setting.Loader && strings.Contains(s.Name, ".")
}

func ofSysctl(s plan.Step) bool { return s.Mechanism == setting.Sysctl }

// vyosCommand returns the command for a setting in VyOS' configuration mode, "" if it has no node
// for it.
func vyosCommand(s plan.Step) string {
	if strings.ContainsAny(s.Name+s.Value+s.Device, "'\n\"\\") {
		return ""
	}
	name := s.Name
	if s.Mechanism == setting.ModParam {
		name = "module." + strings.ReplaceAll(name, "/", ".")
	}
	if n, ok := appliance.Named("vyos").NodeOf(name); ok && n.Word(s.Value) != "" {
		c := fmt.Sprintf("set %s '%s'", n.Node, n.Word(s.Value))
		if n.Older != "" {
			c += fmt.Sprintf("\n# before %s: set %s '%s'", n.Since, n.Older, n.Word(s.Value))
		}
		return c
	}
	device := "interfaces ethernet " + s.Device
	switch {
	case s.Mechanism == setting.Sysctl:
		return fmt.Sprintf("set system sysctl parameter %s value '%s'", s.Name, s.Value)
	case !strings.HasPrefix(s.Device, "eth"):
		return ""
	case s.Mechanism == setting.Offload && slices.Contains([]string{"gro", "gso", "lro", "sg", "tso"}, s.Name):
		return map[bool]string{true: "set ", false: "delete "}[s.Value == "on"] + device + " offload " + s.Name
	case s.Mechanism == setting.Ring:
		return fmt.Sprintf("set %s ring-buffer %s '%s'", device, s.Name, s.Value)
	case s.Mechanism == setting.Link && s.Name == "mtu":
		return fmt.Sprintf("set %s mtu '%s'", device, s.Value)
	}
	return ""
}

// vyos writes commands for VyOS' configuration mode.
func vyos(p plan.Plan, _ []plan.File) (string, error) {
	var b strings.Builder
	b.WriteString(title(p, "#") + "\nconfigure\n")
	for _, s := range p.Settings {
		if c := vyosCommand(s); c != "" {
			fmt.Fprintf(&b, "# %s\n%s\n", cmp.Or(clean(s.Reason), "as planned"), c)
		}
	}
	b.WriteString("compare\ncommit-confirm 10\nexit\n# Look, and within ten minutes, from another session: configure, confirm, save, exit. Unconfirmed, VyOS goes back\n# to the saved configuration, in older releases by a reboot: save what was committed before this.\n")
	return b.String() + left(p, "#", func(s plan.Step) bool { return vyosCommand(s) != "" }), nil
}
