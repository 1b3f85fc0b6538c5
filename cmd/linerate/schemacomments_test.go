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

// schemaComments reads the comments of a module's types from its sources, each package
// when a type of it is first asked for. Many may ask at once.
type schemaComments struct {
	// Module is the module's path, Sources its directory.
	Module  string
	Sources fs.FS
	// Main is the package, below the module, of types of a program.
	Main string
	mu   sync.Mutex // of read
	read map[string]*commented
}

// source is what was read of a package: comments by TYPE or TYPE.Field, and the
// constants of types of strings.
type commented struct {
	comments  map[string]string
	constants map[string][]string
}

// Of is the comment of a type, or of its field; "" where there is none.
func (c *schemaComments) Of(t reflect.Type, field string) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	if field != "" {
		name += "." + field
	}
	return c.of(t).comments[name]
}

// Constants are the values of the constants that a package declares of its type of
// strings, in their order.
func (c *schemaComments) Constants(t reflect.Type) []string { return c.of(t).constants[t.Name()] }

// of is the package of a type, which is read when it is first asked for.
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

// readPackage reads the comments of a directory's files; what cannot be read has none.
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

// typedConstants are the strings that constants with a type of their own have.
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
