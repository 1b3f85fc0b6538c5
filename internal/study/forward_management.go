package study

import (
	"context"

	"linerate/internal/load"
)

// Management says whether a DUT stayed usable while it was loaded (RFC 2544
// §11): what came of asking it over the same wire as the load.
type Management struct {
	Echo     Answers `json:"echo"`     // ICMP echo requests
	Connect  Answers `json:"connect"`  // TCP: SYN to SYN and ACK
	Greeting Answers `json:"greeting"` // TCP: SYN to the first byte of a program on the DUT's CPU
}

// Answers to one kind of question.
type Answers struct {
	Sent     uint64        `json:"sent"`
	Answered uint64        `json:"answered"`
	RTT      *load.Latency `json:"rtt_ns"` // of those answered
	// Delays is the distribution that RTT sums up.
	Delays *load.Histogram `json:"-"`
}

// Unanswered is the share that no answer came to, 0 to 1.
func (a Answers) Unanswered() float64 {
	if a.Sent == 0 {
		return 0
	}
	return 1 - float64(a.Answered)/float64(a.Sent)
}

// Prober asks a DUT while traffic runs.
type Prober interface {
	Start()
	Stop()
	// Account is what came of all asking so far.
	Account() (Management, error)
	Close() error
}

// Flooder opens connections to a DUT's service that it never goes on with.
type Flooder interface {
	Run(ctx context.Context, o load.Offer) (load.Sent, error)
	Close() error
}

func managementMetrics(m map[string]float64, o Observation) {
	if o.Management == nil || o.Management.Echo.Sent == 0 {
		return
	}
	m[ManagementLoss] = o.Management.Greeting.Unanswered()
	if l := o.Management.Echo.RTT; l != nil {
		m[ManagementRTT] = float64(l.P50)
	}
}
