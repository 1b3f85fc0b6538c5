package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/hint"
	"linerate/internal/load/fileload"
	"linerate/internal/show"
)

const benchFilesLong = `Let linerate and postmark (if it is on PATH) take turns at the same transactions
on the same numbers of files in a directory of their own below --dir. The time is
that of the whole process, which makes the files, does the transactions and removes
what is left: postmark's own times are whole seconds. CPU is the process's, the
kernel's work for it included.`

func newBenchFilesCmd() *cobra.Command {
	var b filesBench
	cmd := &cobra.Command{
		Use:   "files",
		Short: "how fast transactions on files are done, beside postmark",
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

// filesRow is one client in one case.
type filesRow struct {
	Case    string    `json:"case"`
	Client  string    `json:"client"`
	Seconds []float64 `json:"seconds"`     // of the whole process
	Rate    []float64 `json:"own_rate"`    // transactions/s as it says itself
	CPU     []float64 `json:"cpu_seconds"` // of the whole process
	Ratio   float64   `json:"time_ratio"`
	Cost    float64   `json:"cpu_ratio"`
	argv    []string
	stdin   string
	read    func(out []byte) (filesRun, error)
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
	rows, err := b.rows(scratch.Path)
	if err != nil {
		return err
	}
	live := newLive(cmd.ErrOrStderr())
	for round := range b.rounds {
		for i := range rows {
			r := rows[(i+round)%len(rows)]
			live.Show("round %d of %d: %s, %s", round+1, b.rounds, r.Case, r.Client)
			if err := r.once(cmd.Context(), b.transactions); err != nil {
				live.End()
				return fmt.Errorf("%s, %s: %w", r.Case, r.Client, err)
			}
		}
	}
	live.End()
	compareFiles(rows)
	if b.json {
		return printJSON(cmd.OutOrStdout(), map[string]any{"version": 1, "rounds": b.rounds, "transactions": b.transactions, "rows": rows})
	}
	return b.print(cmd.OutOrStdout(), rows)
}

// rows lists who takes turns at what; linerate is the first of each case.
func (b *filesBench) rows(dir string) ([]*filesRow, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	postmark, _ := exec.LookPath("postmark") // none: linerate is alone
	var rows []*filesRow
	for _, files := range []int{1000, 20_000} {
		name := show.Plural(files, "file")
		rows = append(rows, &filesRow{Case: name, Client: "linerate", read: readLoadFiles, argv: []string{self, "load", "files", dir, "--json",
			"--files", strconv.Itoa(files), "-d", "0", "-n", strconv.Itoa(b.transactions), "--size", "500B-10kB", "--block", "4KiB", "--interval", "1h"}})
		if postmark == "" {
			continue
		}
		own := filepath.Join(dir, "postmark")
		if err := os.MkdirAll(own, 0o755); err != nil {
			return nil, fmt.Errorf("make postmark's directory: %w", err)
		}
		rows = append(rows, &filesRow{Case: name, Client: "postmark", read: readPostmark, argv: []string{postmark},
			stdin: fmt.Sprintf("set location %s\nset number %d\nset transactions %d\nset size 500 10000\nset read 4096\nset write 4096\nset buffering false\nset seed 42\nrun\nquit\n", own, files, b.transactions)})
	}
	return rows, nil
}

// once runs a client in a process of its own.
func (r *filesRow) once(ctx context.Context, transactions int) error {
	c := exec.CommandContext(ctx, r.argv[0], r.argv[1:]...)
	c.Env = append(os.Environ(), "LC_ALL=C")
	c.Stdin = strings.NewReader(r.stdin)
	begin := time.Now()
	out, err := c.Output()
	took := time.Since(begin)
	if err != nil {
		return fmt.Errorf("run %s: %w", strings.Join(r.argv, " "), err)
	}
	run, err := r.read(out)
	if err != nil {
		return err
	}
	if run.transactions != transactions {
		return fmt.Errorf("%d transactions were done, not %d", run.transactions, transactions)
	}
	r.Seconds = append(r.Seconds, took.Seconds())
	r.Rate = append(r.Rate, run.rate)
	r.CPU = append(r.CPU, (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds())
	return nil
}

func readLoadFiles(out []byte) (r filesRun, err error) {
	var d filesDoc
	if err := json.Unmarshal(out, &d); err != nil {
		return r, fmt.Errorf("read the account: %w", err)
	}
	p, err := onlyPoint(d.Points)
	if err != nil {
		return r, err
	}
	if p.Failed > 0 {
		return r, fmt.Errorf("%d transactions failed: %+v", p.Failed, p.Errors)
	}
	return filesRun{int(p.Answered), p.RequestRate}, nil
}

// postmarkSays finds what it did among its transactions: each creates or
// deletes a file.
var postmarkSays = regexp.MustCompile(`(?s)seconds? of transactions \((\d+) per second\).*?Mixed with transactions: (\d+) files.*?Mixed with transactions: (\d+) files`)

func readPostmark(out []byte) (filesRun, error) {
	m := postmarkSays.FindSubmatch(out)
	if m == nil {
		return filesRun{}, fmt.Errorf("postmark said %.300q", out)
	}
	return filesRun{int(parsed(m[2]) + parsed(m[3])), parsed(m[1])}, nil
}

// compareFiles works out the ratios to each case's first row, round by round.
func compareFiles(rows []*filesRow) {
	var base *filesRow
	for _, r := range rows {
		if base == nil || r.Case != base.Case {
			base = r
		}
		r.Ratio, r.Cost = medianRatio(r.Seconds, base.Seconds), medianRatio(r.CPU, base.CPU)
	}
}

func (b *filesBench) print(w io.Writer, rows []*filesRow) error {
	p := show.NewPage(styleOf(w))
	p.Line(fmt.Sprintf("%s of 500 B to 10 kB files on %s; %s", show.Plural(b.transactions, "transaction"), show.Clean(b.dir), show.Plural(b.rounds, "interleaved round")))
	p.Line("")
	t := show.Table{Right: numbersAfter(2), Header: []string{"case", "client", "time", "ratio", "CPU", "ratio", "own tx/s"}}
	for _, r := range rows {
		t.Add(r.Case, r.Client, show.Nanos(medianOf(r.Seconds)*1e9), show.Digits(r.Ratio), show.Nanos(medianOf(r.CPU)*1e9), show.Digits(r.Cost), show.SI(medianOf(r.Rate), ""))
	}
	p.Table(t)
	return p.Flush(w)
}
