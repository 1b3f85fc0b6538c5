package main

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble"
	"linerate/internal/cli"
	"linerate/internal/lab"
	"linerate/internal/list"
	"linerate/internal/live"
	"linerate/internal/show"
	"linerate/internal/study"
	"linerate/studies"
)

// studyLine is one study in the output of study list --json.
type studyLine struct {
	Name     string   `json:"name"`
	Topic    string   `json:"topic"`
	Question string   `json:"question"`
	Source   string   `json:"source"` // of the question
	Variants []string `json:"variants"`
	// Seconds and QuickSeconds are estimates for an idle machine.
	Seconds      float64 `json:"seconds"`
	QuickSeconds float64 `json:"quick_seconds"`
	// NotHere says why this machine's lab cannot answer the question.
	NotHere string `json:"not_here,omitempty"`
}

// topics is the order of topics in the list; others follow.
var topics = []string{"first", "load", "packet filters", "tables", "paths", "settings", "freebsd"}

// studiesDocument is the output of study list --json.
type studiesDocument struct {
	Version int         `json:"version"`
	Studies []studyLine `json:"studies"`
}

func newStudyListCmd() *cobra.Command {
	var long bool
	cmd := verb("study list", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		lines, err := studyLines()
		if err != nil {
			return err
		}
		return cli.Answer(cmd, studiesDocument{1, lines}, func(p *show.Page) { listStudies(p, lines, long) })
	})
	cli.JSONFlag(cmd)
	cmd.Flags().BoolVar(&long, "long", false, "also print each study's source, and why this machine cannot run some")
	return cmd
}

// studyLines returns all built-in studies, sorted by topic.
func studyLines() ([]studyLine, error) {
	var lines []studyLine
	for _, name := range studies.Names() {
		s, err := findStudy(name)
		if err != nil {
			return nil, err
		}
		full, quick := lengths(s)
		l := studyLine{Name: s.Name, Topic: s.Topic, Question: s.Question, Source: strings.Join(strings.Fields(s.Source), " "),
			Seconds: full.Seconds(), QuickSeconds: quick.Seconds(),
			NotHere: notHere(s)}
		for _, v := range s.Variants {
			l.Variants = append(l.Variants, v.Name)
		}
		lines = append(lines, l)
	}
	list.Sort(lines, func(a, b studyLine) int {
		return cmp.Or(cmp.Compare(topicOrder(a.Topic), topicOrder(b.Topic)), cmp.Compare(a.Topic, b.Topic))
	})
	return lines, nil
}

// notHere returns why this machine's lab cannot run a study, or "" if it can.
func notHere(s study.Spec) string {
	if err := assemble.Carries(s); err != nil {
		return err.Error()
	}
	return assemble.Here().NoAnswer(s)
}

func topicOrder(topic string) int {
	if i := slices.Index(topics, topic); i >= 0 {
		return i
	}
	return len(topics)
}

// lengths estimates the duration of a study here, full and quick, without the variants that this
// machine's lab is known to leave out.
func lengths(s study.Spec) (full, quick time.Duration) {
	here := hereWith(false)
	lacks := here.Lacks
	here.Lacks = func(set study.Setting) string {
		if set.CPUs > max(1, runtime.NumCPU()-1) { // one CPU is the generator's
			return "this machine has fewer CPUs"
		}
		return lacks(set)
	}
	gone := here.LeftOut(s)
	s.Variants = slices.DeleteFunc(slices.Clone(s.Variants), func(v study.Variant) bool {
		return slices.ContainsFunc(gone, func(u study.Unavailable) bool { return u.Variant == v.Name && v.Name != s.Control })
	})
	return lab.Estimate(lab.Task{Spec: s}).Round(time.Second), lab.Estimate(lab.Task{Spec: s.Quick()}).Round(time.Second)
}

// listStudies prints studies by topic: name, duration and question. If long is set it adds the
// source, and why a study cannot run here.
func listStudies(p *show.Page, lines []studyLine, long bool) {
	clock := func(s float64) string { return show.Clock(time.Duration(s * float64(time.Second))) }
	topic := "-"
	for _, l := range lines {
		if l.Topic != topic {
			if topic != "-" {
				p.Line("")
			}
			topic = l.Topic
			p.Line(p.Bold(cmp.Or(topic, "other")))
		}
		if !long {
			took := clock(l.Seconds)
			if l.NotHere != "" {
				took = "not here"
			}
			p.Paragraph(fmt.Sprintf("  %-18s %8s  ", l.Name, took), strings.Repeat(" ", 31), l.Question)
			continue
		}
		p.Line("  " + l.Name + p.Dim("  about "+clock(l.Seconds)+", --quick "+clock(l.QuickSeconds)))
		p.Paragraph("    ", "    ", l.Question)
		if l.NotHere != "" {
			p.Paragraph("    not here: ", "    ", l.NotHere)
		}
		if l.Source != "" {
			p.Paragraph("    from: ", "    ", l.Source)
		}
	}
	if !long {
		p.Line("")
		p.Paragraph("", "", "Times are about what a study takes on an idle machine; --quick is shorter. --long has the sources, linerate study show NAME the whole study.")
	}
}

func newStudyShowCmd() *cobra.Command {
	var resolved bool
	cmd := verb("study show", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		file, data, err := readStudy(args[0])
		if err != nil {
			return err
		}
		s, err := study.Parse(file, data)
		if err != nil {
			return err
		}
		if resolved {
			if data, err = study.Format(s); err != nil {
				return err
			}
		}
		if _, err = cmd.OutOrStdout().Write(data); err != nil {
			return err
		}
		full, quick := lengths(s)
		fmt.Fprintf(cmd.ErrOrStderr(), "takes about %s on an idle machine, with --quick %s\n", show.Clock(full), show.Clock(quick))
		return nil
	})
	cmd.Flags().BoolVar(&resolved, "resolved", false, "include all defaults")
	return cmd
}

func newStudyStopCmd() *cobra.Command {
	t := &target{}
	cmd := verb("study stop", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		m, conn, err := t.reach(args)
		if err != nil {
			return err
		}
		defer conn.Close()
		id, err := m.Hello(cmd.Context())
		if err != nil {
			return err
		}
		if id.UID != 0 {
			return notRoot(m)
		}
		if err := live.Stop(cmd.Context(), conn, m); err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "the study of %s is over, and the host as it was\n", m.Where())
		return nil
	})
	t.addFlags(cmd)
	return cmd
}
