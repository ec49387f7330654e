package elicit

import (
	"strings"
	"testing"

	"drawbridge/config"

	"drawbridge/openapi/jsonschema"
)

// TestInputProblems checks the errors of rules that an operation can't satisfy, with the position in the list.
func TestInputProblems(t *testing.T) {
	args := Arguments{
		{"name", jsonschema.Parse([]byte(`{"type":"string"}`)), true}, {"file", jsonschema.Parse([]byte(`{"type":"string","format":"binary"}`)), false},
		{"password", jsonschema.Parse([]byte(`{"type":"string"}`)), true}, {"word", jsonschema.Parse([]byte(`{"type":"string","format":"password"}`)), true},
	}
	configured := func(schema string, bind map[string]config.Pointer) config.Input {
		return config.Input{Key: "k", Kind: config.InputForm, Schema: config.JSON(schema), Bind: bind}
	}
	arguments := func(names ...string) config.Input {
		return config.Input{Key: "k", Kind: config.InputForm, Arguments: names}
	}
	const one = `{"type":"object","properties":{"x":{"type":"string"}}}`
	for name, tt := range map[string]struct {
		input config.Input
		want  string
	}{
		"unknown":          {arguments("name", "names"), `.arguments[1]: there is no argument "names"; did you mean "name"?`},
		"a file":           {arguments("file"), `.arguments[0]: a form can't ask for "file": it is a file or binary, which no form can ask for`},
		"too many":         {arguments(strings.Split(strings.Repeat("name ", 21), " ")...), ".arguments: a form has at most 20 fields"},
		"a secret":         {arguments("password"), `: the field "password" looks like that of a secret`},
		"a format":         {arguments("word"), `: the field "word" looks like that of a secret`},
		"a hidden secret":  {configured(one, map[string]config.Pointer{"password": "/x"}), `: the field "password" looks like that of a secret`},
		"no form":          {configured(`{"type":"string"}`, nil), `.schema: the type of a form is object, got "string"`},
		"no argument":      {configured(one, nil), `.schema: the field "x" gives no argument: there is no argument "x"; bind says which it gives`},
		"bound to none":    {configured(one, map[string]config.Pointer{"nam": "/x"}), `.bind.nam: there is no argument "nam"; did you mean "name"?`},
		"bound to nowhere": {configured(one, map[string]config.Pointer{"name": "/xx"}), `.bind.name: "/xx" leads to no field of the form`},
		"twice":            {arguments("name"), `: the argument "name" is asked for by an earlier question`},
	} {
		list := []config.Input{tt.input}
		if name == "twice" {
			list = append(list, tt.input)
		}
		_, err := New(list, args)
		if err == nil || err.Index != len(list)-1 || !strings.HasPrefix(err.Key+": "+err.Error(), tt.want) {
			t.Errorf("%s: %+v, want %s", name, err, tt.want)
		}
		if name == "a secret" {
			tt.input.NoSecrets = true
			if _, err := New([]config.Input{tt.input}, args); err != nil {
				t.Errorf("a secret that is none: %v", err)
			}
		}
	}
}
