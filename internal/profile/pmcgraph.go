package profile

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"linerate/internal/show"
)

// graph reads one event of a pmcstat callgraph.
type graph struct {
	b       *Builder
	claimed int64 // samples, by the head
	counted int64
	module  string      // of the function before: it is printed when it changes
	path    []graphNode // from the innermost function to its callers
	frames  []Frame
	overrun bool // callers had more than the function they called
}

type graphNode struct {
	frame   Frame
	count   int64
	callers int64 // what the lines beneath account for
}

// parsePmcGraph reads what pmcstat -G prints: for each event the functions
// that were running, and indented beneath each its callers, with the samples
// that came from there. Samples that no caller accounts for belong to stacks
// that end there: the CPU's unwinder went no further, or pmcstat left rare
// callers out. Counters of one event on several CPUs are one profile.
func parsePmcGraph(text string) ([]*Profile, error) {
	var all []*graph
	byEvent := map[string]*graph{}
	var g *graph
	err := lines(text, func(_ int, line string, whole bool) error {
		if m := pmcHead.FindStringSubmatch(line); m != nil {
			if g != nil {
				if err := g.cut(0); err != nil {
					return err
				}
			}
			if g = byEvent[m[1]]; g == nil {
				g = &graph{b: NewBuilder(m[1], "samples", "pmcstat callgraph")}
				byEvent[m[1]] = g
				all = append(all, g)
			}
			n, _ := strconv.ParseInt(m[2], 10, 64)
			g.claimed += n
			return nil
		}
		if g == nil || strings.TrimSpace(line) == "" {
			return nil
		}
		if !whole {
			g.b.Note("The file ends within a line, which is left out.")
			return nil
		}
		return g.line(line)
	})
	if err == nil && g != nil {
		err = g.cut(0)
	}
	found := make([]*Profile, len(all))
	for i, g := range all {
		found[i] = g.finish()
	}
	return found, err
}

var errGraphLine = errors.New("not a line of a pmcstat callgraph: percents, [samples] and a function are expected")

// line adds a function: its indentation says how far it is from the innermost.
func (g *graph) line(line string) error {
	rest := strings.TrimLeft(line, " ")
	depth := len(line) - len(rest)
	percent, rest, ok := strings.Cut(rest, "%")
	if _, err := strconv.ParseFloat(percent, 64); !ok || err != nil {
		return errGraphLine
	}
	text, rest, ok := strings.Cut(strings.TrimLeft(rest, " "), "]")
	text, bracket := strings.CutPrefix(text, "[")
	count, err := strconv.ParseInt(text, 10, 64)
	if !ok || !bracket || err != nil || count < 0 {
		return errGraphLine
	}
	if depth > len(g.path) || depth > maxDepth {
		return fmt.Errorf("indented by %d, the line before by %d", depth, len(g.path)-1)
	}
	if err := g.cut(depth); err != nil {
		return err
	}
	name, module, moved := strings.Cut(strings.TrimSpace(rest), " @ ")
	if name == "" {
		return errGraphLine
	}
	if moved {
		g.module = module
	}
	if depth > 0 {
		g.path[depth-1].callers += count
	} else {
		g.counted += count
	}
	g.path = append(g.path, graphNode{frame: Frame{name, moduleName(g.module)}, count: count})
	return nil
}

// cut ends the path at a depth: what callers do not account for is a stack.
func (g *graph) cut(depth int) error {
	for len(g.path) > depth {
		last := g.path[len(g.path)-1]
		rest := last.count - last.callers
		if rest < 0 {
			g.overrun = true
		}
		if rest > 0 {
			g.frames = g.frames[:0]
			for i := len(g.path) - 1; i >= 0; i-- {
				g.frames = append(g.frames, g.path[i].frame)
			}
			if err := g.b.Add(g.frames, rest); err != nil {
				return err
			}
		}
		g.path = g.path[:len(g.path)-1]
	}
	return nil
}

func (g *graph) finish() *Profile {
	if g.overrun {
		g.b.Note("Somewhere callers have more samples than the function they call.")
	}
	if g.counted < g.claimed {
		g.b.Note(fmt.Sprintf("The file has %s of the %s samples (%s) that it says were taken; pmcstat leaves rare functions out, and a file can be cut short.",
			show.Count(g.counted), show.Count(g.claimed), show.Percent(100*float64(g.counted)/float64(g.claimed))))
	}
	return g.b.Profile()
}

// moduleName is the file's name of a kernel or module: "kernel", "pf.ko".
func moduleName(file string) string {
	if i := strings.LastIndexByte(file, '/'); i >= 0 && i < len(file)-1 {
		return file[i+1:]
	}
	return file
}
