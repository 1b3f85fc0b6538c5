package load

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"linerate/internal/list"
)

// Ending is the message of an end-of-stream frame: what one worker of a
// generator sent. Loss at the tail leaves no gap in the sequence numbers, so
// only this message completes the account. It follows the frame's stamp.
type Ending struct {
	Worker    uint16 // from 0, below Workers
	Workers   uint16
	Total     uint64 // frames sent, all flows
	NeverLeft uint64 // part of Total: frames that the device refused, so that they were not sent
	Closed    uint64 // the time in the frame's stamp: distinguishes repetitions from another run's ending
}

const (
	endingVersion = 2
	endingBytes   = 24
)

// Append appends the encoded message to b.
func (e Ending) Append(b []byte) []byte {
	be := binary.BigEndian
	b = append(b, endingVersion, 0)
	b = be.AppendUint16(b, e.Worker)
	b = be.AppendUint16(b, e.Workers)
	b = be.AppendUint16(b, 0)
	b = be.AppendUint64(b, e.Total)
	return be.AppendUint64(b, e.NeverLeft)
}

// ReadEnding decodes a message. It ignores what follows, since short frames
// are padded.
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

// StreamRun identifies one run of a stream.
type StreamRun struct{ Stream, Run uint16 }

// Endings collects the endings of up to MaxRuns runs. The zero value is empty.
type Endings struct {
	streams map[StreamRun]map[uint16]Ending
	past    map[StreamRun]map[uint16]Ending // received before Renew
	more    bool                            // some had no room, so the number of sent frames is unknown
}

// maxWorkers limits the workers of a run: any sender could claim more.
const maxWorkers = 1024

// Renew clears the endings. Generators repeat endings; late repetitions of earlier ones are
// ignored, since the next account would count their frames as missing.
func (e *Endings) Renew() { *e = Endings{past: e.streams} }

// Add adds an ending of a stream's run.
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

// Complete reports whether all workers of a stream's run have ended.
func (e *Endings) Complete(of StreamRun) bool {
	workers := e.streams[of]
	for _, w := range workers {
		if int(w.Workers) != len(workers) {
			return false
		}
	}
	return len(workers) > 0
}

// Sent returns the number of frames that a stream's run sent, according to its endings.
func (e *Endings) Sent(of StreamRun) uint64 {
	var sent uint64
	for _, w := range e.streams[of] {
		sent += w.Total - w.NeverLeft
	}
	return sent
}

// Streams lists the runs with any ending.
func (e *Endings) Streams() []StreamRun {
	all := slices.Collect(maps.Keys(e.streams))
	list.Sort(all, compareRuns)
	return all
}

func compareRuns(a, b StreamRun) int {
	return (int(a.Stream)-int(b.Stream))<<12 + int(a.Run) - int(b.Run)
}
