// Package export writes a plan in formats of other tools: files for sysctl.d(5) or
// rc.conf(5), an Ansible playbook, a NixOS module, cloud-init user data, and appliances'
// own formats. Each setting has its reason as a comment.
//
// What a format cannot express is in a comment at the end, never silently dropped. Only
// plan.Render determines the content of a plan's files; formats that carry files contain
// them byte for byte.
package export

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact/redact"
	"linerate/internal/hint"
	"linerate/internal/lazy"
	"linerate/internal/list"
	"linerate/internal/plan"
	"linerate/internal/setting"
	"linerate/internal/show"
)

// form is an export format.
type form struct {
	name  string
	os    string // "" for both
	write func(p plan.Plan, files []plan.File) (string, error)
}

var forms = []form{
	{"sysctl.d", "", planFile(setting.Sysctl)},
	{"rc.conf", "freebsd", planFile(setting.RC)},
	{"ansible", "", ansible},
	{"nixos", "linux", nixos},
	{"cloud-init", "linux", cloudInit},
	{"opnsense", "freebsd", items(ofKernel, "System ▸ Settings ▸ Tunables", "pf's limits are at Firewall ▸ Settings ▸ Advanced, offloads at Interfaces ▸ Settings.")},
	{"pfsense", "freebsd", items(ofSysctl, "System ▸ Advanced ▸ System Tunables", "Loader variables go into /boot/loader.conf.local, pf's limits are at System ▸ Advanced ▸ Firewall & NAT, offloads at ▸ Networking.")},
	{"vyos", "linux", vyos},
	{"openwrt", "linux", openwrt},
	{"truenas-core", "freebsd", tunables(coreKind)},
	{"truenas-scale", "linux", tunables(scaleKind)},
}

// Names returns the names of the formats.
func Names() []string { return list.Map(forms, func(f form) string { return f.name }) }

// Write returns the plan in a format. It fails if the format is unknown or for another system.
func Write(p plan.Plan, name string) (string, error) {
	i := slices.IndexFunc(forms, func(f form) bool { return f.name == name })
	if i < 0 {
		return "", hint.Unknown("form of a plan", name, Names())
	}
	f := forms[i]
	if f.os != "" && f.os != p.OS {
		fit := list.Map(list.Filter(forms, func(o form) bool { return o.os == "" || o.os == p.OS }), func(o form) string { return o.name })
		return "", hint.With(hint.Usagef("%s is for %s, and this plan is for %s", name, f.os, p.OS), "forms for %s: %s", p.OS, strings.Join(fit, ", "))
	}
	files, err := plan.Render(p, nil)
	if err != nil {
		return "", err
	}
	return f.write(p, files)
}

// title returns the heading of an export as comments: linerate's marker, and the plan.
func title(p plan.Plan, mark string) string {
	return fmt.Sprintf("%[1]s"+plan.Marker[1:]+"\n%[1]s Plan %[2]s of linerate for %[3]s: %[4]s %[5]s, role %[6]s.\n", mark, p.Short(), clean(cmp.Or(p.Host, "any host")), p.OS, clean(p.Release), clean(p.Role))
}

// clean joins a text into one line.
func clean(s string) string { return strings.Join(strings.Fields(s), " ") }

// left lists, as comments, what a format cannot express: steps, lines in the host's own files to remove, and changes to make by
// hand.
func left(p plan.Plan, mark string, held func(plan.Step) bool) string {
	return leftBut(p, mark, held, func(plan.Removal) bool { return false })
}

// leftBut is left for a format that removes some lines itself.
func leftBut(p plan.Plan, mark string, held func(plan.Step) bool, cut func(plan.Removal) bool) string {
	var b strings.Builder
	list := func(heading string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(&b, "\n%s %s:\n", mark, heading)
		}
		for _, l := range lines {
			for i, part := range show.Wrap(clean(l), 76) {
				fmt.Fprintf(&b, "%s   %s%s\n", mark, map[bool]string{true: "  "}[i > 0], part)
			}
		}
	}
	var not, gone, hand, decide []string
	for _, s := range p.Settings {
		if !held(s) {
			not = append(not, fmt.Sprintf("%s = %s (%s)", s.Title(), s.Value, s.Where))
		}
	}
	for _, r := range p.Removals() {
		if !cut(r) {
			gone = append(gone, fmt.Sprintf("%s:%d: %s (%s)", r.File, r.Line, r.Text, r.Reason))
		}
	}
	for _, h := range p.ByHand {
		hand = append(hand, fmt.Sprintf("%s: %s (%s)", h.Name, h.Do, strings.TrimSuffix(h.Reason, ".")))
	}
	list("Not in this form", not)
	list("Better gone, of the host's own files", gone)
	for _, d := range p.Decide {
		decide = append(decide, fmt.Sprintf("%s: %s (%s)", d.Name, d.Change, strings.TrimSuffix(d.Reason, ".")))
	}
	list("By hand", hand)
	list("To decide, so not changed here", decide)
	return b.String()
}

var (
	ownFile = lazy.Regexp(`^/[\w./-]*/(sysctl\.conf|loader\.conf|rc\.conf|(sysctl|loader\.conf|rc\.conf)\.d/[\w.-]+)$|^/boot/loader\.conf\.local$|^/etc/(sysctl|rc)\.conf\.local$`)
	ownLine = lazy.Regexp(`^\s*[\w./:%@*-]+\s*=\s*("[^"\\$\x00-\x08\x0a-\x1f` + "`" + `]*"|[^"';&|\\$\x00-\x08\x0a-\x1f` + "`" + `]*)$`)
)

// whole reports whether a line can be removed from its file by its text: it sets one thing, and no other line belongs to it.
func whole(r plan.Removal) bool {
	return ownFile().MatchString(r.File) && ownLine().MatchString(r.Text) && !strings.Contains(r.Text, redact.Mark)
}

// inFile reports whether the plan's files contain the step.
func inFile(s plan.Step) bool { return s.Where.File != "" }

// inOf returns a function that reports whether a step is in one of the plan's files.
func inOf(file string) func(plan.Step) bool {
	return func(s plan.Step) bool { return s.Where.File == file }
}

// contentOf returns a file's content, "" if the plan lacks it.
func contentOf(files []plan.File, at string) string {
	if i := slices.IndexFunc(files, func(f plan.File) bool { return f.Path == at }); i >= 0 {
		return files[i].Content
	}
	return ""
}

// body returns a file's content without linerate's marker, which the export has at its beginning.
func body(content string) string {
	return strings.TrimLeft(strings.TrimPrefix(content, plan.Marker), "\n")
}

// planFile writes the plan's own file of a mechanism.
func planFile(m setting.Mechanism) func(plan.Plan, []plan.File) (string, error) {
	return func(p plan.Plan, files []plan.File) (string, error) {
		at := plan.PlaceOf(p.OS, m)
		return title(p, "#") + "\n" + body(contentOf(files, at)) + left(p, "#", inOf(at)), nil
	}
}

// reasons returns the reasons of a step as comments.
func reasons(s plan.Step, mark string) string {
	var b strings.Builder
	for _, text := range []string{s.Reason, s.Formula, strings.TrimSuffix(s.Evidence.Kind+": "+s.Evidence.Text, ": ")} {
		if text = clean(text); text != "" {
			for _, l := range show.Wrap(text, 76) {
				b.WriteString(mark + " " + l + "\n")
			}
		}
	}
	return b.String()
}

// indented adds a prefix to the non-empty lines of a text.
func indented(text, prefix string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString(prefix)
		}
		b.WriteString(line)
	}
	return b.String()
}

// activate returns the command by which a running system applies a file, none if it does so by itself or at the next boot. The
// order of the files ensures that modules are loaded before their sysctls.
func activate(p plan.Plan, file string) []string {
	switch file {
	case plan.LinuxSysctl:
		return []string{"sysctl", "-p", file}
	case plan.FreeBSDSysctl:
		return []string{"service", "sysctl", "start"}
	case plan.LinuxModules, plan.FreeBSDRC:
		var modules []string
		for _, s := range p.Settings {
			if s.Mechanism == setting.Module && s.Where.File == file {
				modules = append(modules, s.Name)
			}
		}
		if len(modules) > 0 {
			return append(map[string][]string{"linux": {"modprobe", "-a"}, "freebsd": {"kldload", "-n"}}[p.OS], modules...)
		}
	}
	return nil
}

const blockEnd = "# End of linerate's settings."

// ansible returns a playbook that uses ansible-core's own modules. It supports check mode, even if directories are missing;
// linerate_root writes below another root. Files are loaded on every run, so that a failure is not hidden by the next run.
func ansible(p plan.Plan, files []plan.File) (string, error) {
	var b strings.Builder
	b.WriteString("---\n" + title(p, "#") + "# Check mode shows what it would change.\n")
	fmt.Fprintf(&b, "- name: Tuning by linerate, plan %s\n  hosts: %s\n  become: true\n  gather_facts: false\n  vars:\n    linerate_root: \"\"\n  tasks:\n", p.Short(), yamlString(cmp.Or(p.Host, "all")))
	cuts := ansibleCuts(p)
	if len(files) == 0 && cuts == "" {
		b.WriteString("    []\n")
	}
	for i, f := range files {
		if i > 0 {
			b.WriteString("\n")
		}
		dir := path.Dir(f.Path)
		fmt.Fprintf(&b, "    - name: The directory %s\n      ansible.builtin.file:\n        path: \"{{ linerate_root }}%s\"\n        state: directory\n        mode: \"0755\"\n      register: linerate_dir_%d\n\n", dir, dir, i)
		fmt.Fprintf(&b, "    - name: The settings in %s\n", f.Path)
		if f.Path == plan.FreeBSDSysctl || f.Path == plan.FreeBSDRC { // which may have the owner's lines: linerate's are a block
			fmt.Fprintf(&b, "      ansible.builtin.blockinfile:\n        path: \"{{ linerate_root }}%s\"\n        create: true\n        mode: \"%04o\"\n        marker: \"{mark}\"\n        marker_begin: %s\n        marker_end: %s\n        block: !unsafe |\n%s",
				f.Path, f.Mode, yamlQuoted(plan.Marker), yamlQuoted(blockEnd), indented(body(f.Content), "          "))
		} else {
			fmt.Fprintf(&b, "      ansible.builtin.copy:\n        dest: \"{{ linerate_root }}%s\"\n        mode: \"%04o\"\n        content: !unsafe |\n%s", f.Path, f.Mode, indented(f.Content, "          "))
		}
		fmt.Fprintf(&b, "      register: linerate_file_%d\n      when: not (ansible_check_mode and linerate_dir_%d is changed)\n", i, i)
		if argv := activate(p, f.Path); argv != nil {
			fmt.Fprintf(&b, "\n    - name: Load %s\n      ansible.builtin.command:\n        argv: [%s]\n      when: not linerate_root\n      changed_when: linerate_file_%d is changed\n", f.Path, strings.Join(argv, ", "), i)
		}
	}
	b.WriteString(cuts)
	return b.String() + leftBut(p, "#", inFile, whole), nil
}

// ansibleCuts returns tasks that remove lines from the host's own files.
func ansibleCuts(p plan.Plan) string {
	var b strings.Builder
	for _, r := range p.Removals() {
		if whole(r) {
			fmt.Fprintf(&b, "\n    # %s\n    - name: %s\n      ansible.builtin.lineinfile:\n        path: \"{{ linerate_root }}%s\"\n        regexp: !unsafe %s\n        state: absent\n",
				clean(r.Reason), yamlString("Line "+strconv.Itoa(r.Line)+" of "+r.File+" goes"), r.File, yamlQuoted("^"+regexp.QuoteMeta(r.Text)+map[bool]string{true: ".*$", false: "$"}[strings.HasSuffix(r.Text, "#")])) // a comment's words are masked
		}
	}
	return b.String()
}

// yamlString quotes any text for YAML, joined into one line.
func yamlString(s string) string { return yamlQuoted(clean(s)) }

// yamlQuoted quotes a line of text for YAML, keeping its blanks.
func yamlQuoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`).Replace(s) + `"`
}

// cloudInit returns user data that writes the files and loads them once.
func cloudInit(p plan.Plan, files []plan.File) (string, error) {
	var b, run strings.Builder
	b.WriteString("#cloud-config\n" + title(p, "#"))
	for i, f := range files {
		if i == 0 {
			b.WriteString("write_files:\n")
		}
		fmt.Fprintf(&b, "  - path: %s\n    permissions: \"%04o\"\n    content: |\n%s", f.Path, f.Mode, indented(f.Content, "      "))
		if argv := activate(p, f.Path); argv != nil {
			fmt.Fprintf(&run, "  - [%s]\n", strings.Join(argv, ", "))
		}
	}
	if run.Len() > 0 {
		b.WriteString("runcmd:\n" + run.String())
	}
	return b.String() + left(p, "#", inFile), nil
}

var nixNumber = lazy.Regexp(`^(0|-?[1-9][0-9]{0,17})$`)

func nixValue(v string) string {
	if nixNumber().MatchString(v) {
		return v
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `${`, `\${`).Replace(clean(v)) + `"`
}

// nixos returns a module. In NixOS definitions with equal priority conflict, even if they are the same: these have slightly
// higher priority than a module's own, and mkForce still overrides them.
func nixos(p plan.Plan, files []plan.File) (string, error) {
	var b strings.Builder
	b.WriteString(title(p, "#") + "{ lib, ... }:\n{\n")
	begun := false
	for _, s := range p.Settings {
		if s.Where.File != plan.LinuxSysctl {
			continue
		}
		if !begun {
			b.WriteString("  boot.kernel.sysctl = {\n")
			begun = true
		}
		fmt.Fprintf(&b, "%s    \"%s\" = lib.mkOverride 90 %s;\n", reasons(s, "    #"), strings.NewReplacer(`\`, `\\`, `"`, `\"`, `${`, `\${`).Replace(s.Name), nixValue(s.Value))
	}
	if begun {
		b.WriteString("  };\n")
	}
	multi := strings.NewReplacer("''", "'''", "${", "''${")
	for _, f := range files {
		if name := nixTexts[f.Path]; name != "" {
			fmt.Fprintf(&b, "  %s = ''\n%s  '';\n", name, multi.Replace(indented(body(f.Content), "    ")))
		} else if name := nixLists[f.Path]; name != "" {
			b.WriteString(nixList(name, f))
		}
	}
	return b.String() + "}\n" + left(p, "#", inFile), nil
}

// nixTexts are the options that become files in NixOS, nixLists those in which each item becomes a line.
var (
	nixTexts = map[string]string{plan.LinuxUdev: "services.udev.extraRules", plan.LinuxModprobe: "boot.extraModprobeConfig"}
	nixLists = map[string]string{plan.LinuxModules: "boot.kernelModules", plan.LinuxTmpfiles: "systemd.tmpfiles.rules"}
)

// nixList returns a file of single lines as a list with a name.
func nixList(name string, f plan.File) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s = [\n", name)
	for line := range strings.Lines(body(f.Content)) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "#"):
			b.WriteString("    " + line + "\n")
		case line != "":
			b.WriteString("    " + `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `${`, `\${`).Replace(line) + "\"\n")
		}
	}
	return b.String() + "  ];\n"
}
