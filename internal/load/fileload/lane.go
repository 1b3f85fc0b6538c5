package fileload

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/load/client"
	"linerate/internal/load/request"
)

// The operations of transactions.
const (
	opCreate = iota
	opRead
	opAppend
	opDelete
	operations
)

// tally counts one operation.
type tally struct{ count, bytes uint64 }

// file is a file of a lane.
type file struct {
	n    uint64
	size int
}

// lane runs one transaction after another on its own files.
type lane struct {
	set    *Set
	prefix string
	rng    *rand.Rand
	buf    []byte
	files  []file
	next   uint64
	ops    [operations]tally
}

// moved returns how many bytes the lane has read and written.
func (l *lane) moved() uint64 {
	return l.ops[opRead].bytes + l.ops[opCreate].bytes + l.ops[opAppend].bytes
}

// Do runs one transaction. A system call cannot be cancelled: a transaction
// that misses the deadline is completed, and counted as late.
func (l *lane) Do(target int, deadline time.Time) client.Answer {
	before := l.moved()
	var first, second error
	if target == readCreate || target == readDelete {
		first = l.read()
	} else {
		first = l.append()
	}
	if target == readCreate || target == appendCreate {
		second = l.create()
	} else if len(l.files) > 0 {
		second = l.remove(l.rng.IntN(len(l.files)))
	}
	a := client.Answer{Body: int64(l.moved() - before)}
	switch err := errors.Join(first, second); {
	case err != nil:
		a.Kind, a.Detail = kindOf(err), err.Error()
	case time.Now().After(deadline):
		a.Kind = request.Late
	}
	return a
}

// Close keeps the files, for the next load.
func (l *lane) Close() {}

func kindOf(err error) request.Kind {
	switch {
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return request.NoSpace
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		return request.NoFile
	}
	return request.Other
}

// at returns the directory and name of a file.
func (l *lane) at(f file) (dir int, name string) {
	d := l.set.dirs
	if len(d) > 1 {
		d = d[1:]
	}
	return d[int(f.n)%len(d)], l.prefix + strconv.FormatUint(f.n, 10)
}

func (l *lane) count(op, bytes int) {
	l.ops[op].count++
	l.ops[op].bytes += uint64(bytes)
}

// create creates a file of random size.
func (l *lane) create() error {
	f := file{n: l.next, size: l.set.Min + l.rng.IntN(l.set.Max-l.set.Min+1)}
	l.next++
	dir, name := l.at(f)
	if err := l.write(dir, name, unix.O_CREAT|unix.O_EXCL, f.size); err != nil {
		_ = unix.Unlinkat(dir, name, 0) // it may exist partially
		return err
	}
	l.files = append(l.files, f)
	l.count(opCreate, f.size)
	return nil
}

// append extends a file, up to the largest size.
func (l *lane) append() error {
	if len(l.files) == 0 {
		return nil
	}
	f := &l.files[l.rng.IntN(len(l.files))]
	if f.size >= l.set.Max {
		return nil
	}
	more := 1 + l.rng.IntN(l.set.Max-f.size)
	dir, name := l.at(*f)
	if err := l.write(dir, name, unix.O_APPEND, more); err != nil {
		return err
	}
	f.size += more
	l.count(opAppend, more)
	return nil
}

// write opens a file and writes to it, and syncs it if requested.
func (l *lane) write(dir int, name string, flags, n int) (err error) {
	fd, err := again(func() (int, error) {
		return unix.Openat(dir, name, unix.O_WRONLY|unix.O_CLOEXEC|flags, 0o644)
	})
	if err != nil {
		return named("open", name, err)
	}
	for n > 0 && err == nil {
		var m int
		m, err = again(func() (int, error) { return unix.Write(fd, l.buf[:min(n, block)]) })
		n -= m
	}
	if err == nil && l.set.Sync {
		_, err = again(func() (int, error) { return 0, unix.Fsync(fd) })
	}
	if e := unix.Close(fd); err == nil {
		err = e
	}
	return named("write", name, err)
}

// read reads a whole file.
func (l *lane) read() error {
	if len(l.files) == 0 {
		return nil
	}
	f := l.files[l.rng.IntN(len(l.files))]
	dir, name := l.at(f)
	fd, err := again(func() (int, error) { return unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return named("open", name, err)
	}
	sum := 0
	for err == nil && sum < f.size {
		var m int
		if m, err = again(func() (int, error) { return unix.Read(fd, l.buf) }); m == 0 && err == nil {
			err = errShort
		}
		sum += m
	}
	unix.Close(fd)
	if err != nil {
		return named("read", name, err)
	}
	l.count(opRead, sum)
	return nil
}

var errShort = errors.New("it is shorter than what was written")

// remove deletes one of the files.
func (l *lane) remove(i int) error {
	dir, name := l.at(l.files[i])
	if err := unix.Unlinkat(dir, name, 0); err != nil {
		return named("delete", name, err)
	}
	l.files[i] = l.files[len(l.files)-1]
	l.files = l.files[:len(l.files)-1]
	l.count(opDelete, 0)
	return nil
}

// again repeats a call that was interrupted by a signal.
func again(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}

// fault is an error of a system call on a file.
type fault struct {
	what, name string
	err        error
}

func (f *fault) Error() string { return f.what + " " + f.name + ": " + f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

func named(what, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fault{what, name, err}
}
