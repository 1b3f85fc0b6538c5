package calc

// Serving is what a server of files pays per second to fill a link, after
// Netflix's account of serving 100 Gb/s. All values are per second.
type Serving struct {
	// Payload is the file data in bytes.
	Payload float64
	// Pages of 4 KiB that pass through, those copied by encryption included.
	Pages float64
	// PageMbufs carry one page each; RecordMbufs frame the TLS records.
	PageMbufs, RecordMbufs float64
	// MbufTraffic is the memory traffic of touching each mbuf's two cache
	// lines once, in bytes.
	MbufTraffic float64
	// MemoryTraffic is the traffic of the data itself in bytes: see
	// DataCopies.
	MemoryTraffic float64
}

const (
	pageSize     = 4096
	tlsRecord    = 16384 // RFC 8446 §5.1
	cacheLine    = 64
	linesPerMbuf = 2
)

// DataCopies is how often each byte served crosses the memory bus: written
// by the drive and read by the NIC (2); encryption in software reads the page
// and writes a second buffer (4), which a store that does not bypass the cache
// reads first (5).
func DataCopies(tls, bypass bool) float64 {
	switch {
	case !tls:
		return 2
	case bypass:
		return 4
	}
	return 5
}

// ServeCost computes the serving cost of rate, in bits/s of file data, with
// encryption in software (tls) and with stores that bypass the cache.
func ServeCost(rate float64, tls, bypass bool) Serving {
	s := Serving{Payload: rate / 8}
	s.Pages = s.Payload / pageSize
	if tls {
		s.Pages *= 2
		s.RecordMbufs = 2 * s.Payload / tlsRecord
	}
	s.PageMbufs = s.Pages
	s.MbufTraffic = (s.PageMbufs + s.RecordMbufs) * linesPerMbuf * cacheLine
	s.MemoryTraffic = s.Payload * DataCopies(tls, bypass)
	return s
}

// ServeLimit is the rate in bits/s at which the data alone takes all of a
// memory bandwidth in bytes/s; a ceiling that nothing reaches.
func ServeLimit(bandwidth float64, tls, bypass bool) float64 {
	return 8 * bandwidth / DataCopies(tls, bypass)
}
