package export

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"linerate/internal/plan"
)

var (
	titled  = regexp.MustCompile(`(?m)\A(---\n|#cloud-config\n)?# Plan [0-9a-f]+ of linerate for [^\n]*: (freebsd|linux) `)
	nixLine = regexp.MustCompile(`(?m)^\s*"([^"]+)" = lib\.mkOverride 90 (?:"((?:[^"\\]|\\.)*)"|(-?[0-9]+));$`)
	nixItem = regexp.MustCompile(`(?m)^    "([^"]+)"$`)
	unsafe  = regexp.MustCompile(`(: )!unsafe( [|"])`)
)

// Read returns the host's files that a playbook, a NixOS module or user data of Write's
// stand for, and their system; ok is false for any other text.
func Read(text string) (files map[string]string, os string, ok bool) {
	m := titled.FindStringSubmatch(text)
	if m == nil {
		return nil, "", false
	}
	switch {
	case m[1] == "---\n":
		files = readPlaybook(text)
	case m[1] != "":
		files = readUserData(text)
	case strings.Contains(text, "{ lib, ... }:"):
		files = readNixOS(text)
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
	if yaml.Unmarshal([]byte(unsafe.ReplaceAllString(text, "$1$2")), &plays) != nil {
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

// keep files a text under a path of the host.
func keep(files map[string]string, at, text string) {
	if at = strings.TrimPrefix(at, "{{ linerate_root }}"); path.IsAbs(at) && path.Clean(at) == at {
		files[at] = text
	}
}

func readNixOS(text string) map[string]string {
	var sysctl, modules strings.Builder
	for _, m := range nixLine.FindAllStringSubmatch(text, -1) {
		value := m[3]
		if value == "" {
			value, _ = strconv.Unquote(`"` + strings.ReplaceAll(m[2], `\${`, `${`) + `"`)
		}
		sysctl.WriteString(m[1] + "=" + value + "\n")
	}
	if _, list, ok := strings.Cut(text, "boot.kernelModules = [\n"); ok {
		list, _, _ = strings.Cut(list, "];")
		for _, m := range nixItem.FindAllStringSubmatch(list, -1) {
			modules.WriteString(m[1] + "\n")
		}
	}
	files := map[string]string{}
	for at, text := range map[string]string{plan.LinuxSysctl: sysctl.String(), plan.LinuxModules: modules.String()} {
		if text != "" {
			files[at] = text
		}
	}
	return files
}
