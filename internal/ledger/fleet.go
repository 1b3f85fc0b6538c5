package ledger

import (
	"context"
	"errors"
	"time"

	"linerate/internal/fleet"
)

// ErrSweepEnded is returned for a sweep that has ended and accepts no more.
var ErrSweepEnded = errors.New("the sweep is over")

// FleetReader reads a fleet: the present state of hosts, and the changes. It is safe for
// concurrent use.
type FleetReader interface {
	// Status returns the fleet's status, with its last sweeps.
	Status(ctx context.Context, sweeps int) (fleet.Status, error)
	// Sweeps returns sweeps, newest first; limit 0 means all.
	Sweeps(ctx context.Context, limit int) ([]fleet.Sweep, error)
	// Hosts returns the hosts that match a filter, by name, without findings.
	Hosts(ctx context.Context, f fleet.HostFilter) ([]fleet.Host, error)
	// Host returns one host with its findings, given a name, its own host name, or a
	// prefix of its identifier; ErrNotFound if there is none.
	Host(ctx context.Context, name string) (fleet.Host, error)
	// Changes returns the changes that match a filter, newest first.
	Changes(ctx context.Context, f fleet.ChangeFilter) ([]fleet.Change, error)
	// RuleCounts counts the hosts with findings of a rule, by role and release; of
	// all rules if rule is "".
	RuleCounts(ctx context.Context, rule string) ([]fleet.RuleCount, error)
	// TunableCounts is RuleCounts for findings on tunables of a system, for those names
	// in findings for which is returns true.
	TunableCounts(ctx context.Context, os string, is func(name string) bool) ([]fleet.TunableCount, error)
	// Waves returns waves, newest first; limit 0 means all.
	Waves(ctx context.Context, limit int) ([]fleet.Wave, error)
	// WaveEvents returns the events of hosts in waves, oldest first.
	WaveEvents(ctx context.Context, f fleet.WaveFilter) ([]fleet.WaveEvent, error)
}

// FleetStore stores a fleet; its changes are append-only. It is safe for concurrent
// use, also by several processes.
type FleetStore interface {
	FleetReader
	// BeginSweep records the start of a sweep. A known one continues: it is returned
	// as stored, or with ErrSweepEnded.
	BeginSweep(ctx context.Context, s fleet.Sweep) (fleet.Sweep, error)
	// Swept returns the names that a sweep has completed.
	Swept(ctx context.Context, sweep string) (map[string]bool, error)
	// Observe compares observations with the stored state, stores and returns the
	// changes, in one transaction. It skips names that the sweep has completed.
	Observe(ctx context.Context, sweep string, seen ...fleet.Observation) ([]fleet.Change, error)
	// Forget removes a host by name; its changes stay. It returns ErrNotFound if there is
	// none.
	Forget(ctx context.Context, name string, at time.Time) error
	// EndSweep records the end of a sweep, and returns it with its counts.
	EndSweep(ctx context.Context, sweep string, at time.Time) (fleet.Sweep, error)
	// BeginWave records the start of a wave, and its hosts.
	BeginWave(ctx context.Context, w fleet.Wave, hosts ...fleet.WaveEvent) error
	// NoteWave adds events of hosts durably. It returns ErrNotFound if there is no
	// such wave.
	NoteWave(ctx context.Context, wave string, events ...fleet.WaveEvent) error
	// KeepWave stores the options of a wave, with the readings so far. It returns ErrNotFound
	// if there is no such wave.
	KeepWave(ctx context.Context, wave string, o fleet.WaveOptions) error
	// EndWave records how a wave ended or, with fleet.WaveRuns, that it continues.
	EndWave(ctx context.Context, wave string, at time.Time, outcome fleet.WaveOutcome, reason string) error
}
