package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"drawbridge/openapi/jsonscan"

	"github.com/google/go-cmp/cmp"
)

// alphabet has every character that is special in some part of a URL or to some server.
var alphabet = []string{"a", "Z", "0", "-", ".", "_", "~", " ", "%", "%2f", "%20", "/", "\\", "?", "#", "[", "]", "@", "!", "$",
	"&", "'", "(", ")", "*", "+", ",", ";", "=", ":", "|", "\"", "{", "}", "<", "é", "✓", "😀"}

func randomText(r *rand.Rand, without string) string {
	var b strings.Builder
	for range 1 + r.IntN(6) {
		if s := alphabet[r.IntN(len(alphabet))]; !strings.ContainsAny(s, without) {
			b.WriteString(s)
		}
	}
	return b.String()
}

func randomList(r *rand.Rand, without string) []string {
	list := make([]string, 1+r.IntN(4))
	for i := range list {
		list[i] = randomText(r, without)
	}
	return list
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func query(t testing.TB, raw []byte) url.Values {
	t.Helper()
	v, err := url.ParseQuery(string(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

// TestRoundTrip decodes encoded values with net/url, an independent implementation, for every style that is reversible.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	encoder := func(p Parameter) *Encoder {
		t.Helper()
		e, err := NewEncoder(p)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for range 3000 {
		name, list := "n"+randomText(r, ""), randomList(r, "")
		reserved := r.IntN(2) == 0

		out, err := encoder(Parameter{Name: name, In: Query, Style: Form, Explode: true}).AppendQuery(nil, marshal(t, list))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(url.Values{name: list}, query(t, out)); diff != "" {
			t.Fatalf("form: %s\n%s", out, diff)
		}

		for style, separator := range map[Style]string{Form: ",", SpaceDelimited: "%20", PipeDelimited: "%7C", TabDelimited: "%09"} {
			without := " |%" // characters that a standard decoder can't distinguish from the delimiter (OAS 3.2 appendix E)
			list := randomList(r, without)
			p := Parameter{Name: name, In: Query, Style: style, AllowReserved: reserved}
			out, err := encoder(p).AppendQuery(nil, marshal(t, list))
			if err != nil {
				t.Fatal(err)
			}
			_, value, _ := strings.Cut(string(out), "=")
			var got []string
			for item := range strings.SplitSeq(value, separator) {
				text, err := url.QueryUnescape(item)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(list, got); diff != "" {
				t.Fatalf("%s: %s\n%s", style, out, diff)
			}
		}

		object := map[string]any{}
		for range 1 + r.IntN(3) {
			object["k"+randomText(r, "[]")] = []any{randomText(r, ""), map[string]any{"x": randomText(r, ""), "y": randomList(r, "")}}
		}
		out, err = encoder(Parameter{Name: "d", In: Query, Style: DeepObject}).AppendQuery(nil, marshal(t, object))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(normal(object), undeep(t, query(t, out))["d"]); diff != "" {
			t.Fatalf("deepObject: %s\n%s", out, diff)
		}

		form, err := NewFormEncoder(map[string]Parameter{name: {Style: Form, Explode: true}}, Parameter{Style: ByType})
		if err != nil {
			t.Fatal(err)
		}
		body := marshal(t, map[string]any{name: list, name + "!": list, "🌍": randomText(r, "")})
		out, err = form.Append(nil, func(yield func(string, []byte) bool) {
			for name, v := range jsonscan.Members(body) {
				if !yield(string(name), v) {
					return
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := query(t, out); !slices.Equal(got[name], list) || !slices.Equal(got[name+"!"], list) || len(got) != 3 {
			t.Fatalf("form body: %s", out)
		}
	}
}

// normal returns v with lists as maps by index, as undeep makes them.
func normal(v any) any {
	m := map[string]any{}
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			m[k] = normal(e)
		}
	case []any:
		for i, e := range v {
			m[strconv.Itoa(i)] = normal(e)
		}
	case []string:
		for i, e := range v {
			m[strconv.Itoa(i)] = e
		}
	default:
		return v
	}
	return m
}

// undeep reads names like "a[b][c]".
func undeep(t *testing.T, values url.Values) map[string]any {
	root := map[string]any{}
	for name, v := range values {
		if len(v) != 1 {
			t.Fatalf("%q stands %d times", name, len(v))
		}
		keys := strings.Split(strings.ReplaceAll(name, "]", ""), "[")
		at := root
		for _, k := range keys[:len(keys)-1] {
			next, ok := at[k].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[k] = next
			}
			at = next
		}
		at[keys[len(keys)-1]] = v[0]
	}
	return root
}

// FuzzBuildURL checks R3: for any values, the URL has the host, the segments and the literals of the template, its
// variable segments decode to the values, and no number of decodings leaves the base path.
func FuzzBuildURL(f *testing.F) {
	for _, v := range []string{"a", "a b", "..", "%2e%2e", "a/b", "a\\b", "x;y", "?a#b", "%252e", "%c0%ae", "\r\n", "{b}", "é", "%"} {
		f.Add(v, "b", false)
		f.Add("a", v, true)
	}
	templates := []string{"/o/{a}/x/{b}", "/o/{a}", "/o/{a}{b}/y", "/o/.{a}/z.{b}", "/{a},{b}", "/o/{a}:cancel?fixed={b}&c=1#d"}
	f.Fuzz(func(t *testing.T, a, b string, reserved bool) {
		const base = "https://host.example:8443/base/v1"
		for _, text := range templates {
			tpl, err := ParseTemplate(text)
			if err != nil {
				t.Fatal(err)
			}
			values := map[string]string{"a": a, "b": b}
			out, err := tpl.Append([]byte(base), func(i int, dst []byte) ([]byte, error) {
				name := tpl.Names()[i]
				e, err := NewEncoder(Parameter{Name: name, In: Path, AllowReserved: reserved})
				if err != nil {
					t.Fatal(err)
				}
				return e.AppendPath(dst, jsonscan.AppendString(nil, values[name]))
			})
			if ve := (*ValueError)(nil); errors.As(err, &ve) {
				continue
			} else if err != nil {
				t.Fatalf("%T: %v", err, err)
			}
			if bytes.ContainsAny(out, "\r\n\x00 \\\"?#") {
				t.Fatalf("%q", out)
			}
			u, err := url.Parse(string(out))
			if err != nil {
				t.Fatalf("%q: %v", out, err)
			}
			if u.Scheme != "https" || u.Host != "host.example:8443" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
				t.Fatalf("%q is on %q", out, u.Host)
			}
			got := strings.Split(u.EscapedPath(), "/")
			pattern, _, _ := strings.Cut(text, "?")
			want := strings.Split("/base/v1"+pattern, "/")
			if len(got) != len(want) {
				t.Fatalf("%q has %d segments, want %d", out, len(got), len(want))
			}
			for i, segment := range want {
				decoded, err := url.PathUnescape(got[i])
				if err != nil {
					t.Fatal(err)
				}
				expected := strings.NewReplacer("{a}", valid(a), "{b}", valid(b)).Replace(segment)
				if reserved && strings.ContainsRune(segment, '{') {
					continue // triples in values are not encoded again
				}
				if decoded != expected {
					t.Fatalf("%q: segment %q, want %q", out, decoded, expected)
				}
			}
			reached := u.EscapedPath()
			for range 4 {
				if reached = string(appendDecoded(nil, []byte(reached))); !strings.HasPrefix(path.Clean(strings.ReplaceAll(reached, "\\", "/")), "/base/v1/") {
					t.Fatalf("%q reaches %q", out, reached)
				}
			}
		}
	})
}

// valid returns s as JSON carries it.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// FuzzQuery checks R5: a value remains the value of its own parameter, for readers that split at "&" and for those that
// split at ";" too.
func FuzzQuery(f *testing.F) {
	for _, v := range []string{"a", "a&b=c", "a;b=c", "a#b", "a+b", "a=b", "[x]", "%26b=c", "%", "?", "\x00", "\r\n", "é"} {
		f.Add("name", v, uint8(0), false)
		f.Add(v, "x", uint8(3), true)
	}
	styles := []Style{Form, SpaceDelimited, PipeDelimited, TabDelimited, DeepObject}
	f.Fuzz(func(t *testing.T, name, value string, style uint8, reserved bool) {
		if name == "" {
			return
		}
		name, value = valid(name), valid(value)
		p := Parameter{Name: name, In: Query, Style: styles[int(style)%len(styles)], Explode: style&64 != 0, AllowReserved: reserved}
		e, err := NewEncoder(p)
		if err != nil {
			t.Fatal(err)
		}
		out, err := e.AppendQuery([]byte("https://h/p?"), jsonscan.AppendString(nil, value))
		if err != nil {
			t.Fatal(err)
		}
		after, err := NewEncoder(Parameter{Name: "after", In: Query, Style: Form})
		if err != nil {
			t.Fatal(err)
		}
		if out, err = after.AppendQuery(out, []byte("2")); err != nil {
			t.Fatal(err)
		}
		if bytes.ContainsAny(out, ";#+[]\r\n\x00 ") {
			t.Fatalf("%q", out)
		}
		u, err := url.Parse(string(out))
		if err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		if u.Host != "h" || u.Path != "/p" || u.Fragment != "" {
			t.Fatalf("%q", out)
		}
		pairs := strings.FieldsFunc(u.RawQuery, func(r rune) bool { return r == '&' || r == ';' })
		if len(pairs) != 2 || strings.Count(u.RawQuery, "=") != 2 || pairs[1] != "after=2" {
			t.Fatalf("%q", out)
		}
		got, err := url.ParseQuery(pairs[0])
		if err != nil {
			t.Fatal(err)
		}
		want := value
		if reserved {
			want = string(appendDecoded(nil, []byte(value)))
		}
		if diff := cmp.Diff(url.Values{name: {want}}, got); diff != "" {
			t.Fatalf("%q: %s", out, diff)
		}
	})
}

// FuzzNumber checks that a number never changes its value.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"1e7", "-1.50e3", "0e0", "12e-1", "1e400", "0.001e3", "9007199254740993"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, literal string) {
		if info, err := jsonscan.Scan([]byte(literal), jsonscan.Options{}); err != nil || info.Kind != jsonscan.Number || len(literal) > 100 {
			return
		}
		literal = strings.TrimSpace(literal)
		out := string(number([]byte(literal)))
		if out != literal && strings.ContainsAny(out, ".eE+") {
			t.Fatalf("%s became %s", literal, out)
		}
		want, got := rational(literal), rational(out)
		if want != got {
			t.Fatalf("%s became %s", literal, out)
		}
	})
}

// rational is a canonical form of a number that needs no arithmetic: its digits and the position of its point.
func rational(literal string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	sign := strings.HasPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	e, err := strconv.ParseInt(exponent, 10, 64)
	if err != nil && exponent != "" {
		return literal
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	e -= int64(len(fraction))
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return "0"
	}
	return fmt.Sprint(sign, trimmed, e+int64(len(digits)-len(trimmed)))
}
