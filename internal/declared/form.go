package declared

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// formOf returns the form of a document, and its target hosts.
func formOf(name, text string, doc *node) Host {
	api, kind := doc.get("apiVersion").text, doc.get("kind").text
	meta := doc.get("metadata")
	h := Host{Form: "YAML", Node: place(name)}
	group, _, _ := strings.Cut(api, "/")
	base := path.Base(name)
	switch {
	case talos(doc, api, kind):
		h.Form, h.System = "Talos", "talos"
		h.Node = doc.get("machine", "type").text
		if h.Node == "" {
			h.Node = strings.TrimSuffix(base, path.Ext(base))
		}
	case group == "machineconfiguration.openshift.io":
		h.Form, h.System = kind, "openshift"
		h.Node = meta.get("labels", "machineconfiguration.openshift.io/role").text
	case group == "tuned.openshift.io":
		h.Form, h.System = "Tuned", "openshift"
	case api != "" && kind != "":
		h.Form, h.Node, h.Workload = "Kubernetes "+kind, meta.get("name").text, kind
	case doc.get("variant").line > 0 && doc.get("version").line > 0:
		h.Form = "Butane"
		h.Node = meta.get("labels", "machineconfiguration.openshift.io/role").text
		if doc.get("variant").text == "openshift" {
			h.System, h.Version = "openshift", minor(doc.get("version").text)
		}
	case doc.get("ignition", "version").line > 0:
		h.Form = "Ignition"
	case strings.HasPrefix(text, "#cloud-config"):
		h.Form = "cloud-init"
	case ansible(name, doc):
		h.Form = "Ansible"
		if hosts := first(doc.items).get("hosts").text; h.Node == "" {
			h.Node = hosts
		}
	case strings.HasSuffix(name, ".sls"):
		h.Form = "Salt"
	case strings.Contains(text, "sysctl::") || strings.Contains(name, "hiera"):
		h.Form = "puppet"
	case strings.HasPrefix(base, "values"):
		h.Form = "Helm values"
	case len(doc.keys) > 0 && wholeName().MatchString(doc.keys[0].key): // such as the output of nix eval --json
		h.Form = "sysctls"
	}
	return h
}

func first(items []*node) *node {
	if len(items) == 0 {
		return &node{}
	}
	return items[0]
}

// talos reports a machine configuration, a patch of one, or one of its documents.
func talos(doc *node, api, kind string) bool {
	m := doc.get("machine")
	return api == "v1alpha1" && kind != "" || m.first("sysctls", "sysfs", "install", "kubelet", "type", "kernel").line > 0 ||
		doc.get("talosVersion").line > 0 || doc.get("customization", "extraKernelArgs").line > 0
}

// ansible reports a playbook, or a file of tasks or variables.
func ansible(name string, doc *node) bool {
	f := first(doc.items)
	if f.first("hosts", "tasks", "ansible.posix.sysctl", "sysctl", "lineinfile", "ansible.builtin.copy", "include_tasks", "when", "register").line > 0 {
		return true
	}
	dir := "/" + path.Dir(name) + "/"
	return slices.ContainsFunc([]string{"/group_vars/", "/host_vars/", "/tasks/", "/defaults/", "/vars/", "/handlers/"}, func(d string) bool { return strings.Contains(dir, d) })
}

func minor(version string) string {
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// pins lists patterns by which files of a repository name the release of a distribution.
var pins = []struct {
	system string
	how    *regexp.Regexp
}{
	{"talos", regexp.MustCompile(`installer(?:-\w+)?(?:/\S{0,100}|/\{\{[^}\n]{0,60}\}\})?:v(\d+\.\d+)`)},
	{"talos", regexp.MustCompile(`(?i)talos_?version["']?\s*[:=]\s*["']?v?(\d+\.\d+)`)},
	{"nixos", regexp.MustCompile(`(?:nixpkgs/(?:nixos|release)-|"ref":\s*"(?:nixos|release)-|nixpkgs\?ref=(?:nixos|release)-)(\d\d\.\d\d)`)},
}

// Pinned returns the releases that a file of a repository names: versions by distribution.
func Pinned(text string) map[string][]string {
	found := map[string][]string{}
	if low := strings.ToLower(text); !strings.Contains(low, "talos") && !strings.Contains(low, "nixpkgs") && !strings.Contains(low, "installer") {
		return found
	}
	for _, p := range pins {
		for _, m := range p.how.FindAllStringSubmatch(text, 64) {
			found[p.system] = append(found[p.system], m[1])
		}
	}
	return found
}
