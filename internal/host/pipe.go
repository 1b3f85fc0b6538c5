package host

import (
	"context"
	"errors"
	"io"
	"strings"
)

// Piper runs a program on a machine and talks to it while it runs.
type Piper interface {
	// Pipe runs `/bin/sh -c script linerate args…` there, as root where the
	// connection says so, and returns its standard input and output. The
	// script is one line without single quotes (CheckPiped), the same
	// whoever asks; args are plain words. Close ends the input, waits a
	// moment for the program to end, and then ends it. A program that fails
	// is an error of the read that finds its output over.
	Pipe(ctx context.Context, script string, args ...string) (io.ReadWriteCloser, error)
}

// plainWord are the characters of an argument that no login shell minds.
const plainWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/=:,+@-"

// CheckPiped refuses what some login shell would read otherwise than another:
// csh has history in single quotes, and ends them at a newline.
func CheckPiped(script string, args []string) error {
	if strings.ContainsAny(script, "'!\n\x00") {
		return errors.New("the script is not one line that every login shell leaves alone")
	}
	for _, a := range args {
		if a == "" || strings.Trim(a, plainWord) != "" {
			return errors.New("an argument is no plain word")
		}
	}
	return nil
}
