package export

import (
	"encoding/json"
	"maps"
	"path"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"linerate/internal/appliance"
	"linerate/internal/lazy"
	"linerate/internal/plan"
)

var (
	titled  = lazy.Regexp(`\A(---\n|#cloud-config\n|#!/bin/sh\n|<!--\n)?(?:[# ] Settings of linerate: [^\n]*\n)?[# ] Plan [0-9a-f]+ of linerate for [^\n]*: (freebsd|linux) `)
	nixLine = lazy.Regexp(`(?m)^\s*"([^"]+)" = lib\.mkOverride 90 (?:"((?:[^"\\]|\\.)*)"|(-?[0-9]+));$`)
	nixItem = lazy.Regexp(`(?m)^    "((?:[^"\\]|\\.)+)"$`)
	unsafe  = lazy.Regexp(`(: )!unsafe( [|"])`)
	kept    = lazy.Regexp(`(?m)^\s*(?:\{ )?keep_mtu '([^'\n]+)' '([0-9]+)' &&$`)
	call    = lazy.Regexp(`(?m)^midclt call tunable\.create '(\{.*\})'$`)
)

// Read returns the host's files that a text written by Write stands for, and their system; ok is
// false for any other text, and for sysctl.d and rc.conf, which are files of a host themselves.
func Read(text string) (files map[string]string, os string, ok bool) {
	m := titled().FindStringSubmatch(text)
	if m == nil {
		return nil, "", false
	}
	switch {
	case m[1] == "---\n":
		files = readPlaybook(text)
	case m[1] == "#cloud-config\n":
		files = readUserData(text)
	case m[1] == "#!/bin/sh\n":
		files = readOpenWrt(text)
	case m[1] == "<!--\n":
		files = readItems(text)
	case strings.Contains(text, "\n{ lib, ... }:\n"):
		files = readNixOS(text)
	case strings.Contains(text, "\nconfigure\n"):
		files = map[string]string{appliance.Named("vyos").Configs[0]: text}
	case call().MatchString(text):
		files = readTunables(text)
	}
	return files, m[2], len(files) > 0
}

func readPlaybook(text string) map[string]string {
	type file struct{ Path, Dest, Content, Block string }
	var plays []struct {
		Tasks []struct {
			Copy  file `yaml:"ansible.builtin.copy"`
			Block file `yaml:"ansible.builtin.blockinfile"`
		}
	}
	if yaml.Unmarshal([]byte(unsafe().ReplaceAllString(text, "$1$2")), &plays) != nil {
		return nil
	}
	files := map[string]string{}
	for _, p := range plays {
		for _, t := range p.Tasks {
			keep(files, t.Copy.Dest, t.Copy.Content)
			keep(files, t.Block.Path, t.Block.Block)
		}
	}
	return files
}

func readUserData(text string) map[string]string {
	var d struct {
		Files []struct{ Path, Content string } `yaml:"write_files"`
	}
	if yaml.Unmarshal([]byte(text), &d) != nil {
		return nil
	}
	files := map[string]string{}
	for _, f := range d.Files {
		keep(files, f.Path, f.Content)
	}
	return files
}

// keep adds a text under a path of the host.
func keep(files map[string]string, at, text string) {
	if at = strings.TrimPrefix(at, "{{ linerate_root }}"); path.IsAbs(at) && path.Clean(at) == at {
		files[at] = text
	}
}

func readNixOS(text string) map[string]string {
	var sysctl strings.Builder
	for _, m := range nixLine().FindAllStringSubmatch(text, -1) {
		sysctl.WriteString(m[1] + "=" + m[3] + nixText(m[2]) + "\n")
	}
	files := map[string]string{plan.LinuxSysctl: sysctl.String()}
	for at, name := range nixLists {
		_, list, _ := strings.Cut(text, "\n  "+name+" = [\n")
		list, _, _ = strings.Cut(list, "\n  ];\n")
		for _, m := range nixItem().FindAllStringSubmatch(list, -1) {
			files[at] += nixText(m[1]) + "\n"
		}
	}
	for at, name := range nixTexts {
		_, lines, _ := strings.Cut(text, "\n  "+name+" = ''\n")
		lines, _, _ = strings.Cut(lines, "\n  '';\n")
		files[at] = strings.NewReplacer("'''", "''", "''${", "${").Replace(lines)
	}
	maps.DeleteFunc(files, func(_, text string) bool { return text == "" })
	return files
}

func nixText(s string) string {
	s, _ = strconv.Unquote(`"` + strings.ReplaceAll(s, `\${`, `${`) + `"`)
	return s
}

// readItems returns the configuration that a list of tunables is merged into.
func readItems(text string) map[string]string {
	for _, name := range []string{"opnsense", "pfsense"} {
		if p := appliance.Named(name); strings.Contains(text, "\n  For "+p.Tunables+", item by item.") {
			return map[string]string{p.Configs[0]: "<" + name + ">" + text + "</" + name + ">"}
		}
	}
	return nil
}

// readOpenWrt returns the files that the script's keep writes.
func readOpenWrt(text string) map[string]string {
	before, lines, _ := strings.Cut(text, "# linerate: begin\n")
	lines, _, _ = strings.Cut(lines, "# linerate: end\n")
	lines = strings.Repeat("\n", strings.Count(before, "\n")+1) + lines // with the script's line numbers
	p := appliance.Named("openwrt")
	files := map[string]string{p.Tells[0]: "", p.Tunables: lines}
	for _, m := range kept().FindAllStringSubmatch(text, -1) {
		files[p.Configs[0]] += "config device\n\toption name '" + m[1] + "'\n\toption mtu '" + m[2] + "'\n"
	}
	return files
}

// readTunables returns the rows that the calls add to the middleware's table.
func readTunables(text string) map[string]string {
	var rows strings.Builder
	for _, m := range call().FindAllStringSubmatch(text, -1) {
		var c tunable
		if json.Unmarshal([]byte(strings.ReplaceAll(m[1], `'\''`, "'")), &c) == nil {
			rows.WriteString(strings.Join([]string{c.Var, c.Value, c.Type, "1"}, "\t") + "\n")
		}
	}
	return map[string]string{appliance.Named("truenas-core").Configs[0]: rows.String()}
}
