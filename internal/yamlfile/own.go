package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/goccy/go-yaml"
)

// File is one of linerate's own files, decoded.
type File[T any] struct {
	Name string
	Doc  T
}

// Own reads linerate's own files that match a pattern, concurrently. Unknown keys are errors. It
// reports each file's first mistake, with its line.
func Own[T any](fsys fs.FS, pattern string) ([]File[T], error) {
	names, err := fs.Glob(fsys, pattern)
	if err != nil {
		return nil, err
	}
	files, errs := make([]File[T], len(names)), make([]error, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		files[i].Name = name
		wg.Go(func() {
			errs[i] = placed(name, one(fsys, name, &files[i].Doc))
		})
	}
	wg.Wait()
	return files, errors.Join(errs...)
}

// one reads a file with one document.
func one(fsys fs.FS, name string, doc any) error {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	d := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict())
	if err := d.Decode(doc); err != nil {
		return err
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return errors.New("want one YAML document")
	}
	return nil
}

// placed prefixes an error with the file, and the line if known.
func placed(name string, err error) error {
	var y yaml.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &y) && y.GetToken() != nil:
		return fmt.Errorf("%s:%d: %s", name, y.GetToken().Position.Line, y.GetMessage())
	}
	return fmt.Errorf("%s: %w", name, err)
}
