package study

import (
	"fmt"
	"math"
	"slices"

	"linerate/internal/chart"
	"linerate/internal/document"
	"linerate/internal/show"
)

// serveSections shows how long requests took, by the clients and by the server's own log.
func serveSections(s Spec, r Results) []document.Block {
	note := "From when a request was due to the last byte of its answer, where more than a few took longer than a tenth of a second"
	if slices.ContainsFunc(r.Trials, func(t Trial) bool { return t.Saw().Served != nil && t.Saw().Served.Log != nil }) {
		note += ": filled as the clients saw them, hollow as the server's own access log has them. The log ends when the last byte is with the server's kernel; what is then still under way it does not see"
	}
	var drawn []document.Block
	for _, part := range s.MeasuredParts(&r) {
		if isServed(part) {
			drawn = append(drawn, figure("part "+part.Name+", share of requests by tenths of a second", "", tenths(r, part.Name))...)
		}
	}
	return section("How long requests took", note+".", drawn...)
}

// tally sums an arm's valid trials of a part, by the clients and by the log.
func tally(r Results, part, arm string) (clients, log []float64) {
	clients, log = make([]float64, TenthsUpTo), make([]float64, TenthsUpTo)
	for _, t := range r.Trials {
		if t.Part != part || t.Variant != arm || !t.Valid || t.Observed == nil || t.Saw().Served == nil {
			continue
		}
		v := t.Saw().Served
		addUp(clients, v.Tenths)
		if v.Log != nil {
			addUp(log, v.Log.Tenths)
		}
	}
	return shares(clients), shares(log)
}

func addUp(sum []float64, add []uint64) {
	for i, n := range add[:min(len(add), len(sum))] {
		sum[i] += float64(n)
	}
}

// shares returns counts as shares of their sum; nil if it is zero.
func shares(counts []float64) []float64 {
	sum := 0.0
	for _, n := range counts {
		sum += n
	}
	if sum == 0 {
		return nil
	}
	for i := range counts {
		counts[i] /= sum
	}
	return counts
}

// tenths draws the guide's figure for every arm: the share of requests by
// response time in tenths of a second. Filled bars are the clients' view,
// hollow ones the server log's view of the same requests.
func tenths(r Results, part string) string {
	list := r.Arms(part)
	clients, logs := make([][]float64, len(list)), make([][]float64, len(list))
	last := 0
	for i, a := range list {
		clients[i], logs[i] = tally(r, part, a)
		for k := range max(len(clients[i]), len(logs[i])) {
			if serveAt(clients[i], k) >= 0.002 || serveAt(logs[i], k) >= 0.002 {
				last = max(last, k)
			}
		}
	}
	if !slices.ContainsFunc(clients, slow) && !slices.ContainsFunc(logs, slow) {
		return "" // only a single bar
	}
	const head, plot, gap = 18.0, 60.0, 14.0
	c := chart.New(float64(len(list))*(head+plot+gap) + 26)
	x := chart.Scale{To: float64(last + 1), Left: 8, Span: chart.Width - 16}
	bar := x.Span / float64(last+1)
	for i, a := range list {
		base := float64(i)*(head+plot+gap) + head + plot
		c.Text("name", "start", 8, base-plot-4, r.ArmName(a))
		c.Text("number", "end", chart.Width-8, base-plot-4, within(clients[i], logs[i]))
		c.Line("grid", 8, base, chart.Width-8, base)
		for k := 0; k <= last; k++ {
			h, l := plot*serveAt(clients[i], k), plot*serveAt(logs[i], k)
			c.Rect("tenths", x.At(float64(k))+0.06*bar, base-h, 0.42*bar, h)
			c.Rect("tenths log", x.At(float64(k))+0.52*bar, base-l, 0.42*bar, l)
		}
	}
	step := max(1, int(math.Ceil(float64(last+1)*42/x.Span)))
	for k := 0; k <= last+1; k += step {
		c.Tick(x.At(float64(k)), c.H-8, fmt.Sprintf("%.1f s", float64(k)/10))
	}
	return c.SVG(fmt.Sprintf("share of requests by tenths of a second in part %s, by the clients and by the log", part))
}

// slow reports whether more than a few requests took longer than a tenth of a second.
func slow(tenths []float64) bool { return tenths != nil && tenths[0] < 0.95 }

func serveAt(x []float64, i int) float64 {
	if i < len(x) {
		return x[i]
	}
	return 0
}

// within describes the share of the first tenth.
func within(clients, log []float64) string {
	if log == nil {
		return show.Percent(100*serveAt(clients, 0)) + " within 0.1 s"
	}
	return fmt.Sprintf("within 0.1 s: %s by the clients, %s by the log", show.Percent(100*serveAt(clients, 0)), show.Percent(100*serveAt(log, 0)))
}

// serveMethod describes how requests were sent to servers.
func serveMethod(s Spec, r Results, p Part) string {
	link := "a wire"
	if l, err := LinkOf(&s, p).Parse(); err == nil {
		link = l.String()
	}
	head := fmt.Sprintf("Part %s (mode serve, %d blocks of %g s): ", p.Name, p.Blocks, p.Seconds)
	turns := turnsIn(s, r, p)
	switch {
	case p.SMTP != nil:
		return head + mailMethod(turns, p, link)
	case p.Files != nil:
		return head + filesMethod(turns, p)
	}
	return head + webMethod(turns, p, link)
}

// webMethod describes a part of HTTP requests.
func webMethod(t turns, p Part, link string) string {
	h := p.HTTP
	kept := "kept connections"
	if !h.Keepalive {
		kept = "a new connection for each"
	}
	return fmt.Sprintf("%s, %s. Each arm has its own server, in namespaces created for each block, over %s. "+
		"Latency runs from when a request was due to the last byte of its answer; failed requests have none and are counted.",
		t.loop(h.Rate, h.Arrivals, show.Plural(h.Connections, "connection"), "requests"), kept, link)
}

// turns says how the arms of a part took turns, and whether any of them had
// kernel-wide settings written for its turns.
type turns struct {
	how    Interleaving
	kernel bool
}

// turnsIn derives it from the trials, or from the study's plan if there are none yet.
func turnsIn(s Spec, r Results, p Part) (t turns) {
	t.how = s.Interleaving(p)
	for i := range r.Trials {
		o := r.Trials[i].Observed
		if r.Trials[i].Part != p.Name || o == nil {
			continue
		}
		if t.how = InSequence; o.Interleaved != nil {
			t.how = o.Interleaved.How
		}
		v, _ := s.Variant(r.Trials[i].Variant)
		t.kernel = t.kernel || len(v.HostScope()) > 0
	}
	return t
}

// loop describes how requests are sent to an arm's server.
func (t turns) loop(rate float64, arrivals, closed, unit string) string {
	how := "a closed loop of " + closed
	if rate > 0 {
		how = fmt.Sprintf("an open loop of %g %s per second (%s) to each arm's server", rate, unit, arrivals)
	}
	switch {
	case t.how == InSequence:
		return how + ", one arm after the other"
	case t.how == Together:
		return how + ", all arms at the same time"
	case t.kernel:
		return how + ", all arms in turns of a fraction of a second, before each of which what is global to the kernel is set as the arm wants it"
	}
	return how + ", all arms in turns of a fraction of a second"
}

func mailMethod(t turns, p Part, link string) string {
	m := p.SMTP
	return fmt.Sprintf("%s, to %s of each arm's own Postfix, over %s. Its queue and mailboxes are on a separate file system, created for each block. "+
		"Latency ends with the reply that takes a message; a turn ends when the queue is empty, and the settled rate counts that time.",
		t.loop(m.Rate, m.Arrivals, show.Plural(m.Sessions, "session"), "messages"), show.Plural(m.Accounts, "account"), link)
}

func filesMethod(t turns, p Part) string {
	f := p.Files
	synced := ""
	if f.Fsync {
		synced = ", with fsync(2) after each write"
	}
	return fmt.Sprintf("%s on %s of %s%s. A request is a transaction: it reads or appends to one file, and creates or deletes one. "+
		"Each arm's files are on a separate file system, created for each block. A turn ends when all data is on the disk, and the settled rate counts that time.",
		t.loop(f.Rate, f.Arrivals, show.Plural(f.Lanes, "lane"), "transactions"), show.Plural(f.Count, "file"), f.Size, synced)
}
