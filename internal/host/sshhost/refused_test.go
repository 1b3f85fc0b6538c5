package sshhost

import "testing"

// TestRefusedBy: a warning that sudo prints before it runs a script is not the reason for the script's failure.
func TestRefusedBy(t *testing.T) {
	const warning = "sudo: unable to resolve host box: Name or service not known"
	for said, refused := range map[string]bool{
		"sudo: a password is required":                    true,
		"sh: 1: sudo: not found":                          true,
		warning + "\nsudo: a password is required":        true,
		warning + "\nsh: 3: tar: not found":               false,
		warning:                                           false,
		"cannot set sysctl net.inet.tcp.nosuch":           false,
		"sh: 1: doas: not found, which nobody was to use": false,
	} {
		if got := refusedBy("sudo", said); (got != "") != refused {
			t.Errorf("%q: refused by %q", said, got)
		}
	}
}
