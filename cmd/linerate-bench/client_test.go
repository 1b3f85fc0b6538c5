package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestHTTPClient: linerate's account of a contest is of what a server answered, and
// one of failures is an error.
func TestHTTPClient(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/there" {
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	client := func(url string) (string, string, int) {
		var out, errs bytes.Buffer
		code := run([]string{"client", "http", url, "--connections", "2", "--duration", "300ms"}, strings.NewReader(""), &out, &errs)
		return out.String(), errs.String(), code
	}
	out, errs, code := client(s.URL + "/there")
	if r, err := readLinerate([]byte(out)); code != 0 || err != nil || r.requests < 1 || r.rate <= 0 || r.p50 <= 0 {
		t.Errorf("exit %d, %s: %+v, %v", code, errs, r, err)
	}
	if _, errs, code := client(s.URL + "/elsewhere"); code != 1 || !strings.Contains(errs, "failed") {
		t.Errorf("of a page that is not there: exit %d, %s", code, errs)
	}
}
