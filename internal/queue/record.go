package queue

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"linerate/internal/study"
	"linerate/internal/study/record"
)

// Reader is what can be read of a queue, and no more: its holder cannot change the
// queue. Its methods are those of Queue.
type Reader interface {
	// Studies are all that were submitted, newest first; those that ended too where
	// all is true.
	Studies(ctx context.Context, all bool) ([]Study, error)
	// Study is one, by the beginning of its ID.
	Study(ctx context.Context, id string) (Study, error)
	// Record is a study's record as far as it is: the files of a study's directory
	// (package record) and of raw material.
	Record(ctx context.Context, id string) ([]File, error)
	// Braked is why nothing begins, or "".
	Braked(ctx context.Context) (string, error)
	// Testbeds are all that were ever leased, by name.
	Testbeds(ctx context.Context) ([]Testbed, error)
	// Place says where the queue is, without secrets.
	Place() string
	Close() error
}

// ReadOnly hides all of a queue but its Reader, also from type assertions.
func ReadOnly(q Reader) Reader { return readOnly{q} }

type readOnly struct{ Reader }

// Document is a queue as it stands, as JSON.
type Document struct {
	Version int    `json:"version"`
	Queue   string `json:"queue"` // where it is
	// Paused is why nothing begins; "" when it does.
	Paused   string    `json:"paused"`
	Studies  []Study   `json:"studies"`
	Testbeds []Testbed `json:"testbeds"`
}

// Look is what a queue has; studies that ended too where all is true.
func Look(ctx context.Context, q Reader, all bool) (doc Document, err error) {
	doc = Document{Version: 1, Queue: q.Place()}
	if doc.Paused, err = q.Braked(ctx); err != nil {
		return doc, err
	}
	studies, err := q.Studies(ctx, all)
	if err != nil {
		return doc, err
	}
	beds, err := q.Testbeds(ctx)
	doc.Studies, doc.Testbeds = append([]Study{}, studies...), append([]Testbed{}, beds...)
	return doc, err
}

// Does says what a testbed is doing, in words.
func (b Testbed) Does() string {
	switch {
	case b.State != BedLeased && b.Why != "":
		return b.State + ": " + b.Why
	case b.State != BedLeased:
		return b.State
	case b.Study != "" && b.Block > 0:
		return fmt.Sprintf("block %d of %s", b.Block, b.Study)
	case b.Study != "":
		return "takes " + b.Study + " into the ledger"
	}
	return "waits"
}

// BedRecord is what one testbed adds to a study's record.
type BedRecord struct {
	Testbed     string
	Environment study.Environment
	Facts       []byte
}

// MakeRecord makes the files of a study's record from what testbeds sent, the same
// bytes from the same material: study.yaml, trials.jsonl, results.json and the
// hosts' facts, first those of the first testbed by name.
func MakeRecord(spec study.Spec, seed uint64, text []byte, beds []BedRecord, trials []study.Trial) ([]File, error) {
	slices.SortFunc(beds, func(a, b BedRecord) int { return bytes.Compare([]byte(a.Testbed), []byte(b.Testbed)) })
	files := []File{{Name: record.SpecFile, Data: text}}
	var log bytes.Buffer
	enc := json.NewEncoder(&log)
	for _, t := range trials {
		if err := enc.Encode(t); err != nil {
			return nil, fmt.Errorf("write a trial: %w", err)
		}
	}
	files = append(files, File{Name: record.TrialsFile, Data: log.Bytes()})
	names, envs, facts := make([]string, len(beds)), make([]study.Environment, len(beds)), []File{}
	for i, b := range beds {
		names[i], envs[i] = b.Testbed, b.Environment
		envs[i].Facts = nil
		if len(b.Facts) == 0 {
			continue
		}
		f := File{Name: record.FactsFile(len(facts) + 1), Data: b.Facts}
		sum := sha256.Sum256(f.Data)
		envs[i].Facts = []study.FactsRef{{File: f.Name, SHA256: hex.EncodeToString(sum[:])}}
		facts = append(facts, f)
	}
	env := study.AcrossBeds(names, envs)
	if len(beds) == 1 {
		env.Beds = nil
	}
	results, err := json.MarshalIndent(study.Analyse(spec, seed, env, trials), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the results: %w", err)
	}
	files = append(files, File{Name: record.ResultsFile, Data: append(results, '\n')})
	return append(files, facts...), nil
}

// ReadRecord reads a study's record from the queue's files; name is what messages
// call it.
func ReadRecord(files []File, name string) (*record.Record, error) {
	fsys := record.Memory{}
	for _, f := range files {
		fsys[f.Name] = f.Data
	}
	return record.Read(fsys, name)
}
