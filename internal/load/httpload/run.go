package httpload

import (
	"context"

	"linerate/internal/load/client"
	"linerate/internal/load/request"
)

// source makes the lanes of one run.
type source struct {
	*Spec
	d      *dialer
	heads  [][]byte  // HTTP/1.1
	fields [][]field // HTTP/2
}

// Account offers the load until its end or ctx's. The account is nil where the load
// could not begin; a run that ctx ended has one too, and ctx's error.
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

// Used is what the run has used so far.
func (r *source) Used() client.Used {
	user, system := client.CPU()
	return client.Used{CPU: user + system, Negotiated: r.d.agreed()}
}

// Close has nothing to end: lanes share nothing.
func (r *source) Close() {}

// Lane makes the i-th of the lanes.
func (r *source) Lane(_ int, tell client.Events) client.Lane {
	if !r.HTTP2 {
		return newHTTP1(r, tell)
	}
	return newHTTP2(r, tell)
}

// bufferSize is of each of a lane's buffers: large ones save system calls,
// and all together are to take no more than some 64 MB until there are
// thousands of lanes.
func (r *source) bufferSize() int {
	return min(max(32<<20/r.Connections, 4<<10), 64<<10)
}

// answer is what came back, as far as it came.
type answer struct {
	code int
	body int64
}

// with is the answer for the loop, or its failure.
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
