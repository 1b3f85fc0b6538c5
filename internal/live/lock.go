package live

import (
	"context"
	_ "embed" // host.sh
	"fmt"
	"strconv"
	"strings"
	"time"

	"linerate/internal/hint"
)

//go:embed host.sh
var hostScript string

// lock takes the host for this study for a while, again before that is over: one live
// study a host.
func (r *run) lock(ctx context.Context, hold time.Duration) error {
	out, err := r.o.Conn.Run(ctx, hostScript, []string{"lock", r.owner, strconv.Itoa(int(hold.Seconds()) + 1)}, nil)
	if err != nil {
		return fmt.Errorf("take %s for the study: %w", r.o.Conn.Where(), err)
	}
	f := strings.Fields(string(out))
	if len(f) == 3 && f[0] == "held" {
		return hint.With(fmt.Errorf("another live study has %s (%s, for %s s more unless it goes on)", r.o.Conn.Where(), f[1], f[2]), "one study a host at a time: wait for it, or end it")
	}
	if len(f) != 1 || f[0] != "taken" {
		return fmt.Errorf("take %s for the study: it says %.80q", r.o.Conn.Where(), out)
	}
	return nil
}

func (r *run) unlock(ctx context.Context) error {
	_, err := r.o.Conn.Run(ctx, hostScript, []string{"unlock", r.owner}, nil)
	return err
}
