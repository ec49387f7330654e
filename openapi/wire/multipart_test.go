package wire

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMultipartRoundTrip reads bodies back with mime/multipart, an independent implementation: names, file names, types
// and bytes.
func TestMultipartRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	type part struct{ Name, File, Type, Content string }
	for range 3000 {
		var want []part
		m := Multipart{Named: true, Parts: map[string]Part{}, Fallback: Part{}}
		body := []byte{'{'}
		add := func(name string, p Part, value any) {
			m.Parts[name] = p
			m.Order = append(m.Order, name)
			if len(body) > 1 {
				body = append(body, ',')
			}
			body = append(append(append(body, marshal(t, name)...), ':'), marshal(t, value)...)
		}
		for i := range 1 + r.IntN(4) {
			name := string(rune('a'+i)) + hostileText(r)
			quoted := string(appendQuoted(nil, name))
			switch r.IntN(4) {
			case 0:
				content := hostileText(r)
				add(name, Part{}, content)
				want = append(want, part{Name: quoted, Content: content})
			case 1:
				list := []string{hostileText(r), hostileText(r)}
				add(name, Part{}, list)
				for _, content := range list {
					want = append(want, part{Name: quoted, Content: content})
				}
			case 2:
				content := []byte(hostileText(r) + "\x00\xff\r\n--")
				file := "f" + strings.NewReplacer("/", "", "\\", "").Replace(hostileText(r))
				add(name, Part{File: true}, map[string]any{FileData: base64.StdEncoding.EncodeToString(content), FileName: file, FileMediaType: "image/png"})
				want = append(want, part{quoted, string(appendQuoted(nil, file)), "image/png", string(content)})
			default:
				object := map[string]any{"k": hostileText(r)}
				add(name, Part{Types: []string{"application/vnd.x+json"}}, object)
				want = append(want, part{Name: quoted, Type: "application/vnd.x+json", Content: string(appendJSON(nil, marshal(t, object)))})
			}
		}
		body = append(body, '}')
		e, err := NewMultipartEncoder(m)
		if err != nil {
			t.Fatal(err)
		}
		boundary := NewBoundary()
		out, err := e.Append(nil, boundary, jsonMembers(body))
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		var got []part
		reader := multipart.NewReader(bytes.NewReader(out), boundary)
		for {
			p, err := reader.NextRawPart()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %q: %v", body, out, err)
			}
			content, err := io.ReadAll(p)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, part{p.FormName(), p.FileName(), p.Header.Get("Content-Type"), string(content)})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s\n%q\n%s", body, out, diff)
		}
	}
}

// hostileText is randomText with characters that are special in the head of a part.
func hostileText(r *rand.Rand) string {
	pieces := []string{"\r", "\n", "\r\n", "\r\n\r\n", "--", `"`, "; filename=x", "Content-Type: text/html", "\x00", "\t"}
	return randomText(r, "") + pieces[r.IntN(len(pieces))] + randomText(r, "")
}

// TestMultipartHeaders checks that a document can't add anything to the head of a part but the headers that it names.
func TestMultipartHeaders(t *testing.T) {
	for _, c := range []struct {
		part Part
		want string
	}{
		{Part{Headers: []PartHeader{{"X-A", "b\r\nX-C: d"}}}, `part "p": header "X-A" must not contain control characters or line breaks: it is sent as a header`},
		{Part{Headers: []PartHeader{{"X A", "b"}}}, `part "p": "X A" can't be the name of a header (RFC 9110 section 5.6.2)`},
		{Part{Headers: []PartHeader{{"content-disposition", "x"}}}, `part "p": the header "content-disposition" is set by the gateway alone`},
		{Part{Types: []string{"text/plain\r\nX: y"}}, `part "p": contentType "text/plain\r\nX: y" must not contain control characters or line breaks: it is sent as a header`},
	} {
		_, err := NewMultipartEncoder(Multipart{Parts: map[string]Part{"p": c.part}})
		if err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// TestBoundary checks that boundaries differ, and have only characters that need no quotes (RFC 2046 section 5.1.1).
func TestBoundary(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		b := NewBoundary()
		if seen[b] || len(b) > 70 || !isToken(b) {
			t.Fatalf("boundary %q", b)
		}
		seen[b] = true
	}
}

// TestRepetitionIsBounded checks that the output is never many times the input: a long name is not repeated without
// limit (R8).
func TestRepetitionIsBounded(t *testing.T) {
	long := strings.Repeat("n", 100_000)
	list := "[1" + strings.Repeat(",1", 50_000) + "]"
	var leaves strings.Builder
	leaves.WriteString(`{"a":0`)
	for i := range 50_000 {
		leaves.WriteString(`,"` + strconv.Itoa(i) + `":1`)
	}
	leaves.WriteString("}")
	form, err := NewFormEncoder(map[string]Parameter{"deep": {Style: DeepObject}}, Parameter{Style: ByType})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := NewMultipartEncoder(Multipart{Named: true, Parts: map[string]Part{"deep": {Styled: true, Style: DeepObject}}})
	if err != nil {
		t.Fatal(err)
	}
	query, err := NewEncoder(Parameter{Name: "deep", In: Query, Style: DeepObject})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{`{"` + long + `":` + list + `}`, `{"deep":{"` + long + `":` + leaves.String() + `}}`} {
		for name, encode := range map[string]func() ([]byte, error){
			"form":      func() ([]byte, error) { return form.Append(nil, jsonMembers([]byte(v))) },
			"multipart": func() ([]byte, error) { return parts.Append(nil, NewBoundary(), jsonMembers([]byte(v))) },
			"xml":       func() ([]byte, error) { return (&XMLNode{Name: "r"}).Append(nil, []byte(v)) },
			"query":     func() ([]byte, error) { return query.AppendQuery(nil, []byte(v)) },
		} {
			out, err := encode()
			if len(out) > 2*maxRepeated+3*len(v) {
				t.Errorf("%s: %d bytes became %d", name, len(v), len(out))
			}
			if ve := (*ValueError)(nil); err != nil && !errors.As(err, &ve) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
