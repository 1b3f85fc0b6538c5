// Package fileload loads a file system like a mail or news server: with the
// transactions of PostMark (J. Katcher, "PostMark: A New File System
// Benchmark", TR3022, 1997) on a pool of small files. Each transaction is a
// read or an append, and a creation or a deletion. They are counted like
// requests to a server, in an open or a closed loop.
//
// PostMark itself runs transactions one after another; it measures whole
// seconds, and ignores data not yet on disk at the end.
package fileload

// Pool is a set of files and the transactions on them: as many read as append, and as
// many create as delete.
type Pool struct {
	Files       int // initially
	Min, Max    int // size of a new file, in bytes; appending goes up to Max
	Directories int // number of subdirectories for the files; 0: none
	Lanes       int // concurrent transactions, each on a share of the files
	Sync        bool
	Seed        uint64
}

// block is the size of a read(2) or write(2), in bytes.
const block = 4096

// The targets of the mix: each is a pair of operations.
const (
	readCreate = iota
	readDelete
	appendCreate
	appendDelete
)

// Pairs names the targets of the mix, as in request.Result.Targets.
var Pairs = []string{"read, create", "read, delete", "append, create", "append, delete"}
