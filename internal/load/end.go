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
	Worker    uint16 // of Workers, from 0
	Workers   uint16
	Total     uint64 // frames sent, all flows
	NeverLeft uint64 // of Total: the device refused them, so that they were not sent after all
	Closed    uint64 // the time in the frame's stamp: it tells repetitions from another run's ending
}

const (
	endingVersion = 2
	endingBytes   = 24
)

// Append writes the message after b.
func (e Ending) Append(b []byte) []byte {
	be := binary.BigEndian
	b = append(b, endingVersion, 0)
	b = be.AppendUint16(b, e.Worker)
	b = be.AppendUint16(b, e.Workers)
	b = be.AppendUint16(b, 0)
	b = be.AppendUint64(b, e.Total)
	return be.AppendUint64(b, e.NeverLeft)
}

// ReadEnding reads a message. What follows it is ignored: short frames are
// padded.
func ReadEnding(b []byte) (Ending, error) {
	if len(b) < endingBytes {
		return Ending{}, fmt.Errorf("end-of-stream message of %d bytes, need %d", len(b), endingBytes)
	}
	if b[0] != endingVersion {
		return Ending{}, fmt.Errorf("end-of-stream message of version %d; known is version %d", b[0], endingVersion)
	}
	be := binary.BigEndian
	e := Ending{Worker: be.Uint16(b[2:]), Workers: be.Uint16(b[4:]), Total: be.Uint64(b[8:]), NeverLeft: be.Uint64(b[16:])}
	if e.Worker >= e.Workers || e.NeverLeft > e.Total {
		return Ending{}, fmt.Errorf("end-of-stream message contradicts itself: worker %d of %d, %d frames, %d of them never left", e.Worker, e.Workers, e.Total, e.NeverLeft)
	}
	return e, nil
}

// StreamRun names one run of a stream.
type StreamRun struct{ Stream, Run uint16 }

// Endings gathers the endings of up to MaxRuns runs. The zero value is empty.
type Endings struct {
	streams map[StreamRun]map[uint16]Ending
	past    map[StreamRun]map[uint16]Ending // told before Renew
	more    bool                            // there was no room for some: what was sent is unknown
}

// maxWorkers is how many workers of a run there is room for: any sender
// can make up more.
const maxWorkers = 1024

// Renew empties the endings. A generator sends each several times: what comes late of those
// that were there is passed over, or the next account would miss frames that it never had.
func (e *Endings) Renew() { *e = Endings{past: e.streams} }

// Add takes one ending of a stream's run.
func (e *Endings) Add(of StreamRun, m Ending) {
	if e.past[of][m.Worker] == m {
		return
	}
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
