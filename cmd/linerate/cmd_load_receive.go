package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/testbeds"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/port"
)

type receiveFlags struct {
	device, engine string
	long           time.Duration
	once           bool
}

func newReceiveCmd() *cobra.Command {
	var f receiveFlags
	cmd := verb("load receive", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return runReceive(cmd, f) })
	fs := cmd.Flags()
	fs.StringVar(&f.device, "dev", "", "network interface to receive from")
	fs.StringVar(&f.engine, "engine", testbeds.AutoEngine, testbeds.ReceivingEngines)
	fs.DurationVar(&f.long, "time", 0, "stop after this long (default: at Ctrl-C)")
	fs.BoolVar(&f.once, "once", false, "stop when the first stream has ended")
	cli.JSONFlag(cmd)
	return cmd
}

func runReceive(cmd *cobra.Command, f receiveFlags) error {
	switch {
	case f.device == "":
		return hint.With(hint.Usagef("load receive needs an interface"), "for instance --dev sink0")
	case f.long < 0:
		return hint.Usagef("--time %s: from 0, no limit", f.long)
	}
	engine, err := testbeds.EngineNamed(f.engine, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	r, err := engine.NewReceiver(f.device, port.Here, load.Watch{Stream: -1})
	if err != nil {
		return err
	}
	defer r.Close()
	got, err := watch(cmd.Context(), r, f, newLiveLine(cmd.ErrOrStderr()))
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return errors.Join(cli.Print(cmd, receivedDoc{1, got}, got.Print), err)
}

// watch waits for the end, showing counters. Without a time limit Ctrl-C is
// the way to end it, and no interruption.
func watch(ctx context.Context, r load.Receiver, f receiveFlags, live *liveLine) (load.Received, error) {
	begin := time.Now()
	end := f.long
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	defer live.End()
	var last load.Received
	for {
		wait := time.Hour
		if end > 0 {
			wait = max(0, end-time.Since(begin))
		}
		select {
		case <-ctx.Done():
			got, err := r.Snapshot()
			if end > 0 {
				err = errors.Join(err, ctx.Err())
			}
			return got, err
		case <-time.After(wait):
			return r.Snapshot()
		case <-tick.C:
		}
		if !live.On() && !f.once {
			continue
		}
		got, err := r.Snapshot()
		if err != nil || f.once && got.Lost != nil && got.RxPackets == last.RxPackets {
			return got, err
		}
		last = got
		live.received(got, time.Since(begin))
	}
}

// receivedDoc is the document of receive --json.
type receivedDoc struct {
	Version int `json:"version"`
	load.Received
}
