// Package server runs the servers of a study: nginx, Postfix, whatever the
// machine has installed, each with a configuration of linerate's own making.
//
// A server lives in a Box: the network namespace it is given, a mount namespace
// whose /tmp is a tmpfs, and a process namespace. What it listens on
// is reachable in that network namespace alone; what it writes under /tmp is
// gone with it; and however linerate ends, the kernel ends the server and
// everything it started. The machine's own configuration, services and files
// are never written to.
//
// To run another kind of server:
//
//	box, err := server.NewBox(site.Server)      // a namespace
//	defer box.Close()                           // ends all that runs in it
//	box.Write("etc/main.cf", text, 0o644)       // the server sees /tmp/etc/main.cf
//	p, err := box.Start(ctx, server.Program{
//		Name: "postfix", Package: "postfix", Argv: []string{"-c", server.Root + "/etc", "start-fg"},
//		Ready: func() error { … dial … },       // runs inside the network namespace
//	})
//	p.CPU()                                     // of all its processes
package server

import (
	"errors"
	"fmt"
	"os/exec"

	"linerate/internal/hint"
	"linerate/internal/setting"
)

// Root is the directory of a Box as the programs in it see it.
const Root = setting.ServerRoot

// Program is a server to be started in a Box.
type Program struct {
	Name    string   // of the executable, as on PATH
	Package string   // that holds it, for who has to install it
	Argv    []string // without the executable
	// Ready is tried inside the network namespace until it succeeds; nil
	// takes a program that has started for ready.
	Ready func() error
	// Log, a file of the Box, is named in the error where the program fails.
	Log string
	// Parented starts it below a process that does nothing else: for a program
	// that changes its user, upon which the kernel forgets whose death it
	// was to follow (prctl(2), PR_SET_PDEATHSIG).
	Parented bool
}

// find is where the program is: on PATH, or where system programs are that
// are not on everybody's.
func (p Program) find() (string, error) {
	for _, dir := range []string{"", "/usr/sbin/", "/sbin/", "/usr/local/sbin/", "/usr/lib/postfix/sbin/"} {
		if path, err := exec.LookPath(dir + p.Name); err == nil {
			return path, nil
		}
	}
	return "", &MissingError{Program: p.Name, Package: p.Package}
}

// Installed tells whether the program is on this machine; the error is a
// MissingError with a hint.
func (p Program) Installed() error {
	_, err := p.find()
	return missing(err)
}

// MissingError says which program is not installed, and what package has it.
type MissingError struct{ Program, Package string }

func (e *MissingError) Error() string { return e.Program + " is not installed" }

func missing(err error) error {
	var m *MissingError
	if !errors.As(err, &m) {
		return err
	}
	return hint.With(err, "install the package %s; linerate runs it with its own configuration, never as a service", m.Package)
}

// ended tells how a program ended that was to run on, and what it said.
func ended(name string, err error, said string) error {
	how := "without an error"
	if err != nil {
		how = err.Error()
	}
	if said != "" {
		how += ": " + said
	}
	return fmt.Errorf("%s ended by itself: %s", name, how)
}
