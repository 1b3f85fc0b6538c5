package plan

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/setting"
	"linerate/internal/show"
)

// Marker is the first line of every file that linerate owns, and of its block in a shared file.
// apply never writes a file at one of these paths that begins differently: it belongs to someone
// else.
const Marker = "# Settings of linerate: apply, and what a plan is exported to, write them."

// blockMark starts the block of one setting in a drop-in file.
const blockMark = "#: "

// The drop-in files; each has one owner.
const (
	LinuxSysctl    = "/etc/sysctl.d/90-linerate.conf"
	LinuxModprobe  = "/etc/modprobe.d/linerate.conf"
	LinuxModules   = "/etc/modules-load.d/linerate.conf"
	LinuxUdev      = "/etc/udev/rules.d/90-linerate.rules"
	LinuxTmpfiles  = "/etc/tmpfiles.d/linerate.conf"
	FreeBSDLoader  = "/boot/loader.conf.d/linerate.conf"
	FreeBSDSysctl  = "/etc/sysctl.conf.local"
	FreeBSDRC      = "/etc/rc.conf.local"
	dropInFileMode = 0o644
)

// Places lists the files that plans may write on a system, in the order in which they take effect;
// see sysctl.d(5), modprobe.d(5), modules-load.d(5), udev(7), tmpfiles.d(5), and loader.conf(5),
// sysctl.conf(5), rc.conf(5).
func Places(os string) []string {
	switch os {
	case "linux":
		return []string{LinuxModprobe, LinuxModules, LinuxSysctl, LinuxUdev, LinuxTmpfiles}
	case "freebsd":
		return []string{FreeBSDLoader, FreeBSDSysctl, FreeBSDRC}
	}
	return nil
}

// PlaceOf returns the file that makes a setting persistent, or "" if the system has none: the
// setting is then lost at the next boot, and the plan says so.
func PlaceOf(os string, m setting.Mechanism) string {
	if os == "freebsd" {
		switch m {
		case setting.Sysctl:
			return FreeBSDSysctl
		case setting.Loader:
			return FreeBSDLoader
		case setting.RC, setting.Link, setting.Offload, setting.Module:
			return FreeBSDRC
		}
		return ""
	}
	switch m {
	case setting.Sysctl:
		return LinuxSysctl
	case setting.ModParam:
		return LinuxModprobe
	case setting.Module:
		return LinuxModules
	case setting.Link, setting.Offload, setting.Ring, setting.Coalesce, setting.Channels,
		setting.NAPI, setting.RPS, setting.RFS, setting.XPS:
		return LinuxUdev
	case setting.Governor:
		return LinuxTmpfiles
	}
	return ""
}

// File is the wanted state of a drop-in file.
type File struct {
	Path    string
	Mode    uint32
	Content string
}

// Render returns the plan's drop-in files. own maps paths to the current text of linerate's files:
// settings from an earlier plan stay unless p names them. The output is deterministic.
func Render(p Plan, own map[string]string) ([]File, error) {
	var files []File
	for _, path := range Places(p.OS) {
		var blocks []block
		if old, ok := own[path]; ok {
			blocks = parseBlocks(old)
		}
		touched := false
		for _, s := range p.Settings {
			if s.Where.File != path {
				continue
			}
			line, err := directive(p.OS, path, s)
			if err != nil {
				return nil, fmt.Errorf("%s in %s: %w", s.Title(), path, err)
			}
			blocks = put(blocks, block{s.ID(), comment(p, s) + line + "\n"})
			touched = true
		}
		if touched {
			files = append(files, File{path, dropInFileMode, compose(blocks)})
		}
	}
	return files, nil
}

// block is the part of a drop-in file for one setting.
type block struct{ id, text string }

func put(blocks []block, b block) []block {
	if i := slices.IndexFunc(blocks, func(o block) bool { return o.id == b.id }); i >= 0 {
		blocks[i] = b
		return blocks
	}
	return append(blocks, b)
}

func compose(blocks []block) string {
	var b strings.Builder
	b.WriteString(Marker + "\n")
	for _, bl := range blocks {
		b.WriteString("\n" + blockMark + bl.id + "\n" + bl.text)
	}
	return b.String()
}

// parseBlocks parses a file that compose wrote.
func parseBlocks(text string) []block {
	var blocks []block
	for line := range strings.Lines(text) {
		if id, ok := strings.CutPrefix(line, blockMark); ok {
			blocks = append(blocks, block{id: strings.TrimSpace(id)})
			continue
		}
		if len(blocks) > 0 && strings.TrimSpace(line) != "" {
			blocks[len(blocks)-1].text += line
		}
	}
	return blocks
}

// comment returns the comment that explains a setting in its file.
func comment(p Plan, s Step) string {
	lines := wrap(s.Reason, 76)
	if s.Formula != "" {
		lines = append(lines, wrap(s.Formula, 76)...)
	}
	if s.Evidence.Kind != "" {
		lines = append(lines, wrap(strings.TrimSuffix(s.Evidence.Kind+": "+s.Evidence.Text, ": "), 76)...)
	}
	lines = append(lines, wrap(fmt.Sprintf("Was %s. Role %s, plan %s.", s.Current.text("not set"), p.Role, p.Short()), 76)...)
	return "# " + strings.Join(lines, "\n# ") + "\n"
}

// wrap breaks text into lines of at most width columns, or none if it is empty. Control characters
// cannot end the comment, because every run of white space becomes one blank.
func wrap(text string, width int) []string {
	if text = strings.TrimSpace(strings.Map(printable, text)); text == "" {
		return nil
	}
	return show.Wrap(text, width)
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 {
		return ' '
	}
	return r
}
