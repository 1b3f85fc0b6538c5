package declared

import (
	"path"
	"slices"
	"strings"
)

// readYAML reads every document of a file.
func readYAML(name, text string) []*Host {
	docs := documents(text)
	if docs == nil { // a template that only its engine can parse: read it by line
		h := &Host{Form: lineForms["conf"], Node: place(name)}
		r := lineReader{h: h, lang: "template"}
		r.text(text)
		return r.hosts()
	}
	var all []*Host
	for _, doc := range docs {
		base := formOf(name, text, doc)
		w := walker{base: &base, seen: map[*node]bool{}, source: strings.Split(text, "\n")}
		w.hosts = append(w.hosts, w.base)
		w.walk(doc, nil, w.base)
		all = append(all, w.hosts...)
	}
	return merge(all)
}

// merge combines equal machines of a file into one host: Talos has one document per setting.
func merge(all []*Host) []*Host {
	var out []*Host
	for _, h := range all {
		i := slices.IndexFunc(out, func(o *Host) bool {
			return o.Container == "" && h.Container == "" && o.Form == h.Form && (o.Node == h.Node || o.Form == "Talos") && !strings.HasPrefix(h.Form, "Tuned")
		})
		if i < 0 {
			out = append(out, h)
			continue
		}
		o := out[i]
		for p, lines := range h.Files {
			for _, l := range lines {
				o.add(p, l.Text, l.Place, l.At)
			}
		}
		o.Unresolved = append(o.Unresolved, h.Unresolved...)
		if o.Version == "" {
			o.System, o.Version = h.System, h.Version
		}
	}
	return out
}

// walker searches a document for settings.
type walker struct {
	base   *Host
	hosts  []*Host
	seen   map[*node]bool
	source []string
	box    *Host  // container that commands start
	of     string // file to which an Ansible task writes lines
}

// other adds a host besides the document's own.
func (w *walker) other(h Host) *Host {
	h.Files, h.Unresolved, h.settings = nil, nil, 0
	w.hosts = append(w.hosts, &h)
	return &h
}

// prose lists keys whose texts are about settings.
var prose = []string{"description", "message", "summary", "title", "help", "when", "msg", "fail_msg", "success_msg"}

func (w *walker) walk(n *node, at []string, h *Host) {
	if n == nil || w.seen[n] || len(at) > maxLevels {
		return
	}
	w.seen[n] = true
	last := ""
	if len(at) > 0 {
		last = at[len(at)-1]
	}
	switch {
	case slices.Contains(prose, last):
	case n.scalar:
		w.scalar(n, last, h)
	case n.items != nil:
		for _, item := range n.items {
			if slices.Contains(bootKeys, last) && item.scalar {
				if !strings.HasPrefix(item.text, "-") && !variable().MatchString(item.text) { // in Talos a leading dash removes one
					h.add(commandLine, item.text, last, item.line)
				}
				continue
			}
			w.walk(item, at, h)
		}
	case n.keys != nil:
		w.mapping(n, at, h)
	}
}

// bootKeys lists keys of lists of kernel parameters: Talos, MachineConfig, Ignition and Butane,
// NixOS in YAML.
var bootKeys = []string{"extraKernelArgs", "kernelArguments", "shouldExist", "should_exist"}

// mapping reads a mapping: a setting in two keys, a file, a pod, or settings by name.
func (w *walker) mapping(n *node, at []string, h *Host) {
	if n.get("state").text == "absent" || w.file(n, h) || w.tuned(n, h) || w.module(n, at, h) {
		return
	}
	if salt := n.get("sysctl.present"); salt.items != nil {
		n = salt.joined(path.Base(strings.Join(at, "/")))
	}
	name, value := n.first("name", "key", "sysctl", "param"), n.first("value", "val")
	if wholeName().MatchString(name.text) && (value.line > 0 || n.get("state").line > 0) {
		h.set(name.text, value.text, strings.Join(at[max(0, len(at)-2):], "."), name.line)
		return
	}
	h = w.inside(n, at, h)
	for _, e := range n.keys {
		if strings.HasSuffix(e.key, "lineinfile") || strings.HasSuffix(e.key, "blockinfile") {
			defer func(was string) { w.of = was }(w.of)
			w.of = e.first("path", "dest").text
		}
	}
	for _, e := range n.keys {
		if e.key == "<<" {
			w.walk(e.node, at, h)
			continue
		}
		if !w.named(e, at, h) {
			w.walk(e.node, append(slices.Clip(at), e.key), h)
		}
	}
}

// module reads a module of Talos, with its parameters.
func (w *walker) module(n *node, at []string, h *Host) bool {
	name := n.get("name").text
	if name == "" || !strings.HasSuffix(strings.Join(at, "."), "kernel.modules") || h.Form != "Talos" {
		return false
	}
	h.add(modulesFile, name, "modules", n.get("name").line)
	for _, p := range n.get("parameters").items {
		h.add(modprobeFile, "options "+name+" "+p.text, "modules", p.line)
	}
	return true
}

// named reads a key that is the name of a sysctl, or a path below /sys.
func (w *walker) named(e entry, at []string, h *Host) bool {
	where := strings.Join(at[max(0, len(at)-2):], ".")
	name, v := e.key, e.node
	if azureName, ok := azure(name); ok && v.scalar && aksKeys().MatchString(strings.Join(at, "/")) {
		h.azureSet(name, azureName, v.text, where, e.line)
		return true
	}
	switch {
	case h.Form == "Talos" && len(at) > 0 && at[len(at)-1] == "sysfs" && v.scalar && !variable().MatchString(name+v.text):
		h.add("/etc/rc.d/rc.local", "echo "+v.text+" > /sys/"+strings.ReplaceAll(strings.Trim(name, "/"), ".", "/"), where, e.line)
	case !wholeName().MatchString(name):
		return false
	case v.scalar:
		h.set(name, strings.Join(strings.Fields(v.text), " "), where, e.line)
	case v.get("value").line > 0: // Puppet's
		h.set(name, v.get("value").text, where, e.line)
	case len(v.keys)+len(v.items) > 0:
		return false
	}
	return true
}

// inside returns the target of a mapping's settings, by default that of the enclosing one.
func (w *walker) inside(n *node, at []string, h *Host) *Host {
	depth := len(at)
	switch {
	case depth > 0 && at[depth-1] == "securityContext" && n.get("sysctls").line > 0 && h.Workload != "":
		pod := *h
		pod.Container = Pod
		return w.other(pod)
	case n.get("containers").items != nil && h.Workload != "" && n.get("hostNetwork").text != "true":
		pod := *h
		if pod.Container = Privileged; h.Workload == "DaemonSet" {
			pod.Container = DaemonSet
		}
		return w.other(pod)
	case depth == 2 && at[0] == "services" && n.get("sysctls").line > 0:
		c := *h
		c.Form, c.Node = "compose", at[1]
		if c.Container = Docker; n.get("network_mode").text == "host" {
			c.Node += " (network of the host)"
		}
		return w.other(c)
	}
	return h
}

// scalar reads a text: lines of sysctl.conf, a script, a command.
func (w *walker) scalar(n *node, key string, h *Host) {
	if h.Form == "Talos" && n.lined && strings.Contains("\n"+n.text, "\nmachine:") {
		for _, doc := range documents(n.text) { // a part of a Talos configuration in another document
			doc.move(n.line, map[*node]bool{})
			w.walk(doc, nil, h)
		}
		return
	}
	if strings.Contains(n.text, "[settings.") {
		w.lines(n, "toml", key, h)
		return
	}
	if strings.Contains(n.text, "=") || strings.Contains(n.text, "/proc/sys/") {
		w.lines(n, "conf", key, h)
	}
}

func (w *walker) lines(n *node, lang, key string, h *Host) {
	r := lineReader{h: h, lang: lang, where: key, box: w.box, of: w.of}
	for i, raw := range strings.Split(n.text, "\n") {
		r.line(strings.TrimSpace(raw), w.lineOf(n, i, raw))
	}
	if w.box == nil && r.box != nil {
		w.hosts = append(w.hosts, r.box)
	}
	w.box, h.loader = r.box, false
}

// lineOf returns the line number of the i-th line of a node's text: after the head of a block, or
// for a quoted text where its first word next occurs.
func (w *walker) lineOf(n *node, i int, text string) int {
	if n.lined {
		return n.line + 1 + i
	}
	word := strings.TrimSpace(text)
	if at := strings.IndexAny(word, "= "); at > 0 {
		word = word[:at]
	}
	for at := n.line; i > 0 && len(word) > 3 && at < len(w.source) && at < n.line+1000; at++ {
		if strings.Contains(w.source[at-1], word) {
			return at
		}
	}
	return n.line
}

// tuned reads a profile of the Tuned operator as a separate host.
func (w *walker) tuned(n *node, h *Host) bool {
	data, name := n.get("data"), n.get("name").text
	if h.Form != "Tuned" || !data.scalar || name == "" || path.Base(name) != name {
		return false
	}
	p := *h
	p.Form, p.Node = "Tuned profile", name
	profile := w.other(p)
	w.addText(profile, "/etc/tuned/"+name+"/tuned.conf", data.text, "profile "+name, data)
	profile.add("/etc/tuned/active_profile", name, "", data.line)
	w.seen[n] = true
	return true
}

func (w *walker) addText(h *Host, file, text, where string, n *node) {
	for i, raw := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		h.add(file, raw, where, w.lineOf(n, i, raw))
	}
}
