package inspect

import (
	_ "embed" // services.txt
	"path"
	"slices"
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
		if names, _ := in.r.ReadDir(in.ctx, p); len(names) > 0 {
			files = list.Map(names, func(n string) string { return p + "/" + n })
		}
		for file, text := range fact.Texts(in, files...) {
			lines = append(lines, freebsd.WordLines(file, text, strings.Fields(row[3]))...)
		}
	}
	return lines
}

// texts checks the files of slips.txt, most of which have no other reader.
func (in *inspection) texts() {
	seen := map[string]bool{}
	for _, pattern := range fact.TextFiles() {
		dir, base := path.Split(pattern)
		names, _ := in.r.ReadDir(in.ctx, path.Clean(dir))
		for _, n := range names {
			if ok, _ := path.Match(base, n); !ok || seen[dir+n] {
				continue
			}
			seen[dir+n] = true
			b, _ := in.r.ReadFile(in.ctx, dir+n) // none says nothing
			kind := redact.KindOf(dir+n, "")
			shown, _ := redact.Text(kind, string(b))
			if in.opts.Owned && (kind == "" || slices.Contains(owned, kind)) {
				shown = redact.Secrets(string(b))
			}
			for _, l := range in.slips(dir+n, string(b), shown) {
				service, word, _ := strings.Cut(l.Name, ":")
				l.Name = word
				in.f.Services = append(in.f.Services, fact.Service{Name: service, Details: []fact.Line{l}})
			}
		}
	}
}
