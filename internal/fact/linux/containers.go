package linux

import (
	"strings"

	"linerate/internal/fact"
)

// Containers is the prefix of sysctls in a container's configuration: lxc/<container>/<sysctl>.
const Containers = "lxc/"

// ReadContainers reads the lxc.sysctl.NAME lines of the host's containers. Proxmox VE has one file each and writes "key:
// value", LXC has a directory each; snapshots, in sections of the same file, have no effect.
func ReadContainers(files fact.Files) Config {
	var c Config
	for _, dir := range []string{"/etc/pve/lxc", "/var/lib/lxc"} {
		names, _ := files.List(dir) // none if missing
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

// ContainerOf returns the container manager, in systemd's terms, of a host that is a container:
// lxc, systemd-nspawn, docker; else "". Without systemd, LXCFS mounted over files of /proc
// indicates LXC.
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
