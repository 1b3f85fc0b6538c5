package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// schemaComments reads the comments of a module's types from its sources, each package when one
// of its types is first needed. It is safe for concurrent use.
type schemaComments struct {
	// Module is the module's path, Sources its directory.
	Module  string
	Sources fs.FS
	// Main is the path, within the module, of the program's package main.
	Main string
	mu   sync.Mutex // guards read
	read map[string]*commented
}

// commented is what was read from a package: comments by TYPE or TYPE.Field, and the constants
// of string types.
type commented struct {
	comments  map[string]string
	constants map[string][]string
}

// Of returns the comment of a type or of one of its fields, "" if there is none.
func (c *schemaComments) Of(t reflect.Type, field string) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	if field != "" {
		name += "." + field
	}
	return c.of(t).comments[name]
}

// Constants returns the values of the constants that a package declares of a string type, in
// order.
func (c *schemaComments) Constants(t reflect.Type) []string { return c.of(t).constants[t.Name()] }

// of returns the package of a type, read on first use.
func (c *schemaComments) of(t reflect.Type) *commented {
	dir, ours := strings.CutPrefix(t.PkgPath(), c.Module+"/")
	if t.PkgPath() == "main" {
		dir, ours = c.Main, true
	}
	if !ours || t.Name() == "" {
		return &commented{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read == nil {
		c.read = map[string]*commented{}
	}
	if c.read[dir] == nil {
		c.read[dir] = c.readPackage(dir)
	}
	return c.read[dir]
}

// readPackage reads the comments of a directory's files; files that cannot be read add none.
func (c *schemaComments) readPackage(dir string) *commented {
	out := &commented{map[string]string{}, map[string][]string{}}
	files, err := fs.Glob(c.Sources, path.Join(dir, "*.go"))
	if err != nil {
		return out
	}
	set := token.NewFileSet()
	for _, name := range files {
		text, err := fs.ReadFile(c.Sources, name)
		if err != nil || strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		for _, d := range f.Decls {
			switch g, ok := d.(*ast.GenDecl); {
			case ok && g.Tok == token.TYPE:
				typeComments(g, out.comments)
			case ok && g.Tok == token.CONST:
				typedConstants(g, out.constants)
			}
		}
	}
	return out
}

func typeComments(g *ast.GenDecl, out map[string]string) {
	for _, s := range g.Specs {
		spec, ok := s.(*ast.TypeSpec)
		if !ok {
			continue
		}
		doc := spec.Doc
		if doc == nil {
			doc = g.Doc
		}
		out[spec.Name.Name] = oneLine(doc)
		fields, ok := spec.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, f := range fields.Fields.List {
			text := oneLine(f.Doc)
			if text == "" {
				text = oneLine(f.Comment)
			}
			for _, n := range f.Names {
				out[spec.Name.Name+"."+n.Name] = text
			}
		}
	}
}

// typedConstants collects the values of string constants that have a named type.
func typedConstants(g *ast.GenDecl, out map[string][]string) {
	for _, s := range g.Specs {
		spec, ok := s.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			continue
		}
		of, named := spec.Type.(*ast.Ident)
		value, literal := spec.Values[0].(*ast.BasicLit)
		if !named || !literal || value.Kind != token.STRING {
			continue
		}
		if text, err := strconv.Unquote(value.Value); err == nil && !slices.Contains(out[of.Name], text) {
			out[of.Name] = append(out[of.Name], text)
		}
	}
}

func oneLine(g *ast.CommentGroup) string { return strings.Join(strings.Fields(g.Text()), " ") }
