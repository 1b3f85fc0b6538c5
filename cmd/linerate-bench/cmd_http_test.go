package main

import "testing"

// What wrk 4.1 and h2load 1.52 print.
const (
	wrkOutput = `Running 2s test @ http://127.0.0.1:18080/small
  1 threads and 10 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     3.36ms   10.34ms  95.26ms   94.41%
    Req/Sec    14.39k     5.83k   26.75k    75.00%
  Latency Distribution
     50%  271.00us
     75%    2.13ms
     90%    5.05ms
     99%   64.68ms
  28912 requests in 2.06s, 23.13MB read
Requests/sec:  14052.90
Transfer/sec:     11.24MB
`
	h2loadOutput = `
finished in 1.01s, 24611.00 req/s, 14.62MB/s
requests: 24611 total, 24711 started, 24611 done, 24611 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 24611 2xx, 0 3xx, 0 4xx, 0 5xx
`
)

func TestPeersAreRead(t *testing.T) {
	if r, err := readWrk([]byte(wrkOutput)); err != nil || r != (httpRun{14052.90, 271e-6, 28912}) {
		t.Errorf("wrk: %+v, %v", r, err)
	}
	if r, err := readH2load([]byte(h2loadOutput)); err != nil || r != (httpRun{rate: 24611, requests: 24611}) {
		t.Errorf("h2load: %+v, %v", r, err)
	}
	if _, err := readWrk([]byte("unable to connect")); err == nil {
		t.Error("wrk's failure is taken for a result")
	}
}
