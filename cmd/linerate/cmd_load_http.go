package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/load/client"
	"linerate/internal/load/httpload"
	"linerate/internal/load/request"
	"linerate/internal/show"
)

// loadHTTPFlags are the flags of load http as they were typed.
type loadHTTPFlags struct {
	loadFlags
	connections, version     int
	src, sweep, roots        string
	headers                  []string
	newConnections, insecure bool
}

const loadHTTPLong = `Ask a server for objects, and account for every request. With --rate the loop is open:
latency runs from when a request was due. Without it every connection asks again when
it was answered, as wrk does, which leaves out those who would have come meanwhile.

    linerate load http http://198.18.0.2/ --rate 2000 --arrivals poisson
    linerate load http http://198.18.0.2/ --sweep 10,50,100`

func newLoadHTTPCmd() *cobra.Command {
	var f loadHTTPFlags
	cmd := &cobra.Command{
		Use:   "http [WEIGHT=]URL …",
		Short: "send HTTP requests, in an open or closed loop",
		Long:  loadHTTPLong,
		Args:  cobra.MinimumNArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return runLoadHTTP(cmd, f, args) },
	}
	fs := cmd.Flags()
	fs.IntVarP(&f.connections, "connections", "c", 0, "connections at once (default 10; open loop: up to 1000)")
	fs.StringVar(&f.sweep, "sweep", "", "closed loops with these connections: 10,50,100")
	fs.BoolVar(&f.newConnections, "new-connections", false, "a new connection for every request")
	fs.IntVar(&f.version, "http", 1, "1 for HTTP/1.1, or 2")
	fs.StringVar(&f.src, "src", "", "addresses to connect from, in turn")
	fs.StringArrayVarP(&f.headers, "header", "H", nil, "'NAME: VALUE' for every request")
	fs.BoolVarP(&f.insecure, "insecure", "k", false, "do not verify the server's certificate")
	fs.StringVar(&f.roots, "cacert", "", "PEM file of authorities (default: the system's)")
	f.add(cmd)
	return cmd
}

func runLoadHTTP(cmd *cobra.Command, f loadHTTPFlags, urls []string) error {
	spec, counts, err := f.spec(cmd, urls)
	if err != nil {
		return err
	}
	doc := httpload.Document{Version: 1, Offer: httpload.OfferOf(spec, urls)}
	for _, n := range counts {
		spec.Connections = n
		var r request.Result
		if r, err = runHTTPPoint(cmd, spec, f); err != nil && !interrupted(err) {
			return err
		}
		if r.Seconds > 0 {
			doc.Points = append(doc.Points, httpload.Point{Connections: n, Result: r})
		}
		if err != nil {
			break
		}
	}
	if len(doc.Points) > 0 {
		err = errors.Join(cli.Answer(cmd, doc, func(p *show.Page) { doc.Page(p, f.sweep != "") }), err)
	}
	switch {
	case err != nil:
		return err
	case f.strict:
		return doc.Strictly()
	}
	return doc.Unanswered()
}

func runHTTPPoint(cmd *cobra.Command, spec httpload.Spec, f loadHTTPFlags) (request.Result, error) {
	live := newLoadLive(cmd.ErrOrStderr())
	defer live.End()
	spec.Every, spec.Watch = live.every(f.every), live.show
	return httpload.Run(cmd.Context(), spec)
}

// spec turns the flags into a load, and the numbers of connections to offer
// it with.
func (f loadHTTPFlags) spec(cmd *cobra.Command, urls []string) (s httpload.Spec, counts []int, err error) {
	s = httpload.Spec{HTTP2: f.version == 2, NewEach: f.newConnections, Insecure: f.insecure}
	for _, u := range urls {
		t, err := httpload.ParseTarget(u)
		if err != nil {
			return s, nil, err
		}
		s.Targets = append(s.Targets, t)
	}
	if f.version != 1 && f.version != 2 {
		return s, nil, hint.Usagef("--http %d: 1 or 2", f.version)
	}
	if s.Load, err = f.load(cmd); err != nil {
		return s, nil, err
	}
	if s.Header, err = parseHeaders(f.headers); err != nil {
		return s, nil, err
	}
	if f.src != "" {
		if s.Sources, err = client.ParseSources(f.src); err != nil {
			return s, nil, err
		}
	}
	if s.Roots, err = readRoots(f.roots); err != nil {
		return s, nil, err
	}
	if counts, err = f.counts(); err != nil {
		return s, nil, err
	}
	for _, s.Connections = range counts {
		if err := s.Validate(); err != nil {
			return s, nil, err
		}
	}
	return s, counts, nil
}

// counts are the numbers of connections.
func (f loadHTTPFlags) counts() ([]int, error) {
	switch {
	case f.sweep == "" && f.connections != 0:
		return []int{f.connections}, nil
	case f.sweep == "" && f.rate > 0:
		return []int{1000}, nil
	case f.sweep == "":
		return []int{10}, nil
	case f.connections != 0 || f.rate > 0:
		return nil, hint.Usagef("--sweep is of closed loops: leave out --connections and --rate")
	}
	var out []int
	for part := range strings.SplitSeq(f.sweep, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || len(out) == 100 {
			return nil, hint.With(hint.Usagef("--sweep %q", f.sweep), "up to 100 numbers of connections, such as 10,50,100")
		}
		out = append(out, n)
	}
	return out, nil
}

func parseHeaders(lines []string) (http.Header, error) {
	h := http.Header{}
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(line, "\r\n") || strings.ContainsAny(name, " \t") {
			return nil, hint.Usagef("--header %q is not 'NAME: VALUE'", line)
		}
		h.Add(name, strings.TrimSpace(value))
	}
	return h, nil
}

// readRoots reads certificates to verify by; nil are the system's.
func readRoots(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	pem, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the authorities: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, hint.Usagef("%s holds no certificate in PEM", path)
	}
	return pool, nil
}
