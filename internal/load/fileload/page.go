package fileload

import (
	"fmt"

	"linerate/internal/load/client"
	"linerate/internal/load/request"
	"linerate/internal/show"
)

// Document is the document of load files --json.
type Document struct {
	Version int     `json:"version"`
	Offer   Offer   `json:"offer"`
	Points  []Point `json:"points"`
}

// Offer is what was asked for.
type Offer struct {
	Directory   string  `json:"directory"`
	FileSystem  string  `json:"file_system"` // "": unknown
	MinBytes    int     `json:"min_bytes"`
	MaxBytes    int     `json:"max_bytes"`
	Directories int     `json:"directories"`
	BlockBytes  int     `json:"block_bytes"`
	Sync        bool    `json:"fsync"`
	Lanes       int     `json:"lanes"`
	Reads       float64 `json:"reads"`
	Creates     float64 `json:"creates"`
	request.Pace
}

// Point is one run, of so many files.
type Point struct {
	Files         int     `json:"files"`
	CreateSeconds float64 `json:"create_seconds"` // of all files, before the load
	RemoveSeconds float64 `json:"remove_seconds"` // of those left, after it
	Removed       int     `json:"removed"`
	KernelSeconds float64 `json:"kernel_cpu_seconds"` // for this process: the file system's work, without its own threads'
	request.Result
	Operations []Operation `json:"operations"`
}

// OfferOf is what is asked for in a directory.
func OfferOf(dir string, p Pool, l client.Load) Offer {
	return Offer{
		Directory: dir, FileSystem: FileSystem(dir), MinBytes: p.Min, MaxBytes: p.Max, Directories: p.Directories, BlockBytes: p.Block,
		Sync: p.Sync, Lanes: p.Lanes, Reads: p.Reads, Creates: p.Creates,
		Pace: l.Pace(),
	}
}

// Page writes the account.
func (d Document) Page(p *show.Page) {
	for i := range d.Points {
		if i > 0 {
			p.Line("")
		}
		d.Points[i].page(p, d.Offer)
	}
}

func (r *Point) page(p *show.Page, o Offer) {
	system := ""
	if o.FileSystem != "" {
		system = " (" + o.FileSystem + ")"
	}
	how := o.Words("tx/s", show.Plural(o.Lanes, "lane"))
	if o.Sync {
		how += ", fsync(2) after each write"
	}
	p.Line(fmt.Sprintf("%s%s: %s of %s to %s; %s", show.Clean(o.Directory), system, show.Plural(r.Files, "file"), show.Bytes(float64(o.MinBytes)), show.Bytes(float64(o.MaxBytes)), how))
	p.Line("")
	request.Line(p, "done", "%s of %s transactions in %s", show.Count(r.Answered), show.Count(r.Requests), request.Seconds(r.Seconds))
	request.Line(p, "rate", "%s; read and written %s", show.SI(r.RequestRate, "tx/s"), show.SI(r.BodyRate, "B/s"))
	if r.SettleSeconds > 0 {
		request.Line(p, "on the disk", "%s later: %s", request.Seconds(r.SettleSeconds), show.SI(r.SettledRate, "tx/s"))
	}
	request.Line(p, "made", "%s files in %s, %s", show.Count(r.Files), request.Seconds(r.CreateSeconds), show.SI(float64(r.Files)/max(r.CreateSeconds, 1e-9), "files/s"))
	request.Line(p, "removed", "%s files in %s, %s", show.Count(r.Removed), request.Seconds(r.RemoveSeconds), show.SI(float64(r.Removed)/max(r.RemoveSeconds, 1e-9), "files/s"))
	request.Line(p, "CPU", "%s per transaction in the kernel, %s in the generator", show.Nanos(1e9*r.KernelSeconds/max(1, float64(r.Requests))), show.Nanos(r.Generator.CPUPerRequest))
	p.Line("")
	r.LatencyTable(p, o.Open(), "")
	p.Line("")
	t := show.Table{Right: show.NumbersAfter(1), Header: []string{"operation", "count", "bytes", "p50", "p90", "p99", "max", "mean"}}
	for _, op := range r.Operations {
		row := []string{op.Name, show.Count(op.Count), show.Bytes(float64(op.Bytes))}
		if q := op.Latency; q != nil {
			row = append(row, q.Cells()...)
		}
		t.Add(row...)
	}
	p.Table(t)
	r.notes(p, o)
}

// notes say what went wrong, and what to doubt.
func (r *Point) notes(p *show.Page, o Offer) {
	note := request.Notes{Page: p}
	note.Errors(r.Result)
	note.Unsent(r.Result, "transactions")
	if r.Waited > 0 {
		note.Add(show.Doubt, "%s transactions were due when all %s were busy; allow more lanes", show.Count(r.Waited), show.Plural(o.Lanes, "lane"))
	}
	note.Saturated(r.Result)
}
