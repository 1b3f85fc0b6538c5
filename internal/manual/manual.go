package manual

import (
	"fmt"
	"path"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/internal/list"
	"linerate/internal/prose"
)

// Page is one manual page.
type Page struct {
	Name    string // linerate-audit
	Section int
	Source  string // man(7)
}

// File is where a page lies below a tree of manual pages: man1/linerate-audit.1.
func (p Page) File() string {
	return path.Join(fmt.Sprintf("man%d", p.Section), fmt.Sprintf("%s.%d", p.Name, p.Section))
}

// Of says of what the pages are: what stands at their foot.
type Of struct {
	Version string // of the program
	Date    string // of its source, as 2026-11-22
}

// All are the pages of a program and of each of its verbs, which hold their subcommands.
func All(root *cobra.Command, of Of) []Page {
	pages := []Page{program(root, of)}
	for _, verb := range verbs(root) {
		pages = append(pages, verbPage(verb, of))
	}
	return pages
}

// verbs are the commands that people call.
func verbs(c *cobra.Command) (all []*cobra.Command) {
	return list.Filter(c.Commands(), func(v *cobra.Command) bool { return v.IsAvailableCommand() && v.Name() != "help" })
}

// begin writes the head of a page.
func begin(name string, section int, title string, of Of) *roff {
	r := &roff{}
	fmt.Fprintf(&r.b, ".TH %s %d %s %q linerate\n", escape(strings.ToUpper(name)), section, of.Date, "linerate "+of.Version)
	r.macro("SH", "NAME")
	r.lines(escape(name) + ` \- ` + escape(prose.Plain(title)))
	return r
}

// program is the page of the program itself: its verbs by purpose.
func program(root *cobra.Command, of Of) Page {
	r := begin(root.Name(), 1, root.Short, of)
	r.synopsis(root, root.CommandPath()+" COMMAND [ARGUMENT …] [OPTION …]")
	r.macro("SH", "DESCRIPTION")
	r.blocks(prose.Parse(root.Long))
	r.macro("SH", "COMMANDS")
	group := ""
	for _, v := range verbs(root) {
		if v.GroupID != group && v.GroupID != "" {
			r.macro("SS", v.GroupID)
			group = v.GroupID
		}
		r.term(fmt.Sprintf(`\fB%s\fR(1)`, escape(root.Name()+"-"+v.Name())), v.Short)
	}
	r.options("OPTIONS", root.NonInheritedFlags())
	r.macro("SH", "ENVIRONMENT")
	r.term(`\fBLINERATE_LEDGER\fR`, "the ledger, where no option names another: a file, or postgres://…")
	r.term(`\fBNO_COLOR\fR`, "no colours, whatever the terminal can")
	return Page{root.Name(), 1, r.b.String()}
}

// verbPage is the page of a verb with its subcommands.
func verbPage(c *cobra.Command, of Of) Page {
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	r := begin(name, 1, c.Short, of)
	r.macro("SH", "SYNOPSIS")
	r.uses(c, true)
	r.macro("SH", "DESCRIPTION")
	r.description(c)
	r.options("OPTIONS", c.NonInheritedFlags())
	if subs := below(c); len(subs) > 0 {
		r.macro("SH", "COMMANDS")
		for _, s := range subs {
			r.macro("SS", strings.TrimPrefix(s.CommandPath(), c.Root().Name()+" "))
			r.description(s)
			r.flags(s.NonInheritedFlags())
		}
	}
	r.options("OPTIONS OF ALL COMMANDS", c.InheritedFlags())
	r.macro("SH", "SEE ALSO")
	r.lines(`\fB` + escape(c.Root().Name()) + `\fR(1); "` + escape(c.Root().Name()+" help topics") + `" lists pages of the reference`)
	return Page{name, 1, r.b.String()}
}

// below are all commands under c, each before its own.
func below(c *cobra.Command) (all []*cobra.Command) {
	for _, s := range verbs(c) {
		all = append(append(all, s), below(s)...)
	}
	return all
}

// uses lists how a verb and its subcommands are called.
func (r *roff) uses(c *cobra.Command, first bool) {
	if c.Runnable() && (!c.HasAvailableSubCommands() || c.Args != nil && c.Use != c.Name()) {
		if !first {
			r.macro("br")
		}
		r.lines(use(c))
		first = false
	}
	for _, s := range verbs(c) {
		r.uses(s, first)
		first = false
	}
}

// synopsis is the section of a page that has one line of it.
func (r *roff) synopsis(c *cobra.Command, line string) {
	r.macro("SH", "SYNOPSIS")
	r.lines(`\fB` + escape(c.Name()) + `\fR` + escape(strings.TrimPrefix(line, c.Name())))
}

// use is a command's usage line, its words bold.
func use(c *cobra.Command) string {
	_, args, _ := strings.Cut(c.Use, " ")
	line := `\fB` + strings.ReplaceAll(escape(c.CommandPath()), " ", `\ `) + `\fR`
	if args != "" {
		line += " " + escape(args)
	}
	if c.HasAvailableLocalFlags() && !strings.Contains(args, "[flags]") {
		line += ` [\fIoptions\fR]`
	}
	return line
}

// description is what help says of a command, with its examples.
func (r *roff) description(c *cobra.Command) {
	text := c.Long
	if text == "" {
		text = strings.ToUpper(c.Short[:1]) + c.Short[1:] + "."
	}
	r.blocks(prose.Parse(text))
	if c.Example != "" {
		r.code(unindented(c.Example), false)
	}
}

// unindented are the lines of an example without the room before all of them.
func unindented(text string) []string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(l, "    ")
	}
	return lines
}

// options is a section of flags, where there are any.
func (r *roff) options(title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	r.macro("SH", title)
	r.flags(flags)
}

// flags lists flags with what they take and their defaults.
func (r *roff) flags(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		takes, usage := pflag.UnquoteUsage(f)
		head := `\fB` + escape("--"+f.Name) + `\fR`
		if f.Shorthand != "" {
			head = `\fB` + escape("-"+f.Shorthand) + `\fR, ` + head
		}
		if takes != "" {
			head += ` \fI` + escape(takes) + `\fR`
		}
		if d := f.DefValue; d != "" && d != "false" && d != "[]" && d != "0" && d != "0s" && !strings.Contains(usage, "(default") {
			usage += " (default " + d + ")"
		}
		r.b.WriteString(".TP\n" + head + "\n")
		r.lines(escape(usage))
	})
}

// term is a name and what it means.
func (r *roff) term(head, text string) {
	r.b.WriteString(".TP\n" + head + "\n")
	r.text(text)
}
