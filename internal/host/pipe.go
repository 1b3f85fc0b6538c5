package host

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// Piper runs a program on a machine and talks to it while it runs.
type Piper interface {
	// Pipe runs `/bin/sh -c script linerate args…` there, as root where the
	// connection says so, and returns its standard input and output. The
	// script and args are single lines without single quotes or
	// exclamation marks (CheckPiped). Close ends the input, waits a
	// moment for the program to end, and then ends it. A program that fails
	// is an error of the read that finds its output over.
	Pipe(ctx context.Context, script string, args ...string) (io.ReadWriteCloser, error)
}

// CheckPiped refuses what some login shell would read otherwise than another:
// csh has history in single quotes, and ends them at a newline.
func CheckPiped(script string, args []string) error {
	for _, a := range append([]string{script}, args...) {
		if strings.ContainsAny(a, "'!\n\r\x00") {
			return fmt.Errorf("%.60q is not one line that every login shell leaves alone", a)
		}
	}
	return nil
}
