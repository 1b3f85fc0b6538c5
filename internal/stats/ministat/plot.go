package ministat

import (
	"bytes"
	"errors"
	"math"
)

// errPlot is where ministat itself would write outside its canvas.
var errPlot = errors.New("these values cannot be plotted in this width")

// plot is the character canvas. Rows grow upwards: rows[0] is the lowest.
type plot struct {
	min, max, x0, dx float64
	width            int
	separate         bool
	rows             [][]byte // symbol numbers, or-ed where sets overlap
	bars             [][]byte // mean, median and deviation; nil where none
}

func newPlot(sets []set, width int, separate bool) *plot {
	p := &plot{min: 999e99, max: -999e99, width: width, separate: separate, bars: make([][]byte, len(sets))}
	for _, s := range sets {
		for _, v := range []float64{s.min(), s.max(), s.mean - s.stddev, s.mean + s.stddev} {
			if v < p.min {
				p.min = v
			}
			if v > p.max {
				p.max = v
			}
		}
	}
	p.dx = (p.max - p.min) / float64(width-1)
	p.x0 = p.min - float64(.5*p.dx)
	return p
}

// column is where a value is drawn.
func (p *plot) column(v float64) (int, error) {
	x := (v - p.x0) / p.dx
	if math.IsNaN(x) || x <= -1 || x >= float64(p.width) {
		return 0, errPlot
	}
	return int(x), nil
}

// add draws a set, numbered from 1.
func (p *plot) add(s set, number int) error {
	columns := make([]int, len(s.points))
	tallest, height := 1, 0
	for i, v := range s.points {
		x, err := p.column(v)
		if err != nil {
			return err
		}
		columns[i] = x
		if i > 0 && x == columns[i-1] {
			height++
		} else {
			height = 1
		}
		tallest = max(tallest, height)
	}
	// A lower set cuts the canvas down to its own height: a quirk that
	// published plots show.
	for len(p.rows) < tallest {
		p.rows = append(p.rows, make([]byte, p.width))
	}
	p.rows = p.rows[:tallest]
	for i, x := range columns {
		if i > 0 && x == columns[i-1] {
			height++
		} else {
			height = 0
		}
		p.rows[height][x] |= byte(number)
	}
	return p.addBar(s, number)
}

// addBar draws |__M_A__| from a standard deviation below the mean to one above.
func (p *plot) addBar(s set, number int) error {
	at := 0
	if p.separate {
		at = number - 1
	}
	if p.bars[at] == nil {
		p.bars[at] = bytes.Repeat([]byte{' '}, p.width)
	}
	bar := p.bars[at]
	if !math.IsNaN(s.stddev) {
		low, err1 := p.column(s.mean - s.stddev)
		high, err2 := p.column(s.mean + s.stddev)
		if err1 != nil || err2 != nil {
			return errPlot
		}
		bar[high], bar[low] = '|', '|'
		for i := low + 1; i < high; i++ {
			if bar[i] == ' ' {
				bar[i] = '_'
			}
		}
	}
	for _, m := range []struct {
		v    float64
		mark byte
	}{{s.median, 'M'}, {s.mean, 'A'}} {
		x, err := p.column(m.v)
		if err != nil {
			return err
		}
		bar[x] = m.mark
	}
	return nil
}

// draw appends the framed canvas.
func (p *plot) draw(out *bytes.Buffer) {
	frame := "+" + string(bytes.Repeat([]byte{'-'}, p.width)) + "+\n"
	out.WriteString(frame)
	for i := len(p.rows) - 1; i >= 0; i-- {
		line := make([]byte, p.width)
		for j, k := range p.rows[i] {
			line[j] = symbols[k]
		}
		writeRow(out, line)
	}
	for _, bar := range p.bars {
		if bar != nil {
			writeRow(out, bar)
		}
	}
	out.WriteString(frame)
}

func writeRow(out *bytes.Buffer, line []byte) {
	out.WriteByte('|')
	out.Write(line)
	out.WriteString("|\n")
}

// maxWidth bounds the canvas; ministat has no bound but memory.
const maxWidth = 1 << 16
