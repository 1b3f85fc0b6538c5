package sshbed

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"linerate/internal/wait"

	"linerate/internal/apply"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/knob"
	"linerate/internal/testbed"
)

// boot reboots the DUT and returns when a new boot answers and is online. down
// takes it down; nil is a plain reboot. After a timeout it cycles the power,
// as often as the testbed allows.
func (b *Bed) boot(ctx context.Context, down func(context.Context) error) (testbed.Boot, error) {
	start, patience := time.Now(), time.Duration(b.o.File.Reboot.Wait)
	// The DUT may have booted by itself since the last query; that boot does not count.
	if id, err := b.identify(ctx, b.o.answer); err == nil {
		b.id = id
	}
	r := testbed.Boot{Before: b.id.Boot}
	err := b.goDown(ctx, down)
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	if err != nil && !Unreached(err) {
		return r, fmt.Errorf("reboot the DUT: %w", err)
	}
	for r.Attempts = 1; ; r.Attempts++ {
		id, err := b.awaitBoot(ctx, patience)
		if err == nil {
			r.Boot, b.id = id.Boot, id
			break
		}
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		if r.Attempts >= b.o.File.Reboot.Attempts {
			return r, hint.With(fmt.Errorf("%s did not come back: waited %d times %s, cycled its power %s; last error: %w", b.o.DUT.Where(), r.Attempts, patience, times(r.Powered), err),
				"look at its console: %s. The trials so far are kept: resume the study when it is up; without that its own switch puts it back after its next boot", b.slowBoots(patience))
		}
		if err := b.power(ctx, &r); err != nil {
			return r, err
		}
	}
	if err := b.held(ctx); err != nil {
		return r, err
	}
	if err := b.online(ctx); err != nil {
		return r, err
	}
	r.Seconds = time.Since(start).Seconds()
	b.tellBoot(r, patience)
	return r, wait.For(ctx, time.Duration(b.o.File.Reboot.Rest))
}

// nearly is the share of reboot.wait above which a boot counts as nearly too slow.
const nearly = 0.6

func (b *Bed) tellBoot(r testbed.Boot, wait time.Duration) {
	b.reboots++
	b.slowest = max(b.slowest, r.Seconds)
	b.o.Say("%s booted in %.0f s (boot %.8s → %.8s)", b.o.DUT.Where(), r.Seconds, r.Before, r.Boot)
	if r.Attempts == 1 && r.Seconds > nearly*wait.Seconds() {
		b.o.Say("that is most of the %s that the testbed's file gives it before it is taken for lost: give it more (reboot: {wait: …})", wait)
	}
}

// slowBoots advises what to check after giving up on a boot.
func (b *Bed) slowBoots(wait time.Duration) string {
	if b.slowest > 0 {
		return fmt.Sprintf("if it does come up and only takes longer than reboot: {wait: %s} of the testbed's file allows (boots of this study took up to %.0f s), write more there", wait, b.slowest)
	}
	return fmt.Sprintf("if it does come up and only takes longer than reboot: {wait: %s} of the testbed's file allows, write more there", wait)
}

func times(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func (b *Bed) goDown(ctx context.Context, down func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 3*b.o.answer)
	defer cancel()
	if down != nil {
		return down(ctx)
	}
	_, err := ask(ctx, b.dut(), nil, "reboot")
	return err
}

// Unreached distinguishes a connection that ended with the host, or a host that
// is already down, from an error reported by the host.
func Unreached(err error) bool {
	var said *host.ScriptError
	return !errors.As(err, &said)
}

// Await retries something until it succeeds, try reports a final error, or the machine
// has not been reached for the given time: a booting machine does not answer. say is
// called once when waiting begins.
func Await(ctx context.Context, patience, poll time.Duration, try func() (final bool, err error), say func(err error, wait time.Duration)) error {
	deadline := time.Now().Add(patience)
	for told := false; ; told = true {
		final, err := try()
		if err == nil || final || !Unreached(err) || ctx.Err() != nil || time.Now().After(deadline) {
			return err
		}
		if !told {
			say(err, patience)
		}
		if wait.For(ctx, poll) != nil {
			return err
		}
	}
}

// power switches the DUT's power off and on with the testbed's power command, if it has one.
func (b *Bed) power(ctx context.Context, r *testbed.Boot) error {
	if len(b.o.File.Power) == 0 || b.o.Local == nil {
		b.o.Say("%s has not come back in %s, and the testbed has no power command: waiting once more", b.o.DUT.Where(), time.Duration(b.o.File.Reboot.Wait))
		return nil
	}
	b.o.Say("%s has not come back in %s: %s", b.o.DUT.Where(), time.Duration(b.o.File.Reboot.Wait), strings.Join(b.o.File.Power, " "))
	if err := b.o.Local(ctx, b.o.File.Power); err != nil {
		return hint.With(fmt.Errorf("cycle the DUT's power: %w", err), "power: of the testbed's file is run on this machine; try it by hand")
	}
	r.Powered++
	return nil
}

// awaitBoot waits until the DUT answers with a boot ID other than the last one known.
func (b *Bed) awaitBoot(ctx context.Context, patience time.Duration) (Identity, error) {
	deadline := time.Now().Add(patience)
	last := errors.New("it never went down")
	for time.Now().Before(deadline) {
		if err := wait.For(ctx, b.o.poll); err != nil {
			return Identity{}, err
		}
		id, err := b.identify(ctx, min(patience, b.o.answer))
		switch {
		case err != nil:
			last = err
		case id.Boot != b.id.Boot:
			return id, nil
		}
	}
	return Identity{}, last
}

// identify asks the DUT for its identity and gives up after within: a DUT that goes
// down while it is asked never answers, and the connection stays open.
func (b *Bed) identify(ctx context.Context, within time.Duration) (Identity, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("no answer in %s", within))
	defer cancel()
	return Identify(ctx, b.dut())
}

// online waits until the testbed's online command succeeds, so until the DUT forwards.
func (b *Bed) online(ctx context.Context) error {
	if len(b.o.File.Reboot.Online) == 0 {
		return nil
	}
	deadline := time.Now().Add(time.Duration(b.o.File.Reboot.Wait))
	for {
		_, err := ask(ctx, b.dut(), nil, append([]string{"run"}, b.o.File.Reboot.Online...)...)
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return hint.With(fmt.Errorf("%s answers but is not online: %s: %w", b.o.DUT.Where(), strings.Join(b.o.File.Reboot.Online, " "), err),
				"online: of the testbed's file must succeed on the DUT when it forwards")
		}
		if err := wait.For(ctx, b.o.poll); err != nil {
			return err
		}
	}
}

// readBoot reads back the settings that the boot was to set, from the kernel and
// not from the files. A setting that did not take effect makes the trial invalid.
func (b *Bed) readBoot(ctx context.Context, v variant) (back map[string]string, not []string, err error) {
	var q bytes.Buffer
	for _, w := range v.wants {
		fmt.Fprintf(&q, "%s %s\n", w.mechanism, w.name)
	}
	out, err := ask(ctx, b.dut(), q.Bytes(), "values")
	if err != nil {
		return nil, nil, err
	}
	back = map[string]string{}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " =")
		back[key] = strings.Join(strings.Fields(value), " ")
	}
	for _, w := range v.wants {
		got := back[w.mechanism+" "+w.name]
		k := knob.Key{Mechanism: "sysctl", Name: w.name}
		if !knob.Same(k, w.value, got) {
			not = append(not, fmt.Sprintf("%s %s is %q after the boot, and was to be %q", w.mechanism, w.name, got, w.value))
		}
	}
	if b.pending == "" {
		return back, not, nil // nothing to put back
	}
	st, err := b.m.Status(ctx)
	if err == nil && st.State == "idle" {
		not = append(not, "the DUT put itself back while it booted")
		b.pending, b.past = "", append(b.past, b.own(st)...)
	}
	return back, not, err
}

// runScript sets values one after another with knob's functions, and prints
// what they read back as; a boot reverts them all.
const runScript = `
cd / || exit 1
while read -r m d n v; do
	[ -n "$m" ] || continue
	knob_write "$m" "$d" "$n" "${v#=}" || { echo "cannot set $m $n${why:+: $why}" >&2; exit 1; }
	knob_read "$m" "$d" "$n" && printf '%s %s =%s\n' "$m" "$n" "$value"
done
`

// runAfterBoot applies the running system's settings, on a system from which
// a boot will remove them.
func (b *Bed) runAfterBoot(ctx context.Context, v variant) (map[string]string, error) {
	back := map[string]string{}
	if len(v.values) > 0 {
		if err := b.setAfterBoot(ctx, v, back); err != nil {
			return back, err
		}
	}
	if len(v.steps) == 0 {
		return back, nil
	}
	script := "set -- \"$(mktemp -d \"${TMPDIR:-/tmp}/linerate.XXXXXXXX\")\" || exit 1\nPATH=/sbin:/bin:/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin\n(" + v.do() + ") >\"$1/said\" 2>&1 || { tail -n 1 \"$1/said\" >&2; rm -rf \"$1\"; exit 1; }\nrm -rf \"$1\"\n"
	if _, err := b.o.DUT.Run(ctx, script, nil, nil); err != nil {
		return back, b.refused(err)
	}
	return back, nil
}

func (b *Bed) setAfterBoot(ctx context.Context, v variant, back map[string]string) error {
	var q bytes.Buffer
	keys := apply.KeysOf(v.values)
	for _, k := range keys[:len(v.values)] {
		for _, a := range v.values {
			if a.Key == k {
				device := k.Device
				device = cmp.Or(device, "-")
				fmt.Fprintf(&q, "%s %s %s =%s\n", k.Mechanism, device, k.Name, knob.Native(k, a.Value))
			}
		}
	}
	out, err := b.o.DUT.Run(ctx, knob.Script+runScript, nil, q.Bytes())
	if err != nil {
		return b.refused(err)
	}
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " =")
		back[key] = value
	}
	return nil
}
