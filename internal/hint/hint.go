// Package hint adds a second line to an error: what to do.
//
// An error of linerate says what failed, on what and why; the hint says what to
// try next. Commands print them on separate lines, so that scripts can match the
// first.
package hint

import (
	"errors"
	"fmt"
	"strings"
)

// hinted is an error with advice.
type hinted struct {
	err  error
	hint string
}

func (h *hinted) Error() string { return h.err.Error() }
func (h *hinted) Unwrap() error { return h.err }

// With adds advice to err. A nil err stays nil.
func With(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &hinted{err: err, hint: fmt.Sprintf(format, args...)}
}

// Of returns the outermost advice in err, or "".
func Of(err error) string {
	var h *hinted
	if !errors.As(err, &h) {
		return ""
	}
	return h.hint
}

// Aside returns an error's text with its hint, if any, in parentheses.
func Aside(err error) string {
	if h := Of(err); h != "" {
		return fmt.Sprintf("%v (%s)", err, h)
	}
	return err.Error()
}

// Option returns a command-line option, with a value or without.
func Option(name, value string) string { return strings.TrimSuffix("--"+name+" "+value, " ") }

// Exit is an error that sets the exit code without a message, because the command has printed one.
type Exit int

func (e Exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// left marks an error about the state in which something was left.
type left struct{ err error }

func (l *left) Error() string { return l.err.Error() }
func (l *left) Unwrap() error { return l.err }

// Left marks err as describing the state in which a run left a host or a lab: a user who
// interrupted the run must see that, too. A nil err stays nil.
func Left(err error) error {
	if err == nil {
		return nil
	}
	return &left{err}
}

// LeftOf returns the error marked by Left in err, or nil.
func LeftOf(err error) error {
	var l *left
	if !errors.As(err, &l) {
		return nil
	}
	return l
}

// usage marks a usage error: wrong flag, wrong argument.
type usage struct{ err error }

func (u *usage) Error() string { return u.err.Error() }
func (u *usage) Unwrap() error { return u.err }

// Usage marks err as a usage error (exit code 2).
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return &usage{err}
}

// Usagef is Usage with a formatted error.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// IsUsage reports whether err was marked by Usage.
func IsUsage(err error) bool {
	var u *usage
	return errors.As(err, &u)
}

// Unknown returns the error for a name that is not among the known ones; its hint names the
// nearest, or lists all if there are few.
func Unknown(kind, name string, known []string) error {
	err := Usagef("unknown %s %q", kind, name)
	if near := Nearest(name, known, 3); len(near) > 0 {
		return With(err, "did you mean %s?", list(near))
	}
	if len(known) > 0 && len(known) <= 12 {
		return With(err, "known: %s", list(known))
	}
	return err
}

func list(names []string) string {
	s := ""
	for i, n := range names {
		if i > 0 {
			s += ", "
		}
		s += n
	}
	return s
}
