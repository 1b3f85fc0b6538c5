// Package fileload does to a file system what a mail or news server does:
// PostMark's transactions (J. Katcher, "PostMark: A New File System Benchmark",
// TR3022, 1997) on a pool of small files, each a read or an append, and a
// creation or a deletion. They are counted like requests to a server, in an
// open loop or a closed one.
//
// PostMark's own transactions are one after the other; its times are whole
// seconds, and what is not yet on the disk at the end is in none of them.
package fileload

import (
	"linerate/internal/hint"
	"linerate/internal/load/client"
)

// Bounds of a Pool.
const (
	MaxFiles       = 2_000_000
	MaxSize        = 1 << 30
	MaxLanes       = 256
	MaxDirectories = 100_000
	MaxBytes       = 1 << 40
)

// Pool is a set of files, and what is done to them.
type Pool struct {
	Files       int // at the start
	Min, Max    int // size of a new file, in bytes; appending goes up to Max
	Directories int // that they are spread over; 0: none below the pool's own
	Block       int // bytes of a read(2) or write(2)
	Lanes       int // transactions at once, each on a share of the files
	Sync        bool
	// Reads and Creates are shares of the transactions; the others append,
	// and delete.
	Reads, Creates float64
	Seed           uint64
}

// Validate refuses what cannot be made.
func (p *Pool) Validate() error {
	switch {
	case p.Files < 1 || p.Files > MaxFiles:
		return hint.Usagef("%d files: from 1 to %d", p.Files, MaxFiles)
	case p.Min < 0 || p.Max < p.Min || p.Max > MaxSize:
		return hint.Usagef("files of %d to %d bytes: from 0 to %d, the smallest first", p.Min, p.Max, MaxSize)
	case int64(p.Files)*int64(p.Min+p.Max)/2 > MaxBytes:
		return hint.Usagef("%d files of up to %d bytes: more than a TiB together", p.Files, p.Max)
	case p.Directories < 0 || p.Directories > MaxDirectories:
		return hint.Usagef("%d directories: from 0 to %d", p.Directories, MaxDirectories)
	case p.Block < 1 || p.Block > 16<<20:
		return hint.Usagef("blocks of %d bytes: from 1 to %d", p.Block, 16<<20)
	case p.Lanes < 1 || p.Lanes > MaxLanes || p.Lanes > p.Files:
		return hint.Usagef("%d transactions at once: from 1 to %d, and no more than files", p.Lanes, MaxLanes)
	case !(p.Reads >= 0 && p.Reads <= 1 && p.Creates >= 0 && p.Creates <= 1):
		return hint.Usagef("shares of %g reads and %g creations: from 0 to 1", p.Reads, p.Creates)
	}
	return nil
}

// The targets of the mix: a transaction is a pair.
const (
	readCreate = iota
	readDelete
	appendCreate
	appendDelete
)

// Pairs names the targets of the mix, as request.Result.Targets has them.
var Pairs = []string{"read, create", "read, delete", "append, create", "append, delete"}

// loop is the load on the pool.
func (p *Pool) loop(l client.Load) client.Spec {
	w := make([]float64, len(Pairs))
	w[readCreate], w[readDelete] = p.Reads*p.Creates, p.Reads*(1-p.Creates)
	w[appendCreate], w[appendDelete] = (1-p.Reads)*p.Creates, (1-p.Reads)*(1-p.Creates)
	return client.Spec{Load: l, Weights: w, Lanes: p.Lanes}
}
