package compare

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/stats"
)

// MaxBytes bounds an input.
const MaxBytes = 256 << 20

// maxCells bounds the columns of one CSV line.
const maxCells = 10_000

// Input says where the numbers are in a file.
type Input struct {
	Column     string // a number from 1, or a CSV heading; "" for the first
	Delimiters string // between columns of plain files; "" for blanks and tabs
}

// Read reads a sample from the content of a file: JSON if it begins like
// JSON, CSV if its name says so or the delimiter is a comma, else lines of
// numbers, as in ministat.
func Read(name string, data []byte, in Input) (stats.Arm, error) {
	arm := stats.Arm{Name: name}
	if len(data) > MaxBytes {
		return arm, fmt.Errorf("%s is larger than %d MB", name, MaxBytes>>20)
	}
	var err error
	first := bytes.TrimLeft(data, " \t\r\n\ufeff")
	switch {
	case len(first) > 0 && (first[0] == '[' || first[0] == '{'):
		arm.Values, err = readJSON(first)
	case isCSV(name, first, in):
		arm.Values, err = readCSV(name, first, in.Column)
	default:
		arm.Values, err = readPlain(data, in)
	}
	if err != nil {
		return arm, fmt.Errorf("%s: %w", name, err)
	}
	if len(first) == 0 {
		return arm, fmt.Errorf("%s is empty", name)
	}
	if len(arm.Values) == 0 {
		return arm, hint.With(fmt.Errorf("%s holds no numbers", name), "choose a column: %s", hint.Option("column", "N"))
	}
	return arm, nil
}

func isCSV(name string, data []byte, in Input) bool {
	lower := strings.ToLower(name)
	if strings.HasSuffix(lower, ".csv") || strings.HasSuffix(lower, ".tsv") || in.Delimiters == "," {
		return true
	}
	_, err := strconv.Atoi(in.Column)
	line, _, _ := bytes.Cut(data, []byte("\n"))
	return in.Column != "" && err != nil && bytes.ContainsAny(line, ",;\t")
}

// readPlain reads one number a line, from a column, as ministat(1) does: it ignores
// empty lines and what follows a #.
func readPlain(data []byte, in Input) ([]float64, error) {
	column := 1
	if in.Column != "" {
		n, err := strconv.Atoi(in.Column)
		if err != nil || n < 1 {
			return nil, hint.With(hint.Usagef("no column %q in lines of numbers", in.Column), "give its number, from 1")
		}
		column = n
	}
	delimiters := cmp.Or(in.Delimiters, " \t")
	var out []float64
	for i, line := range strings.Split(string(data), "\n") {
		line, _, _ = strings.Cut(strings.TrimRight(line, " \t\v\f\r"), "#")
		fields := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(delimiters, r) })
		if len(fields) < column {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(fields[column-1]), 64)
		if err != nil {
			return nil, hint.With(fmt.Errorf("line %d has no number in column %d: %q", i+1, column, fields[column-1]),
				"one number a line is wanted; %s chooses one of several columns", hint.Option("column", "N"))
		}
		out = append(out, v)
	}
	return onlyNumbers(out)
}

// onlyNumbers refuses NaN and infinities.
func onlyNumbers(x []float64) ([]float64, error) {
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("value %d is %g", i+1, v)
		}
	}
	return x, nil
}

// readCSV reads a column by number or heading, and skips empty cells.
func readCSV(name string, data []byte, column string) ([]float64, error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord, r.TrimLeadingSpace, r.Comment, r.ReuseRecord = -1, true, '#', true
	r.Comma = separator(name, data)
	index := -1
	var out []float64
	for line := 1; ; line++ {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if len(cells) > maxCells {
			return nil, fmt.Errorf("line %d has %d columns", line, len(cells))
		}
		if index < 0 {
			heading := false
			if index, heading, err = findColumn(cells, column); err != nil {
				return nil, err
			}
			if heading {
				continue
			}
		}
		if index >= len(cells) || strings.TrimSpace(cells[index]) == "" {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(cells[index]), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("line %d: %q is not a number", line, cells[index])
		}
		out = append(out, v)
	}
}

func separator(name string, data []byte) rune {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	switch {
	case strings.HasSuffix(strings.ToLower(name), ".tsv"), !bytes.ContainsRune(line, ',') && bytes.ContainsRune(line, '\t'):
		return '\t'
	case !bytes.ContainsRune(line, ',') && bytes.ContainsRune(line, ';'):
		return ';'
	}
	return ','
}

// findColumn looks up a column in the first line; heading reports whether
// that line holds names instead of values.
func findColumn(cells []string, column string) (index int, heading bool, err error) {
	isNumber := func(s string) bool { _, err := strconv.ParseFloat(strings.TrimSpace(s), 64); return err == nil }
	var names []string
	for i, c := range cells {
		c = strings.TrimSpace(c)
		if column != "" && c == column && !isNumber(c) {
			return i, true, nil
		}
		names = append(names, c)
	}
	n := 1
	if column != "" {
		if n, err = strconv.Atoi(column); err != nil {
			return 0, false, hint.Unknown("column", column, names)
		}
	}
	if n < 1 || n > len(cells) {
		return 0, false, hint.With(hint.Usagef("no column %d", n), "there are %d", len(cells))
	}
	return n - 1, !isNumber(cells[n-1]), nil
}

// readJSON reads an array of numbers.
func readJSON(data []byte) ([]float64, error) {
	var out []float64
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, hint.With(fmt.Errorf("read JSON: %w", err), "give an array of numbers, [1.2, 1.3]: jq writes one of any document")
	}
	return out, nil
}
