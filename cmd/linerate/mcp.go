package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"linerate/internal/cli"
	"linerate/internal/declared"
	"linerate/internal/hint"
	"linerate/internal/list"
)

// The Model Context Protocol over standard input and output: one JSON-RPC 2.0 message a line. Its SDK would
// add 2 MB to the binary, among them HTTP sessions, OAuth and a JSON-Schema validator.

// mcpVersions are the protocol's versions with the same messages for tools and resources, the newest first.
var mcpVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// rpc is a request, a notification (without ID) or a response.
type rpc struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

// JSON-RPC's codes of errors, and MCP's of an unknown resource.
const (
	rpcParse, rpcInvalid, rpcMethod, rpcParams = -32700, -32600, -32601, -32602
	rpcResource                                = -32002
)

// object is a JSON object.
type object = map[string]any

// modelTool is a function that a model may call.
type modelTool struct {
	name, does string
	input      object // JSON Schema
	answer     func(ctx context.Context, arguments json.RawMessage) (string, error)
}

// tool returns a tool whose arguments are the fields of In.
func tool[In any](name, does string, answer func(context.Context, In) (string, error)) modelTool {
	return modelTool{name, does, inputSchema(reflect.TypeFor[In]()), func(ctx context.Context, arguments json.RawMessage) (string, error) {
		var in In
		d := json.NewDecoder(bytes.NewReader(arguments))
		d.DisallowUnknownFields()
		if err := d.Decode(&in); err != nil && len(arguments) > 0 {
			return "", fmt.Errorf("arguments: %w", err)
		}
		return answer(ctx, in)
	}}
}

// inputSchema describes a struct of strings and maps of strings. Fields without omitempty are required.
func inputSchema(t reflect.Type) object {
	schema, properties := object{"type": "object", "additionalProperties": false}, object{}
	var required []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, optional, _ := strings.Cut(f.Tag.Get("json"), ",")
		if optional == "" {
			required = append(required, name)
		}
		p := object{"type": "string", "description": f.Tag.Get("jsonschema")}
		if f.Type.Kind() == reflect.Map {
			p["type"], p["additionalProperties"] = "object", object{"type": "string"}
		}
		properties[name] = p
	}
	if len(properties) > 0 {
		schema["properties"] = properties
	}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// serve answers requests one at a time until the input or the context ends.
func (s *modelServer) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	lines, ended := make(chan []byte), make(chan error, 1)
	go func() { // a read of standard input cannot be interrupted
		scan := bufio.NewScanner(in)
		scan.Buffer(nil, 4*declared.MaxFile)
		for scan.Scan() {
			select {
			case lines <- bytes.Clone(scan.Bytes()):
			case <-ctx.Done():
				return
			}
		}
		ended <- scan.Err()
	}()
	write := json.NewEncoder(out)
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-ended:
			return err
		case line := <-lines:
			answer, due := s.respond(ctx, line)
			if !due {
				continue
			}
			if err := write.Encode(answer); err != nil {
				return err
			}
		}
	}
}

// respond returns the response to a message; notifications get none.
func (s *modelServer) respond(ctx context.Context, line []byte) (answer rpc, due bool) {
	var m rpc
	answer = rpc{Version: "2.0", ID: json.RawMessage("null")}
	err := json.Unmarshal(line, &m)
	switch {
	case err != nil && !json.Valid(line):
		answer.Error = &rpcError{rpcParse, "not JSON"}
		return answer, true
	case err != nil:
		answer.Error = &rpcError{rpcInvalid, "not a request"}
		return answer, true
	case len(m.ID) == 0 || string(m.ID) == "null" || m.Method == "":
		return answer, false
	}
	answer.ID = m.ID
	if answer.Result, err = s.result(ctx, m.Method, m.Params); err != nil {
		if !errors.As(err, &answer.Error) {
			answer.Error = &rpcError{rpcParams, err.Error()}
		}
		answer.Result = nil
	}
	return answer, true
}

// result returns the result of a request.
func (s *modelServer) result(ctx context.Context, method string, params json.RawMessage) (any, error) {
	var p struct {
		ProtocolVersion string          `json:"protocolVersion"`
		Name            string          `json:"name"`
		Arguments       json.RawMessage `json:"arguments"`
		URI             string          `json:"uri"`
	}
	if len(params) > 0 {
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, fmt.Errorf("params: %w", err)
		}
	}
	switch method {
	case "initialize": //nolint:misspell // the protocol's word
		if !slices.Contains(mcpVersions, p.ProtocolVersion) {
			p.ProtocolVersion = mcpVersions[0]
		}
		return object{"protocolVersion": p.ProtocolVersion, "capabilities": object{"tools": object{}, "resources": object{}},
			"serverInfo": object{"name": "linerate", "version": cli.Version()}, "instructions": modelInstructions}, nil
	case "ping":
		return object{}, nil
	case "tools/list":
		return object{"tools": list.Map(s.tools(), modelTool.describe)}, nil
	case "tools/call":
		return s.call(ctx, p.Name, p.Arguments)
	case "resources/list":
		return object{"resources": []any{}}, nil
	case "resources/templates/list":
		return object{"resourceTemplates": []any{tunableResource}}, nil
	case "resources/read":
		return readTunable(p.URI)
	}
	return nil, &rpcError{rpcMethod, fmt.Sprintf("unknown method %q", method)}
}

// describe says what a tool does. All only read.
func (t modelTool) describe() object {
	return object{"name": t.name, "description": t.does, "inputSchema": t.input,
		"annotations": object{"readOnlyHint": true, "destructiveHint": false, "openWorldHint": false, "idempotentHint": true}}
}

// call returns a tool's answer. Its errors are results too, for the model to read.
func (s *modelServer) call(ctx context.Context, name string, arguments json.RawMessage) (any, error) {
	t, ok := list.Find(s.tools(), func(t modelTool) bool { return t.name == name })
	if !ok {
		return nil, fmt.Errorf("unknown tool %q", name)
	}
	result := object{}
	text, err := t.answer(ctx, arguments)
	if err != nil {
		text, result["isError"] = err.Error(), true
		if h := hint.Of(err); h != "" {
			text += "\nhint: " + h
		}
	}
	result["content"] = []any{object{"type": "text", "text": text}}
	return result, nil
}

const tunableURI = "linerate://tunable/"

// tunableResource describes the addresses of the catalogue's records.
var tunableResource = object{"name": "tunable", "uriTemplate": tunableURI + "{os}/{name}", "mimeType": "application/json",
	"description": "The catalogue's record of a tunable, with its sources."}

// readTunable returns the catalogue's record at an address.
func readTunable(uri string) (any, error) {
	os, name, _ := strings.Cut(strings.TrimPrefix(uri, tunableURI), "/")
	text, err := explainTunable(about{OS: os, Name: name})
	if err != nil || !strings.HasPrefix(uri, tunableURI) {
		return nil, &rpcError{rpcResource, fmt.Sprintf("unknown resource %q", uri)}
	}
	return object{"contents": []any{object{"uri": uri, "mimeType": "application/json", "text": text}}}, nil
}
