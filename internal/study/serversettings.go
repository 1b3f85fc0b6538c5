package study

import (
	"math"

	"linerate/internal/calc"
	"linerate/internal/hint"
	"linerate/internal/setting/fsconf"
)

// TCP is how a server treats the path to its clients.
type TCP struct {
	InitCwnd   int    `yaml:"initcwnd,omitempty"`   // initial window, in segments
	InitRwnd   int    `yaml:"initrwnd,omitempty"`   // initial receive window, in segments
	Congestion string `yaml:"congestion,omitempty"` // its control: "cubic", "bbr", "reno"
	ULP        string `yaml:"ulp,omitempty"`        // an upper-layer protocol that the kernel must have: "tls"
}

// maxInitialWindow is more segments than 64 KiB need, without which window
// scaling has not begun.
const maxInitialWindow = 1000

func (t *TCP) check(path string) *Problem {
	switch {
	case *t == TCP{}:
		return Wrong(path, "the setting sets nothing").Advise("give initcwnd, initrwnd, congestion or ulp")
	case t.InitCwnd < 0 || t.InitCwnd > maxInitialWindow:
		return Wrong(path+".initcwnd", "initcwnd: %d is not within 1 and %d segments", t.InitCwnd, maxInitialWindow)
	case t.InitRwnd < 0 || t.InitRwnd > maxInitialWindow:
		return Wrong(path+".initrwnd", "initrwnd: %d is not within 1 and %d segments", t.InitRwnd, maxInitialWindow)
	case t.ULP != "":
		return OneOf(path+".ulp", t.ULP, "tls")
	case t.Congestion != "" && !nameRE.MatchString(t.Congestion):
		return Wrong(path+".congestion", "congestion %q is no name of a congestion control", t.Congestion)
	}
	return nil
}

// confProblem is what is wrong with a line of a server's configuration.
func confProblem(path string, err error) *Problem {
	if err == nil {
		return nil
	}
	return Wrong(path, "%v", err).Advise("%s", hint.Of(err))
}

// FileSystem is what a server's files are on (fsconf.Disk).
type FileSystem struct {
	Type     string `yaml:"type"`
	Options  string `yaml:"options,omitempty"`
	Features string `yaml:"features,omitempty"`
	Size     string `yaml:"size,omitempty"`
}

// Disk is the file system as a server makes it. A study that was read has one
// that can be had.
func (f *FileSystem) Disk() *fsconf.Disk {
	d, _ := f.parse()
	return &d
}

func (f *FileSystem) parse() (fsconf.Disk, error) {
	d := fsconf.Disk{Type: f.Type, Options: f.Options, Features: f.Features, Size: fsconf.DefaultSize}
	if f.Size != "" {
		v, err := calc.Parse(f.Size, calc.Bytes)
		if err != nil {
			return d, err
		}
		d.Size = int64(math.Round(v))
	}
	return d, d.Check()
}

func (f *FileSystem) check(path string) *Problem {
	_, err := f.parse()
	return confProblem(path, err)
}
