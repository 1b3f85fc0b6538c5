//go:build !linux

package main

import (
	"errors"

	"linerate/internal/hint"
)

func quickLoopback() error {
	return hint.With(errors.New("a loopback that acknowledges at once takes a network namespace of Linux"), "leave out --quickack")
}
