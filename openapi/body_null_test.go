package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"mime/multipart"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/wire"
)

// TestNoNullIsLost checks that every null of a request body is sent, reported as dropped, or refused by name, over
// generated bodies: methods, media types, members that may be null, required ones, maps, lists and depths. A merge
// patch sends every member that is null, a PATCH drops none, and no body becomes empty (pains row 164).
func TestNoNullIsLost(t *testing.T) {
	r := rand.New(rand.NewPCG(39, 164))
	methods := []string{"post", "put", "patch", "delete", "query"}
	medias := []string{
		"application/json", mergePatch, strategicPatch, "application/vnd.api+json", "application/x-www-form-urlencoded", "application/xml", formData,
	}
	var paths strings.Builder
	schemas := map[string]*nullSchema{}
	for _, method := range methods {
		for _, media := range medias {
			for i := range 24 {
				id := fmt.Sprintf("%s-%d-%d", method, slices.Index(medias, media), i)
				s := randomObject(r, 3)
				schemas[id] = s
				parameters := ""
				if i%2 == 0 {
					parameters = `"parameters":[{"name":"page","in":"query","schema":{"type":"integer"}}],`
				}
				fmt.Fprintf(&paths, `,"/%s":{"%s":{%s"operationId":%q,"requestBody":{"required":%t,"content":{%q:{"schema":%s}}},"responses":{"200":{"description":"OK"}}}}`,
					id, method, parameters, id, i%3 == 0, media, s.text)
			}
		}
	}
	file := filepath.Join(t.TempDir(), "spec.json")
	text := `{"openapi":"3.2.0","info":{"title":"Nulls","version":"1"},"servers":[{"url":"https://nulls.example"}],"paths":{` + paths.String()[1:] + `}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	doc, err := Load(t.Context(), file, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	api, err := doc.Compile(t.Context(), CompileOptions{})
	if err != nil || len(api.Operations) != len(schemas) {
		t.Fatal(len(api.Operations), err)
	}
	sent, told, refused := 0, 0, 0
	for _, op := range api.Operations {
		for range 6 {
			args := schemas[op.ID].value(r)
			if op.body.form == formWhole {
				args = `{"body":` + args + `}`
			}
			built, err := op.Build(t.Context(), nil, json.RawMessage(args))
			nulls := wire.Nulls([]byte(args))
			label := fmt.Sprintf("%s %s %s\nschema %s", op.Method, op.body.media, args, schemas[op.ID].text)
			if err != nil {
				refused += checkRefused(t, op, label, nulls, err)
				continue
			}
			if op.Method == "PATCH" && len(built.Dropped) > 0 || op.body.of == mergePatch && len(built.Dropped) > 0 {
				t.Fatalf("dropped %v: %s", built.Dropped, label)
			}
			var body []byte
			if built.Request.Body != nil {
				if body, err = io.ReadAll(built.Request.Body); err != nil {
					t.Fatal(err)
				}
			}
			find := finder(t, op, built.Request.Header.Get("Content-Type"), body)
			for _, pointer := range nulls {
				switch {
				case slices.Contains(built.Dropped, pointer):
					told++
				case find(pointer):
					sent++
				default:
					t.Fatalf("%s is neither sent nor told: %s\nbody %s", pointer, label, body)
				}
			}
			if len(built.Dropped) > 0 && op.Method != "QUERY" && (len(body) == 0 || string(body) == "{}") {
				t.Fatalf("the body became empty: %s", label)
			}
		}
	}
	if sent < 200 || told < 200 || refused < 200 {
		t.Errorf("the generator has gone astray: %d nulls sent, %d told, %d calls refused", sent, told, refused)
	}
}

// checkRefused checks that a refusal names a null, and that no merge patch is refused for a null member.
func checkRefused(t *testing.T, op *Operation, label string, nulls []string, err error) int {
	t.Helper()
	var bad *ArgumentError
	if !errors.As(err, &bad) {
		t.Fatalf("%v: %s", err, label)
	}
	element := func(pointer string) bool {
		last := pointer[strings.LastIndexByte(pointer, '/')+1:]
		return last != "" && strings.Trim(last, "0123456789") == ""
	}
	for _, f := range bad.Faults {
		if slices.Contains(nulls, f.Pointer) && (op.body.of != mergePatch || element(f.Pointer)) {
			return 1
		}
	}
	t.Fatalf("no null is named: %v: %s", err, label)
	return 0
}

// finder returns a function that reports whether a body has null at a pointer into the arguments.
func finder(t *testing.T, op *Operation, contentType string, body []byte) func(pointer string) bool {
	t.Helper()
	within := func(value []byte, pointer string) bool {
		at := jsonscan.At(value, pointer)
		return at != nil && jsonscan.KindOf(at) == jsonscan.Null
	}
	strip := func(pointer string) string {
		if op.body.form == formWhole {
			return strings.TrimPrefix(pointer, "/body")
		}
		return pointer
	}
	fields := map[string]string{}
	media, parameters, _ := mime.ParseMediaType(contentType)
	switch media {
	case "application/xml":
		return func(string) bool { return false }
	case "application/x-www-form-urlencoded":
		values, err := url.ParseQuery(string(body))
		if err != nil {
			t.Fatal(err)
		}
		for name := range values {
			fields[name] = values.Get(name)
		}
	case formData:
		for reader := multipart.NewReader(strings.NewReader(string(body)), parameters["boundary"]); ; {
			part, err := reader.NextPart()
			if err != nil {
				break
			}
			value, err := io.ReadAll(part)
			if err != nil {
				t.Fatal(err)
			}
			if _, again := fields[part.FormName()]; !again {
				fields[part.FormName()] = string(value)
			}
		}
	default:
		return func(pointer string) bool { return within(body, strip(pointer)) }
	}
	return func(pointer string) bool {
		name, below, _ := strings.Cut(strip(pointer)[1:], "/")
		value := []byte(fields[name])
		if i, rest, ok := strings.Cut(below, "/"); ok && i == "0" && !within(value, "/"+below) {
			below = rest // the first element of a list is a field of its own
		}
		return below != "" && within(value, "/"+below)
	}
}

// A nullSchema is a generated schema with a generator of values for it, whose nulls it may refuse.
type nullSchema struct {
	text  string
	value func(r *rand.Rand) string
}

// randomObject generates the schema of an object with the given maximum depth.
func randomObject(r *rand.Rand, depth int) *nullSchema {
	var properties, required []string
	members := map[string]*nullSchema{}
	for i := range 1 + r.IntN(4) {
		name := string(rune('a' + i))
		s := randomMember(r, depth-1)
		members[name] = s
		properties = append(properties, fmt.Sprintf("%q:%s", name, s.text))
		if r.IntN(5) == 0 {
			required = append(required, fmt.Sprintf("%q", name))
		}
	}
	text := `{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":[` + strings.Join(required, ",") + `]}`
	return &nullSchema{text, func(r *rand.Rand) string {
		var out []string
		for i := range len(members) {
			name := string(rune('a' + i))
			if slices.Contains(required, fmt.Sprintf("%q", name)) || r.IntN(4) > 0 {
				out = append(out, fmt.Sprintf("%q:%s", name, orNull(r, members[name].value(r))))
			}
		}
		return "{" + strings.Join(out, ",") + "}"
	}}
}

func orNull(r *rand.Rand, value string) string {
	if r.IntN(3) == 0 {
		return "null"
	}
	return value
}

func randomMember(r *rand.Rand, depth int) *nullSchema {
	kind := r.IntN(6)
	if depth <= 0 {
		kind = r.IntN(3)
	}
	switch kind {
	case 0:
		return &nullSchema{`{"type":["string","null"]}`, func(*rand.Rand) string { return `"x"` }}
	case 1:
		return &nullSchema{`{"type":"integer"}`, func(*rand.Rand) string { return `7` }}
	case 2:
		return &nullSchema{`{"type":"string","enum":["on","off"]}`, func(*rand.Rand) string { return `"on"` }}
	case 3:
		item := randomMember(r, depth-1)
		return &nullSchema{`{"type":"object","additionalProperties":` + item.text + `}`, func(r *rand.Rand) string {
			return `{"k":` + orNull(r, item.value(r)) + `}`
		}}
	case 4:
		item := randomObject(r, depth-1)
		return &nullSchema{`{"type":"array","items":` + item.text + `}`, func(r *rand.Rand) string {
			return `[` + orNull(r, item.value(r)) + `]`
		}}
	default:
		return randomObject(r, depth-1)
	}
}
