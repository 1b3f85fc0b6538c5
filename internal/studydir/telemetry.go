package studydir

import (
	"bytes"
	"encoding/json"
	"fmt"

	"linerate/internal/study"
	"linerate/internal/study/record"
)

// AppendTelemetry adds what instruments saw of a variant, and returns when it
// is on disk. The file is replaced whole: it has a line for each variant.
func (d *Dir) AppendTelemetry(t study.Telemetry) error {
	d.Telemetry = append(d.Telemetry, t)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, t := range d.Telemetry {
		if err := enc.Encode(t); err != nil {
			return fmt.Errorf("write telemetry: %w", err)
		}
	}
	return writeFile(d.Path, record.TelemetryFile, b.Bytes())
}
