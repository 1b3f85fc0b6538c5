package audit

// kindWords say what each kind of finding means, for headings and for the
// rules of a SARIF log.
var kindWords = map[Kind]string{
	Syntax:        "the system rejects the line",
	Removed:       "gone on this release",
	Renamed:       "renamed on this release",
	Unknown:       "unknown name, or its module is absent",
	Misplaced:     "set where it has no effect",
	Range:         "wrong type or out of range",
	Harmful:       "harmful here",
	Counter:       "the kernel counts trouble",
	Memory:        "takes too much memory",
	Coupled:       "settings that disagree",
	LowersDefault: "replaces a better default",
	Outdated:      "left behind by releases",
	Order:         "set before it can be",
	Drift:         "the file says one thing, the host runs another",
	Duplicate:     "set more than once",
	Ineffective:   "has no effect here",
	Folklore:      "rests on a claim only",
	Default:       "equal to the default",
}

// Describe is the heading of a kind.
func (k Kind) Describe() string { return kindWords[k] }

// structural are the findings of no rule of the catalogue, in words that fit all of one
// kind; docs/reference/audit.md has them, too.
var structural = map[string]string{
	"LR-SYNTAX":       "The system rejects the line, or the shell ends at it, and with it the boot",
	"LR-SLIP":         "The text of the file does not do what it was meant to do",
	"LR-UNREADABLE":   "The line's meaning needs the shell, which an audit never runs",
	"LR-UNKNOWN":      "The name is not known: it is near a known one, or the running kernel does not have it",
	"LR-NOTYET":       "The release is older than the name",
	"LR-REMOVED":      "The release is newer than the name, which is gone",
	"LR-RENAMED":      "The release has the name no longer, but another for the same",
	"LR-MISPLACED":    "The file has no power over the name, or is read too late",
	"LR-NOMODULE":     "The name comes with a module that nothing loads",
	"LR-NOOPTION":     "The name needs a kernel option that GENERIC, or the running kernel, lacks",
	"LR-ORDER":        "The name comes with a module that is loaded after the file is read",
	"LR-RANGE":        "The value is of the wrong type or out of range, and is refused, bounded, rounded or wraps",
	"LR-LEAVING":      "The name works here, and is gone from the next major release",
	"LR-OLD-DEFAULT":  "The value is the default of earlier releases, of which this one has another",
	"LR-LOWERS":       "The value is below the default of this release",
	"LR-DEFAULT":      "The value is the default: the line does nothing",
	"LR-DUPLICATE":    "The name is set more than once; the last line stands",
	"LR-OVERWRITTEN":  "Another program writes the name after sysctl.d was read; its value stands",
	"LR-UNDONE":       "A later line of another name writes over the value",
	"LR-DRIFT":        "The file says one thing, the host runs another",
	"LR-COUPLED":      "The value disagrees with another setting that belongs to it",
	"LR-HARMFUL":      "The value does harm on a host of this role",
	"LR-INEFFECTIVE":  "The value has no effect here",
	"LR-MEMORY":       "The value may take more memory than is sound",
	"LR-FOLKLORE":     "The value rests on a claim that is not so, or that nobody has measured",
	"LR-COMPLAINT":    "The kernel itself complains about it",
	"LR-UNREAD":       "No boot reads the file, or these words in it",
	"LR-UNIT-IGNORED": "systemd passes over a limit of a unit: it stands in the wrong section, or its value cannot be read",
	"LR-CONTAINER":    "A container cannot set it: it belongs to the kernel of the host",
	"LR-LXC-SYSCTL":   "The configuration of a container cannot give it this sysctl",
	"LR-POD-SYSCTL":   "A pod or a container cannot be given this sysctl",
	"LR-POD-UNSAFE":   "A pod gets this sysctl only on nodes that allow it",
	"LR-POD-OWN":      "A DaemonSet sets a sysctl for its own pod, not for its node",
	"LR-PERDEVICE":    "A value of all devices and one of each go together otherwise than the lines say",
	"LR-PF-SKIP":      "pf passes over the interface that leads outside",
	"LR-PF-ADAPTIVE":  "pf's adaptive timeouts disagree with each other, or with the limit of states",
}

// Structural is what a rule of the audit itself says; "" of one of the catalogue.
func Structural(rule string) string { return structural[rule] }
