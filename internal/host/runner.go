package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"linerate/internal/hint"
)

// Runner changes a machine: it runs fixed scripts there, as root. It is apart
// from Reader so that what only looks cannot get hold of one.
type Runner interface {
	// Run feeds Compose(script, args, stdin) to `/bin/sh -s` on the machine
	// and returns what it prints on stdout, at most MaxOutput bytes, whole: an
	// answer that was cut on its way is an ErrCut. A
	// non-zero exit is a *ScriptError with what was printed. A context
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

// inputEnd ends a script's standard input in Compose, answerEnd its answer.
const (
	inputEnd  = "LINERATE-INPUT-ENDS-HERE"
	answerEnd = "LINERATE-ANSWER-ENDS-HERE"
)

// ErrCut is of an answer that did not arrive whole.
var ErrCut = hint.With(errors.New("the answer of a script was cut off before its end"), "try again; the machine may be very busy, or its disk or memory full")

// Whole is the answer of a script that Compose made and that ended with status 0,
// without the mark of its end; an answer without the mark is an ErrCut.
func Whole(answer []byte) ([]byte, error) {
	if whole, ok := bytes.CutSuffix(answer, []byte("\n"+answerEnd+"\n")); ok {
		return whole, nil
	}
	return answer, fmt.Errorf("%w (%d bytes came)", ErrCut, len(answer))
}

// Compose is the text that a shell is fed to run a fixed script with arguments
// and standard input. Arguments are quoted, input is taken as it is; it must
// be text. Nothing of either is ever read as shell. A script that ends with status 0
// comes to its last line, without exit or exec: what it prints then ends with a mark,
// which Whole looks for.
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
	b.WriteString(inputEnd + "\nset -- $?\n[ \"$1\" -ne 0 ] || printf '\\n%s\\n' " + answerEnd + "\nexit \"$1\"\n")
	return b.String(), nil
}

// Word is a word of a command line for people: in quotes where it needs them.
func Word(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+=,") == "" {
		return s
	}
	return Quote(s)
}

// Quote makes one word of a shell of any text.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
