package wire

import (
	"encoding/json"
	"errors"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/openapi/jsonscan"
	"drawbridge/test/cases"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

const (
	becomes = " → "
	refused = " ✗ "
	leftOut = "(left out)"
)

// runCases runs every file below testdata/dir. Each line of its section "cases" is an input, an arrow and the result of
// the function that compile returns, or a cross and the error.
func runCases(t *testing.T, dir string, compile func(t *testing.T, a *txtar.Archive) func(in string) (string, error)) {
	t.Helper()
	cases.Run(t, filepath.Join("testdata", dir, "*.txtar"), func(t *testing.T, file string, a *txtar.Archive) {
		run := compile(t, a)
		for i, f := range a.Files {
			if f.Name != "cases" {
				continue
			}
			var got strings.Builder
			for line := range strings.Lines(string(f.Data)) {
				line = strings.TrimSuffix(line, "\n")
				in, _, _ := strings.Cut(line, becomes)
				in, _, _ = strings.Cut(in, refused)
				if in = strings.TrimSuffix(strings.TrimSuffix(in, " →"), " ✗"); in == "" {
					got.WriteByte('\n')
					continue
				}
				out, err := run(in)
				if err != nil {
					got.WriteString(in + refused + err.Error() + "\n")
				} else {
					got.WriteString(strings.TrimSuffix(in+becomes+out, " ") + "\n")
				}
			}
			if diff := cmp.Diff(string(f.Data), got.String()); diff != "" && !*update {
				t.Errorf("(-want +got)\n%s", diff)
			}
			a.Files[i].Data = []byte(got.String())
		}
		if *update {
			cases.Write(t, file, a)
		}
	})
}

func section(t *testing.T, a *txtar.Archive, name string) []byte {
	t.Helper()
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	t.Fatalf("there is no section %q", name)
	return nil
}

// slashOf returns the treatment of slashes in a variable of a template.
func slashOf(reserved bool) Slash {
	if reserved {
		return SlashRaw
	}
	return SlashRefused
}

// parameter reads a Parameter from JSON in the terms of the standard.
func parameter(t *testing.T, data []byte) Parameter {
	t.Helper()
	var in struct {
		Name, In, Style, ContentType               string
		Explode                                    *bool
		AllowReserved, AllowEmptyValue, AllowSlash bool
		EncodeSlash                                bool
		Taken                                      []string
	}
	if err := json.Unmarshal(data, &in); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	p := Parameter{
		Name: in.Name, ContentType: in.ContentType, AllowReserved: in.AllowReserved, AllowEmptyValue: in.AllowEmptyValue,
	}
	switch {
	case in.EncodeSlash:
		p.Slash = SlashEncoded
	case in.AllowSlash:
		p.Slash = SlashRaw
	}
	if in.Taken != nil {
		taken := make(map[string]struct{})
		for _, name := range in.Taken {
			taken[name] = struct{}{}
		}
		p.Taken = func() map[string]struct{} { return taken }
	}
	ok := true
	if in.In == "" {
		p.In = Query
	} else if p.In, ok = ParseLocation(in.In); !ok {
		t.Fatalf("location %q", in.In)
	}
	switch in.Style {
	case "":
		p.Style = p.In.Style()
	case "byType":
		p.Style = ByType
	default:
		if p.Style, ok = ParseStyle(in.Style); !ok {
			t.Fatalf("style %q", in.Style)
		}
	}
	p.Explode = p.Style.Explode()
	if in.Explode != nil {
		p.Explode = *in.Explode
	}
	return p
}

// encode writes v in the location of p.
func (e *Encoder) encode(v string) (string, error) {
	switch e.p.In {
	case Path:
		out, err := e.AppendPath(nil, []byte(v))
		return string(out), err
	case Query:
		out, err := e.AppendQuery(nil, []byte(v))
		return string(out), err
	case Header:
		return e.HeaderValue([]byte(v))
	default:
		out, err := e.CookiePairs(nil, []byte(v))
		return string(out), err
	}
}

func checkJSON(t *testing.T, v string) {
	t.Helper()
	if _, err := jsonscan.Scan([]byte(v), jsonscan.Options{}); err != nil {
		t.Fatalf("%s: %v", v, err)
	}
}

func TestValues(t *testing.T) {
	runCases(t, "value", func(t *testing.T, a *txtar.Archive) func(string) (string, error) {
		e, err := NewEncoder(parameter(t, section(t, a, "parameter")))
		if err != nil {
			t.Fatal(err)
		}
		return func(in string) (string, error) {
			checkJSON(t, in)
			out, err := e.encode(in)
			if ve := (*ValueError)(nil); err != nil && !errors.As(err, &ve) {
				t.Errorf("%s: the error is a %T", in, err)
			}
			if e.Undefined([]byte(in)) && err == nil {
				if out != "" {
					t.Errorf("%s is undefined and gave %q", in, out)
				}
				out = leftOut
			}
			return out, err
		}
	})
}

func TestTemplates(t *testing.T) {
	runCases(t, "template", func(t *testing.T, a *txtar.Archive) func(string) (string, error) {
		// An input is a template, a space, and an object with the values of its variables.
		return func(in string) (string, error) {
			path, values, _ := strings.Cut(in, " ")
			tpl, err := ParseTemplate(path)
			if err != nil {
				return "", err
			}
			out, err := tpl.Append([]byte("https://h"), func(i int, dst []byte) ([]byte, error) {
				e, err := NewEncoder(Parameter{Name: tpl.Names()[i], In: Path, Slash: slashOf(tpl.Reserved(i))})
				if err != nil {
					return nil, err
				}
				return e.AppendPath(dst, jsonscan.Lookup([]byte(values), tpl.Names()[i]))
			})
			if err != nil {
				return "", err
			}
			got := strings.TrimPrefix(string(out), "https://h")
			if tpl.Query() != "" {
				got += " ?" + tpl.Query()
			}
			for _, v := range tpl.QueryVariables() {
				got += " ?" + v.Key + "={" + v.Name + "}"
			}
			return got, nil
		}
	})
}

func TestForms(t *testing.T) {
	runCases(t, "form", func(t *testing.T, a *txtar.Archive) func(string) (string, error) {
		var in struct {
			Properties map[string]json.RawMessage
			Fallback   json.RawMessage
		}
		if err := json.Unmarshal(section(t, a, "form"), &in); err != nil {
			t.Fatal(err)
		}
		properties := map[string]Parameter{}
		for name, data := range in.Properties {
			properties[name] = parameter(t, data)
		}
		f, err := NewFormEncoder(properties, parameter(t, in.Fallback))
		if err != nil {
			t.Fatal(err)
		}
		return func(in string) (string, error) {
			checkJSON(t, in)
			out, err := f.Append(nil, func(yield func(string, []byte) bool) {
				for name, v := range jsonscan.Members([]byte(in)) {
					if !yield(string(name), v) {
						return
					}
				}
			})
			return string(out), err
		}
	})
}

// TestIllegalParameters checks that every combination of style and location is either in the standard's table or
// refused with a sentence that names it.
func TestIllegalParameters(t *testing.T) {
	for _, c := range []struct {
		p    Parameter
		want string
	}{
		{Parameter{Name: "a", In: Query, Style: Simple}, `style "simple" is not possible in query (OAS 3.2 "Style Values")`},
		{Parameter{Name: "a", In: Query, Style: Matrix}, `style "matrix" is not possible in query (OAS 3.2 "Style Values")`},
		{Parameter{Name: "a", In: Query, Style: Label}, `style "label" is not possible in query (OAS 3.2 "Style Values")`},
		{Parameter{Name: "a", In: Query, Style: CookieStyle}, `style "cookie" is not possible in query (OAS 3.2 "Style Values")`},
		{Parameter{Name: "a", In: Query, Style: ByType}, `style "by type" is not possible in query (OAS 3.2 "Style Values")`},
		{Parameter{Name: "a", In: Path, Style: Form}, `style "form" is not possible in path (OAS 3.2 "Style Values")`},
		{Parameter{Name: "a", In: Path, Style: DeepObject}, `style "deepObject" is not possible in path (OAS 3.2 "Style Values")`},
		{Parameter{Name: "a", In: Header, Style: Form}, `style "form" is not possible in header (OAS 3.2 "Style Values")`},
		{Parameter{Name: "a", In: Cookie, Style: Simple}, `style "simple" is not possible in cookie (OAS 3.2 "Style Values")`},
		{Parameter{Name: "a", In: QueryString}, `a parameter that is the whole query must have content (OAS 3.2 "in: querystring")`},
		{Parameter{In: Query, Style: Form}, `the parameter has no name`},
		{Parameter{Name: "a b", In: Header}, `"a b" can't be the name of a header (RFC 9110 section 5.6.2)`},
		{Parameter{Name: "a\r\nb", In: Header}, `"a\r\nb" can't be the name of a header (RFC 9110 section 5.6.2)`},
		{Parameter{Name: "a=b", In: Cookie, Style: Form}, `"a=b" can't be the name of a cookie (RFC 6265 section 4.1.1)`},
		{Parameter{Name: "X_Forwarded-For", In: Header}, `the header "X_Forwarded-For" is set by the gateway alone and can't be an argument`},
	} {
		_, err := NewEncoder(c.p)
		if err == nil || err.Error() != c.want {
			t.Errorf("%+v: got %v, want %s", c.p, err, c.want)
		}
	}
}

// TestForbiddenHeaders checks the whole list, in the spellings that servers treat as equal (R6, pains row 109).
func TestForbiddenHeaders(t *testing.T) {
	for _, name := range strings.Fields(`Authorization Proxy-Authorization Proxy-Connection Cookie Host Content-Length
		Content-Type Accept Transfer-Encoding TE Trailer Upgrade Connection Keep-Alive Expect Forwarded X-Forwarded-For
		X-Forwarded-Host X-Real-IP X-Original-URL X-HTTP-Method-Override X-Rewrite-URL Mcp-Session-Id Mcp-Param-a
		traceparent tracestate baggage DPoP User-Agent Proxy X-Forwarded X-Client-IP True-Client-IP X-Host Front-End-Https Remote-User
		X-Remote-User X-Accel-Mapping X-Sendfile-Type X-Middleware-Subrequest`) {
		for _, spelling := range []string{name, strings.ToLower(name), strings.ToUpper(name), strings.ReplaceAll(name, "-", "_")} {
			if !ForbiddenHeader(spelling) {
				t.Errorf("%s is not forbidden", spelling)
			}
		}
	}
	for _, name := range strings.Fields("X-Request-Id If-Match If-None-Match Range Idempotency-Key Accept-Language Prefer X-Api-Version X-Proxy Proxied X-User-Id") {
		if ForbiddenHeader(name) {
			t.Errorf("%s is forbidden", name)
		}
	}
}

func TestAllocations(t *testing.T) {
	dst := make([]byte, 0, 256)
	values := [][]byte{[]byte(`"a b/c"`), []byte(`12345678901234567890`), []byte(`true`), []byte(`["a","b"]`)}
	for _, p := range []Parameter{
		{Name: "a", In: Query, Style: Form, Explode: true},
		{Name: "a", In: Path, Slash: SlashRaw},
		{Name: "a", In: Cookie, Style: Form},
	} {
		e, err := NewEncoder(p)
		if err != nil {
			t.Fatal(err)
		}
		n := testing.AllocsPerRun(100, func() {
			for _, v := range values {
				var err error
				switch p.In {
				case Query:
					_, err = e.AppendQuery(dst, v)
				case Path:
					_, err = e.AppendPath(dst, v)
				default:
					_, err = e.CookiePairs(dst, v)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		})
		if n > 0 {
			t.Errorf("%s: %v allocations", p.In, n)
		}
	}
}

func BenchmarkAppendQuery(b *testing.B) {
	e, err := NewEncoder(Parameter{Name: "filter[x]", In: Query, Style: Form, Explode: true})
	if err != nil {
		b.Fatal(err)
	}
	dst, v := make([]byte, 0, 256), []byte(`"a value with spaces & signs"`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.AppendQuery(dst, v); err != nil {
			b.Fatal(err)
		}
	}
}
