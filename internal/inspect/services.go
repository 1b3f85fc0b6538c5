package inspect

import (
	_ "embed" // services.txt
	"path"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/freebsd"
	"linerate/internal/fact/redact"
	"linerate/internal/list"
)

// servicesText lists daemons.
//
//go:embed services.txt
var servicesText string

// freebsdServices lists the daemons that rc.conf or a configuration file mentions.
func (in *inspection) freebsdServices() {
	for _, row := range list.Table(servicesText, fact.FreeBSD) {
		enabled := in.f.RCYes(row[1])
		svc := fact.Service{Name: row[0], Enabled: &enabled, Details: in.details(row)}
		if enabled || len(svc.Details) > 0 {
			in.f.Services = append(in.f.Services, svc)
		}
	}
}

// details returns the relevant lines of a daemon's files, and of those in its directories.
func (in *inspection) details(row []string) []fact.Line {
	if len(row) < 4 {
		return nil
	}
	var lines []fact.Line
	for _, p := range strings.Fields(row[2]) {
		files := []string{p}
		if names, err := in.r.ReadDir(in.ctx, p); err == nil {
			files = list.Map(names, func(n string) string { return p + "/" + n })
		}
		for file, text := range fact.Texts(in, files...) {
			lines = append(lines, freebsd.WordLines(file, text, strings.Fields(row[3]))...)
		}
	}
	return lines
}

// texts reads the files of slips.txt that no other reader has read.
func (in *inspection) texts() {
	for _, pattern := range fact.TextFiles() {
		dir, base := path.Split(pattern)
		names, _ := in.List(path.Clean(dir))
		for _, n := range names {
			_, read := in.written[dir+n]
			if ok, _ := path.Match(base, n); ok && !read {
				_, _ = in.read(dir+n, redact.Other)
			}
		}
	}
}
