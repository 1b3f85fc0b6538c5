package testbeds

import (
	"testing"
	"time"

	labserve "linerate/internal/lab/serve"
	"linerate/internal/load/client"
	"linerate/internal/load/fileload"
	"linerate/internal/load/request"
)

// TestServersTimeOfFiles: a file system's CPU time is the kernel's for this
// process while it was asked, of all turns together; not the clients' own.
func TestServersTimeOfFiles(t *testing.T) {
	set, err := fileload.Prepare(t.Context(), t.TempDir(), fileload.Pool{Files: 200, Min: 500, Max: 9000, Lanes: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Release()
	a := &fileArm{set: set, load: client.Load{Arrivals: request.Constant, Timeout: 10 * time.Second}}
	var kernels time.Duration
	for turn := range uint64(2) {
		_, before := client.CPU()
		account, m, err := a.Ask(t.Context(), labserve.Offer{Requests: 4000, Seed: turn})
		if err != nil || account.Result(m).Answered != 4000 {
			t.Fatalf("%d answered, %v", account.Result(m).Answered, err)
		}
		_, after := client.CPU()
		kernels += after - before
	}
	// A clock of ticks, of a hundredth of a second, may be between.
	if got := a.CPU(); got <= 0 || got > kernels || got < kernels*9/10-20*time.Millisecond {
		t.Errorf("%v of the file system, want the kernel's %v", got, kernels)
	}
}
