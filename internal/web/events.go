package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"linerate/internal/show"
)

// Event is what a stream of a running study sends: its Progress, and the part of the page
// that shows it.
type Event struct {
	Progress
	HTML template.HTML `json:"html"`
}

// Of a stream: how long one event may take to be sent, and how often something is, so
// that both ends notice when the other is gone.
const (
	eventTime = 10 * time.Second
	beatEvery = 15 * time.Second
)

// events is the stream of a study on disk: an event each time its record has grown, until
// it is complete.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	p, err := s.progress(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		http.Error(w, "too many readers follow studies at this moment", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	st := stream{w: w, control: http.NewResponseController(w)}
	look, beat := time.NewTicker(s.Every), time.NewTicker(beatEvery)
	defer look.Stop()
	defer beat.Stop()
	for {
		if err := st.send(p, s.Now()); err != nil || p.State == StateComplete {
			return
		}
		for last := p; p.Changed.Equal(last.Changed) && p.Bytes == last.Bytes && p.State == last.State; {
			select {
			case <-r.Context().Done():
				return
			case <-s.closing:
				return
			case <-beat.C:
				if st.write([]byte(": still there\n\n")) != nil {
					return
				}
			case <-look.C:
				if p, err = s.progress(r); err != nil {
					return
				}
			}
		}
	}
}

// stream writes events, each within eventTime.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (st stream) send(p Progress, now time.Time) error {
	html, err := p.fragment(now)
	if err != nil {
		return err
	}
	data, err := json.Marshal(Event{p, html})
	if err != nil {
		return err
	}
	return st.write(fmt.Appendf(nil, "event: progress\ndata: %s\n\n", data))
}

func (st stream) write(data []byte) error {
	if err := st.control.SetWriteDeadline(time.Now().Add(eventTime)); err != nil {
		return err
	}
	if _, err := st.w.Write(data); err != nil {
		return err
	}
	return st.control.Flush()
}

// part renders a template that is a part of a page.
func part(name string, data any) (template.HTML, error) {
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("make a part of a page: %w", err)
	}
	return template.HTML(show.NoBreak(b.String())), nil //nolint:gosec // a template's output
}
