package dial

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"

	"linerate/internal/load/request"
)

// Stage is how far a request had come.
type Stage int

// The stages, in their order.
const (
	Dialling Stage = iota
	Securing
	Waiting // for the head of the answer
	Reading // its body
)

// Failure is an error with the stage it came at.
type Failure struct {
	At  Stage
	Err error
}

func (f *Failure) Error() string { return f.Err.Error() }

func (f *Failure) Unwrap() error { return f.Err }

// Kind says which kind of failure it is.
func (f *Failure) Kind() request.Kind {
	for _, k := range []struct {
		err  error
		kind request.Kind
	}{
		{syscall.ECONNREFUSED, request.Refused},
		{syscall.EADDRNOTAVAIL, request.NoPort},
		{syscall.EMFILE, request.NoFile}, {syscall.ENFILE, request.NoFile},
		{syscall.EHOSTUNREACH, request.Unreachable}, {syscall.ENETUNREACH, request.Unreachable},
	} {
		if errors.Is(f.Err, k.err) {
			return k.kind
		}
	}
	if isLate(f.Err) {
		if f.At == Dialling {
			return request.ConnectTimeout
		}
		return request.Late
	}
	switch f.At {
	case Dialling:
		return request.Unreachable
	case Securing:
		return request.TLS
	}
	return f.afterConnect()
}

func isLate(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, syscall.ETIMEDOUT)
}

// afterConnect is the kind of a failure of a connection that had been made.
// net/http's HTTP/2 has no types for what it reports; its words are told apart.
func (f *Failure) afterConnect() request.Kind {
	text := f.Err.Error()
	switch {
	case errors.Is(f.Err, syscall.ECONNRESET), errors.Is(f.Err, syscall.EPIPE), strings.Contains(text, "stream error"), strings.Contains(text, "stream ID"):
		return request.Reset
	case errors.Is(f.Err, io.ErrUnexpectedEOF) || errors.Is(f.Err, io.EOF):
		if f.At == Reading {
			return request.Short
		}
		return request.Closed
	case strings.Contains(text, "GOAWAY"), strings.Contains(text, "connection lost"), strings.Contains(text, "closed"):
		return request.Closed
	case f.At == Waiting, f.At == Reading:
		return request.Malformed
	}
	return request.Other
}
