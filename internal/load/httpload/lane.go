package httpload

import (
	"time"

	"linerate/internal/load/client"
	"linerate/internal/load/request"
)

// lane sends one request after the other.
type lane interface {
	// do asks for a target and reads the answer whole.
	do(target int, deadline time.Time) (answer, *client.Failure)
	close()
}

// answer is what came back, as far as it came.
type answer struct {
	code int
	body int64
}

// kindOf is the kind of an outcome.
func kindOf(a answer, f *client.Failure) (request.Kind, string) {
	switch {
	case f != nil:
		return f.Kind(), f.Error()
	case a.code >= 400:
		return request.Status, ""
	}
	return request.OK, ""
}
