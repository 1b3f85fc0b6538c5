package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/load/client"
	"linerate/internal/load/fileload"
	"linerate/internal/load/httpload"
	"linerate/internal/load/request"
	"linerate/internal/load/smtpload"
	"linerate/internal/show"
)

// newClientCmd is linerate as a client among others: in a process of its own, whose
// CPU time is the load's alone.
func newClientCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "client", Short: "run one load of a contest, and print its result", Hidden: true}
	cmd.AddCommand(newHTTPClientCmd(), newSMTPClientCmd(), newFilesClientCmd(), newFleetClientCmd())
	return cmd
}

func newHTTPClientCmd() *cobra.Command {
	s := httpload.Spec{Load: client.Load{Arrivals: request.Constant, Timeout: 5 * time.Second, Seed: 1}, Insecure: true}
	cmd := &cobra.Command{
		Use: "http URL", Short: "request an object from a server, in a closed loop", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := httpload.ParseTarget(args[0])
			if err != nil {
				return err
			}
			s.Targets = []httpload.Target{t}
			r, err := httpload.Run(cmd.Context(), s)
			return printAccount(cmd, r, err)
		},
	}
	fs := cmd.Flags()
	fs.IntVar(&s.Connections, "connections", 10, "at once")
	fs.DurationVar(&s.Duration, "duration", time.Second, "how long")
	fs.BoolVar(&s.NewEach, "new-connections", false, "one for every request")
	fs.BoolVar(&s.HTTP2, "http2", false, "instead of HTTP/1.1")
	fs.IntVar(&s.Streams, "streams", 1, "requests at once on each connection of HTTP/2")
	return cmd
}

func newSMTPClientCmd() *cobra.Command {
	s := smtpload.Spec{From: "linerate@linerate.invalid", To: "user%d@example.org", Accounts: benchAccounts, Sizes: []int{4000},
		Load: client.Load{Arrivals: request.Constant, Timeout: 30 * time.Second, Seed: 1}}
	cmd := &cobra.Command{
		Use: "smtp HOST:PORT", Short: "send messages, in a closed loop", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.Server = args[0]
			a, m, err := smtpload.Account(cmd.Context(), s)
			if err != nil {
				return err
			}
			r := a.Result(m)
			if s := r.Generator.Saturated; len(s) > 0 {
				err = fmt.Errorf("the generator was saturated: %s", show.List(s))
			}
			return printAccount(cmd, r, err)
		},
	}
	fs := cmd.Flags()
	fs.IntVar(&s.Sessions, "sessions", 10, "at once")
	fs.DurationVar(&s.Duration, "duration", time.Second, "how long")
	fs.IntVar(&s.PerSession, "per-session", 1, "messages per session")
	return cmd
}

func newFilesClientCmd() *cobra.Command {
	p := fileload.Pool{Min: 500, Max: 10_000, Block: 4096, Lanes: 1, Reads: 0.5, Creates: 0.5, Seed: 1}
	l := client.Load{Arrivals: request.Constant, Timeout: 30 * time.Second, Seed: 1}
	cmd := &cobra.Command{
		Use: "files DIR", Short: "run transactions on files", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := filesAccount(cmd.Context(), args[0], p, l)
			return printAccount(cmd, r, err)
		},
	}
	fs := cmd.Flags()
	fs.IntVar(&p.Files, "files", 1000, "at the start")
	fs.Uint64Var(&l.Requests, "transactions", 10_000, "how many")
	return cmd
}

// filesAccount makes files below a directory, does transactions on them, and removes
// what is left.
func filesAccount(ctx context.Context, dir string, p fileload.Pool, l client.Load) (request.Result, error) {
	scratch, err := fileload.NewScratch(dir)
	if err != nil {
		return request.Result{}, err
	}
	defer scratch.Close()
	set, err := fileload.Prepare(ctx, scratch.Path, p)
	if err != nil {
		return request.Result{}, err
	}
	defer set.Release()
	a, m, err := set.Account(ctx, l)
	if err != nil {
		return request.Result{}, err
	}
	return a.Result(m), set.Remove(ctx)
}

// printAccount prints an account in which nothing failed.
func printAccount(cmd *cobra.Command, r request.Result, err error) error {
	if err != nil {
		return err
	}
	if r.Failed > 0 {
		return fmt.Errorf("%d of %d failed: %+v", r.Failed, r.Requests, r.Errors)
	}
	return cli.PrintJSON(cmd.OutOrStdout(), r)
}

// readAccount reads what a client printed.
func readAccount(out []byte) (r request.Result, err error) {
	if err := json.Unmarshal(out, &r); err != nil {
		return r, fmt.Errorf("read the account: %w", err)
	}
	return r, nil
}

// asSeconds is a duration as the flags take it.
func asSeconds(n int) string { return strconv.Itoa(n) + "s" }
