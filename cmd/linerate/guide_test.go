package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"linerate/internal/show"
	"linerate/internal/study"
	"linerate/internal/studydir"
	"linerate/studies"
)

const questions = "../../docs/guide/questions"

// Marks of a question's page: before runMark is the study's description, between the marks
// its output, and after endMark how to read that.
const (
	runMark = "<!-- run -->\n"
	endMark = "<!-- end -->\n"
)

// guidePages returns the names of the studies that have a page.
func guidePages(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob(questions + "/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no pages")
	}
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".md"))
	}
	return names
}

// readPage splits a page into its output and the text before and after it.
func readPage(t *testing.T, name string) (head, output, rest string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(questions, name+".md"))
	if err != nil {
		t.Fatal(err)
	}
	head, output, ok := strings.Cut(string(data), runMark)
	output, rest, also := strings.Cut(output, endMark)
	if !ok || !also {
		t.Fatalf("%s.md lacks one of the marks %q and %q", name, runMark, endMark)
	}
	return head, output, rest
}

// TestGuidePages: every page begins with its study's current description. LINERATE_RECORDS
// names a directory of records; with it, -update replaces the pages' output and plots by
// those of the records.
func TestGuidePages(t *testing.T) {
	for _, name := range guidePages(t) {
		head, output, rest := readPage(t, name)
		s, err := findStudy(name)
		if err != nil {
			t.Errorf("%s.md has no study of its name: %v", name, err)
			continue
		}
		want, printed := pageHead(s), output
		if dir := filepath.Join(os.Getenv("LINERATE_RECORDS"), name); *update && os.Getenv("LINERATE_RECORDS") != "" {
			if _, err := os.Stat(dir); err == nil {
				if is, ok := ofRecord(t, s, dir); ok {
					output = is
				}
			}
		}
		output = excerpt(output)
		if *update {
			write(t, filepath.Join(questions, name+".md"), want+runMark+output+endMark+rest)
		} else if head != want || output != printed {
			t.Errorf("%s.md begins with\n%s\nbut the study's description is\n%s\nor the page shows more of its report than an excerpt (-update rewrites it)", name, head, want)
		}
		if !strings.Contains(output, "`linerate study run "+name) || !strings.Contains(output, "95 % interval") || !strings.Contains(output, "  A/A: ") {
			t.Errorf("%s.md: its output is not that of study run %s", name, name)
		}
	}
}

// excerpt returns the part of a report that a page shows: the answer, its table, the text
// about it and short tables of other parts. The page has the question as its title and the
// plot as an image; the rest is in the record.
func excerpt(report string) string {
	paragraphs := strings.Split(strings.ReplaceAll(report, "\n\n\n", "\n\n"), "\n\n")
	var kept []string
	for i := 0; i < len(paragraphs); i++ {
		p := paragraphs[i]
		switch {
		case strings.HasPrefix(p, "```\n") && !strings.HasPrefix(p, "```\n "): // the question
			paragraphs[i+1] = "```\n" + paragraphs[i+1]
		case strings.Contains(p, "+-----"): // a plot
		case i+1 < len(paragraphs) && (strings.Contains(paragraphs[i+1], "└──") || long(p, paragraphs[i+1])):
			i++ // the plot and its title
		default:
			kept = append(kept, p)
		}
	}
	return label.ReplaceAllString(strings.Join(kept, "\n\n"), "")
}

// label matches a report's description of the machine; docs/guide/questions.md gives it once
// for all pages.
var label = regexp.MustCompile(`(?m)^  Measured on .*\n(    .*\n)*`)

// long reports whether a paragraph heads a table that a page leaves out.
func long(title, table string) bool {
	title = strings.ToLower(strings.TrimSpace(title))
	return strings.HasPrefix(title, "where the frames ended") || strings.HasPrefix(title, "lost of what was offered") ||
		strings.HasPrefix(title, "other metrics and parts") && strings.Count(table, "\n") > 16
}

func pageHead(s study.Spec) string {
	return fmt.Sprintf("# %s\n\n%s\n\nFrom: %s\n\n", s.Question, strings.TrimSpace(s.Summary), strings.Join(strings.Fields(s.Source), " "))
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// ofRecord returns a page's output from a record; ok is false if the record is not of the
// current study.
func ofRecord(t *testing.T, s study.Spec, dir string) (text string, ok bool) {
	t.Helper()
	r, err := studydir.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	results := r.Results()
	flags, ok := flagsOf(s, r.Spec)
	if !ok || !results.Complete {
		t.Errorf("%s is not a complete record of the current study: remove it and run the study again", dir)
		return "", false
	}
	for _, v := range s.Variants {
		if len(v.HostScope()) > 0 && tried(results, v.Name) {
			flags += " --allow-host-settings"
			break
		}
	}
	var b strings.Builder
	b.WriteString("\n")
	picture := filepath.Join(questions, s.Name+".svg")
	if svg, err := os.ReadFile(filepath.Join(dir, "picture.svg")); err == nil {
		write(t, picture, string(svg))
		fmt.Fprintf(&b, "![the answer in a picture](%s.svg)\n\n", s.Name)
	} else if err := os.Remove(picture); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	least, most := loads(results)
	fmt.Fprintf(&b, "`linerate study run %s%s` on %s, in %s, on a machine of %d CPUs with a load average of %s:\n\n```\n",
		s.Name, flags, results.Started.Format("2 January 2006"), show.Clock(results.Finished.Sub(*results.Started)), results.Environment.CPUs, averages(least, most))
	out, err := exec.Command("linerate", "report", dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	b.Write(out)
	b.WriteString("```\n\n")
	return b.String(), true
}

// flagsOf returns the flags that turn today's study into the recorded one; ok is false if
// there are none. Differing defaults of gates are ignored: trials were judged when they were
// made.
func flagsOf(today, recorded study.Spec) (flags string, ok bool) {
	text := func(s study.Spec) string {
		s.Seed, s.Gates = nil, study.Gates{}
		data, err := study.Format(s)
		if err != nil {
			return err.Error()
		}
		return string(data)
	}
	switch text(recorded) {
	case text(today):
		return "", true
	case text(today.Quick()):
		return " --quick", true
	}
	return "", false
}

// tried reports whether a variant was available.
func tried(r study.Results, variant string) bool {
	for _, t := range r.Trials {
		if t.Variant == variant && t.Unavailable == "" {
			return true
		}
	}
	return false
}

// loads returns the lowest and the highest load average during the trials.
func loads(r study.Results) (least, most float64) {
	for _, t := range r.Trials {
		if t.Observed == nil {
			continue
		}
		if l := t.Observed.Load1; most == 0 || l < least {
			least = l
		}
		most = max(most, t.Observed.Load1)
	}
	return least, most
}

func averages(least, most float64) string {
	low, high := fmt.Sprintf("%.2g", least), fmt.Sprintf("%.2g", most)
	if low == high {
		return low
	}
	return low + " to " + high
}

// TestQuickTakesAMinute: the estimated duration of every built-in study's quick run is at
// most a minute.
func TestQuickTakesAMinute(t *testing.T) {
	for _, name := range studies.Names() {
		s, err := findStudy(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, quick := lengths(s); quick > time.Minute {
			t.Errorf("%s: %s", name, show.Clock(quick))
		}
	}
}
