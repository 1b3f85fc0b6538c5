package filehost

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/linux"
)

// Glance reads only what moves by itself on a Linux host (counters, rates, the time since
// boot), with what facts about it need, and writes all that stays as it is while nobody
// changes the host to stays. ok is false of a bundle of another system, of which no
// such parts are known.
func (a *Archive) Glance(stays io.Writer) (moving *Bundle, ok bool, err error) {
	moving, err = a.read(func(name string, data []byte) []byte {
		kept, moves := glance(name, data)
		fmt.Fprintf(stays, "%s %d\n", name, len(kept))
		_, _ = stays.Write(kept) // a hash's, which has no errors
		return moves
	})
	return moving, err == nil && moving.manifest.os == fact.Linux, err
}

// glance takes an entry apart.
func glance(name string, data []byte) (stays, moving []byte) {
	kind, rest, _ := strings.Cut(name, "/")
	source := rest
	switch kind {
	case "manifest.tsv":
		var kept []byte
		for line := range bytes.Lines(data) {
			if !bytes.HasPrefix(line, []byte("taken\t")) {
				kept = append(kept, line...)
			}
		}
		return kept, data
	case "trees":
		return glanceTree(data)
	case "files":
		source = "/" + rest
	case "out":
	default:
		return data, nil
	}
	if linux.Moving(source) {
		moving = data
	}
	text, all := linux.Standing(source, data)
	if all {
		return data, moving
	}
	return []byte(text), moving
}

// glanceTree takes a listing of small files apart.
func glanceTree(data []byte) (stays, moving []byte) {
	stays = make([]byte, 0, len(data))
	for line := range bytes.Lines(data) {
		path, value, ok := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte("\t"))
		if !ok {
			stays = append(stays, line...)
			continue
		}
		kept, moves := linux.StandingValue(string(path), string(value))
		stays = append(append(append(append(stays, path...), '\t'), kept...), '\n')
		if moves {
			moving = append(moving, line...)
		}
	}
	return stays, moving
}
