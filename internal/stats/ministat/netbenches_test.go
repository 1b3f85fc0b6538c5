package ministat

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"linerate/internal/sharedtest"
)

// TestNetbenchesBlocks recomputes every ministat block of the READMEs of the
// sample whose rows have their numbers in a file of the sample.
func TestNetbenchesBlocks(t *testing.T) {
	root := sharedtest.Dir(t, "data", "netbenches")
	samples, readmes := netbenches(t, root)
	rows, found, blocks, whole, verdicts, differences := 0, 0, 0, 0, 0, 0
	byGeneration := map[string]int{}
	for _, path := range readmes {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range FindBlocks(string(text)) {
			blocks++
			var best []Mismatch
			name := ""
			matched, allRows := 0, false
			for _, g := range Generations() {
				points, n := locate(b, samples, g)
				miss := b.Check(points, g)
				if n > matched || (n == matched && len(miss) < len(best)) {
					matched, best, name, allRows = n, miss, g.Name, n == len(b.Rows)
				}
			}
			rows += len(b.Rows)
			found += matched
			for _, m := range best {
				t.Errorf("%s: %s", path, m)
			}
			if !allRows {
				continue
			}
			whole++
			byGeneration[name]++
			for _, r := range b.Rows[1:] {
				if r.Test == nil {
					continue
				}
				verdicts++
				if r.Test.Proven {
					differences++
				}
			}
		}
	}
	t.Logf("%d blocks, %d reproduced whole (%v); %d of %d rows found; %d verdicts and %d differences recomputed",
		blocks, whole, byGeneration, found, rows, verdicts, differences)
	if whole < blocks*3/4 {
		t.Errorf("only %d of %d blocks could be checked whole", whole, blocks)
	}
}

// locate finds for each row a sample with its very numbers.
func locate(b Block, samples [][]float64, g Generation) (points [][]float64, n int) {
	points = make([][]float64, len(b.Rows))
	for i, r := range b.Rows {
		for _, s := range samples {
			if len(s) == r.N && len(r.Check(s, g)) == 0 {
				points[i], n = s, n+1
				break
			}
		}
	}
	return points, n
}

// netbenches reads every file of the tree that holds nothing but numbers.
func netbenches(t *testing.T, root string) (samples [][]float64, readmes []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if d.Name() == "README.md" {
			readmes = append(readmes, p)
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > 4096 {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if points := numbersOf(string(data)); len(points) >= 3 && !strings.HasSuffix(p, ".data") {
			samples = append(samples, points)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return samples, readmes
}

// numbersOf are the first fields of all lines, nil where one is no number.
func numbersOf(text string) (points []float64) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		v, err := strconv.ParseFloat(fields[0], 64)
		if err != nil {
			return nil
		}
		points = append(points, v)
	}
	return points
}
