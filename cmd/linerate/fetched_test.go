package main

import (
	"fmt"
	"io"
	"net"
	"time"
)

// proxiedSize fits into a connection's initial window but not into one memory page.
const proxiedSize = 14_000

// fetched fetches proxiedSize bytes and prints the duration in ms: the command that linerate
// prove measures.
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
