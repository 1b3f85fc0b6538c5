package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/hosts"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/show"
)

// readMany reads hosts side by side, and says on a terminal how many are done.
func readMany[T any](cmd *cobra.Command, named []string, one func(ctx context.Context, source string) (T, error)) []hosts.Read[T] {
	live := cli.NewLive(cmd.ErrOrStderr())
	defer live.End()
	return hosts.Each(cmd.Context(), named, func(done int) { live.Show("%d of %d hosts read", done, len(named)) }, one)
}

// printHosts prints the document or the table; hosts that could not be read
// make it an error, after all others were printed.
func printHosts[T any](cmd *cobra.Command, doc hosts.Document, table show.Table, results []hosts.Read[T]) error {
	err := cli.Print(cmd, doc, func(w io.Writer) error { return table.Write(w, cli.StyleOf(w)) })
	failed := 0
	var last error
	for _, r := range results {
		if r.Err != nil {
			failed++
			last = r.Err
		}
	}
	if failed == 0 || err != nil {
		return err
	}
	if errors.Is(last, context.Canceled) {
		return last
	}
	unread := fmt.Errorf("%s of %d could not be read", show.Plural(failed, "host"), len(results))
	if cli.AsJSON(cmd) {
		return hint.With(unread, "the document says of each why, and what to do")
	}
	doc.Advise(cmd.ErrOrStderr())
	return unread
}
