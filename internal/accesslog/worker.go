package accesslog

import "bytes"

// worker reads lines into a tally.
type worker struct {
	opts   *Options
	tally  *Tally
	plan   plan
	json   *jsonScanner
	clock  clock
	status *[1000]bool
	need   fields
	prev   int64
	block  int64 // which stretch of a log without times is being read
	at     spans
}

func newWorker(o *Options) *worker {
	need := o.Filter.needs().with(Latency)
	if o.Failed {
		need = need.with(Status)
	}
	if o.Timeline && o.Format.Has(Time) {
		need = need.with(Time)
	}
	w := &worker{opts: o, tally: NewTally(o), need: need, status: o.Filter.statusSet(),
		clock: clock{layout: o.Format.layout}}
	if o.Format.json != nil {
		w.json = &jsonScanner{fields: o.Format.json, need: need}
	} else {
		w.plan = o.Format.compile(need)
	}
	return w
}

// chunk reads whole lines; the last may lack its newline.
func (w *worker) chunk(b []byte) {
	w.tally.Bytes += int64(len(b))
	w.prev = 0
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			w.line(b)
			return
		}
		w.line(b[:i])
		b = b[i+1:]
	}
}

// line counts one line.
func (w *worker) line(b []byte) {
	t := w.tally
	t.Lines++
	if n := len(b); n > 0 && b[n-1] == '\r' {
		b = b[:n-1]
	}
	if len(b) > MaxLine {
		t.bad(TooLong, b)
		return
	}
	unit, ok := w.takeApart(b)
	if !ok {
		t.bad(Shape, b)
		return
	}
	at := &w.at
	status := 0
	if w.need.has(Status) {
		if status = parseStatus(b[at[Status].from:at[Status].to]); status == 0 {
			t.bad(BadStatus, b)
			return
		}
		if w.status != nil && !w.status[status] {
			return
		}
	}
	if path := w.opts.Filter.Path; path != "" && !matchPath(path, b[at[Path].from:at[Path].to]) {
		return
	}
	when, ok := w.time(b)
	if !ok {
		return
	}
	lat := b[at[Latency].from:at[Latency].to]
	us, ok := parseLatency(lat, unit)
	switch {
	case !ok && len(lat) > 1 && lat[0] == '-':
		t.bad(Negative, b)
	case !ok:
		t.bad(NoLatency, b)
	case us > MaxLatency:
		t.bad(OutOfRange, b)
	default:
		t.add(us)
		if status >= 500 && status <= 599 {
			t.Failed++
		}
		if t.timeline != nil {
			if !w.need.has(Time) {
				when = w.block
			}
			t.timeline.add(when, us)
		}
	}
}

// takeApart finds the needed fields.
func (w *worker) takeApart(b []byte) (Unit, bool) {
	if w.json == nil {
		if !w.plan.run(b, &w.at) {
			return 0, false
		}
		if w.need.has(Path) && w.at[Request].to > 0 {
			splitRequest(b, &w.at)
		}
		return w.opts.Format.unit, true
	}
	if !w.json.run(b, &w.at) {
		return 0, false
	}
	return w.json.unit, true
}

// time parses and filters the line's time; false means that the line is done
// with.
func (w *worker) time(b []byte) (unix int64, ok bool) {
	if !w.need.has(Time) {
		return 0, true
	}
	text := b[w.at[Time].from:w.at[Time].to]
	if w.json != nil {
		w.clock.layout = guessLayout(text)
	}
	unix, ok = w.clock.parse(text)
	if !ok {
		w.tally.bad(BadTime, b)
		return 0, false
	}
	if w.prev != 0 && unix < w.prev-60 {
		w.tally.Backward++
	}
	w.prev = unix
	f := &w.opts.Filter
	return unix, (f.Since.IsZero() || unix >= f.Since.Unix()) && (f.Until.IsZero() || unix < f.Until.Unix())
}

// guessLayout tells the ways in which JSON logs write time.
func guessLayout(b []byte) timeLayout {
	switch {
	case len(b) > 10 && b[4] == '-':
		return layoutISO
	case bytes.IndexByte(b, '/') > 0:
		return layoutCLF
	}
	return layoutEpoch
}
