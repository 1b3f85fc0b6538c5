// Package hint gives an error the second line its reader needs: what to do.
//
// An error of linerate says what failed, on what and why; the hint says what
// to try next. The command prints them on separate lines, so that scripts can
// match the first and people read the second.
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

// With returns err with advice for its reader. A nil err stays nil.
func With(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &hinted{err: err, hint: fmt.Sprintf(format, args...)}
}

// Of returns the outermost advice that err carries, or "".
func Of(err error) string {
	var h *hinted
	if !errors.As(err, &h) {
		return ""
	}
	return h.hint
}

// Aside is an error with its hint, if it has one, in parentheses.
func Aside(err error) string {
	if h := Of(err); h != "" {
		return fmt.Sprintf("%v (%s)", err, h)
	}
	return err.Error()
}

// Option is an option as commands take it, with a value or without.
func Option(name, value string) string { return strings.TrimSuffix("--"+name+" "+value, " ") }

// Exit ends a command with a code and no message: the command has said why.
type Exit int

func (e Exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// left marks an error that tells in what state something outside was left.
type left struct{ err error }

func (l *left) Error() string { return l.err.Error() }
func (l *left) Unwrap() error { return l.err }

// Left marks err as telling in what state a run leaves what is not its own, a host
// or a lab: the user who interrupted it must see that too. A nil err stays nil.
func Left(err error) error {
	if err == nil {
		return nil
	}
	return &left{err}
}

// LeftOf returns what err tells of that, or nil.
func LeftOf(err error) error {
	var l *left
	if !errors.As(err, &l) {
		return nil
	}
	return l
}

// usage marks an error as the caller's: wrong flag, wrong argument.
type usage struct{ err error }

func (u *usage) Error() string { return u.err.Error() }
func (u *usage) Unwrap() error { return u.err }

// Usage marks err as a mistake in how the command was called (exit code 2).
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return &usage{err}
}

// Usagef is Usage of a formatted error.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// IsUsage reports whether err was marked by Usage.
func IsUsage(err error) bool {
	var u *usage
	return errors.As(err, &u)
}

// Unknown is the error for a name that is not among the known ones; its hint
// names the nearest, or lists them when there are few.
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
