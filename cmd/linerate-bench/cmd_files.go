package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/hint"
	"linerate/internal/load/fileload"
	"linerate/internal/show"
	"linerate/internal/tooltext"
)

const benchFilesLong = `Let linerate and postmark (if it is on PATH) take turns at the same transactions
on the same numbers of files in a directory of their own below --dir. The time is
that of the whole process, which makes the files, does the transactions and removes
what is left: postmark's own times are whole seconds. CPU is the process's, the
kernel's work for it included.`

func newFilesCmd() *cobra.Command {
	var b filesBench
	cmd := &cobra.Command{
		Use:   "files",
		Short: "compare file transactions with postmark",
		Long:  benchFilesLong,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return b.run(cmd) },
	}
	cmd.Flags().IntVar(&b.rounds, "rounds", 10, "interleaved rounds")
	cmd.Flags().IntVar(&b.transactions, "transactions", 10_000, "of each run")
	cmd.Flags().StringVar(&b.dir, "dir", os.TempDir(), "on the file system to use")
	cmd.Flags().BoolVar(&b.json, "json", false, "print the rows as JSON")
	return cmd
}

type filesBench struct {
	rounds, transactions int
	dir                  string
	json                 bool
}

// postmarker is a client of transactions on files.
type postmarker struct {
	argv  []string
	stdin string
	read  func(out []byte) (filesRun, error)
}

// filesRun is what a client said of one run.
type filesRun struct {
	transactions int
	rate         float64
}

func (b *filesBench) run(cmd *cobra.Command) error {
	if b.rounds < 1 || b.transactions < 1 {
		return hint.Usagef("--rounds and --transactions are at least 1")
	}
	scratch, err := fileload.NewScratch(b.dir)
	if err != nil {
		return err
	}
	defer scratch.Close()
	rivals, err := b.rivals(scratch.Path)
	if err != nil {
		return err
	}
	all := contest{
		rounds: b.rounds, json: b.json, doc: map[string]any{"transactions": b.transactions},
		title: fmt.Sprintf("%s of 500 B to 10 kB files on %s; %s", show.Plural(b.transactions, "transaction"), show.Clean(b.dir), show.Plural(b.rounds, "interleaved round")),
		unit:  "time", cpu: "CPU", said: "own tx/s", write: inSeconds, writeOwn: inSI,
	}
	return all.run(cmd, rivals)
}

// rivals lists who takes turns at what; linerate is the first of each case.
func (b *filesBench) rivals(dir string) (rivals []*rival, err error) {
	self, err := thisProgram()
	if err != nil {
		return nil, err
	}
	postmark, _ := fileload.FindPostmark() // none: linerate is alone
	add := func(name, client string, m postmarker) {
		rivals = append(rivals, &rival{Case: name, Client: client, once: func(ctx context.Context) (measurement, error) { return m.once(ctx, b.transactions) }})
	}
	for _, files := range []int{1000, 20_000} {
		name := show.Plural(files, "file")
		add(name, "linerate", postmarker{read: readLinerateFiles, argv: []string{self, "client", "files", dir,
			"--files", strconv.Itoa(files), "--transactions", strconv.Itoa(b.transactions)}})
		if postmark == "" {
			continue
		}
		own := filepath.Join(dir, "postmark")
		if err := os.MkdirAll(own, 0o755); err != nil {
			return nil, fmt.Errorf("make postmark's directory: %w", err)
		}
		add(name, "postmark", postmarker{read: readPostmark, argv: []string{postmark},
			stdin: fmt.Sprintf("set location %s\nset number %d\nset transactions %d\nset size 500 10000\nset read 4096\nset write 4096\nset buffering false\nset seed 42\nrun\nquit\n", own, files, b.transactions)})
	}
	return rivals, nil
}

// once runs a client in a process of its own.
func (m postmarker) once(ctx context.Context, transactions int) (o measurement, err error) {
	c := exec.CommandContext(ctx, m.argv[0], m.argv[1:]...)
	c.Env = append(os.Environ(), "LC_ALL=C")
	c.Stdin = strings.NewReader(m.stdin)
	begin := time.Now()
	out, err := c.Output()
	took := time.Since(begin)
	if err != nil {
		return o, fmt.Errorf("run %s: %w", strings.Join(m.argv, " "), err)
	}
	run, err := m.read(out)
	if err != nil {
		return o, err
	}
	if run.transactions != transactions {
		return o, fmt.Errorf("%d transactions were done, not %d", run.transactions, transactions)
	}
	return measurement{value: took.Seconds(), cpu: cpuOf(c).Seconds(), said: run.rate}, nil
}

func readLinerateFiles(out []byte) (filesRun, error) {
	r, err := readAccount(out)
	return filesRun{int(r.Answered), r.RequestRate}, err
}

func readPostmark(out []byte) (filesRun, error) {
	p, err := tooltext.ReadPostmark(string(out))
	return filesRun{int(p.Transactions), float64(p.PerSecond)}, err
}
