package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/dist"
	"linerate/internal/hint"
)

// workTree describes the git working tree from which a release is made.
type workTree struct {
	root, version, commit string
	at                    time.Time
	catalogue             string // date of its latest change
}

// readTree asks git. It refuses a tree with uncommitted changes, whose commit would not match the release.
func readTree(ctx context.Context, version string) (t workTree, err error) {
	ask := func(args ...string) string {
		out, aerr := run(ctx, ".", nil, "git", args...)
		err = errors.Join(err, aerr)
		return strings.TrimSpace(string(out))
	}
	t.root = ask("rev-parse", "--show-toplevel")
	t.commit = ask("rev-parse", "--short=12", "HEAD")
	seconds := ask("log", "-1", "--format=%ct")
	catalogue := ask("log", "-1", "--format=%ct", "--", ":/catalogue")
	changed := ask("status", "--porcelain", "--untracked-files=no")
	if err != nil {
		return t, hint.With(err, "a release is made of a git working tree")
	}
	if changed != "" {
		return t, hint.With(fmt.Errorf("the working tree has changes:\n%s", changed), "commit them: a release is made of a commit")
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return t, fmt.Errorf("the time of the commit: %w", err)
	}
	t.at = time.Unix(n, 0).UTC()
	if n, err := strconv.ParseInt(catalogue, 10, 64); err == nil {
		t.catalogue = time.Unix(n, 0).UTC().Format(time.DateOnly)
	}
	if t.version = version; version == "" {
		tag, terr := run(ctx, ".", nil, "git", "describe", "--tags", "--match", "v[0-9]*")
		if t.version = strings.TrimPrefix(strings.TrimSpace(string(tag)), "v"); terr != nil {
			t.version = "0.0.0." + t.at.Format("20060102150405") // no tag yet; a later commit has a greater number
		}
	}
	if strings.Trim(t.version, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-+") != "" || t.version[0] < '0' || t.version[0] > '9' {
		return t, hint.With(hint.Usagef("%q is not a valid package version", t.version), "such as 1.2.3")
	}
	return t, nil
}

// run runs a command and returns what it prints.
func run(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return out, nil
}

// release builds the binaries and collects all files.
func (t workTree) release(cmd *cobra.Command, temp string) (*dist.Release, error) {
	ctx := cmd.Context()
	r := &dist.Release{Version: t.version, At: t.at, Binaries: map[dist.Platform][]byte{}}
	clean := filepath.Join(temp, "linerate-"+t.version)
	if err := t.checkOut(ctx, clean); err != nil {
		return nil, err
	}
	here := dist.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}
	for _, p := range dist.Platforms {
		fmt.Fprintf(cmd.ErrOrStderr(), "building for %s\n", p)
		data, err := t.build(ctx, clean, filepath.Join(temp, p.OS+"-"+p.Arch), p)
		if err != nil {
			return nil, err
		}
		r.Binaries[p] = data
	}
	if err := t.texts(ctx, r, filepath.Join(temp, here.OS+"-"+here.Arch), filepath.Join(temp, "man"), clean); err != nil {
		return nil, err
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "vendoring")
	if _, err := run(ctx, clean, goEnv(here), "go", "mod", "vendor"); err != nil {
		return nil, err
	}
	var err error
	if r.Others, err = licences(filepath.Join(clean, "vendor")); err != nil {
		return nil, err
	}
	all, err := below(temp, clean)
	if err != nil {
		return nil, err
	}
	r.SourceName = "linerate-" + t.version + "-vendored.tar.gz"
	r.Source, err = dist.Archive(all, t.at)
	return r, err
}

// checkOut writes the commit's files to a directory: untracked files in the working tree are not
// part of a release.
func (t workTree) checkOut(ctx context.Context, dir string) error {
	_, err := run(ctx, t.root, nil, "git", "checkout-index", "--all", "--prefix="+dir+"/")
	return err
}

// goEnv returns the environment for building for a platform.
func goEnv(p dist.Platform) []string {
	return []string{"CGO_ENABLED=0", "GOOS=" + p.OS, "GOARCH=" + p.Arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GOTOOLCHAIN=local"}
}

// build returns the stripped binary of a platform.
func (t workTree) build(ctx context.Context, dir, out string, p dist.Platform) ([]byte, error) {
	const at = "linerate/internal/cli."
	flags := fmt.Sprintf("-s -w -buildid= -X %sversion=%s -X %scommit=%s -X %sdate=%s -X %scatalogueDate=%s",
		at, t.version, at, t.commit, at, t.at.Format(time.DateOnly), at, t.catalogue)
	if _, err := run(ctx, dir, goEnv(p), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", out, "./cmd/linerate"); err != nil {
		return nil, err
	}
	return os.ReadFile(out)
}

// texts adds the manual pages and completions that this platform's binary writes, and files of the
// tree.
func (workTree) texts(ctx context.Context, r *dist.Release, binary, man, clean string) error {
	if _, err := run(ctx, ".", nil, binary, "manual", man); err != nil {
		return err
	}
	r.Manual, r.Completion = map[string][]byte{}, map[string][]byte{}
	pages, err := below(man, man)
	if err != nil {
		return err
	}
	for _, p := range pages {
		r.Manual[strings.TrimPrefix(p.Path, "/")] = p.Data
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if r.Completion[shell], err = run(ctx, ".", nil, binary, "completion", shell); err != nil {
			return err
		}
	}
	for name, into := range map[string]*[]byte{"LICENSE": &r.License, "README.md": &r.Readme, "CHANGELOG.md": &r.Changes} {
		if *into, err = os.ReadFile(filepath.Join(clean, name)); err != nil {
			return fmt.Errorf("read the tree: %w", err)
		}
	}
	return nil
}

// below returns the files under dir, with paths relative to root.
func below(root, dir string) (all []dist.Entry, err error) {
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		mode := int64(0o644)
		if info.Mode()&0o100 != 0 { // other execute bits depend on the umask and are not part of a release
			mode = 0o755
		}
		at, err := filepath.Rel(root, p)
		all = append(all, dist.Entry{Path: "/" + filepath.ToSlash(at), Mode: mode, Data: data})
		return err
	})
	return all, err
}

// licences concatenates the licence texts of the vendored modules.
func licences(vendor string) ([]byte, error) {
	all, err := below(vendor, vendor)
	if err != nil {
		return nil, fmt.Errorf("read the vendored modules: %w", err)
	}
	var b bytes.Buffer
	for _, e := range all {
		name := strings.ToUpper(filepath.Base(e.Path))
		if strings.HasPrefix(name, "LICENSE") || strings.HasPrefix(name, "LICENCE") || strings.HasPrefix(name, "COPYING") || strings.HasPrefix(name, "NOTICE") {
			fmt.Fprintf(&b, "\n\n%s\n%s\n\n%s", strings.Repeat("-", 72), strings.TrimPrefix(e.Path, "/"), e.Data)
		}
	}
	return b.Bytes(), nil
}
