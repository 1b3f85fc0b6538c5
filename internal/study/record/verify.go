package record

import (
	"errors"
	"fmt"
	"io/fs"

	"linerate/internal/study"
)

// Verification is what came of deriving a record again from what it was
// measured as.
type Verification struct {
	Version int  `json:"version"`
	OK      bool `json:"ok"`
	// Files of slices that are what the record says, by hash, and Trials
	// that were derived from them again.
	Files  int `json:"files"`
	Trials int `json:"trials"`
	// Without are the trials that have no slices: of parts whose arms do not
	// take turns by slices.
	Without  int      `json:"trials_without_slices"`
	Problems []string `json:"problems"`
}

// Verify reads the raw slices that the record's trials were derived from, in
// the directory that the record was read from, and checks that they are those
// recorded and give the trials' numbers. What Warnings says of the record is a
// problem too.
func (r *Record) Verify(fsys fs.FS) Verification {
	v := Verification{Version: 1, Problems: r.Warnings(r.Results())}
	v.Problems = append([]string{}, v.Problems...)
	instances := map[string]*study.Instance{} // nil: it is not to be had
	for i := range r.Trials {
		t := &r.Trials[i]
		name, sum, ok := study.RawFile(t)
		if !ok {
			if t.Unavailable == "" {
				v.Without++
			}
			continue
		}
		in, seen := instances[name]
		if !seen {
			if read, err := ReadInstance(fsys, name, sum); err != nil {
				v.problem("%s: %v", name, err)
			} else {
				in = &read
				v.Files++
			}
			instances[name] = in
		}
		if in == nil {
			continue
		}
		if err := study.CheckAgainst(t, *in); err != nil {
			v.problem("%s, line %d of %s: %v", name, i+1, TrialsFile, err)
			continue
		}
		v.Trials++
	}
	v.OK = len(v.Problems) == 0
	return v
}

func (v *Verification) problem(format string, args ...any) {
	v.Problems = append(v.Problems, fmt.Sprintf(format, args...))
}

// MaxRaw bounds a file of raw slices: an honest one has some hundred kB.
const MaxRaw = 16 << 20

// ReadRaw reads a file of raw slices and refuses it when its bytes are not
// those recorded.
func ReadRaw(fsys fs.FS, name, sum string) ([]byte, error) {
	if err := study.CheckRawName(name); err != nil {
		return nil, err
	}
	data, err := readBounded(fsys, name, MaxRaw)
	if err != nil {
		return nil, err
	}
	if sumOf(data) != sum {
		return nil, errors.New("is not what the study recorded: its bytes were changed since")
	}
	return data, nil
}

// ReadInstance reads the slices of an instance, as ReadRaw does.
func ReadInstance(fsys fs.FS, name, sum string) (study.Instance, error) {
	data, err := ReadRaw(fsys, name, sum)
	if err != nil {
		return study.Instance{}, err
	}
	return study.DecodeInstance(data)
}
