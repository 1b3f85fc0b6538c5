package ledger

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"linerate/internal/cli"
	"linerate/internal/hint"
)

// Location is the location and owner of a ledger.
type Location struct {
	Path     string // file, or "" for a database server
	URL      string // of a database server
	UID, GID int    // owner of created files; −1: the current user
}

// Environment variables that determine the location of the ledger.
const (
	EnvLedger = "LINERATE_LEDGER"
	envState  = "XDG_STATE_HOME"
)

// Locate finds the ledger: from the flag, else LINERATE_LEDGER, else in the
// state directory of the invoking user, who under sudo or doas is not root
// and will own created files.
func Locate(flag string) (Location, error) {
	who := cli.Invoker()
	flag = cmp.Or(flag, os.Getenv(EnvLedger))
	if strings.HasPrefix(flag, "postgres://") || strings.HasPrefix(flag, "postgresql://") {
		return Location{URL: flag, UID: -1, GID: -1}, nil
	}
	if strings.Contains(flag, "://") {
		return Location{}, hint.With(hint.Usagef("ledger %q: unknown kind of place", flag), "a file, or postgres://…")
	}
	if flag != "" {
		return Location{Path: flag, UID: who.UID, GID: who.GID}, nil
	}
	dir, err := stateDir(who)
	if err != nil {
		return Location{}, hint.With(err, "give a place: %s, or %s", hint.Option("ledger", "FILE"), EnvLedger)
	}
	return Location{Path: filepath.Join(dir, "linerate", "ledger.db"), UID: who.UID, GID: who.GID}, nil
}

func stateDir(who cli.Person) (string, error) {
	if who.Home != "" {
		return filepath.Join(who.Home, ".local", "state"), nil
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
