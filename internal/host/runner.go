package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Runner changes a machine: it runs fixed scripts there, as root. It is apart
// from Reader so that what only looks cannot get hold of one.
type Runner interface {
	// Run feeds Compose(script, args, stdin) to `/bin/sh -s` on the machine
	// and returns what it prints on stdout, at most MaxOutput bytes. A
	// non-zero exit is a *ScriptError beside what was printed. A context
	// that ends stops waiting; whether the script ends then is not said.
	Run(ctx context.Context, script string, args []string, stdin []byte) ([]byte, error)
	// Where names the machine for people: "this host", "ssh://fw1".
	Where() string
	io.Closer
}

// ScriptError says that a script ended with a code, and what it complained of.
type ScriptError struct {
	Code   int
	Stderr string // trimmed
}

func (e *ScriptError) Error() string {
	if e.Stderr != "" {
		return e.Stderr
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// inputEnd ends a script's standard input in Compose.
const inputEnd = "LINERATE-INPUT-ENDS-HERE"

// Compose is the text that a shell is fed to run a fixed script with arguments
// and standard input. Arguments are quoted, input is taken as it is; it must
// be text. Nothing of either is ever read as shell.
func Compose(script string, args []string, stdin []byte) (string, error) {
	var b strings.Builder
	b.WriteString("set --")
	for _, a := range args {
		if strings.ContainsRune(a, 0) {
			return "", errors.New("an argument holds a NUL")
		}
		b.WriteString(" " + Quote(a))
	}
	if bytes.IndexByte(stdin, 0) >= 0 {
		return "", errors.New("the input of a script is not text")
	}
	for line := range bytes.Lines(stdin) {
		if string(bytes.TrimRight(line, "\n")) == inputEnd {
			return "", errors.New("the input of a script holds the mark of its own end")
		}
	}
	b.WriteString("\n{\n" + script + "\n} <<'" + inputEnd + "'\n")
	b.Write(stdin)
	if len(stdin) > 0 && stdin[len(stdin)-1] != '\n' {
		b.WriteByte('\n')
	}
	b.WriteString(inputEnd + "\n")
	return b.String(), nil
}

// Quote makes one word of a shell of any text.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
