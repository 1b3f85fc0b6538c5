// Package accesslog reads web servers' access logs and says how long requests
// took: counts, histograms, percentiles and shares under thresholds.
//
// A log is read once, in constant memory, on all cores: the input is cut into chunks
// at line ends, every worker tallies its chunks, and tallies merge. What a tally holds
// must therefore not depend on order.
package accesslog

// Field is a part of a log line that a tally may need.
type Field uint8

// The fields, by what servers call them.
const (
	None      Field = iota
	Time            // when the request ended, or began (Apache's %t)
	Latency         // how long it took: NGINX $request_time, Apache %D, %T
	Status          // HTTP status code
	Path            // path of the request, with its query
	Request         // the request line: method, path, protocol
	numFields       //
)

var fieldNames = [numFields]string{"", "time", "latency", "status", "path", "request"}

func (f Field) String() string { return fieldNames[f] }

// fields is a set of Field.
type fields uint16

func (s fields) has(f Field) bool    { return s&(1<<f) != 0 }
func (s fields) with(f Field) fields { return s | 1<<f }

// Unit is what a number of a log counts.
type Unit int64

// Units of latency, in microseconds; a nanosecond is a fraction of one.
const (
	Nanoseconds  Unit = 0
	Microseconds Unit = 1
	Milliseconds Unit = 1000
	Seconds      Unit = 1000000
)

// MaxLine is the longest line that is read as one; a longer one is bad.
const MaxLine = 1 << 20

// MaxLatency in microseconds: a request that took longer than a day is a
// broken clock.
const MaxLatency = 24 * 3600 * 1000000
