package record

import (
	"errors"
	"fmt"
	"io/fs"

	"linerate/internal/lazy"
	"linerate/internal/profile"
	"linerate/internal/study"
)

// TelemetryFile holds what instruments recorded: one line for each variant of a part.
const TelemetryFile = "telemetry.jsonl"

var profileName = lazy.Regexp(`^profile-[a-z0-9._-]{1,200}\.pb\.gz$`)

// ParseTelemetry parses the lines of TelemetryFile, as ParseTrials does.
func ParseTelemetry(name string, data []byte) (all []study.Telemetry, whole int, err error) {
	return parseLines(name, data, MaxFile, func(t study.Telemetry) error {
		if t.Part == "" || t.Variant == "" {
			return errors.New("telemetry names its part and variant")
		}
		return nil
	})
}

// telemetry reads what instruments recorded, and their profiles. A profile
// that is missing or was modified is reported and left out.
func (r *Record) telemetry(fsys fs.FS) error {
	data, err := readFile(fsys, TelemetryFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", r.at(TelemetryFile), err)
	}
	if r.Telemetry, _, err = ParseTelemetry(r.at(TelemetryFile), data); err != nil {
		return err
	}
	r.Files = append(r.Files, File{TelemetryFile, data})
	for i := range r.Telemetry {
		t := &r.Telemetry[i]
		if t.Profile == nil {
			continue
		}
		if !profileName().MatchString(t.Profile.Pprof) {
			return fmt.Errorf("%s names %q as a profile: those are profile-PART-VARIANT.pb.gz", r.at(TelemetryFile), t.Profile.Pprof)
		}
		if err := r.stacks(fsys, t); err != nil {
			r.odd = append(r.odd, fmt.Sprintf("%s: %v", t.Profile.Pprof, err))
		}
	}
	return nil
}

func (r *Record) stacks(fsys fs.FS, t *study.Telemetry) error {
	data, err := readFile(fsys, t.Profile.Pprof)
	if err != nil {
		return err
	}
	if sumOf(data) != t.Profile.SHA256 {
		return errors.New("it is not what the study recorded: it was edited since")
	}
	if t.Stacks, err = profile.Read(data); err != nil {
		return err
	}
	r.Files = append(r.Files, File{t.Profile.Pprof, data})
	return nil
}
