// Package server runs the servers of a study, nginx or Postfix, as installed on the
// machine, each with a configuration made by linerate.
//
// A server runs in a Box: a given network namespace, a mount namespace whose /tmp is a
// tmpfs, and a PID namespace. What it listens on is reachable only in that network
// namespace; what it writes under /tmp is deleted with it; and however linerate ends, the
// kernel ends the server and everything it started. The machine's own configuration,
// services and files are never written to.
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

// Root is the directory of a Box as seen by its programs.
const Root = setting.ServerRoot

// Program is a server to start in a Box.
type Program struct {
	Name    string   // of the executable, found on PATH
	Package string   // that contains it, for the installation hint
	Argv    []string // without the executable
	// Ready is tried inside the network namespace until it succeeds; nil means that a started
	// program is ready.
	Ready func() error
	// Log is a file of the Box that is quoted in the error if the program fails.
	Log string
	// Parented starts it below an idle parent process, for a program that changes its user, which
	// clears its parent-death signal (prctl(2), PR_SET_PDEATHSIG).
	Parented bool
}

// find returns the program's path: on PATH, or in directories of system programs.
func (p Program) find() (string, error) {
	for _, dir := range []string{"", "/usr/sbin/", "/sbin/", "/usr/local/sbin/", "/usr/lib/postfix/sbin/"} {
		if path, err := exec.LookPath(dir + p.Name); err == nil {
			return path, nil
		}
	}
	return "", &MissingError{Program: p.Name, Package: p.Package}
}

// Installed returns an error unless the program is on this machine; it is a MissingError with a
// hint.
func (p Program) Installed() error {
	_, err := p.find()
	return missing(err)
}

// MissingError names a program that is not installed, and its package.
type MissingError struct{ Program, Package string }

func (e *MissingError) Error() string { return e.Program + " is not installed" }

func missing(err error) error {
	var m *MissingError
	if !errors.As(err, &m) {
		return err
	}
	return hint.With(err, "install the package %s; linerate runs it with its own configuration, never as a service", m.Package)
}

// ended describes the unexpected end of a program, and its output.
func ended(name string, err error, said string) error {
	how := "without an error"
	if err != nil {
		how = err.Error()
	}
	if said != "" {
		how += ": " + said
	}
	return fmt.Errorf("%s exited: %s", name, how)
}
