//go:build !linux

package main

import (
	"errors"

	"github.com/spf13/cobra"

	"linerate/internal/hint"
)

func newGenerateCmd() *cobra.Command {
	return notHere("generate", "offer UDP traffic through a network interface")
}

func newReceiveCmd() *cobra.Command {
	return notHere("receive", "account for the traffic that arrives at a network interface")
}

// notHere is a verb that needs Linux.
func notHere(use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short + " (Linux only)", DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return hint.With(errors.New(use+" needs Linux"), "run it on a Linux machine; every other verb works here")
		},
	}
}

func newBenchTrafficCmd() *cobra.Command {
	return notHere("traffic", "traffic engines and their peers over a veth")
}
