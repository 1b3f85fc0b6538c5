package load

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Ending is the message of an end-of-stream frame: what one worker of a
// generator sent. Loss at the tail leaves no gap in a sequence, so that only
// this closes the account. Its bytes follow the frame's stamp.
type Ending struct {
	Random    bool   // flow order; round robin spreads Total evenly
	Worker    uint16 // has the flows Worker, Worker+Workers, …
	Workers   uint16
	Flows     uint32 // of this worker
	Total     uint64 // frames sent, all flows
	NeverLeft uint64 // of Total: the device refused them, so that they were not sent after all
	// Counts of random order: frames sent of the worker's flows from First
	// on, modulo 2³².
	First  uint32
	Counts []uint32
}

const (
	endingVersion = 1
	endingHeader  = 36
)

// EndingRoom returns how many counts an Ending of n bytes has room for.
func EndingRoom(n int) int { return max(0, (n-endingHeader)/4) }

// Append writes the message after b.
func (e Ending) Append(b []byte) []byte {
	be := binary.BigEndian
	var order byte
	if e.Random {
		order = 1
	}
	b = append(b, endingVersion, order)
	b = be.AppendUint16(b, e.Worker)
	b = be.AppendUint16(b, e.Workers)
	b = be.AppendUint16(b, uint16(len(e.Counts)))
	b = be.AppendUint32(b, e.Flows)
	b = be.AppendUint64(b, e.Total)
	b = be.AppendUint64(b, e.NeverLeft)
	b = be.AppendUint32(b, e.First)
	b = be.AppendUint32(b, 0)
	for _, c := range e.Counts {
		b = be.AppendUint32(b, c)
	}
	return b
}

// ReadEnding reads a message. What follows it is ignored: short frames are
// padded.
func ReadEnding(b []byte) (Ending, error) {
	if len(b) < endingHeader {
		return Ending{}, fmt.Errorf("end-of-stream message of %d bytes, need %d", len(b), endingHeader)
	}
	if b[0] != endingVersion || b[1] > 1 {
		return Ending{}, fmt.Errorf("end-of-stream message of version %d, order %d; known are version %d, orders 0 and 1", b[0], b[1], endingVersion)
	}
	be := binary.BigEndian
	e := Ending{
		Random: b[1] == 1, Worker: be.Uint16(b[2:]), Workers: be.Uint16(b[4:]),
		Flows: be.Uint32(b[8:]), Total: be.Uint64(b[12:]), NeverLeft: be.Uint64(b[20:]), First: be.Uint32(b[28:]),
	}
	n := int(be.Uint16(b[6:]))
	switch {
	case e.Worker >= e.Workers, e.Flows == 0, e.Flows > MaxFlows, e.NeverLeft > e.Total:
		return Ending{}, fmt.Errorf("end-of-stream message contradicts itself: worker %d of %d, %d flows, %d frames, %d of them never left", e.Worker, e.Workers, e.Flows, e.Total, e.NeverLeft)
	case n > EndingRoom(len(b)), uint64(e.First)+uint64(n) > uint64(e.Flows):
		return Ending{}, fmt.Errorf("end-of-stream message counts %d flows from %d of %d in %d bytes", n, e.First, e.Flows, len(b))
	}
	for i := range n {
		e.Counts = append(e.Counts, be.Uint32(b[endingHeader+4*i:]))
	}
	return e, nil
}

// StreamRun names one run of a stream.
type StreamRun struct{ Stream, Run uint16 }

// Endings gathers the endings of up to MaxRuns runs. The zero value is empty.
type Endings struct {
	streams map[StreamRun]map[uint16]Ending
	more    bool // there was no room for some: what was sent is unknown
}

// maxWorkers is how many workers of a run there is room for: whoever can send
// can make up more.
const maxWorkers = 1024

// Add takes one ending of a stream's run. What it says of single flows is not
// kept: loss is told of streams.
func (e *Endings) Add(of StreamRun, m Ending) {
	workers := e.streams[of]
	if workers == nil && len(e.streams) >= MaxRuns || m.Workers > maxWorkers {
		e.more = true
		return
	}
	if e.streams == nil {
		e.streams = map[StreamRun]map[uint16]Ending{}
	}
	if workers == nil {
		workers = map[uint16]Ending{}
		e.streams[of] = workers
	}
	m.Counts = nil
	workers[m.Worker] = m
}

// Complete reports whether every worker of a stream's run has ended.
func (e *Endings) Complete(of StreamRun) bool {
	workers := e.streams[of]
	for _, w := range workers {
		if int(w.Workers) != len(workers) {
			return false
		}
	}
	return len(workers) > 0
}

// Sent returns the frames that a stream's run sent, as its endings tell.
func (e *Endings) Sent(of StreamRun) uint64 {
	var sent uint64
	for _, w := range e.streams[of] {
		sent += w.Total - w.NeverLeft
	}
	return sent
}

// Streams lists the runs that any ending was seen of.
func (e *Endings) Streams() []StreamRun {
	var all []StreamRun
	for s := range e.streams {
		all = append(all, s)
	}
	slices.SortFunc(all, compareRuns)
	return all
}

func compareRuns(a, b StreamRun) int {
	return (int(a.Stream)-int(b.Stream))<<12 + int(a.Run) - int(b.Run)
}
