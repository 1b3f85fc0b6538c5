package sshbed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"linerate/internal/wait"

	"linerate/internal/apply"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// digestKind begins the names of a study's transactions; digits for the owner
// follow, then the settings' digest.
const (
	digestKind  = "study:"
	ownerDigits = 12
)

// digestOf names a transaction by its owner and settings.
func (b *Bed) digestOf(settings []setting.Setting) string {
	owner := sha256.Sum256([]byte(b.o.Owner))
	return digestKind + hex.EncodeToString(owner[:])[:ownerDigits] + setting.Digest(settings)
}

// sha is the SHA-256 of a text, hex.
func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Reset restores the DUT, applies the settings, and restarts it as far as the
// study requires.
func (b *Bed) Reset(ctx context.Context, settings []setting.Setting) (testbed.Applied, error) {
	start := time.Now()
	a := testbed.Applied{Digest: b.digestOf(settings)}
	for _, s := range settings {
		if s.Mechanism == setting.Files && b.o.Tree != nil {
			files, err := b.o.Tree(s.Name)
			if err != nil {
				return a, err
			}
			for _, f := range files {
				a.Digest = digestKind + sha(a.Digest+f.Path+f.Content)
			}
		}
	}
	if b.o.DUT == nil {
		if len(settings) > 0 {
			return a, testbed.Unavailable(settings[0], "the testbed's DUT is not reached over SSH")
		}
		return a, nil
	}
	if err := b.held(ctx); err != nil {
		return a, err
	}
	if err := b.putBack(ctx, "the next trial"); err != nil {
		return a, err
	}
	v, err := b.variant(ctx, settings)
	if err != nil {
		return a, err
	}
	if b.o.Reset == Reboot {
		err = b.resetByBoot(ctx, v, &a)
	} else {
		err = b.resetRunning(ctx, v, &a)
	}
	if err != nil {
		return a, err
	}
	a.Seconds = time.Since(start).Seconds()
	b.base, err = b.counted(ctx)
	return a, err
}

// held ensures that this study still holds the testbed.
func (b *Bed) held(ctx context.Context) error {
	if b.lock != nil {
		// Writing to a lost lock fails.
		if _, err := b.lock.Write([]byte("\n")); err == nil {
			return nil
		}
		b.lock.Close()
	}
	lock, err := hold(ctx, b.o.DUT, b.o.Owner)
	if err != nil {
		return err
	}
	b.lock = lock
	return nil
}

// putBack reverts what is pending; the agent verifies it. What a boot has set
// stays in force until the next boot: the DUT is set to boot by itself in case the
// controller is gone by then.
func (b *Bed) putBack(ctx context.Context, why string) error {
	if b.pending == "" {
		return b.forget(ctx)
	}
	if b.booted {
		if _, err := ask(ctx, b.dut(), nil, "insure", fmt.Sprint(int(b.o.Window.Seconds()))); err != nil {
			return fmt.Errorf("restore the DUT: %w", err)
		}
		if _, err := ask(ctx, b.dut(), nil, "unwatch", b.pending); err != nil {
			return fmt.Errorf("restore the DUT: %w", err)
		}
	}
	if err := b.revert(ctx, why); err != nil {
		return fmt.Errorf("restore the DUT: %w", err)
	}
	if b.pending != anyPending {
		b.past = append(b.past, b.pending)
	}
	b.pending = ""
	return b.forget(ctx)
}

// anyPending stands for a transaction whose name is unknown because the answer
// was lost.
const anyPending = "any"

// revert reverts what is pending. It may have been reverted already; revert
// waits for one that is still in progress.
func (b *Bed) revert(ctx context.Context, why string) error {
	for {
		_, err := b.m.Revert(ctx, b.pending, why)
		if err == nil && b.pending != anyPending {
			return nil
		}
		st, failed := b.m.Status(ctx)
		if failed == nil && st.State == "idle" {
			b.past = append(b.past, b.own(st)...)
			return nil
		}
		if err == nil {
			return failed
		}
		var said *host.ScriptError
		if errors.As(err, &said) && said.Code != busyCode {
			return err
		}
		if wait.For(ctx, b.o.poll) != nil {
			return err
		}
	}
}

// busyCode is the agent's exit code if another is at work (sysexits(3),
// EX_TEMPFAIL).
const busyCode = 75

// own lists this study's reverted transactions.
func (b *Bed) own(st apply.Status) (ids []string) {
	for _, past := range st.History {
		if past.Outcome == string(apply.Reverted) && strings.HasPrefix(past.Digest, b.digestOf(nil)[:len(digestKind)+ownerDigits]) {
			ids = append(ids, past.ID)
		}
	}
	return ids
}

// forget removes finished transactions from the DUT's records.
func (b *Bed) forget(ctx context.Context) error {
	if len(b.past) == 0 {
		return nil
	}
	_, err := ask(ctx, b.dut(), nil, append([]string{"forget"}, b.past...)...)
	if err == nil {
		b.past = nil
	}
	return err
}

// resetRunning applies everything at once, on the running system.
func (b *Bed) resetRunning(ctx context.Context, v variant, a *testbed.Applied) error {
	if !v.empty() {
		after, err := b.commit(ctx, v, false)
		if err != nil {
			return err
		}
		a.ReadBack = after
	}
	if b.o.Reset != Services {
		return nil
	}
	for _, s := range b.o.File.Services {
		if _, err := ask(ctx, b.dut(), nil, append([]string{"run"}, s...)...); err != nil {
			return hint.With(fmt.Errorf("restart the services: %s: %w", strings.Join(s, " "), err), "the testbed's file lists them under services:")
		}
	}
	return b.online(ctx)
}

// resetByBoot writes what a boot reads, boots, and applies the rest.
func (b *Bed) resetByBoot(ctx context.Context, v variant, a *testbed.Applied) error {
	boot, run := v.split()
	if v.image != "" {
		if !boot.empty() {
			return &testbed.ErrUnavailable{Setting: "image " + v.image, Reason: "one boot tries an image, or what it reads of files, not both"}
		}
		if err := b.bootImage(ctx, v.image, a); err != nil || run.empty() {
			return err
		}
		taken, err := b.runAfterBoot(ctx, run)
		maps.Copy(a.ReadBack, taken)
		return err
	}
	if boot.empty() {
		r, err := b.boot(ctx, nil)
		if err != nil {
			return err
		}
		a.Boot = &r
		b.booted = false
		if run.empty() {
			return nil
		}
		a.ReadBack, err = b.commit(ctx, run, false)
		return err
	}
	if _, err := b.commit(ctx, boot, true); err != nil {
		return err
	}
	b.booted = true
	r, err := b.boot(ctx, b.m.Reboot)
	if err != nil {
		return err
	}
	a.Boot = &r
	if a.ReadBack, a.NotTaken, err = b.readBoot(ctx, boot); err != nil {
		return err
	}
	// Running settings need no journal here: the boot that restores the rest
	// ends them too.
	taken, err := b.runAfterBoot(ctx, run)
	for k, value := range taken {
		a.ReadBack[k] = value
	}
	return err
}

// bootImage boots another image once; the next boot uses the default again.
func (b *Bed) bootImage(ctx context.Context, image string, a *testbed.Applied) error {
	var lasting string
	var said error
	r, err := b.boot(ctx, func(context.Context) error { // its own timeout is a minute, but writing an image may take longer
		ctx, cancel := context.WithTimeout(ctx, time.Duration(b.o.File.Reboot.Wait))
		defer cancel()
		lasting, said = ask(ctx, b.dut(), nil, "into", image)
		b.booted = b.booted || Unreached(said)
		return said
	})
	if err != nil {
		if Unreached(said) {
			return err
		}
		return b.refused(said)
	}
	a.Boot = &r
	is, err := ask(ctx, b.dut(), nil, "booted", image, strings.TrimSpace(lasting))
	if err != nil {
		return err
	}
	is = strings.TrimSpace(is)
	a.ReadBack = map[string]string{"image " + image: is}
	if is != "yes" {
		a.NotTaken = append(a.NotTaken, fmt.Sprintf("image %s: what booted is %q", image, is))
	}
	// Without a controller the DUT boots by itself, which restores it.
	_, err = ask(ctx, b.dut(), nil, "insure", fmt.Sprint(int(b.o.Window.Seconds())))
	return err
}

// commit applies a variant through apply's journal and checks what reads back.
func (b *Bed) commit(ctx context.Context, v variant, trial bool) (map[string]string, error) {
	now, err := b.m.Look(ctx, apply.KeysOf(v.values), nil)
	if err != nil {
		return nil, err
	}
	t, err := apply.Assemble(apply.Wanted{OS: b.id.OS, Digest: v.digest, Values: v.values, Files: v.files,
		Do: v.do(), TakeBack: v.takeBack(), Window: b.o.Window, Trial: trial}, now)
	var never *apply.Impossible
	if errors.As(err, &never) {
		return nil, &testbed.ErrUnavailable{Setting: never.Setting, Reason: never.Why}
	}
	if err != nil {
		return nil, err
	}
	id, after, err := b.m.Apply(ctx, t)
	if err != nil {
		b.recall(ctx)
		return nil, b.refused(err)
	}
	b.pending = id
	if err := t.Judge(after); err != nil {
		return nil, errors.Join(&testbed.ErrUnavailable{Setting: v.name, Reason: err.Error()}, b.putBack(ctx, err.Error()))
	}
	back := map[string]string{}
	for _, s := range t.Set {
		back[string(s.Mechanism)+" "+s.Name] = after[s.Key]
	}
	for _, f := range v.files {
		back["file "+f.Path] = sha(f.Content)
	}
	return back, nil
}

// recall finds out what happened to a failed transaction: it has been reverted,
// or still is being reverted.
func (b *Bed) recall(ctx context.Context) {
	st, err := b.m.Status(ctx)
	switch {
	case err != nil: // refused reports that it is unknown
	case st.State == "idle":
		b.past = append(b.past, b.own(st)...)
	default:
		b.pending = st.ID
	}
}

// refused distinguishes settings that the DUT does not support from failures:
// the first concern the variant, the second the study.
func (b *Bed) refused(err error) error {
	var said *host.ScriptError
	if errors.As(err, &said) {
		if words, found := strings.CutPrefix(said.Stderr, cannotBeHad); found {
			return &testbed.ErrUnavailable{Setting: "the variant", Reason: words}
		}
		if strings.HasPrefix(said.Stderr, "cannot set") {
			return &testbed.ErrUnavailable{Setting: "the variant", Reason: said.Stderr}
		}
		return hint.With(fmt.Errorf("set up the DUT: %w", err), "fix that on %s, then resume the study: its trials are kept", b.o.DUT.Where())
	}
	// The answer was lost: the change may be complete or in progress.
	b.pending = anyPending
	time.Sleep(min(2*time.Second, b.o.poll))
	return hint.With(fmt.Errorf("set up the DUT: %w", err), "when %s answers again, resume the study; otherwise it reverts the change itself, within %s", b.o.DUT.Where(), b.o.Window)
}
