package live

import (
	"context"
	"fmt"
	"time"

	"linerate/internal/hint"
)

// Hours are hours of the day, on this machine's clock; they may cross midnight.
type Hours struct{ From, To time.Duration }

// ParseHours reads "01:00-05:00".
func ParseHours(s string) (*Hours, error) {
	var a, b, c, d int
	if n, err := fmt.Sscanf(s, "%d:%d-%d:%d", &a, &b, &c, &d); n != 4 || err != nil || a < 0 || a > 23 || c < 0 || c > 24 || b < 0 || b > 59 || d < 0 || d > 59 {
		return nil, hint.With(hint.Usagef("%q are no hours", s), "such as 01:00-05:00")
	}
	h := &Hours{time.Duration(a)*time.Hour + time.Duration(b)*time.Minute, time.Duration(c)*time.Hour + time.Duration(d)*time.Minute}
	if h.From == h.To {
		return nil, hint.Usagef("%q is no time at all", s)
	}
	return h, nil
}

// Wait is how long it is until the hours begin; 0 within them.
func (h *Hours) Wait(now time.Time) time.Duration {
	day := time.Duration(now.Hour())*time.Hour + time.Duration(now.Minute())*time.Minute + time.Duration(now.Second())*time.Second
	within := h.From <= day && day < h.To
	if h.From > h.To {
		within = day >= h.From || day < h.To
	}
	if within {
		return 0
	}
	return (h.From - day + 24*time.Hour) % (24 * time.Hour)
}

// waitForHours waits, with nothing changed on the host, until a pair may begin.
func (r *run) waitForHours(ctx context.Context) error {
	if r.o.Hours == nil {
		return nil
	}
	wait := r.o.Hours.Wait(time.Now())
	if wait == 0 {
		return nil
	}
	if err := r.sw.off(ctx, "the hours for it are over"); err != nil {
		return err
	}
	r.o.Say("waiting %s for the hours in which the host may be changed", wait.Round(time.Minute))
	for wait > 0 {
		if err := pause(ctx, min(wait, time.Minute)); err != nil {
			return err
		}
		wait = r.o.Hours.Wait(time.Now())
	}
	return nil
}
