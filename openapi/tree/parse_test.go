package tree_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/tools/txtar"

	"drawbridge/openapi/tree"
)

// decode decodes JSON with the standard library, keeping the literals of numbers.
func decode(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more than one value")
	}
	return v, nil
}

// TestSameValueAsEncodingJSON compares the parser and the encoder with encoding/json on random documents.
func TestSameValueAsEncodingJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		src := randomJSON(r, nil, 0)
		checkAgainstStandard(t, src)
	}
}

func checkAgainstStandard(t *testing.T, src []byte) {
	t.Helper()
	want, err := decode(src)
	if err != nil {
		t.Fatalf("%q: %v", src, err)
	}
	n, err := tree.Parse("x.json", bytes.Clone(src), tree.Limits{})
	if err != nil {
		t.Fatalf("%q: %v", src, err)
	}
	got, err := decode(n.AppendJSON(nil))
	if err != nil {
		t.Fatalf("%q became %q: %v", src, n.AppendJSON(nil), err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%q became %q", src, n.AppendJSON(nil))
	}
}

func randomJSON(r *rand.Rand, dst []byte, depth int) []byte {
	space := func() {
		for range r.IntN(3) {
			dst = append(dst, " \t\r\n"[r.IntN(4)])
		}
	}
	space()
	kind := r.IntN(9)
	if depth > 5 {
		kind = 2 + r.IntN(7)
	}
	switch kind {
	case 0:
		dst = append(dst, '{')
		for i := range r.IntN(20) {
			if i > 0 {
				dst = append(dst, ',')
			}
			space()
			dst = randomString(r, dst)
			space()
			dst = append(dst, ':')
			dst = randomJSON(r, dst, depth+1)
		}
		dst = append(dst, '}')
	case 1:
		dst = append(dst, '[')
		for i := range r.IntN(5) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = randomJSON(r, dst, depth+1)
		}
		dst = append(dst, ']')
	case 2:
		dst = append(dst, "true"...)
	case 3:
		dst = append(dst, "false"...)
	case 4:
		dst = append(dst, "null"...)
	case 5, 6:
		numbers := []string{"0", "-0", "1", "-12", "9223372036854775808", "1.50", "1e5", "1E+05", "-1.25e-3", "123456789012345678901234567890"}
		dst = append(dst, numbers[r.IntN(len(numbers))]...)
	default:
		dst = randomString(r, dst)
	}
	space()
	return dst
}

func randomString(r *rand.Rand, dst []byte) []byte {
	parts := []string{"a", "bc", "é", "世界", "😀", `\n`, `\"`, `\\`, `\/`, `\b`, `\u0000`, `\u00e9`, `\ud83d\ude00`, `\ud83d`, `\udc00x`, "\u2028", "\x7f", "~", "/", " "}
	dst = append(dst, '"')
	for range r.IntN(6) {
		dst = append(dst, parts[r.IntN(len(parts))]...)
	}
	return append(dst, '"')
}

// TestEncodings reads the same document in every common encoding.
func TestEncodings(t *testing.T) {
	const doc = `{"openapi": "3.0.0", "info": {"title": "Grüße 😀"}}`
	units := utf16.Encode([]rune(doc))
	var little, big []byte
	for _, u := range units {
		little = append(little, byte(u), byte(u>>8))
		big = append(big, byte(u>>8), byte(u))
	}
	for name, data := range map[string][]byte{
		"plain":                    []byte(doc),
		"UTF-8 mark":               []byte("\uFEFF" + doc),
		"UTF-16 little, mark":      append([]byte{0xFF, 0xFE}, little...),
		"UTF-16 big, mark":         append([]byte{0xFE, 0xFF}, big...),
		"UTF-16 little":            little,
		"UTF-16 big":               big,
		"YAML with a UTF-8 mark":   []byte("\uFEFFopenapi: 3.0.0\ninfo: {title: Grüße 😀}"),
		"YAML with CRLF line ends": []byte("openapi: 3.0.0\r\ninfo:\r\n  title: Grüße 😀\r\n"),
	} {
		set, _, err := tree.Load(context.Background(), name, data, nil, tree.Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := set.Root().Get("info").Get("title").Text(); got != "Grüße 😀" {
			t.Errorf("%s: the title is %q", name, got)
		}
	}
}

// TestNotText parses files that are not text.
func TestNotText(t *testing.T) {
	for _, c := range []struct{ data, want string }{
		{"\x1f\x8b\x08\x00abc", "f:1:1: the file is compressed with gzip; decompress it first (gunzip)"},
		{"PK\x03\x04abc", "f:1:1: the file is a ZIP archive; unpack it and give the OpenAPI document in it"},
		{"%PDF-1.7", "f:1:1: the file is a PDF document, not an OpenAPI document"},
		{"\uFEFF \n", "f:1:1: the file is empty; give the path or URL of a JSON or YAML OpenAPI document"},
		{"", "f:1:1: the file is empty; give the path or URL of a JSON or YAML OpenAPI document"},
		{"\x00\x00\x00\x00", "f:1:1: broken YAML: control characters are not allowed (value: 0)"},
		{"<html>", "f:1:1: this is an HTML page, not an OpenAPI document; give the URL of the JSON or YAML document behind it"},
	} {
		_, err := tree.Parse("f", []byte(c.data), tree.Limits{})
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.data, err, c.want)
		}
	}
}

// TestInvalidUTF8 reads unlabelled files that are not valid UTF-8: the first charset that can decode the whole file with
// a plausible result is used. UTF-8 with few invalid bytes stays UTF-8 (pains row 144).
func TestInvalidUTF8(t *testing.T) {
	encode := func(e encoding.Encoding, text string) string {
		data, err := e.NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for _, c := range []struct{ name, data, want, charset string }{
		{"Chinese", encode(simplifiedchinese.GB18030, "订单服务：创建订单、取消订单"), "订单服务：创建订单、取消订单", "it is read as GB18030"},
		{"two Chinese characters", encode(simplifiedchinese.GB18030, "order 订单"), "order 订单", "it is read as GB18030"},
		{"Chinese beyond GBK", encode(simplifiedchinese.GB18030, "用户的姓名㐀𠀀。"), "用户的姓名㐀𠀀。", "it is read as GB18030"},
		{"Japanese", encode(japanese.ShiftJIS, "注文サービス。注文を作成します"), "注文サービス。注文を作成します", "it is read as Shift_JIS"},
		{"two Japanese characters", encode(japanese.ShiftJIS, "order 注文"), "order 注文", "it is read as Shift_JIS"},
		{"French", "caf\xe9", "café", "it is read as Windows-1252"},
		{"French that decodes as Chinese", "r\xe9p\xe9tition", "répétition", "it is read as Windows-1252"},
		{"German that decodes as Chinese", "Gr\xf6\xdfe", "Größe", "it is read as Windows-1252"},
		{"English that decodes as Japanese", "don\x92t, it\x92s", "don’t, it’s", "it is read as Windows-1252"},
		{"broken UTF-8", "订单服\xe5\x8a，bad", "订单服\uFFFD\uFFFD，bad", "bad bytes are read as U+FFFD"},
	} {
		for _, doc := range []string{"{\"openapi\": \"3.0.0\",\n \"x\": \"" + c.data + "\"}", "openapi: 3.0.0\nx: \"" + c.data + "\"\n"} {
			set, warnings, err := tree.Load(context.Background(), "f", []byte(doc), nil, tree.Limits{})
			if err != nil {
				t.Errorf("%s: %q: %v", c.name, doc, err)
				continue
			}
			if got := set.Root().Get("x").Text(); got != c.want {
				t.Errorf("%s: x is %q, want %q", c.name, got, c.want)
			}
			if want := "the file is not valid UTF-8; " + c.charset; len(warnings) != 1 || warnings[0].Code != tree.CodeEncoding || warnings[0].Position.Line != 2 || warnings[0].Message != want {
				t.Errorf("%s: warnings %v", c.name, warnings)
			}
		}
	}
}

// TestPositions checks the positions that nodes report.
func TestPositions(t *testing.T) {
	const doc = "{\"a\": [1,\n  \"é\", {\"ü\": true}],\n \"é\": 1, \"b\": {}}"
	n, err := tree.Parse("f.json", []byte(doc), tree.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		n       *tree.Node
		pos     string
		pointer string
	}{
		{n, "f.json:1:1", ""},
		{n.Get("a"), "f.json:1:2", "/a"},
		{n.Get("a").At(0), "f.json:1:8", "/a/0"},
		{n.Get("a").At(1), "f.json:2:3", "/a/1"},
		{n.Get("a").At(2), "f.json:2:8", "/a/2"},
		{n.Get("a").At(2).Get("ü"), "f.json:2:9", "/a/2/ü"},
		{n.Get("b"), "f.json:3:10", "/b"},
	} {
		if c.n.Position().String() != c.pos || c.n.Pointer() != c.pointer {
			t.Errorf("got %s %s, want %s %s", c.n.Position(), c.n.Pointer(), c.pos, c.pointer)
		}
	}
}

// FuzzParse checks that nothing panics, that JSON that decoders accept is parsed to the same value, and that parsed
// values can be encoded and parsed again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"a": [1, -2.5e3, "x\u00e9\n", null, true, {"b": {}}]}`, "a: &x {b: 1}\nc: *x\n<<: *x\n", "- 1\n- [2, 3]\n",
		"\xff\xfea\x00", "a: |\n  x\n  y\nb: >-\n  z", "{\"a\":1,\"a\":2}", "? [a]\n: b", "<html><title>x", "a:\tb\n\tc: d", "{a: 0x1F, b: 0o17, c: .5}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		limits := tree.Limits{Nodes: 10_000, Aliases: 2_000, Bytes: 1 << 20}
		n, err := tree.Parse("f", bytes.Clone(data), limits)
		if want, jsonErr := decode(data); jsonErr == nil && utf8.Valid(data) {
			var limit *tree.LimitError
			if errors.As(err, &limit) {
				return
			}
			if err != nil {
				t.Fatalf("JSON is refused: %v", err)
			}
			if got, err := decode(n.AppendJSON(nil)); err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%q became %q", data, n.AppendJSON(nil))
			}
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("the error has no position: %v", err)
			}
			return
		}
		text := n.AppendJSON(nil)
		again, err := tree.Parse("f", bytes.Clone(text), tree.Limits{})
		if err != nil {
			t.Fatalf("%q was written as %q, which is refused: %v", data, text, err)
		}
		if !bytes.Equal(again.AppendJSON(nil), text) {
			t.Fatalf("%q was written as %q, then as %q", data, text, again.AppendJSON(nil))
		}
	})
}

// FuzzLoad checks that Load returns for any document and second file, and that its result can be walked, resolved and
// encoded.
func FuzzLoad(f *testing.F) {
	for _, s := range []string{
		`{"openapi":"3.1.0","paths":{"/a":{"get":{"parameters":[{"$ref":"b.json#/p"}],"responses":{"200":{"$ref":"b.json#/r"}}}}},"components":{"schemas":{"A":{"required":true,"items":[{},{}],"properties":{"$ref":"#/components/schemas"}}}}}`,
		"swagger: 2.0\npaths: null\ndefinitions:\n  A: {properties: [], $ref: '#/definitions/B'}\n  B: {$ref: '#/definitions/A'}\n",
		"openapi: 3.0.0\npaths: {$ref: b.json}\ntags: [[a], b]\nsecurity: {a: null}\n",
		"openapi: 3.1.0\ncomponents: {schemas: {A: {$id: 'x', $anchor: a, $ref: 'b.json#a', type: null, examples: {a: {value: 1}}}}}",
	} {
		f.Add([]byte(s), []byte(`{"p":{"name":"x","in":"Query","type":"string"},"r":{"description":{"$ref":"api.json#/info/title"}}}`))
	}
	names, _ := filepath.Glob("testdata/*.txtar")
	for _, name := range names {
		if archive, err := txtar.ParseFile(name); err == nil {
			f.Add(archive.Files[0].Data, archive.Files[1].Data)
		}
	}
	f.Fuzz(func(t *testing.T, data, other []byte) {
		limits := tree.Limits{Nodes: 10_000, Aliases: 2_000, Bytes: 1 << 20, Operations: 100, Files: 5}
		open := openFrom(map[string][]byte{"b.json": other})
		set, warnings, err := tree.Load(context.Background(), "api.json", bytes.Clone(data), open, limits)
		if err != nil {
			if !strings.Contains(err.Error(), ".json:") {
				t.Fatalf("the error has no position: %v", err)
			}
			return
		}
		for _, w := range warnings {
			_ = w.String()
		}
		if text := set.Root().AppendJSON(nil); !json.Valid(text) {
			t.Fatalf("the tree is written as %q", text)
		}
		budget := 10_000
		followAll(set, set.Root(), &budget)
	})
}

func followAll(set *tree.Set, n *tree.Node, budget *int) {
	if *budget--; *budget < 0 {
		return
	}
	if to, err := set.Follow(n); err == nil && to.Get("$ref").Kind() == tree.String {
		panic(fmt.Sprintf("%s was not followed to its end", n.Pointer()))
	}
	if p := n.Pointer(); p != "" && p[0] != '/' {
		panic(p)
	}
	for _, k := range n.Members() {
		followAll(set, k, budget)
	}
	for _, k := range n.Items() {
		followAll(set, k, budget)
	}
}
