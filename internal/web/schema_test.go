package web_test

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"linerate/internal/web"
	"linerate/schemas"
)

// fitsItsSchema validates an answer against the schema that its header names. Schemas allow
// undescribed members; an answer's top level must have none.
func fitsItsSchema(w *httptest.ResponseRecorder) error {
	id := between(w.Header().Get("Link"), "<", ">")
	if !strings.HasPrefix(id, web.SchemaBase) {
		return fmt.Errorf("its header Link is %q", w.Header().Get("Link"))
	}
	text, err := schemas.Read(strings.TrimPrefix(id, schemas.Base))
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(id, doc); err != nil {
		return err
	}
	s, err := c.Compile(id)
	if err != nil {
		return err
	}
	answer, err := jsonschema.UnmarshalJSON(w.Body)
	if err != nil {
		return err
	}
	if err := s.Validate(answer); err != nil {
		return err
	}
	top := s.AllOf[0].Ref
	for name := range answer.(map[string]any) {
		if top.Properties[name] == nil {
			return fmt.Errorf("%s: no %q among its %d members", id, name, len(top.Properties))
		}
	}
	return nil
}
