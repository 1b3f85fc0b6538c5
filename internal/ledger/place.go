package ledger

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"linerate/internal/hint"
)

// Location is where a ledger is, and whose.
type Location struct {
	Path     string // file, or "" for a database server
	URL      string // database server
	UID, GID int    // who shall own the files; −1: whoever runs
}

// Environment variables that place the ledger.
const (
	EnvLedger = "LINERATE_LEDGER"
	envState  = "XDG_STATE_HOME"
)

// Locate finds the ledger: the flag, else LINERATE_LEDGER, else the state
// directory of the invoking user, who under sudo or doas is not root and
// shall own what is made there.
func Locate(flag string) (Location, error) {
	who := invoker()
	if flag == "" {
		flag = os.Getenv(EnvLedger)
	}
	if strings.HasPrefix(flag, "postgres://") || strings.HasPrefix(flag, "postgresql://") {
		return Location{URL: flag, UID: -1, GID: -1}, nil
	}
	if strings.Contains(flag, "://") {
		return Location{}, hint.With(hint.Usagef("ledger %q: unknown kind of place", flag), "a file, or postgres://…")
	}
	if flag != "" {
		return Location{Path: flag, UID: who.uid, GID: who.gid}, nil
	}
	dir, err := stateDir(who)
	if err != nil {
		return Location{}, hint.With(err, "give a place: %s, or %s", hint.Option("ledger", "FILE"), EnvLedger)
	}
	return Location{Path: filepath.Join(dir, "linerate", "ledger.db"), UID: who.uid, GID: who.gid}, nil
}

type person struct {
	uid, gid int
	home     string
}

// invoker is who called sudo or doas; uid −1 when nobody did.
func invoker() person {
	none := person{uid: -1, gid: -1}
	if os.Getuid() != 0 {
		return none
	}
	var u *user.User
	var err error
	if id := os.Getenv("SUDO_UID"); id != "" {
		u, err = user.LookupId(id)
	} else if name := os.Getenv("DOAS_USER"); name != "" {
		u, err = user.Lookup(name)
	}
	if err != nil || u == nil || u.Uid == "0" {
		return none
	}
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	if err1 != nil || err2 != nil {
		return none
	}
	return person{uid, gid, u.HomeDir}
}

func stateDir(who person) (string, error) {
	if who.home != "" {
		return filepath.Join(who.home, ".local", "state"), nil
	}
	if d := os.Getenv(envState); filepath.IsAbs(d) {
		return d, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "state"), nil
}
