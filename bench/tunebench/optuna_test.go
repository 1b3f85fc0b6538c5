package tunebench

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"

	"linerate/internal/list"
	"linerate/internal/tune"
)

//go:embed tpe.py
var optunaProgram string // a file named optuna.py would hide the module from python3 in this directory

// HasOptuna reports whether python3 can import Optuna.
func HasOptuna() bool { return exec.Command("python3", "-c", "import optuna").Run() == nil }

// optuna asks Optuna's TPE sampler (Bergstra et al., NIPS 24, 2011) for blocks of configurations,
// measures them next to the base, and confirms the best.
func (b *bench) optuna() (tune.Config, error) {
	p := exec.Command("python3", "-c", optunaProgram)
	in, failed := p.StdinPipe()
	out, err := p.StdoutPipe()
	if err = errors.Join(failed, err); err == nil {
		err = p.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start Optuna: %w", err)
	}
	best, asked := b.ask(json.NewEncoder(in), json.NewDecoder(out))
	_ = in.Close() // makes the program exit
	if err := errors.Join(asked, p.Wait()); err != nil {
		return nil, fmt.Errorf("ask Optuna: %w", err)
	}
	if best.Size() == 0 {
		return nil, nil
	}
	return b.confirmed(best, confirmPairs), nil
}

// ask returns the best configuration that the program asked to measure.
func (b *bench) ask(tell *json.Encoder, asked *json.Decoder) (best tune.Config, err error) {
	levels := list.Map(b.effect, func(e []float64) int { return len(e) - 1 })
	const arms = 15
	err = tell.Encode([]any{levels, b.rng.Uint32(), arms})
	for most := math.Inf(-1); err == nil && b.used+arms+1 <= Slots-2*confirmPairs; {
		var block []tune.Config
		if err = asked.Decode(&block); err != nil {
			return nil, err
		}
		values := b.block(append(block, b.base())...)
		for i := range values {
			if values[i] -= values[arms]; i < arms && values[i] > most {
				best, most = block[i], values[i]
			}
		}
		err = tell.Encode(values[:arms])
	}
	return best, err
}
