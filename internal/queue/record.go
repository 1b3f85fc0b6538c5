package queue

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"linerate/internal/study"
	"linerate/internal/study/record"
)

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
