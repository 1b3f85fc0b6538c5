// Package fileload does to a file system what a mail or news server does:
// PostMark's transactions (J. Katcher, "PostMark: A New File System Benchmark",
// TR3022, 1997) on a pool of small files, each a read or an append, and a
// creation or a deletion. They are counted like requests to a server, in an
// open loop or a closed one.
//
// PostMark's own transactions are one after the other; its times are whole
// seconds, and what is not yet on the disk at the end is in none of them.
package fileload

// Pool is a set of files, and what is done to them: as many of the transactions read as
// append, and as many create as delete.
type Pool struct {
	Files       int // at the start
	Min, Max    int // size of a new file, in bytes; appending goes up to Max
	Directories int // that they are spread over; 0: none below the pool's own
	Lanes       int // transactions at once, each on a share of the files
	Sync        bool
	Seed        uint64
}

// block is how many bytes a read(2) or write(2) is of.
const block = 4096

// The targets of the mix: a transaction is a pair.
const (
	readCreate = iota
	readDelete
	appendCreate
	appendDelete
)

// Pairs names the targets of the mix, as request.Result.Targets has them.
var Pairs = []string{"read, create", "read, delete", "append, create", "append, delete"}
