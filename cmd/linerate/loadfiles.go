package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/load/fileload"
	"linerate/internal/load/request"
	"linerate/internal/show"
)

// filesDoc is the document of load files --json.
type filesDoc struct {
	Version int          `json:"version"`
	Offer   filesOffer   `json:"offer"`
	Points  []filesPoint `json:"points"`
}

// filesOffer is what was asked for.
type filesOffer struct {
	Driver         string  `json:"driver"` // "linerate" or "postmark"
	Directory      string  `json:"directory"`
	FileSystem     string  `json:"file_system"` // "": unknown
	MinBytes       int     `json:"min_bytes"`
	MaxBytes       int     `json:"max_bytes"`
	Directories    int     `json:"directories"`
	BlockBytes     int     `json:"block_bytes"`
	Sync           bool    `json:"fsync"`
	Lanes          int     `json:"lanes"`
	Reads          float64 `json:"reads"`
	Creates        float64 `json:"creates"`
	Loop           string  `json:"loop"`
	Arrivals       string  `json:"arrivals,omitempty"`
	Rate           float64 `json:"rate"`
	Seconds        float64 `json:"seconds"`
	WarmupSeconds  float64 `json:"warmup_seconds"`
	TimeoutSeconds float64 `json:"timeout_seconds"`
	Seed           uint64  `json:"seed"`
}

// filesPoint is one run, of so many files.
type filesPoint struct {
	Files         int     `json:"files"`
	CreateSeconds float64 `json:"create_seconds"` // of all files, before the load
	RemoveSeconds float64 `json:"remove_seconds"` // of those left, after it
	Removed       int     `json:"removed"`
	KernelSeconds float64 `json:"kernel_cpu_seconds"` // for this process: the file system's work, but for what threads of its own did
	request.Result
	Operations []fileload.Operation `json:"operations"`
}

func (f loadFilesFlags) offer(dir string, p fileload.Pool, l fileload.Load) filesOffer {
	o := filesOffer{
		Driver: f.driver, Directory: dir, FileSystem: fileload.FileSystem(dir), MinBytes: p.Min, MaxBytes: p.Max, Directories: p.Directories, BlockBytes: p.Block,
		Sync: p.Sync, Lanes: p.Lanes, Reads: p.Reads, Creates: p.Creates, Loop: "closed", Rate: l.Rate,
		Seconds: l.Duration.Seconds(), WarmupSeconds: l.Warmup.Seconds(), TimeoutSeconds: l.Timeout.Seconds(), Seed: l.Seed,
	}
	if l.Rate > 0 {
		o.Loop, o.Arrivals = "open", string(l.Arrivals)
	}
	return o
}

// print writes the account.
func (f loadFilesFlags) print(cmd *cobra.Command, d filesDoc) error {
	if f.json {
		return cli.PrintJSON(cmd.OutOrStdout(), d)
	}
	p := show.NewPage(cli.StyleOf(cmd.OutOrStdout()))
	for i := range d.Points {
		if i > 0 {
			p.Line("")
		}
		d.Points[i].page(p, d.Offer)
	}
	return p.Flush(cmd.OutOrStdout())
}

func (r *filesPoint) page(p *show.Page, o filesOffer) {
	system := ""
	if o.FileSystem != "" {
		system = " (" + o.FileSystem + ")"
	}
	how := fmt.Sprintf("closed loop, %s", show.Plural(o.Lanes, "lane"))
	if o.Loop == "open" {
		how = fmt.Sprintf("open loop, %s, %s", show.SI(o.Rate, "tx/s"), o.Arrivals)
	}
	if o.Sync {
		how += ", fsync(2) after each write"
	}
	if o.Driver != driverOwn {
		how = "by " + o.Driver
	}
	p.Line(fmt.Sprintf("%s%s: %s of %s to %s; %s", show.Clean(o.Directory), system, show.Plural(r.Files, "file"), show.Bytes(float64(o.MinBytes)), show.Bytes(float64(o.MaxBytes)), how))
	p.Line("")
	seconds := func(s float64) string { return show.Brief(time.Duration(s * 1e9)) }
	accountLine(p, "done", "%s of %s transactions in %s", show.Count(r.Answered), show.Count(r.Requests), seconds(r.Seconds))
	accountLine(p, "rate", "%s; read and written %s", show.SI(r.RequestRate, "tx/s"), show.SI(r.BodyRate, "B/s"))
	if r.SettleSeconds > 0 {
		accountLine(p, "on the disk", "%s later: %s", seconds(r.SettleSeconds), show.SI(r.SettledRate, "tx/s"))
	}
	accountLine(p, "made", "%s files in %s, %s", show.Count(r.Files), seconds(r.CreateSeconds), show.SI(float64(r.Files)/max(r.CreateSeconds, 1e-9), "files/s"))
	accountLine(p, "removed", "%s files in %s, %s", show.Count(r.Removed), seconds(r.RemoveSeconds), show.SI(float64(r.Removed)/max(r.RemoveSeconds, 1e-9), "files/s"))
	accountLine(p, "CPU", "%s per transaction in the kernel, %s in the generator", show.Nanos(1e9*r.KernelSeconds/max(1, float64(r.Requests))), show.Nanos(r.Generator.CPUPerRequest))
	if p.Line(""); r.Latency != nil {
		latencyTable(p, o.Loop == "open", r.Result, "")
		p.Line("")
	}
	t := show.Table{Right: show.NumbersAfter(1), Header: []string{"operation", "count"}}
	if o.Driver == driverOwn {
		t.Header = append(t.Header, "bytes", "p50", "p90", "p99", "max", "mean")
	}
	for _, op := range r.Operations {
		addOperation(&t, op)
	}
	p.Table(t)
	r.notes(p, o)
}

// addOperation adds what is known of one kind.
func addOperation(t *show.Table, op fileload.Operation) {
	row := []string{op.Name, show.Count(op.Count)}
	if op.Bytes != nil {
		row = append(row, show.Bytes(float64(*op.Bytes)))
	}
	if q := op.Latency; q != nil {
		row = append(row, ns(q.P50), ns(q.P90), ns(q.P99), ns(q.Max), show.Nanos(q.Mean))
	}
	t.Add(row...)
}

// notes say what went wrong, and what to doubt.
func (r *filesPoint) notes(p *show.Page, o filesOffer) {
	note := noting(p, "")
	noteErrors(note, r.Result)
	noteUnsent(note, r.Result, "transactions")
	if r.Waited > 0 {
		note(show.Doubt, "%s transactions were due when all %s were busy; --lanes allows more", show.Count(r.Waited), show.Plural(o.Lanes, "lane"))
	}
	noteSaturated(note, r.Result)
}
