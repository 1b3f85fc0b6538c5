package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/hosts"
	"linerate/internal/audit"
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

// hostDocument is one host in the JSON of several.
type hostDocument struct {
	Source string `json:"source"`
	// Error and Hint say why there is no document; "" where there is one.
	Error string `json:"error,omitempty"`
	Hint  string `json:"hint,omitempty"`
	// Report is of an audit, Facts of an inspection.
	Report *audit.Report `json:"report,omitempty"`
	Facts  *inspected    `json:"facts,omitempty"`
}

// hostsDocument is what a verb prints of several hosts with --json.
type hostsDocument struct {
	Version int            `json:"version"`
	Hosts   []hostDocument `json:"hosts"`
}

// about is an error in words that stand beside the host's name.
func about(source string, err error) string {
	text := strings.TrimPrefix(err.Error(), source+": ")
	return show.Clean(strings.Replace(text, " on "+source+": ", ": ", 1))
}

func failedHost(source string, err error) hostDocument {
	return hostDocument{Source: source, Error: about(source, err), Hint: show.Clean(hint.Render(err, cli.AsFlag))}
}

// printHosts prints the document or the table; hosts that could not be read
// make it an error, after all others were printed.
func printHosts[T any](cmd *cobra.Command, asJSON bool, doc hostsDocument, table show.Table, results []hosts.Read[T]) error {
	w := cmd.OutOrStdout()
	var err error
	if asJSON {
		err = cli.PrintJSON(w, doc)
	} else {
		err = table.Write(w, cli.StyleOf(w))
	}
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
	if asJSON {
		return hint.With(unread, "the document says of each why, and what to do")
	}
	advise(cmd.ErrOrStderr(), doc)
	return unread
}

// advise writes what to do about hosts that could not be read, hosts with the
// same trouble on one line.
func advise(w io.Writer, doc hostsDocument) {
	var order []string
	about := map[string][]string{}
	for _, h := range doc.Hosts {
		if h.Hint == "" {
			continue
		}
		general := strings.ReplaceAll(h.Hint, " "+strings.TrimPrefix(h.Source, "ssh://")+" ", " HOST ")
		if about[general] == nil {
			order = append(order, general)
		}
		about[general] = append(about[general], h.Source)
	}
	for _, text := range order {
		names := about[text]
		if len(names) == 1 {
			text = strings.ReplaceAll(text, " HOST ", " "+strings.TrimPrefix(names[0], "ssh://")+" ")
		}
		fmt.Fprintf(w, "hint: %s: %s\n", strings.Join(names, ", "), text)
	}
}
