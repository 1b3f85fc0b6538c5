// Package membench measures how fast memory is copied by so many cores at
// once, with ordinary stores and with ones that bypass the cache: the
// bandwidth that a server of files has to live on.
package membench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"linerate/internal/wait"

	"linerate/internal/hint"
)

// Kind is how a copy stores.
type Kind string

// The kinds. An ordinary store to a line that is not in the cache reads the
// line first (read for ownership), and it is written back later: three
// crossings of the memory bus for each byte copied. A streaming
// (non-temporal) store writes past the cache: two.
const (
	Ordinary  Kind = "ordinary"
	Streaming Kind = "non-temporal"
)

// Crossings is how often a byte copied crosses the memory bus.
func (k Kind) Crossings() float64 {
	if k == Streaming {
		return 2
	}
	return 3
}

// line is a cache line.
const line = 64

// Options of a measurement.
type Options struct {
	Size   int           // bytes of each core's source, and of its destination
	Time   time.Duration // of one run
	Rounds int           // runs of each kind and number of cores
	Cores  int           // at most so many; 0: all
}

// Row is what so many cores copied with one kind of store. Rates are in
// bytes/s over the rounds.
type Row struct {
	Cores int       `json:"cores"`
	Kind  Kind      `json:"kind"`
	Rates []float64 `json:"rates"`
	// Median rate of copying, and of the traffic that it makes on the
	// memory bus.
	Median  float64 `json:"median"`
	Traffic float64 `json:"traffic"`
}

// Result is a measurement.
type Result struct {
	Size  int      `json:"size"`
	CPUs  int      `json:"cpus"`
	Rows  []Row    `json:"rows"`
	Notes []string `json:"notes"`
}

const (
	leastSize = 1 << 20
	mostSize  = 4 << 30
)

func (o Options) check() error {
	switch {
	case o.Size < leastSize || o.Size > mostSize:
		return hint.Usagef("buffers of %d bytes are not between 1 MiB and 4 GiB", o.Size)
	case o.Rounds < 1 || o.Rounds > 1000:
		return hint.Usagef("%d rounds are not between 1 and 1000", o.Rounds)
	case o.Time < time.Millisecond || o.Time > time.Minute:
		return hint.Usagef("a run of %v is not between 1 ms and 1 min", o.Time)
	case o.Cores < 0:
		return hint.Usagef("%d cores are not a number of cores", o.Cores)
	}
	return nil
}

// Run measures. The kinds take turns within a round, so that what drifts
// between rounds touches both alike.
func Run(ctx context.Context, o Options, progress func(round int)) (Result, error) {
	if err := o.check(); err != nil {
		return Result{}, err
	}
	on := cpus()
	if len(on) == 0 {
		return Result{}, errors.New("the CPUs of this process are not known")
	}
	all := len(on)
	if o.Cores > 0 {
		on = on[:min(o.Cores, len(on))]
	}
	buffers := make([][2][]byte, len(on))
	for i := range buffers {
		buffers[i] = [2][]byte{aligned(o.Size), aligned(o.Size)}
	}
	r := Result{Size: o.Size, CPUs: all, Notes: []string{}}
	if missing != "" {
		r.Notes = append(r.Notes, missing)
	}
	for _, n := range steps(len(on)) {
		for _, k := range kinds {
			r.Rows = append(r.Rows, Row{Cores: n, Kind: k})
		}
	}
	for round := range o.Rounds {
		progress(round)
		for i := range r.Rows {
			row := &r.Rows[i]
			rate, err := once(ctx, row.Kind, on[:row.Cores], buffers, o.Time)
			if err != nil {
				return Result{}, err
			}
			row.Rates = append(row.Rates, rate)
		}
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		row.Median = median(row.Rates)
		row.Traffic = row.Median * row.Kind.Crossings()
	}
	return r, nil
}

// once lets the CPUs copy for a time and returns their rates' sum.
func once(ctx context.Context, k Kind, on []int, buffers [][2][]byte, d time.Duration) (float64, error) {
	loop := copier(k)
	var ready, done sync.WaitGroup
	var stop atomic.Bool
	start := make(chan struct{})
	rates, errs := make([]float64, len(on)), make([]error, len(on))
	for i, cpu := range on {
		ready.Add(1)
		done.Go(func() {
			runtime.LockOSThread() // never unlocked: a pinned thread ends with its goroutine
			errs[i] = pin(cpu)
			ready.Done()
			<-start
			rates[i] = copying(loop, buffers[i][0], buffers[i][1], &stop)
		})
	}
	ready.Wait()
	close(start)
	_ = wait.For(ctx, d)
	stop.Store(true)
	done.Wait()
	if err := errors.Join(append(errs, ctx.Err())...); err != nil {
		return 0, fmt.Errorf("copy on %d CPUs: %w", len(on), err)
	}
	sum := 0.0
	for _, v := range rates {
		sum += v
	}
	return sum, nil
}

// copying copies a piece at a time until it is stopped, and returns bytes/s.
func copying(loop func(dst, src []byte), dst, src []byte, stop *atomic.Bool) float64 {
	const piece = 1 << 20
	began := time.Now()
	bytes := 0
	for at := 0; !stop.Load(); {
		end := min(at+piece, len(src))
		loop(dst[at:end], src[at:end])
		bytes += end - at
		if at = end; at == len(src) {
			at = 0
		}
	}
	return float64(bytes) / time.Since(began).Seconds()
}

// aligned returns n bytes that begin with a cache line and are in memory.
func aligned(n int) []byte {
	b := make([]byte, n+line)
	at := int(-uintptr(unsafe.Pointer(&b[0])) & (line - 1))
	b = b[at : at+n : at+n]
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// steps are the numbers of cores measured: powers of two, and all.
func steps(n int) []int {
	var out []int
	for i := 1; i < n; i *= 2 {
		out = append(out, i)
	}
	return append(out, n)
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// Busiest is the row with the most traffic on the memory bus.
func (r Result) Busiest() Row {
	return slices.MaxFunc(r.Rows, func(a, b Row) int { return cmp.Compare(a.Traffic, b.Traffic) })
}
