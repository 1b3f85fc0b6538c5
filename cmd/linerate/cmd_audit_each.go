package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/hosts"
	"linerate/internal/audit"
	"linerate/internal/declared"
	"linerate/internal/hint"
	"linerate/internal/show"
)

// declared reports whether the arguments include a repository, or a file of another tool that
// declares settings. Standard input is buffered for the next reader.
func (o *auditOptions) declared(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		if hosts.IsRepository(a) {
			return true
		}
		if !hosts.AreFiles(args) {
			return false
		}
		text, err := o.readDeclared(a)
		return err == nil && !hosts.OwnExport(text) && !hosts.Plain(a) && len(declared.Read(a, text, nil)) > 0
	})
}

// readDeclared reads a file up to a limit, or standard input, which it buffers for later calls.
func (o *auditOptions) readDeclared(name string) ([]byte, error) {
	if name == hosts.Stdin {
		text, err := io.ReadAll(io.LimitReader(o.Stdin(), 4*declared.MaxFile))
		o.Stdin = func() io.Reader { return bytes.NewReader(text) }
		return text, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, declared.MaxFile+1))
}

// each is an audit of several files, each by itself.
type each struct {
	*auditOptions
	cmd     *cobra.Command
	in      audit.Input
	reports []*audit.Report
	// dir is the base of the paths in lines, the changed lines of each file; nil means all lines.
	dir   string
	lines map[string][][2]int
	// failed holds the errors of hosts that could not be read.
	failed []error
}

// auditEach audits each file by itself, including files in repositories, and hosts over SSH. It
// prints one report of all.
func auditEach(cmd *cobra.Command, o *auditOptions, in audit.Input, named []string, by judged) error {
	e := &each{auditOptions: o, cmd: cmd, in: in}
	if len(named) == 0 {
		return hint.Usagef("--each takes files of configuration, or a repository, by name")
	}
	if o.changed != "" {
		if err := e.changes(named); err != nil {
			return err
		}
	}
	for _, name := range named {
		var err error
		switch info, statErr := os.Stat(name); {
		case statErr == nil && info.IsDir():
			err = e.repository(name)
		case hosts.IsRemote(name):
			err = e.host(name)
		case hosts.AreFiles([]string{name}):
			err = e.named(name)
		default:
			err = hint.Usagef("%s is neither a file of configuration nor a host over SSH: read it by itself", name)
		}
		if err != nil {
			return err
		}
	}
	if e.lines != nil {
		for _, r := range e.reports {
			r.OnlyOn(e.differs)
		}
	}
	if err := o.end(cmd, audit.Join(e.reports), by); err != nil || len(e.failed) == 0 {
		return err
	}
	return errors.Join(e.failed...)
}

// host audits a host over SSH. The command reports a host that cannot be read after all others.
func (e *each) host(name string) error {
	in := e.in
	in.Named = func(file string) string { return audit.FileOf(name, file) }
	a, err := auditOne(e.cmd, e.auditOptions, in, []string{name})
	if err != nil {
		e.failed = append(e.failed, err)
		return e.cmd.Context().Err()
	}
	a.Close()
	a.report.OfHost(name)
	e.reports = append(e.reports, a.report)
	return nil
}

// changes gets from git the lines that differ from the base.
func (e *each) changes(named []string) (err error) {
	e.dir = "."
	if info, err := os.Stat(named[0]); err == nil && info.IsDir() && len(named) == 1 {
		e.dir = named[0]
	}
	e.lines, err = hosts.Changed(e.cmd.Context(), e.dir, e.changed)
	return err
}

// differs reports whether a line differs from the base; line 0 stands for any line of the file.
func (e *each) differs(file string, line int) bool {
	if rel, err := filepath.Rel(e.dir, file); err == nil {
		file = filepath.ToSlash(rel)
	}
	at, ok := e.lines[file]
	return ok && (line == 0 || slices.ContainsFunc(at, func(r [2]int) bool { return r[0] <= line && line <= r[1] }))
}

// named audits a file given by name.
func (e *each) named(file string) error {
	text, err := e.readDeclared(file)
	if err != nil {
		return err
	}
	if !hosts.OwnExport(text) && !hosts.Plain(file) {
		if found, err := e.hosts(file, file, text, nil); found || err != nil {
			return err
		}
	}
	if !hosts.IsConfiguration(file, e.OS) {
		e.skip(file, "no configuration that linerate knows")
		return nil
	}
	return e.plain(file)
}

// plain audits a file in the format that a host reads.
func (e *each) plain(file string) error {
	a, err := auditOne(e.cmd, e.auditOptions, e.in, []string{file})
	if err != nil {
		return err
	}
	a.Close()
	a.report.Rename(a.Given)
	a.report.Summarise(audit.FileSummary{File: file, Form: formOf(a.Given)})
	e.reports = append(e.reports, a.report)
	return nil
}

// formOf returns the place of the file on a host: its .d directory, or its own name.
func formOf(given map[string]string) string {
	for at := range given {
		if dir := filepath.Dir(at); filepath.Ext(dir) == ".d" {
			return filepath.Base(dir)
		}
		return filepath.Base(at)
	}
	return ""
}

// hosts audits the machines, pods and containers for which a file declares settings.
func (e *each) hosts(name, read string, text []byte, repo *hosts.Repository) (found bool, err error) {
	all, err := e.Declared(e.cmd.Context(), read, text, repo)
	for _, d := range all {
		in := e.in
		in.Facts, in.Named = d.Facts, func(file string) string { return cmp.Or(map[string]string{read: name}[file], file) }
		if err := e.giveDeclared(&in, d); err != nil {
			return true, err
		}
		r, err := audit.Run(in)
		if err != nil {
			return true, err
		}
		for _, u := range d.Unresolved {
			r.LeaveOut(fmt.Sprintf("%s (%s:%d)", u.Name, name, u.At), u.Why)
		}
		if r.Lines == 0 && len(r.Findings) == 0 && len(d.Unresolved) == 0 {
			continue // a profile or pod without settings
		}
		r.Rename(map[string]string{read: name})
		r.Summarise(audit.FileSummary{File: name, Form: d.Form, Node: d.Node})
		e.reports = append(e.reports, r)
	}
	return len(all) > 0, err
}

// giveDeclared assigns the role node to what runs containers: forwarding their packets does not
// make it a router.
func (e *each) giveDeclared(in *audit.Input, d hosts.Declared) error {
	if e.role == "" && d.RunsPods() {
		return hosts.GiveRole(in, "node", d.Form+": forwarding packets does not make it a router")
	}
	return giveRole(in, e.role)
}

// repository audits the files of a repository. It skips files without settings.
func (e *each) repository(dir string) error {
	repo, err := hosts.OpenRepository(dir)
	if err != nil {
		return err
	}
	defer repo.Close()
	for _, file := range repo.Files {
		name := filepath.Join(dir, file)
		if e.lines != nil && !e.differs(name, 0) {
			continue
		}
		text, err := repo.Read(file)
		if err != nil {
			e.skip(name, err.Error())
			continue
		}
		if hosts.Plain(file) && !bytes.Contains(text, []byte("{{")) || declared.Plain(file, text) && hosts.IsConfiguration(name, e.OS) {
			if err := e.plain(name); err != nil {
				fmt.Fprintf(e.cmd.ErrOrStderr(), "skipped: %s\n", show.Clean(err.Error()))
			}
			continue
		}
		if _, err := e.hosts(name, file, text, repo); err != nil {
			return err
		}
	}
	if len(e.reports) == 0 && e.lines == nil {
		fmt.Fprintf(e.cmd.ErrOrStderr(), "%s: no settings found in %s whose names may have some (%s); --root reads a host's own files\n",
			show.Clean(dir), show.Plural(len(repo.Files), "file"), declared.Endings)
	}
	return nil
}

func (e *each) skip(file, why string) {
	fmt.Fprintf(e.cmd.ErrOrStderr(), "skipped: %s is %s\n", show.Clean(file), show.Clean(why))
}
