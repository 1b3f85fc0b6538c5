package httpload

import (
	"bufio"
	"context"

	"linerate/internal/load/client"
	"linerate/internal/load/request"
)

// source creates the lanes of one run.
type source struct {
	*Spec
	d      *dialer
	heads  [][]byte  // for HTTP/1.1
	fields [][]field // for HTTP/2
}

// Account runs the load until its end or until ctx is done. The account is nil if the load
// could not begin; if ctx ended the run, Account returns the account and ctx's error.
func Account(ctx context.Context, s Spec) (*request.Account, request.Meter, error) {
	return client.Run(ctx, client.Spec{Load: s.Load, Targets: len(s.Paths), Lanes: s.Connections},
		func(ctx context.Context) (client.Source, error) { return newSource(ctx, &s) })
}

func newSource(ctx context.Context, s *Spec) (*source, error) {
	r := &source{Spec: s, d: newDialer(ctx, s)}
	for _, path := range s.Paths {
		if s.HTTP2 {
			r.fields = append(r.fields, fieldsOf(s, path))
			continue
		}
		head, err := headOf(s, path)
		if err != nil {
			return nil, err
		}
		r.heads = append(r.heads, head)
	}
	return r, nil
}

// Used returns what the run has used so far.
func (r *source) Used() client.Used {
	user, system := client.CPU()
	return client.Used{CPU: user + system, Negotiated: r.d.agreed()}
}

// Close does nothing: lanes share nothing.
func (r *source) Close() {}

// Lane creates a lane.
func (r *source) Lane(_ int, tell client.Events) client.Lane {
	if !r.HTTP2 {
		return newHTTP1(r, tell)
	}
	return &http2Lane{wire: r.wire(tell), requests: r.fields, in: bufio.NewReaderSize(nil, r.bufferSize())}
}

// bufferSize returns the size of each of a lane's buffers: large ones save
// system calls, but all together should take no more than some 64 MB, up to
// thousands of lanes.
func (r *source) bufferSize() int {
	return min(max(32<<20/r.Connections, 4<<10), 64<<10)
}

// answer is a response, as far as it was received.
type answer struct {
	code int
	body int64
}

// with converts the response, or its failure, for the loop.
func (a answer) with(f *client.Failure) client.Answer {
	out := client.Answer{Code: a.code, Body: a.body}
	switch {
	case f != nil:
		out.Kind, out.Detail = f.Kind(), f.Error()
	case a.code >= 400:
		out.Kind = request.Status
	}
	return out
}
