package cli

import (
	"os"
	"os/user"
	"strconv"
)

// Person is a user of this machine: files that root creates for one who called sudo(8) or doas(1) should belong to them.
type Person struct {
	UID, GID int
	Home     string
}

// Nobody is the caller if neither sudo nor doas was used.
var Nobody = Person{UID: -1, GID: -1}

// Invoker returns the user who called sudo or doas; Nobody if the process is not root's, or root called.
func Invoker() Person {
	if os.Getuid() != 0 {
		return Nobody
	}
	var u *user.User
	var err error
	if id := os.Getenv("SUDO_UID"); id != "" {
		u, err = user.LookupId(id)
	} else if name := os.Getenv("DOAS_USER"); name != "" {
		u, err = user.Lookup(name)
	}
	if err != nil || u == nil || u.Uid == "0" {
		return Nobody
	}
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	if err1 != nil || err2 != nil {
		return Nobody
	}
	return Person{uid, gid, u.HomeDir}
}
