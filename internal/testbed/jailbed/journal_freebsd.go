package jailbed

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"linerate/internal/knob"
)

// stateDir is where labs that may change host settings keep their journals: a
// boot empties it, and puts back what they changed.
var stateDir = "/var/run/linerate"

// openJournal makes this bed the owner of a journal of host settings.
func (b *Bed) openJournal() error {
	unlock, err := lockState()
	if err != nil {
		return err
	}
	defer unlock()
	b.journal, err = knob.OpenHostSysctls(filepath.Join(stateDir, fmt.Sprintf("%d.journal", os.Getpid())))
	return err
}

// restoreDead puts back what dead labs changed of the host.
func restoreDead() error {
	if _, err := os.Stat(stateDir); err != nil {
		return nil // no lab ever did
	}
	unlock, err := lockState()
	if err != nil {
		return err
	}
	defer unlock()
	return knob.RestoreDead(stateDir)
}

// lockState keeps others from opening and working off journals meanwhile.
func lockState() (unlock func(), err error) {
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return nil, fmt.Errorf("keep a journal of host settings: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(stateDir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the journals of host settings: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock the journals of host settings: %w", err)
	}
	return func() { f.Close() }, nil
}
