package linux

import (
	"strings"

	"linerate/internal/fact"
)

// Containers begins the names of sysctls that a container's configuration sets:
// lxc/<container>/<sysctl>.
const Containers = "lxc/"

// containerDirs are where configurations of LXC's containers lie: Proxmox VE's in
// its own form, one file each, and LXC's, a directory each.
var containerDirs = []string{"/etc/pve/lxc", "/var/lib/lxc"}

// ReadContainers reads the lines lxc.sysctl.NAME of the host's containers. Proxmox VE
// writes "key: value", and its snapshots, sections of the same file, start nothing.
func ReadContainers(files fact.Files) Config {
	var c Config
	for _, dir := range containerDirs {
		names, _ := files.List(dir) // none: none
		for _, n := range names[:min(len(names), maxUnits)] {
			p, id := dir+"/"+n, strings.TrimSuffix(n, ".conf")
			if id == n {
				p += "/config"
			}
			if text, err := files.Read(p); err == nil {
				c.container(p, id, text)
			}
		}
	}
	return c
}

// container adds the sysctls of one container.
func (c *Config) container(file, id, text string) {
	for i, raw := range fact.Lines(text) {
		s := strings.TrimSpace(raw)
		if strings.HasPrefix(s, "[") {
			return
		}
		set, ok := strings.CutPrefix(s, "lxc.sysctl.")
		at := strings.IndexAny(set, "=:")
		if !ok || at < 0 {
			continue
		}
		name := strings.TrimSpace(set[:at])
		c.addLine(fact.Line{File: file, Number: i + 1, Text: raw, Name: Containers + id + "/" + name, Value: strings.TrimSpace(set[at+1:]), Stage: fact.Field, Effective: true})
	}
}

// ContainerOf is what runs the container that the host is, in systemd's word: lxc,
// systemd-nspawn, docker; "" of a host that is none. Without systemd LXCFS, which
// lies over files of /proc, tells LXC.
func ContainerOf(manager string, mounts []fact.Mount) string {
	if w := strings.Fields(manager); len(w) > 0 {
		return w[0]
	}
	for _, m := range mounts {
		if m.Type == "fuse.lxcfs" && strings.HasPrefix(m.Point, "/proc/") {
			return "lxc"
		}
	}
	return ""
}
