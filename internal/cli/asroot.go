package cli

import (
	"os"
	"os/exec"
	"strings"
)

// AsRoot is a command line as its user, who is not root, becomes root with it: by sudo
// or doas where there is one, else by su.
func AsRoot(command string) string {
	for _, by := range []string{"sudo", "doas"} {
		if _, err := exec.LookPath(by); err == nil {
			return by + " " + command
		}
	}
	return "su -c '" + strings.ReplaceAll(command, "'", `'\''`) + "'"
}

// Root reports whether the process is the machine's root: one of a user namespace is
// somebody else outside of it.
func Root() bool {
	if os.Geteuid() != 0 {
		return false
	}
	uids, err := os.ReadFile("/proc/self/uid_map") // of Linux alone
	f := strings.Fields(string(uids))
	return err != nil || len(f) == 3 && f[1] == "0" && f[2] == "4294967295"
}
