package main

import (
	"fmt"
	"io"
	"net"
	"time"
)

// proxiedSize is what fits into the first window of a connection, and not into a page.
const proxiedSize = 14_000

// fetched prints how long it took to get it, in ms: a command that linerate prove
// watches.
func fetched(address string) {
	start := time.Now()
	c, err := net.DialTimeout("tcp", address, 10*time.Second)
	fatal(err)
	n, err := io.Copy(io.Discard, c)
	fatal(err)
	if n != proxiedSize {
		fatal(fmt.Errorf("got %d bytes", n))
	}
	fmt.Println(float64(time.Since(start).Microseconds()) / 1000)
}
