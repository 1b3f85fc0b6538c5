package ledger

import (
	"context"
	"errors"
	"time"

	"linerate/internal/fleet"
)

// ErrSweepEnded says that a sweep is over and takes no more.
var ErrSweepEnded = errors.New("the sweep is over")

// FleetReader is what can be read of a fleet: hosts as they are now, and what changed. It
// is safe for concurrent use.
type FleetReader interface {
	// Status is how the fleet fares, with its last sweeps.
	Status(ctx context.Context, sweeps int) (fleet.Status, error)
	// Sweeps lists sweeps, newest first; limit 0 lists all.
	Sweeps(ctx context.Context, limit int) ([]fleet.Sweep, error)
	// Hosts that a filter admits, by name, without their findings.
	Hosts(ctx context.Context, f fleet.HostFilter) ([]fleet.Host, error)
	// Host returns one host with its findings, by a name, by what it calls itself, or
	// by the beginning of its identifier; ErrNotFound where there is none.
	Host(ctx context.Context, name string) (fleet.Host, error)
	// Changes that a filter admits, newest first.
	Changes(ctx context.Context, f fleet.ChangeFilter) ([]fleet.Change, error)
	// RuleCounts says on how many hosts a rule finds something, by role and release;
	// of all rules where rule is "".
	RuleCounts(ctx context.Context, rule string) ([]fleet.RuleCount, error)
	// TunableCounts is RuleCounts of the findings about tunables of a system, by those of
	// the names under which hosts have findings that is accepts.
	TunableCounts(ctx context.Context, os string, is func(name string) bool) ([]fleet.TunableCount, error)
	// Waves lists waves, newest first; limit 0 lists all.
	Waves(ctx context.Context, limit int) ([]fleet.Wave, error)
	// WaveEvents are what happened to hosts in waves, oldest first.
	WaveEvents(ctx context.Context, f fleet.WaveFilter) ([]fleet.WaveEvent, error)
}

// FleetStore keeps a fleet, its changes append-only. It is safe for concurrent use, by
// several processes too.
type FleetStore interface {
	FleetReader
	// BeginSweep notes that a sweep begins. One that is known goes on: it is returned
	// as it stands, or with ErrSweepEnded.
	BeginSweep(ctx context.Context, s fleet.Sweep) (fleet.Sweep, error)
	// Swept are the names that a sweep has done.
	Swept(ctx context.Context, sweep string) (map[string]bool, error)
	// Observe compares observations with what is known, stores what changed, and
	// returns it: all of it in one transaction. A name that the sweep has done is
	// left out.
	Observe(ctx context.Context, sweep string, seen ...fleet.Observation) ([]fleet.Change, error)
	// Forget drops a host that no longer exists, by a name; its changes stay. ErrNotFound
	// where there is none.
	Forget(ctx context.Context, name string, at time.Time) error
	// EndSweep notes that a sweep is over, and returns it with its counts.
	EndSweep(ctx context.Context, sweep string, at time.Time) (fleet.Sweep, error)
	// BeginWave notes that a wave begins, and the hosts that are in it.
	BeginWave(ctx context.Context, w fleet.Wave, hosts ...fleet.WaveEvent) error
	// NoteWave adds what happened to hosts; when it returns it is durable. ErrNotFound
	// where there is no such wave.
	NoteWave(ctx context.Context, wave string, events ...fleet.WaveEvent) error
	// KeepWave keeps the options of a wave, with what was measured meanwhile. ErrNotFound where
	// there is no such wave.
	KeepWave(ctx context.Context, wave string, o fleet.WaveOptions) error
	// EndWave notes how a wave ended, or, by fleet.WaveRuns, that it goes on.
	EndWave(ctx context.Context, wave string, at time.Time, outcome fleet.WaveOutcome, reason string) error
}
