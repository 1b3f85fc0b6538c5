package client

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"linerate/internal/load/request"
)

// Stage is how far a request got.
type Stage int

// The stages, in order.
const (
	Dialling Stage = iota
	Securing
	Waiting // for the head of the response
	Reading // the body
)

// Failure is an error with the stage at which it occurred.
type Failure struct {
	At  Stage
	Err error
	As  request.Kind // if known; else derived from Err
}

func (f *Failure) Error() string { return f.Err.Error() }

func (f *Failure) Unwrap() error { return f.Err }

// Kind returns the kind of failure.
func (f *Failure) Kind() request.Kind {
	if f.As != request.OK {
		return f.As
	}
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
	if errors.Is(f.Err, os.ErrDeadlineExceeded) || errors.Is(f.Err, context.DeadlineExceeded) || errors.Is(f.Err, syscall.ETIMEDOUT) {
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

// afterConnect returns the kind of a failure on an established connection.
func (f *Failure) afterConnect() request.Kind {
	switch {
	case errors.Is(f.Err, syscall.ECONNRESET), errors.Is(f.Err, syscall.EPIPE):
		return request.Reset
	case errors.Is(f.Err, io.ErrUnexpectedEOF) || errors.Is(f.Err, io.EOF):
		if f.At == Reading {
			return request.Short
		}
		return request.Closed
	case errors.Is(f.Err, net.ErrClosed):
		return request.Closed
	case f.At == Waiting, f.At == Reading:
		return request.Malformed
	}
	return request.Other
}
