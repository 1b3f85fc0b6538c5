package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// figure matches a number in the guide's prose that is taken from a page's output: the study,
// a regular expression with one group, and the text between the marks.
var figure = regexp.MustCompile(`<!--fig (\S+) (.*?)-->(.*?)<!--/-->`)

// TestGuideFigures: the numbers in the prose are those of the pages, and so of the records.
// This file sorts after that of TestGuidePages, so the numbers come from the pages that
// -update has just rewritten.
func TestGuideFigures(t *testing.T) {
	for _, name := range []string{"talk-2017.md", "report-2004.md"} {
		file := filepath.Join("../../docs/guide", name)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		text := figure.ReplaceAllStringFunc(string(data), func(whole string) string {
			m := figure.FindStringSubmatch(whole)
			n++
			_, output, _ := readPage(t, m[1])
			re, err := regexp.Compile("(?m)" + m[2])
			if err != nil || re.NumSubexp() != 1 {
				t.Errorf("%s: %s is not a regular expression with one group (%v)", name, m[2], err)
				return whole
			}
			found := re.FindStringSubmatch(output)
			if found == nil {
				t.Errorf("%s: %s does not match in %s.md", name, m[2], m[1])
				return whole
			}
			is := strings.Join(strings.Fields(found[1]), " ") // the sentence may be wrapped
			if is != m[3] && !*update {
				t.Errorf("%s says %s, but %s.md says %s (-update rewrites it)", name, m[3], m[1], is)
			}
			return fmt.Sprintf("<!--fig %s %s-->%s<!--/-->", m[1], m[2], is)
		})
		if n < 5 {
			t.Errorf("%s has only %d numbers taken from records", name, n)
		}
		if *update {
			write(t, file, text)
		}
	}
}
