package config

import (
	"bytes"
	"encoding/json"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
	"golang.org/x/tools/txtar"
)

const (
	schemaFile = "../docs/config.schema.json"
	manualFile = "../docs/configuration.md"
	pagesDir   = "../docs/configuration" // a page for each key of the root
	valuesFile = "../deploy/helm/drawbridge/values.schema.json"
)

// examplePages are the pages whose YAML is complete configurations.
var examplePages = []string{
	manualFile, "../docs/upstream-credentials.md", "../docs/deployment.md", "../docs/resources.md", "../docs/questions.md", "../docs/limits.md",
	"../docs/jobs.md", "../docs/large-apis.md", "../docs/lifecycle.md", "../docs/observability.md", "../docs/operations.md",
	"../docs/guides/egress-proxy.md",
}

// TestSchema holds docs/config.schema.json against the types.
func TestSchema(t *testing.T) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(newReference(t).schema()); err != nil {
		t.Fatal(err)
	}
	compareFile(t, schemaFile, buf.Bytes())
}

// TestValuesSchema holds the definitions in the schema of the chart's values against the types. They are those of docs/config.schema.json
// in the words of draft 7, the newest that Helm before 3.18 knows, and take no secret but by a reference: config becomes a ConfigMap.
func TestValuesSchema(t *testing.T) {
	values, err := os.ReadFile(valuesFile)
	if err != nil {
		t.Fatal(err)
	}
	const begin = "\n  \"definitions\": {"
	written, _, ok := bytes.Cut(values, []byte(begin))
	if !ok {
		t.Fatalf("%s has no place for the definitions", valuesFile)
	}
	var lines []string
	defs := append(newReference(t).definitions(), member{"secret", object{
		{"description", "A secret, which is not written here but referred to."},
		{"type", "string"}, {"if", object{{"$ref", "#/$defs/reference"}}},
		// An enum is the one keyword whose error shows what is allowed and not what was given.
		{"else", object{{"enum", []string{"${file:/run/secrets/NAME/KEY}", "${NAME}"}}}},
	}})
	for _, d := range defs {
		var b bytes.Buffer
		spaced, err := object{d}.MarshalJSON()
		if err != nil || json.Compact(&b, spaced) != nil {
			t.Fatal(err)
		}
		line := bytes.ReplaceAll(b.Bytes(), []byte(`"type":"string","minLength":1,"writeOnly":true`), []byte(`"$ref":"#/$defs/secret"`))
		line = bytes.ReplaceAll(line, []byte("#/$defs/"), []byte("#/definitions/"))
		lines = append(lines, "\n    "+string(line[1:len(line)-1]))
	}
	compareFile(t, valuesFile, []byte(string(written)+begin+strings.Join(lines, ",")+"\n  }\n}\n"))
}

func compareFile(t *testing.T, path string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("%s is stale; accept the types as they are now with: go test ./config -update", path)
	}
}

// TestExamples loads every YAML example of the pages that have some.
func TestExamples(t *testing.T) {
	certificate, err := os.ReadFile("testdata/certificate.pem")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range examplePages {
		manual, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(manual, -1)
		if len(examples) == 0 {
			t.Fatalf("found %d examples in %s", len(examples), name)
		}
		for i, m := range examples {
			t.Run(filepath.Base(name)+" "+strconv.Itoa(i), func(t *testing.T) { loadExample(t, string(m[1]), certificate) })
		}
	}
}

// loadExample loads an example with files in the place of those that it names.
func loadExample(t *testing.T, example string, certificate []byte) {
	dir := t.TempDir()
	place := func(path string, data []byte) string {
		file := filepath.Join(dir, filepath.Base(path))
		writeFile(t, file, data)
		return file
	}
	text := regexp.MustCompile(`\$\{file:[^}]+\}`).ReplaceAllStringFunc(example, func(ref string) string {
		secret := []byte(strings.Repeat(filepath.Base(ref), 32))
		return "${file:" + place(strings.Trim(ref, "${}"), secret) + "}"
	})
	pem := slices.Concat(certificate, []byte("-----BEGIN PRIVATE KEY-----\n"))
	text = regexp.MustCompile(`[^ \[\],{}]+\.pem`).ReplaceAllStringFunc(text, func(path string) string { return place(path, pem) })
	for _, file := range pairOfCases(t) { // tls.crt and tls.key
		text = regexp.MustCompile(`\S+/tls`+regexp.QuoteMeta(filepath.Ext(file.Name))).ReplaceAllStringFunc(text, func(path string) string { return place(path, file.Data) })
	}
	path := place("drawbridge.yaml", []byte(text))
	_, problems := Load(path, func(name string) string { return strings.Repeat(name, 8) })
	if len(problems) > 0 {
		t.Errorf("%s\n%s", problems, text)
	}
}

// pairOfCases returns the certificate and the key of the case tls, as tls.crt and tls.key.
func pairOfCases(t *testing.T) []txtar.File {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/tls.txtar")
	if err != nil {
		t.Fatal(err)
	}
	return []txtar.File{{Name: "tls.crt", Data: archive.Files[0].Data}, {Name: "tls.key", Data: archive.Files[1].Data}}
}

// reference is what the Go source says of the types.
type reference struct {
	fields map[string]string // type.field → comment
}

func newReference(t *testing.T) *reference {
	t.Helper()
	r := &reference{fields: map[string]string{}}
	fset := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := goparser.ParseFile(fset, name, nil, goparser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok || decl.Tok != token.TYPE {
				continue
			}
			spec := decl.Specs[0].(*ast.TypeSpec)
			fields, ok := spec.Type.(*ast.StructType)
			if !ok {
				continue
			}
			for _, f := range fields.Fields.List {
				if f.Tag == nil {
					continue
				}
				if f.Doc == nil {
					t.Errorf("%s.%s has no comment", spec.Name, f.Names[0])
				}
				comment := strings.ReplaceAll(strings.TrimSpace(f.Doc.Text()), "\n", " ")
				r.fields[spec.Name.Name+"."+f.Names[0].Name] = comment
			}
		}
	}
	return r
}

// object is a JSON object with its members in order.
type object []member

type member struct {
	name  string
	value any
}

func (o object) MarshalJSON() ([]byte, error) {
	if len(o) == 0 {
		return []byte("{}"), nil
	}
	var b bytes.Buffer
	for i, m := range o {
		b.WriteByte("{,"[min(i, 1)])
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(m.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(m.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// definitions returns the schema of each struct type, and of a reference.
func (r *reference) definitions() object {
	defs := object{{"reference", object{
		{"description", "A value from the environment or a file: ${NAME}, ${NAME:-default} or ${file:PATH}."},
		{"type", "string"}, {"pattern", `\$\{`},
	}}}
	for _, t := range structs() {
		var properties object
		required := []string{}
		name, without := t.Name(), map[string]string(nil)
		if t == reflect.TypeFor[APIDefaults]() {
			t, without = reflect.TypeFor[API](), notShared
		}
		for _, f := range fieldsOf(t) {
			if without[f.name] != "" {
				continue
			}
			s := schemaOf(t.Field(f.index).Type, f)
			s = append(object{{"description", r.fields[t.Name()+"."+t.Field(f.index).Name]}}, s...)
			s = append(s, limitsOf(t.Field(f.index))...)
			if f.hasPreset {
				s = append(s, member{"default", defaultOf(t.Field(f.index).Type, f.preset)})
			}
			properties = append(properties, member{f.name, s})
			if f.needed {
				required = append(required, f.name)
			}
		}
		def := object{
			{"type", "object"}, {"properties", properties}, {"additionalProperties", false},
		}
		if len(required) > 0 {
			def = append(def, member{"required", required})
		}
		defs = append(defs, member{name, def})
	}
	return defs
}

func (r *reference) schema() object {
	return object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"title", "Configuration of drawbridge"},
		{"description", "The program checks more than this schema can say."},
		{"anyOf", []object{
			{{"description", "The smallest form: a list of OpenAPI documents."},
				{"type", "array"}, {"items", object{{"type", "string"}, {"minLength", 1}}}, {"minItems", 1}},
			{{"$ref", "#/$defs/Config"}},
		}},
		{"$defs", r.definitions()},
	}
}

// structs returns the struct types of the file, each before those that it holds.
func structs() []reflect.Type {
	var out []reflect.Type
	var visit func(reflect.Type)
	visit = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || isText(t) || t == reflect.TypeFor[Value]() || slices.Contains(out, t) {
			return
		}
		out = append(out, t)
		for _, f := range fieldsOf(t) {
			visit(t.Field(f.index).Type)
		}
	}
	visit(reflect.TypeFor[Config]())
	visit(reflect.TypeFor[Included]())
	return out
}

func defaultOf(t reflect.Type, preset string) any {
	switch {
	case t.Kind() == reflect.Slice:
		return strings.Split(strings.Trim(preset, "[]"), ", ")
	case t.Kind() == reflect.Bool, t.Kind() == reflect.Int && t != reflect.TypeFor[TokenCount]():
		return json.RawMessage(preset)
	case t.Kind() == reflect.Struct && !isText(t):
		var value any
		if err := yaml.Unmarshal([]byte(preset), &value); err != nil {
			panic(err)
		}
		return value
	}
	return preset
}

// limitsOf returns the rules of a list's tags that JSON Schema has keywords for. Texts have none, since a reference may be longer than its value.
func limitsOf(f reflect.StructField) (limits object) {
	if f.Type.Kind() != reflect.Slice {
		return nil
	}
	if _, alone := reflect.Zero(f.Type).Interface().(single); alone {
		return nil // its schema has the form of an item, too
	}
	if _, ok := f.Tag.Lookup("empty"); ok {
		limits = append(limits, member{"minItems", 1})
	}
	if count := regexp.MustCompile(`^[0-9]+`).FindString(f.Tag.Get("count")); count != "" {
		limits = append(limits, member{"maxItems", json.RawMessage(count)})
	}
	if _, ok := f.Tag.Lookup("unique"); ok {
		limits = append(limits, member{"uniqueItems", true})
	}
	return limits
}

func schemaOf(t reflect.Type, f field) object {
	orReference := func(s object) object {
		return object{{"anyOf", []object{s, {{"$ref", "#/$defs/reference"}}}}}
	}
	text := object{{"type", "string"}, {"minLength", 1}}
	switch t {
	case reflect.TypeFor[Duration]():
		return orReference(object{{"type", "string"}, {"pattern", `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`}})
	case reflect.TypeFor[Instant]():
		return orReference(object{{"type", "string"}, {"pattern", `^[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt][0-9:.]+([Zz]|[+-][0-9:]+))?$`}})
	case reflect.TypeFor[JSON]():
		return object{{"type", "object"}}
	case reflect.TypeFor[Frequency]():
		return orReference(object{{"type", "string"}, {"pattern", `^[1-9][0-9]*/[smh]$`}})
	case reflect.TypeFor[OwnFrequency]():
		return orReference(object{{"type", "string"}, {"pattern", `^([1-9][0-9]*/[smh]|off)$`}})
	case reflect.TypeFor[ByteSize]():
		return orReference(object{{"type", []string{"integer", "string"}}, {"minimum", 0},
			{"pattern", `^[0-9]+ *([KMG]i?B|B)?$`}})
	case reflect.TypeFor[TokenCount]():
		return orReference(object{{"type", []string{"integer", "string"}}, {"minimum", 0}, {"pattern", `^[0-9]+k?$`}})
	case reflect.TypeFor[Value](), reflect.TypeFor[Literal]():
		return object{}
	case reflect.TypeFor[Secret]():
		return append(text, member{"writeOnly", true})
	case reflect.TypeFor[KeyHeader]():
		return object{{"anyOf", []object{{{"type", "boolean"}}, text}}}
	}
	_, isNoProxy := reflect.Zero(t).Interface().(NoProxy)
	if _, ok := reflect.Zero(t).Interface().(single); ok || isNoProxy {
		one := schemaOf(t.Elem(), field{})
		return object{{"anyOf", []object{one, {{"type", "array"}, {"items", one}, {"minItems", 1}}}}}
	}
	if e, ok := reflect.Zero(t).Interface().(enum); ok {
		return orReference(object{{"enum", spellings(e.values())}})
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem(), f)
	case reflect.Slice:
		return object{{"type", "array"}, {"items", schemaOf(t.Elem(), field{})}}
	case reflect.Map:
		return object{{"type", "object"}, {"additionalProperties", schemaOf(t.Elem(), field{})}}
	case reflect.Bool:
		return orReference(object{{"type", "boolean"}})
	case reflect.Int:
		return orReference(object{{"type", "integer"}, {"minimum", json.RawMessage(f.low)}, {"maximum", json.RawMessage(f.high)}})
	default:
		if isText(t) {
			return text
		}
		ref := object{{"$ref", "#/$defs/" + t.Name()}}
		if s, ok := reflect.New(t).Interface().(shorthand); ok {
			return object{{"anyOf", append(schemasOf(s.short()), ref)}}
		}
		return ref
	}
}

// spellings returns the words that the loader reads as one of the values: 1.3 needs no quotes.
func spellings(values []string) (all []any) {
	for _, v := range values {
		all = append(all, v)
	}
	for _, v := range values {
		if _, err := strconv.ParseFloat(v, 64); err == nil {
			all = append(all, json.Number(v))
		}
	}
	return all
}

// schemasOf returns the schemas of the forms that are shorter than a mapping.
func schemasOf(s short) (forms []object) {
	for _, w := range s.words {
		switch w.text {
		case "true":
		case "false":
			forms = append(forms, object{{"type", "boolean"}})
		default:
			forms = append(forms, object{{"const", w.text}})
		}
	}
	if s.value != nil {
		forms = append(forms, schemaOf(reflect.TypeOf(s.value).Elem(), field{}))
	}
	return forms
}
