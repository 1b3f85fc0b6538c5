package httpload

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"

	"linerate/internal/load/request"
)

// stage is how far a request had come.
type stage int

const (
	dialling stage = iota
	securing
	waiting // for the head of the answer
	reading // its body
)

// failure is an error with the stage it came at.
type failure struct {
	at  stage
	err error
}

func (f *failure) Error() string { return f.err.Error() }

// kind says which kind of failure it is.
func (f *failure) kind() request.Kind {
	for _, k := range []struct {
		err  error
		kind request.Kind
	}{
		{syscall.ECONNREFUSED, request.Refused},
		{syscall.EADDRNOTAVAIL, request.NoPort},
		{syscall.EMFILE, request.NoFile}, {syscall.ENFILE, request.NoFile},
		{syscall.EHOSTUNREACH, request.Unreachable}, {syscall.ENETUNREACH, request.Unreachable},
	} {
		if errors.Is(f.err, k.err) {
			return k.kind
		}
	}
	if isLate(f.err) {
		if f.at == dialling {
			return request.ConnectTimeout
		}
		return request.Late
	}
	switch f.at {
	case dialling:
		return request.Unreachable
	case securing:
		return request.TLS
	}
	return f.afterConnect()
}

func isLate(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, syscall.ETIMEDOUT)
}

// afterConnect is the kind of a failure of a connection that had been made.
// net/http's HTTP/2 has no types for what it reports; its words are told apart.
func (f *failure) afterConnect() request.Kind {
	text := f.err.Error()
	switch {
	case errors.Is(f.err, syscall.ECONNRESET), errors.Is(f.err, syscall.EPIPE), strings.Contains(text, "stream error"), strings.Contains(text, "stream ID"):
		return request.Reset
	case errors.Is(f.err, io.ErrUnexpectedEOF) || errors.Is(f.err, io.EOF):
		if f.at == reading {
			return request.Short
		}
		return request.Closed
	case strings.Contains(text, "GOAWAY"), strings.Contains(text, "connection lost"), strings.Contains(text, "closed"):
		return request.Closed
	case f.at == waiting, f.at == reading:
		return request.Malformed
	}
	return request.Other
}
