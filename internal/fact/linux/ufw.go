package linux

import (
	"path"
	"slices"
	"strings"

	"linerate/internal/fact"
)

// UFW is the note for lines that ufw applies with sysctl(8) when it starts.
const UFW = "ufw sets it when it starts, after sysctl.d"

// ReadUFW reads ufw's own sysctl.conf, which is applied after sysctl.d if ufw is enabled:
// ufw-framework(8).
func ReadUFW(files fact.Files) Config {
	if on, _ := shellValue(files, "/etc/ufw/ufw.conf", "ENABLED"); !strings.EqualFold(on, "yes") {
		return Config{}
	}
	p, set := shellValue(files, "/etc/default/ufw", "IPT_SYSCTL")
	if !set {
		p = "/etc/ufw/sysctl.conf"
	}
	if p = path.Clean(p); !strings.HasPrefix(p, "/etc/") {
		return Config{}
	}
	r := sysctlReader{files: files, explicit: map[string]bool{}}
	r.file(p)
	for i := range r.Lines {
		l := &r.Lines[i]
		l.Stage, l.Note = fact.Conf, UFW
		l.Default = slices.Contains(stockLines()[[2]string{"ufw", "sysctl.conf"}], stockForm(l.Name, l.Value))
	}
	return r.Config
}

// shellValue returns the value of a variable in a file of assignments, and whether it is set.
func shellValue(files fact.Files, p, name string) (value string, set bool) {
	text, _ := files.Read(p)
	value, set = assigned(text)[name]
	return value, set
}
