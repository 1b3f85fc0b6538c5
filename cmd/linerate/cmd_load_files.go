package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/calc"
	"linerate/internal/hint"
	"linerate/internal/load/client"
	"linerate/internal/load/fileload"
)

// loadFilesFlags are the flags of load files as they were typed.
type loadFilesFlags struct {
	loadFlags
	files, size, block string
	directories, lanes int
	reads, creates     float64
	sync               bool
}

const loadFilesLong = `Do what a mail server does to its disk: transactions on many small files below DIR, as
PostMark does them. Each reads or appends to one file, and creates or deletes one. The
account ends with the time until everything is on the disk.

    linerate load files /var/tmp --files 1000,20000 --time 30s
    linerate load files /var/tmp --fsync --lanes 8 --rate 200`

func newLoadFilesCmd() *cobra.Command {
	var f loadFilesFlags
	cmd := &cobra.Command{
		Use:   "files DIR",
		Short: "run transactions on many small files, like PostMark",
		Long:  loadFilesLong,
		Args:  cobra.ExactArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return runLoadFiles(cmd, f, args[0]) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.files, "files", "1000", "number of files, or several runs: 1000,20000")
	fs.StringVar(&f.size, "size", "500B-10kB", "size of a new file, a range")
	fs.IntVar(&f.directories, "directories", 0, "directories to spread the files over")
	fs.StringVar(&f.block, "block", "4KiB", "how much each read(2) and write(2) takes")
	fs.BoolVar(&f.sync, "fsync", false, "call fsync(2) on each written file, like mail servers")
	fs.IntVar(&f.lanes, "lanes", 1, "transactions at once")
	fs.Float64Var(&f.reads, "reads", 0.5, "share that read; the others append")
	fs.Float64Var(&f.creates, "creates", 0.5, "share that create; the others delete")
	f.add(cmd, loadWords{of: "transactions", begin: "do transactions", timeout: 30 * time.Second, late: "a longer transaction is too late",
		seed: "sizes, files and transactions", strict: "one failed, or the generator was saturated"})
	return cmd
}

func runLoadFiles(cmd *cobra.Command, f loadFilesFlags, dir string) error {
	pool, load, counts, err := f.spec(cmd)
	if err != nil {
		return err
	}
	doc := fileload.Document{Version: 1, Offer: fileload.OfferOf(dir, pool, load)}
	for _, pool.Files = range counts {
		live := newLoadLive(cmd.ErrOrStderr(), "tx/s")
		load.Every, load.Watch = live.every(f.every), live.show
		var p fileload.Point
		p, err = fileload.RunPoint(cmd.Context(), dir, pool, load)
		if live.End(); err != nil && !interrupted(err) {
			return err
		}
		if p.Seconds > 0 {
			doc.Points = append(doc.Points, p)
		}
		if err != nil {
			break
		}
	}
	if len(doc.Points) > 0 {
		err = errors.Join(f.print(cmd, doc, doc.Page), err)
	}
	if err == nil && f.strict {
		for _, p := range doc.Points {
			if err := p.Strictly("transactions"); err != nil {
				return err
			}
		}
	}
	return err
}

// spec turns the flags into files, a load, and the numbers of files.
func (f loadFilesFlags) spec(cmd *cobra.Command) (p fileload.Pool, l client.Load, counts []int, err error) {
	p = fileload.Pool{Directories: f.directories, Lanes: f.lanes, Sync: f.sync, Reads: f.reads, Creates: f.creates, Seed: f.seed}
	if p.Min, p.Max, err = parseSizes(f.size); err != nil {
		return p, l, nil, err
	}
	block, err := calc.Parse(f.block, calc.Bytes)
	if err != nil {
		return p, l, nil, hint.Usage(fmt.Errorf("--block: %w", err))
	}
	p.Block = int(block)
	if l, err = f.load(cmd); err != nil {
		return p, l, nil, err
	}
	if l.Duration == 0 && l.Requests == 0 {
		return p, l, nil, hint.Usagef("--time 0 needs --transactions")
	}
	for part := range strings.SplitSeq(f.files, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || len(counts) == 20 {
			return p, l, nil, hint.With(hint.Usagef("--files %q", f.files), "up to 20 numbers of files, such as 1000,20000")
		}
		counts = append(counts, n)
	}
	for _, p.Files = range counts {
		if err := p.Validate(); err != nil {
			return p, l, nil, err
		}
	}
	return p, l, counts, nil
}

// parseSizes reads "500B-10kB" or "4kB".
func parseSizes(text string) (least, most int, err error) {
	lo, hi, err := calc.ParseRange(text, calc.Bytes)
	if err != nil || lo < 0 || hi > fileload.MaxSize {
		return 0, 0, hint.With(hint.Usagef("--size %q is no size or range of sizes", text), "for instance 500B-10kB; at most 1GiB")
	}
	return int(lo), int(hi), nil
}
