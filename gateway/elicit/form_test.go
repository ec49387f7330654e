package elicit

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// TestNoField checks the schemas that a form does not support.
func TestNoField(t *testing.T) {
	root := jsonschema.Parse([]byte(`{"$defs":{"loop":{"$ref":"#/$defs/loop"}}}`))
	for schema, want := range map[string]string{
		`{}`:                            "it is not a text",
		`true`:                          "it is not a text",
		`{"type":"object"}`:             "it is not a text",
		`{"type":["string","integer"]}`: "it is not a text",
		`{"anyOf":[{"type":"string"},{"type":"integer"}]}`: "it is not a text",
		`{"$ref":"#/$defs/none"}`:                          "it is not a text",
		`{"$ref":"#/$defs/loop"}`:                          "it is not a text",
		`{"type":"array"}`:                                 "it is not a text",
		`{"type":"array","items":{"type":"string"}}`:       "a list without a fixed set",
		`{"type":"string","contentEncoding":"base64"}`:     "a file or binary",
		`{"type":"string","format":"binary"}`:              "a file or binary",
	} {
		if f, err := fieldOf("x", root.Read([]byte(schema)), true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", schema, f, err)
		}
	}
}

// TestField checks the fields that schemas of a document become.
func TestField(t *testing.T) {
	root := jsonschema.Parse([]byte(`{"$defs":{"name":{"type":"string","title":"T","maxLength":9}}}`))
	for schema, want := range map[string]string{
		`{"$ref":"#/$defs/name","title":"Own"}`:                          `{"type":"string","title":"Own","maxLength":9}`,
		`{"anyOf":[{"$ref":"#/$defs/name"},{"type":"null"}]}`:            `{"type":"string","title":"T","maxLength":9}`,
		`{"allOf":[{"$ref":"#/$defs/name"}],"description":"A\n\u200bb"}`: `{"type":"string","title":"T","description":"A b","maxLength":9}`,
		`{"type":["null","integer"],"minimum":1.5,"default":1.5}`:        `{"type":"integer","minimum":1.5}`,
		`{"type":"integer","default":7,"exclusiveMaximum":9}`:            `{"type":"integer","default":7}`,
		`{"enum":["a",null,"b","a"],"default":"c"}`:                      `{"type":"string","enum":["a","b"]}`,
		`{"const":"a"}`: `{"type":"string","enum":["a"]}`,
		`{"oneOf":[{"const":1,"description":"One"},{"const":2}],"default":2}`:      `{"type":"string","oneOf":[{"const":"1","title":"One"},{"const":"2","title":"2"}],"default":"2"}`,
		`{"type":"array","items":{"enum":["a","b"]},"minItems":1,"default":["b"]}`: `{"type":"array","minItems":1,"items":{"type":"string","enum":["a","b"]},"default":["b"]}`,
		`{"type":"array","items":{"oneOf":[{"const":"a","title":"A"}]}}`:           `{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}`,
		`{"type":"boolean","default":"true"}`:                                      `{"type":"boolean"}`,
		`{"type":"string","format":"ipv4","minLength":-1}`:                         `{"type":"string"}`,
		`{"type":"string","enum":["` + strings.Repeat(`","`, 0) + `"]}`:            `{"type":"string","enum":[""]}`,
	} {
		f, err := fieldOf("x", root.Read([]byte(schema)), false)
		if err != nil {
			t.Errorf("%s: %v", schema, err)
			continue
		}
		if got := string(f.append(nil, formFull)); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", schema, got, want)
		}
	}
}

// TestConfiguredForm checks the errors of configured forms.
func TestConfiguredForm(t *testing.T) {
	field := func(text string) string { return `{"type":"object","properties":{"x":` + text + `}}` }
	for schema, want := range map[string]string{
		`{}`:                                "the form needs type: object",
		`{"type":"array"}`:                  `the type of a form is object, got "array"`,
		`{"type":"object"}`:                 "properties must be a mapping",
		`{"type":"object","properties":{}}`: "properties is empty; a form has fields",
		`{"type":"object","title":"x"}`:     `a form has no keyword "title"; it has type, properties and required`,
		`{"type":"object","properties":{"x":{"type":"string"}},"required":["y"]}`: `required names "y", which is no field`,
		`{"type":"object","properties":{"x":{"type":"string"}},"required":"x"}`:   "required must be a list",
		field(`1`):                                                                              "properties.x: expected a mapping",
		field(`{"type":"object"}`):                                                              "properties.x: " + errNoField.Error(),
		field(`{"enum":["a"]}`):                                                                 "properties.x: type must be string, number, integer, boolean or array, and string for a choice",
		field(`{"type":"integer","enum":[1]}`):                                                  "properties.x: type must be string, number, integer, boolean or array, and string for a choice",
		field(`{"type":"string","pattern":"x"}`):                                                `properties.x: a form has no keyword "pattern" here; it has minLength, maxLength, format, type, title, description, default`,
		field(`{"type":"string","format":"ipv4"}`):                                              "properties.x: format must be one of email, uri, date, date-time",
		field(`{"type":"string","minLength":"1"}`):                                              "properties.x: minLength must be a whole number",
		field(`{"type":"number","minimum":"1"}`):                                                "properties.x: minimum must be a number",
		field(`{"type":"string","title":1}`):                                                    "properties.x: title must be a text",
		field(`{"type":"integer","default":1.5}`):                                               "properties.x: the default 1.5 does not fit",
		field(`{"type":"string","enum":["a"],"oneOf":[{"const":"a","title":"A"}]}`):             "properties.x: a choice has either enum or oneOf",
		field(`{"type":"string","enum":["a",1]}`):                                               "properties.x: enum must be a list of texts",
		field(`{"type":"string","oneOf":[{"const":"a"}]}`):                                      "properties.x: each entry of oneOf has const and title, which are texts",
		field(`{"type":"string","enum":["a","b"],"enumNames":["A"]}`):                           "properties.x: enumNames must have a name for each value of enum",
		field(`{"type":"array","items":{"type":"string","oneOf":[{"const":"a","title":"A"}]}}`): `properties.x: a form has no keyword "oneOf" in items; it has type and enum, or anyOf`,
	} {
		if _, err := configuredForm([]byte(schema)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", schema, err, want)
		}
	}
}

// TestSecretNames checks names of secrets, and names that are not.
func TestSecretNames(t *testing.T) {
	for _, name := range []string{"password", "userPassword", "API_KEY", "apiKey", "client-secret", "access_token", "PIN", "card.number", "otp1"} {
		if !namesSecret(name) {
			t.Errorf("%q is taken for harmless", name)
		}
	}
	for _, name := range []string{"name", "key", "shipping", "tokenizer", "passenger", "secretary", "number", "pinned"} {
		if namesSecret(name) {
			t.Errorf("%q is taken for a secret", name)
		}
	}
}

// FuzzForm makes forms of any schema. Each result passes the checks of configured forms, and shows no invisible
// characters; the form of the old revision has only the features of that revision.
func FuzzForm(f *testing.F) {
	for _, seed := range []string{
		`{"type":"string","title":"\u202e","default":"x","maxLength":3}`, `{"enum":[1,"a",null]}`, `{"type":"array","items":{"enum":["a"]},"default":["a"]}`,
		`{"oneOf":[{"const":"a","title":"A"},{"const":2}]}`, `{"$ref":"#/$defs/a","$defs":{"a":{"type":["integer","null"],"default":1}}}`,
		`{"allOf":[{"type":"number","minimum":1e400}],"description":"d"}`, `{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}`,
	} {
		f.Add(seed, "name")
	}
	f.Fuzz(func(t *testing.T, schema, name string) {
		if _, err := jsonscan.Scan([]byte(schema), jsonscan.Options{Unique: true, MaxDepth: 32}); err != nil {
			return
		}
		if form, err := configuredForm([]byte(schema)); err == nil {
			if text, err := form.schema(formBasic, func(string) bool { return true }); err == nil && !json.Valid(text) {
				t.Errorf("the old form is no JSON: %s", text)
			}
		}
		made, err := fieldOf(name, jsonschema.Parse([]byte(schema)), true)
		if err != nil {
			return
		}
		one := &form{fields: []field{made}}
		text, err := one.schema(formFull, func(string) bool { return true })
		if err != nil || !json.Valid(text) {
			t.Fatalf("%s: %v", text, err)
		}
		if _, err := configuredForm(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		for _, shown := range []string{made.title, made.description} {
			if strings.ContainsFunc(shown, Invisible) || len(shown) > maxFieldText+len("…") {
				t.Errorf("%q", shown)
			}
		}
		old, err := one.schema(formBasic, func(string) bool { return true })
		if err != nil {
			return // a choice of several
		}
		for key := range jsonscan.Members(jsonscan.Lookup(jsonscan.Lookup(old, "properties"), name)) {
			if !slices.Contains([]string{"type", "title", "description", "minLength", "maxLength", "format", "minimum", "maximum", "enum", "enumNames", "default"}, string(key)) {
				t.Errorf("the old form has %q: %s", key, old)
			}
		}
	})
}
