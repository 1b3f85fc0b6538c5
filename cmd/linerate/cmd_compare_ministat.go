package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"linerate/internal/cli"
	"linerate/internal/compare"
	"linerate/internal/hint"
	"linerate/internal/stats/ministat"
)

// ministatArgs looks for --ministat and takes it out of the arguments; flags
// that compare spells out become ministat's letters.
func ministatArgs(args []string) (generation string, rest []string, ok bool) {
	long := map[string]string{
		"--column": "-C", "--confidence": "-c", "--delimiter": "-d", "--width": "-w",
		"--no-plot": "-A", "--no-test": "-n", "--separate": "-s",
	}
	for i, a := range args {
		if a == "--" {
			rest = append(rest, args[i:]...)
			break
		}
		name, value, has := strings.Cut(a, "=")
		switch {
		case name == "--ministat":
			generation, ok = value, true
		case long[name] != "" && has:
			rest = append(rest, long[name], value)
		case long[name] != "":
			rest = append(rest, long[name])
		default:
			rest = append(rest, a)
		}
	}
	return generation, rest, ok
}

// runMinistat does what ministat does, exit codes and complaints included.
func runMinistat(cmd *cobra.Command, generation string, args []string) error {
	g, err := ministatGeneration(generation)
	if err != nil {
		return err
	}
	o, files, err := ministat.Parse(args, g, ministatWidth(cmd.OutOrStdout()))
	if err != nil {
		return complain(cmd, err, cli.ExitUsage)
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	var sets []ministat.Set
	for _, name := range files {
		s, code, err := ministatSet(cmd.InOrStdin(), name, o)
		if err != nil {
			return complain(cmd, err, code)
		}
		sets = append(sets, s)
	}
	out, err := ministat.Write(sets, o)
	if err != nil {
		return hint.With(err, "choose another width with -w, or -A for no plot")
	}
	_, err = cmd.OutOrStdout().Write(out)
	return err
}

func complain(cmd *cobra.Command, err error, code int) error {
	fmt.Fprintln(cmd.ErrOrStderr(), err)
	return hint.Exit(code)
}

func ministatGeneration(name string) (ministat.Generation, error) {
	switch name {
	case "", "old", "debian":
		return ministat.Debian, nil
	}
	var known []string
	for _, g := range ministat.Generations() {
		if g.Name == name {
			return g, nil
		}
		known = append(known, g.Name)
	}
	return ministat.Generation{}, hint.Unknown("generation of ministat", name, known)
}

// ministatSet reads one data set; code is what ministat would exit with.
func ministatSet(stdin io.Reader, name string, o ministat.Options) (s ministat.Set, code int, err error) {
	if name == "-" {
		s, err = ministat.Read(io.LimitReader(stdin, compare.MaxBytes), "<stdin>", o.Column, o.Delimiters)
		return s, cli.ExitUsage, err
	}
	file, err := os.Open(name)
	if err != nil {
		code = cli.ExitFailed
		if o.Generation == ministat.New {
			code = cli.ExitUsage
		}
		return s, code, fmt.Errorf("ministat: Cannot open %s: %s", name, reason(err))
	}
	defer file.Close()
	s, err = ministat.Read(io.LimitReader(file, compare.MaxBytes), name, o.Column, o.Delimiters)
	return s, cli.ExitUsage, err
}

// reason is the C library's text of an error, which starts with a capital.
func reason(err error) string {
	var no syscall.Errno
	if !errors.As(err, &no) {
		return err.Error()
	}
	text := []byte(no.Error())
	return string(append(bytes.ToUpper(text[:1]), text[1:]...))
}

// ministatWidth is the plot's width as ministat finds it: 74 where the output
// is no terminal, else COLUMNS, else the terminal's less two.
func ministatWidth(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return ministat.DefaultWidth
	}
	if c := os.Getenv("COLUMNS"); c != "" {
		n, _ := strconv.Atoi(c)
		return n
	}
	if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
		return columns - 2
	}
	return ministat.DefaultWidth
}
