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

// Runner changes a machine: it runs fixed scripts there, as root. It is separate from Reader so
// that code that only reads cannot obtain one.
type Runner interface {
	// Run feeds Compose(script, args, stdin) to `/bin/sh -s` on the machine and returns its
	// complete stdout, at most MaxOutput bytes; for a truncated answer it returns ErrCut. A
	// non-zero exit is a *ScriptError, with the output. When the context ends Run stops waiting;
	// whether the script ends then is unspecified.
	Run(ctx context.Context, script string, args []string, stdin []byte) ([]byte, error)
	// Where names the machine for messages: "this host", "ssh://fw1".
	Where() string
	io.Closer
}

// ScriptError is the exit code of a script and its error output.
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

// ErrCut means that an answer arrived incomplete.
var ErrCut = hint.With(errors.New("the answer of a script was cut off before its end"), "try again; the machine may be very busy, or its disk or memory full")

// Whole returns the answer of a script made by Compose that exited with 0, without its end mark; an
// answer without the mark gives ErrCut.
func Whole(answer []byte) ([]byte, error) {
	if whole, ok := bytes.CutSuffix(answer, []byte("\n"+answerEnd+"\n")); ok {
		return whole, nil
	}
	return answer, fmt.Errorf("%w (%d bytes came)", ErrCut, len(answer))
}

// Compose returns the text to feed to a shell to run a fixed script with arguments and standard
// input. It quotes the arguments, and includes the input verbatim, which must be text; neither is
// interpreted by the shell. A script that exits with 0 must reach its last line, without exit or
// exec: its output then ends with a mark, which Whole checks.
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
			return "", errors.New("the input of a script contains its own end marker")
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

// Word returns a word for a command line, quoted if needed.
func Word(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+=,") == "" {
		return s
	}
	return Quote(s)
}

// Quote quotes any text as one shell word.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
