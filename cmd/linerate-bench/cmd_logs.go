package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/accesslog"
	"linerate/internal/hint"
	"linerate/internal/stats"
)

func newLogsCmd() *cobra.Command {
	var lines, rounds int
	var file string
	cmd := &cobra.Command{
		Use:   "logs",
		Short: "compare reading of logs with mawk, goaccess and wc -l",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if lines < 1000 || rounds < 1 {
				return hint.Usagef("--lines is at least 1000, --rounds at least 1")
			}
			path := file
			if path == "" {
				dir, err := os.MkdirTemp("", "linerate-bench")
				if err != nil {
					return err
				}
				defer os.RemoveAll(dir)
				path = filepath.Join(dir, "access.log")
				if err := writeBenchLog(path, lines); err != nil {
					return err
				}
			}
			return benchLogs(cmd.Context(), cmd.OutOrStdout(), path, rounds)
		},
	}
	cmd.Flags().IntVar(&lines, "lines", 2_000_000, "lines of the log that is made for it")
	cmd.Flags().IntVar(&rounds, "rounds", 10, "interleaved rounds; the median counts")
	cmd.Flags().StringVar(&file, "file", "", "read this log instead")
	return cmd
}

// writeBenchLog writes a combined + request_time log, repeatably.
func writeBenchLog(path string, lines int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := rand.New(rand.NewPCG(7, 7))
	w := bufio.NewWriterSize(f, 1<<20)
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for i := range lines {
		ms := int(r.ExpFloat64() * 60)
		status := 200
		if r.IntN(10) == 0 {
			status = 404
		}
		fmt.Fprintf(w, "198.51.100.%d - - [%s] \"GET /static/page-%d.html HTTP/1.1\" %d %d \"https://www.example.org/\" \"Mozilla/5.0 (X11; FreeBSD amd64) Gecko/20100101\" %d.%03d\n",
			r.IntN(256), at.Add(time.Duration(i)*9*time.Millisecond).Format("02/Jan/2006:15:04:05 -0700"), r.IntN(5000), status, r.IntN(350000), ms/1000, ms%1000)
	}
	return w.Flush()
}

// contender is one way to read a log.
type contender struct {
	name string
	run  func(ctx context.Context, path string) error
	once bool // too slow for every round
}

func logContenders() []contender {
	cs := []contender{{"linerate logs", func(ctx context.Context, path string) error {
		statuses, err := accesslog.ParseStatuses("200")
		if err != nil {
			return err
		}
		o := &accesslog.Options{Filter: accesslog.Filter{Statuses: statuses}, Under: []time.Duration{100 * time.Millisecond}}
		_, _, err = accesslog.Read(ctx, []string{path}, nil, o)
		return err
	}, false}}
	for _, p := range []struct {
		name string
		once bool
		argv []string
	}{
		{"mawk histogram", false, []string{"mawk", `$9==200{h[int($NF*10)]++} END{for(i in h)print i/10,h[i]}`}},
		{"gawk histogram", false, []string{"gawk", `$9==200{h[int($NF*10)]++} END{for(i in h)print i/10,h[i]}`}},
		{"wc -l", false, []string{"wc", "-l"}},
		{"goaccess (JSON)", true, []string{"goaccess", "--log-format=%h %^[%d:%t %^] \"%r\" %s %b \"%R\" \"%u\" %T",
			"--date-format=%d/%b/%Y", "--time-format=%T", "--no-global-config", "--no-progress", "-o", "json"}},
	} {
		if _, err := exec.LookPath(p.argv[0]); err != nil {
			continue
		}
		cs = append(cs, contender{p.name, func(ctx context.Context, path string) error {
			c := exec.CommandContext(ctx, p.argv[0], append(p.argv[1:], path)...)
			c.Env = append(os.Environ(), "LC_ALL=C")
			return c.Run()
		}, p.once})
	}
	return cs
}

func benchLogs(ctx context.Context, out io.Writer, path string, rounds int) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("bench logs: %w", err)
	}
	cs := logContenders()
	times := make([][]float64, len(cs))
	for round := range rounds {
		for i, c := range cs {
			if c.once && round > 0 {
				continue
			}
			start := time.Now()
			if err := c.run(ctx, path); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			times[i] = append(times[i], time.Since(start).Seconds())
		}
	}
	mb := float64(info.Size()) / 1e6
	fmt.Fprintf(out, "%.0f MB from page cache, median of %d interleaved rounds\n\n%-18s %10s %12s %12s\n", mb, rounds, "", "seconds", "MB/s", "linerate is")
	base := stats.Median(times[0])
	for i, c := range cs {
		m := stats.Median(times[i])
		note := ""
		if c.once {
			note = "  (one run)"
		}
		fmt.Fprintf(out, "%-18s %10.3f %12.0f %11.2f×%s\n", c.name, m, mb/m, m/base, note)
	}
	return nil
}
