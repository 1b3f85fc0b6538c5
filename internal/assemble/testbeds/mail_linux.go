package testbeds

import (
	"context"
	"errors"
	"net/netip"
	"time"

	labserve "linerate/internal/lab/serve"
	"linerate/internal/load/client"
	"linerate/internal/load/request"
	"linerate/internal/load/smtpload"
	"linerate/internal/server"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// mailArm is an arm's Postfix with its load of messages.
type mailArm struct {
	box     *server.Box
	postfix *server.Process
	load    smtpload.Spec
	spool   string
	log     setting.MailLog
}

// drainFor is how long a turn waits for the queue to empty.
const drainFor = 20 * time.Second

func startMail(ctx context.Context, at testbed.Site, settings []setting.Setting, part study.Part) (labserve.Server, error) {
	m := part.SMTP
	conf := setting.Mail{Accounts: m.Accounts, Parameters: map[string]string{}}
	for _, s := range settings {
		if s.Mechanism == setting.Postfix {
			conf.Parameters[s.Name] = s.Value
		}
	}
	sizes, err := m.Sizes()
	if err != nil {
		return nil, err
	}
	a := &mailArm{}
	if a.box, err = boxWithDisk(at, settings, func(*server.Box) error { return nil }); err != nil {
		return nil, err
	}
	a.load = smtpload.Spec{
		Server: netip.AddrPortFrom(at.Address, 25), From: "linerate@linerate.invalid", To: setting.MailRecipient, Accounts: m.Accounts, Sizes: sizes,
		Sessions: m.Sessions, PerSession: m.PerSession, Load: client.Load{Rate: m.Rate, Arrivals: request.Process(m.Arrivals), Timeout: time.Duration(m.Timeout * 1e9)},
		Sources: at.Sources, Enter: at.Enter,
	}
	if a.spool, err = a.box.Path(server.DiskDir + "/spool"); err == nil {
		a.postfix, err = a.box.StartMail(ctx, conf, server.DiskDir, at.Address)
	}
	if err != nil {
		return nil, errors.Join(err, a.box.Close())
	}
	return a, nil
}

// queueSampled is the interval of counting the queue: a burst lasts some hundred milliseconds, and
// its queue is short.
const queueSampled = 10 * time.Millisecond

// Ask sends messages once more, and waits until the queue is empty and the disk is idle: remaining
// work of one arm's server must not affect the next arm. Mail is delivered when the queue is empty;
// the time to write the rest to disk (names removed from the queue) is not counted.
func (a *mailArm) Ask(ctx context.Context, o labserve.Offer) (*request.Account, request.Meter, error) {
	q, err := smtpload.WatchQueue(a.spool, queueSampled)
	if err != nil {
		return nil, request.Meter{}, err
	}
	l := a.load
	l.Warmup, l.Duration, l.Requests, l.Seed = o.Warmup, o.Lasts, o.Requests, o.Seed
	account, m, err := smtpload.Account(ctx, l)
	patience := drainFor
	if err != nil {
		patience = 0
	}
	seen := q.Drain(ctx, patience)
	m.Settle, m.Queue = max(1, time.Duration(seen.DrainSeconds*1e9)), &seen
	return account, m, errors.Join(err, a.box.SyncDisk())
}

func (a *mailArm) CPU() time.Duration { return a.postfix.CPU() }
func (a *mailArm) Running() error     { return a.postfix.Running() }

// Stop stops Postfix and reads its log.
func (a *mailArm) Stop() (*study.ServerLog, error) {
	a.postfix.Stop()
	l, err := a.box.MailLog()
	a.log = l
	return nil, errors.Join(err, a.box.Close())
}

// Tell adds the outcome of the messages according to Postfix's log.
func (a *mailArm) Tell(v *study.Served) {
	if l := a.log; l.Taken > 0 {
		v.Mail = &study.Mail{Taken: l.Taken, Delivered: l.Delivered, Deferred: l.Deferred, Bounced: l.Bounced}
	}
}
