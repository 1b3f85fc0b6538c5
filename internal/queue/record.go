package queue

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"linerate/internal/list"
	"linerate/internal/study"
	"linerate/internal/study/record"
)

// Reader is read-only access to a queue. Its methods are those of Queue.
type Reader interface {
	// Studies returns the submitted studies, newest first; all includes ended ones.
	Studies(ctx context.Context, all bool) ([]Study, error)
	// Study returns the study with an ID prefix.
	Study(ctx context.Context, id string) (Study, error)
	// Record returns a study's record so far: the files of a study's directory (package record) and
	// raw material.
	Record(ctx context.Context, id string) ([]File, error)
	// Braked returns why nothing starts, or "".
	Braked(ctx context.Context) (string, error)
	// Testbeds returns all testbeds that were ever leased, by name.
	Testbeds(ctx context.Context) ([]Testbed, error)
	// Place returns the location of the queue, without secrets.
	Place() string
	Close() error
}

// ReadOnly restricts a queue to its Reader, also for type assertions.
func ReadOnly(q Reader) Reader { return readOnly{q} }

type readOnly struct{ Reader }

// Document is the state of a queue, as JSON.
type Document struct {
	Version int    `json:"version"`
	Queue   string `json:"queue"` // its location
	// Paused is why nothing starts; "" if blocks can start.
	Paused   string    `json:"paused"`
	Studies  []Study   `json:"studies"`
	Testbeds []Testbed `json:"testbeds"`
}

// Look returns the state of a queue; all includes ended studies.
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

// Does describes what a testbed is doing.
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

// MakeRecord returns the files of a study's record from the testbeds' data; it is deterministic:
// study.yaml, trials.jsonl, results.json and the hosts' facts, starting with those of the first
// testbed by name.
func MakeRecord(spec study.Spec, seed uint64, text []byte, beds []BedRecord, trials []study.Trial) ([]File, error) {
	list.Sort(beds, func(a, b BedRecord) int { return bytes.Compare([]byte(a.Testbed), []byte(b.Testbed)) })
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

// ReadRecord reads a study's record from the queue's files; name is used in messages.
func ReadRecord(files []File, name string) (*record.Record, error) {
	fsys := record.Memory{}
	for _, f := range files {
		fsys[f.Name] = f.Data
	}
	return record.Read(fsys, name)
}
