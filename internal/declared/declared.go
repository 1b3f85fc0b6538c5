// Package declared reads the settings that files of other tools declare for machines and
// containers: Talos, Kubernetes, compose, MachineConfig, Butane and Ignition, Tuned,
// Bottlerocket, cloud-init, Ansible, Helm, NixOS, Terraform, Puppet. It translates such a
// file into the files that the machine would have, each line with its position in the
// declaring file; the parsers of a machine's files do the rest. Input is untrusted: sizes
// are limited, and nothing is executed or looked up.
package declared

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"linerate/internal/lazy"
)

// MaxFile is the maximum size of a file with declared settings.
const MaxFile = 1 << 20

// maxLines is the maximum number of lines declared by one file.
const maxLines = 20_000

// Containers for which a file may declare sysctls (Host.Container).
const (
	Pod        = "kubernetes-pod"        // securityContext.sysctls: set by the kubelet for the pod
	Privileged = "kubernetes-privileged" // written from inside a pod's privileged container
	DaemonSet  = "kubernetes-daemonset"  // the same, in a DaemonSet
	Docker     = "compose"               // sysctls of compose
)

// Host is a machine, a pod or a container for which a file declares settings.
type Host struct {
	// Form is the kind of file, in its makers' terms: "Talos", "MachineConfig".
	Form string
	// Node is the target of the settings: a node role, a group of hosts, a workload; "" if the file
	// does not tell.
	Node string
	// Container is where they are set, "" for the machine itself.
	Container string
	// Workload is the kind of Kubernetes object: DaemonSet, Pod.
	Workload string
	// System and Version are the distribution pinned by the file itself.
	System, Version string
	// FreeBSD means that the settings are FreeBSD's; otherwise they are Linux's.
	FreeBSD bool
	// Files are those that the machine would have, by path.
	Files map[string][]Line
	// Unresolved lists settings whose value cannot be determined from the file alone.
	Unresolved []Unresolved

	settings int
	loader   bool // the current line is about FreeBSD's loader.conf
}

// RunsPods reports whether it is a node of Kubernetes, or one of its pods.
func (h *Host) RunsPods() bool {
	return h.Workload != "" || h.Container != "" || slices.Contains([]string{"Talos", "MachineConfig", "Tuned", "Tuned profile", "Bottlerocket", "Terraform"}, h.Form)
}

// Alternatives reports a form in which two lines of the same name may be for different hosts or
// cases, depending on conditions and variables, so that neither overrides the other.
func (h *Host) Alternatives() bool {
	return !slices.Contains([]string{"Talos", "MachineConfig", "Butane", "Ignition", "Bottlerocket", "compose"}, h.Form) || h.Node == "talconfig"
}

// Invented reports a file that the form does not name: its lines may be for different hosts.
func Invented(file string) bool {
	return slices.Contains([]string{SysctlFile, bsdFile, commandLine}, file)
}

// Line is one line of a machine's file, with the line number of its declaration.
type Line struct {
	Text string
	At   int
	// Place is the key that contains it.
	Place string
	// File is another file of the repository that declares it for the same machines.
	File string
}

// Unresolved is a setting without a known value.
type Unresolved struct {
	Name string
	At   int
	Why  string
	// value and place are as written in the file.
	value, place string
	half         string // one end of a range
}

// SysctlFile is the file for settings of a form that does not name files.
const SysctlFile = "/etc/sysctl.d/declared.conf"

// Read returns the settings that a file declares, nil if there are none. name is its path in the
// repository, which identifies some forms; vars are the repository's variables, or nil.
func Read(name string, text []byte, vars *Variables) []*Host {
	if len(text) > MaxFile || bytes.IndexByte(text, 0) >= 0 || !mentions(text) {
		return nil
	}
	var hosts []*Host
	switch lang := language(name, string(text)); lang {
	case "":
		hosts = readYAML(name, string(text))
	default:
		hosts = readLines(name, string(text), lang)
	}
	for _, h := range hosts {
		h.resolve(name, vars)
		h.join(vars)
	}
	hosts = bySystem(hosts, name, text, vars)
	return slices.DeleteFunc(hosts, func(h *Host) bool {
		unsaid := h.Form == "YAML" || h.Form == lineForms["conf"]
		byName := slices.Contains(endings, path.Ext(name)) || directive().Match(text)
		return h.settings == 0 && len(h.Unresolved) == 0 || unsaid && !byName // sysctl.conf by another name
	})
}

// Endings lists suffixes of files that may declare settings; scripts may have none.
const Endings = ".yaml .yml .json .ign .bu .sls .eyaml .j2 .tpl .tmpl .tftpl .erb .epp .pp .nix .tf .tfvars .hcl .toml .sh .conf .cfg .service .container .sysctl"

var endings = strings.Fields(Endings)

// foreign matches files about programs, and of programs' own tests.
var foreign = lazy.Regexp(`(?i)(^|/)(readme|changelog|license|copying)[^/]*$|(^|/)(testdata|molecule)/|(^|/)meta/argument_specs\.ya?ml$`)

// May reports whether a file, by its name, may declare settings; Read examines the content.
func May(name string) bool {
	ext := path.Ext(name)
	return (ext == "" || ext == path.Base(name) || slices.Contains(endings, ext)) && !foreign().MatchString(name)
}

// Plain reports a text in which most lines set sysctls, or a TuneD profile: a file that a host
// reads itself, whatever its name.
func Plain(name string, text []byte) bool {
	if !slices.Contains([]string{"", ".conf", ".cfg"}, path.Ext(name)) || len(text) > MaxFile || !mentions(text) || directive().Match(text) || bytes.IndexByte(text, 0) >= 0 {
		return false
	}
	set, all := 0, 0
	for line := range bytes.Lines(text) {
		switch s := bytes.TrimSpace(line); {
		case len(s) == 0 || s[0] == '#' || s[0] == ';':
		case bytes.Equal(s, []byte("[sysctl]")):
			return true
		default:
			all++
			if m := fullLine().FindSubmatch(s); m != nil && string(m[2]) == "=" {
				set++
			}
		}
	}
	return 2*set > all
}

// directive matches the beginning of a template expression.
var directive = lazy.Regexp(`\{\{|\{%|<%`)

// languages maps suffixes of line-based files to languages; others are YAML.
var languages = map[string]string{".nix": "nix", ".tf": "hcl", ".tfvars": "hcl", ".hcl": "hcl", ".toml": "toml", ".sh": "sh", ".service": "sh", ".container": "sh", ".pp": "puppet", ".conf": "conf", ".cfg": "conf", ".sysctl": "list"}

// tomlSection matches the heading of Bottlerocket settings.
var tomlSection = lazy.Regexp(`(?m)^\s*\[settings\.[a-z."-]+\]`)

// nixModule matches the beginning of a NixOS module, or one that sets a sysctl.
var nixModule = lazy.Regexp(`(?m)^\s*boot(\.|\s*=\s*\{[^}]*)kernel(\.sysctl|Params)`)

// script matches a shell function, or a shell command that writes settings to a file.
var script = lazy.Regexp(`(?m)^\w+ ?\(\)\s*\{?$|^\s*(?:cat|echo|printf|tee)\b[^#\n]*>\s*\S*(?:sysctl|loader)\S*\.conf`)

// otherScript matches interpreters other than shells.
var otherScript = lazy.Regexp(`python|perl|ruby|node|php|awk|lua|expect`)

// templates matches suffixes of templates of other files.
var templates = lazy.Regexp(`\.(j2|tpl|tmpl|tftpl|erb|epp)$`)

// language returns the language of a line-based file, "" for YAML.
func language(name, text string) string {
	ext := path.Ext(templates().ReplaceAllString(name, ""))
	first, _, _ := strings.Cut(text, "\n")
	switch lang := languages[ext]; {
	case (ext == "" || lang == "conf") && script().MatchString(text):
		return "sh"
	case lang != "":
		return lang
	case strings.HasPrefix(first, "#!") && !otherScript().MatchString(first):
		return "sh"
	case strings.Contains(text, "\n[sysctl]\n"):
		return "conf"
	case ext == ".yaml" || ext == ".yml" || ext == ".json" || ext == ".ign" || ext == ".bu":
		return ""
	case tomlSection().MatchString(text):
		return "toml"
	case nixModule().MatchString(text):
		return "nix"
	}
	return ""
}

// add appends a line to one of the machine's files.
func (h *Host) add(file, text, place string, at int) {
	if h.settings >= maxLines || len(text) > 1<<14 {
		return
	}
	if h.Files == nil {
		h.Files = map[string][]Line{}
	}
	h.settings++
	h.Files[file] = append(h.Files[file], Line{Text: strings.NewReplacer("\n", " ", "\r", "").Replace(text), At: at, Place: place})
}

// variable matches what a template or a program replaces by a value.
var variable = lazy.Regexp(templated + `|\{\{|\{%|\$\{|\$[A-Za-z_(0-9@*]|<%|@[A-Za-z_]+@|` + "`")

// truth maps YAML booleans, which Ansible's module writes as numbers.
var truth = map[string]string{"true": "1", "yes": "1", "false": "0", "no": "0"}

// standIn matches a word that a program treats as no value, or replaces by one: KOLLA_UNSET.
var standIn = lazy.Regexp(`^[A-Z]+(?:_[A-Z]+)+$|^__\w+__$`)

// set adds a sysctl, or the reason why its value is unknown.
func (h *Host) set(name, value, place string, at int) {
	value = strings.TrimSpace(value)
	if yes := truth[strings.ToLower(value)]; yes != "" && h.Form == "YAML" {
		return // says that the setting exists
	} else if yes != "" && (h.Form == "Ansible" || h.Form == "sysctls") {
		value = yes
	}
	why := ""
	switch {
	case h.settings+len(h.Unresolved) >= maxLines || sysfs().MatchString(name):
		return
	case variable().MatchString(name):
		why = "its name holds a variable"
	case standIn().MatchString(value):
		why = "its value means another: " + short(value)
	case strings.ContainsAny(value, "\"'\\"):
		why = "its value is quoted by a program: " + short(value)
	case value == "" || variable().MatchString(value):
		why = "its value is not in the file"
		switch {
		case strings.Contains(value, templated):
			why = "its value comes from a template"
		case value != "":
			why = "its value is a variable: " + short(value)
		}
	default:
		file, text := SysctlFile, name+" = "+value
		if h.loader && !linuxName().MatchString(name) {
			file, text = "/boot/loader.conf", name+"=\""+value+"\""
		}
		h.add(file, text, place, at)
		return
	}
	h.Unresolved = append(h.Unresolved, Unresolved{Name: name, At: at, Why: why, value: value, place: place})
}

// expression adds a setting whose value is an expression that only its program evaluates.
func (h *Host) expression(name, value string, at int) {
	h.Unresolved = append(h.Unresolved, Unresolved{Name: name, At: at, Why: "its value is an expression: " + short(value)})
}

func short(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}
