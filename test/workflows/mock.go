package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi/arazzo"
)

// object is a JSON object of a document.
type object = map[string]any

func parse(text []byte) (document object, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return document, d.Decode(&document)
}

// follow returns the object that a reference leads to, or the value itself.
func follow(document object, value any) object {
	for range 20 {
		o, _ := value.(object)
		ref, ok := o["$ref"].(string)
		if !ok {
			return o
		}
		value = any(document)
		for _, token := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
			at, _ := value.(object)
			value = at[strings.NewReplacer("~1", "/", "~0", "~", "%7B", "{", "%7D", "}").Replace(token)]
		}
	}
	return nil
}

// mock is a service that answers only as its document says.
type mock struct{ document object }

func (m *mock) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // the answer does not depend on it
	op := m.operation(r.Method, r.URL.EscapedPath())
	if op == nil {
		http.Error(w, "no operation has this path", http.StatusNotImplemented)
		return
	}
	status, response := success(m.document, op)
	media, schema := content(response)
	if media == "" {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", media)
	w.WriteHeader(status)
	value := (&maker{document: m.document}).value(schema, "value", 0)
	if text, ok := value.(string); ok && !strings.Contains(media, "json") {
		_, _ = io.WriteString(w, text) // the client may be gone
		return
	}
	_ = json.NewEncoder(w).Encode(value) // as above
}

// operation returns the operation of a request: that whose path has the most literal segments.
func (m *mock) operation(method, path string) (found object) {
	paths, _ := m.document["paths"].(object)
	best := -1
	given := strings.Split(path, "/")
	for _, template := range slices.Sorted(maps.Keys(paths)) {
		own, _, _ := strings.Cut(template, "?")
		parts := strings.Split(own, "/")
		literal := 0
		fits := len(parts) == len(given)
		for i := 0; fits && i < len(parts); i++ {
			if strings.Contains(parts[i], "{") {
				continue
			}
			literal++
			fits = parts[i] == given[i]
		}
		op, ok := follow(m.document, paths[template])[strings.ToLower(method)].(object)
		if fits && ok && literal > best {
			best, found = literal, op
		}
	}
	return found
}

// success returns a successful response that an operation declares, 200 before others.
func success(document, op object) (status int, response object) {
	responses, _ := op["responses"].(object)
	for _, code := range append([]string{"200"}, slices.Sorted(maps.Keys(responses))...) {
		of, ok := responses[code]
		status, err := strconv.Atoi(strings.ReplaceAll(strings.ToUpper(code), "XX", "00"))
		if ok && err == nil && status >= 200 && status < 300 {
			return status, follow(document, of)
		}
	}
	return http.StatusOK, follow(document, responses["default"])
}

// content returns the media type and the schema of a response or a request body, JSON before others; "" if there is none.
func content(of object) (media string, schema any) {
	if schema, ok := of["schema"]; ok { // OpenAPI 2.0
		return "application/json", schema
	}
	types, _ := of["content"].(object)
	names := slices.Sorted(maps.Keys(types))
	slices.SortStableFunc(names, func(a, b string) int { return strings.Index(b, "json") - strings.Index(a, "json") })
	if len(names) == 0 {
		return "", nil
	}
	of, _ = types[names[0]].(object)
	return names[0], of["schema"]
}

// inputs returns inputs for a workflow: of the schemas of the parameters and bodies that they become, else of their own.
func inputs(w *arazzo.Workflow, document object) json.RawMessage {
	own, err := parse(w.Inputs)
	if err != nil {
		own = object{}
	}
	properties, _ := own["properties"].(object)
	given := object{}
	for name, schema := range properties {
		given[name] = (&maker{document: document}).value(schema, name, 0)
	}
	noted := map[string]bool{}
	note := func(v *arazzo.Value, schema any) {
		e := v.Expression()
		if e == nil || e.Source != arazzo.Inputs || e.Pointer != "" || schema == nil || properties[e.Name] == nil {
			return
		}
		value := (&maker{document: document}).value(schema, e.Name, 0)
		declared, _ := properties[e.Name].(object)
		if list, ok := value.([]any); ok && len(list) > 0 && declared["type"] != "array" {
			value = list[0] // one value stands for a list of it
		}
		if declared["type"] == "string" {
			if _, ok := value.(string); !ok {
				text, _ := json.Marshal(value) // it was made of JSON
				value = string(text)
			}
		}
		if text, ok := value.(string); !ok || text != e.Name || !noted[e.Name] { // an invented text fits where any text does
			given[e.Name], noted[e.Name] = value, true
		}
	}
	for _, s := range slices.Backward(w.Steps) {
		op, item := find(document, s)
		for i := range s.Parameters {
			p := &s.Parameters[i]
			note(&p.Value, parameter(document, op, item, p))
		}
		if s.Body == nil {
			continue
		}
		_, schema := content(follow(document, op["requestBody"]))
		if schema == nil {
			for _, p := range parameters(document, op, item) {
				if p["in"] == "body" {
					schema = p["schema"]
				}
			}
		}
		note(&s.Body.Payload, schema)
		members := (&maker{document: document}).properties(schema)
		for name, v := range s.Body.Payload.Members() {
			note(v, members[name])
		}
	}
	text, _ := json.Marshal(given) // it was made of JSON
	return text
}

// find returns the operation of a step, and its path item.
func find(document object, s *arazzo.Step) (op, item object) {
	paths, _ := document["paths"].(object)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item := follow(document, paths[path])
		for _, value := range item {
			if op, ok := value.(object); ok && s.OperationID != "" && op["operationId"] == s.OperationID {
				return op, item
			}
		}
	}
	return object{}, object{}
}

func parameters(document, op, item object) (all []object) {
	for _, of := range []object{op, item} {
		list, _ := of["parameters"].([]any)
		for _, p := range list {
			all = append(all, follow(document, p))
		}
	}
	return all
}

// parameter returns the schema of a parameter; nil if there is none.
func parameter(document, op, item object, p *arazzo.Parameter) any {
	for _, of := range parameters(document, op, item) {
		if of["name"] != p.Name || of["in"] != p.In {
			continue
		}
		if of["schema"] == nil && of["type"] != nil { // OpenAPI 2.0
			return of
		}
		if example, ok := of["example"].(string); ok && example != "" && isOf(example, follow(document, of["schema"])["type"]) {
			return object{"const": example}
		}
		return of["schema"]
	}
	return nil
}
