package call_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"drawbridge/test/gatewaytest"
)

// sentAnswer is an answer of a service, and what its client was sent.
type sentAnswer struct {
	media    string
	encoding string // Content-Encoding, "" if there is none
	body     []byte // not encoded
	method   string // of the request of the client
	message  []byte // the JSON-RPC message
	again    []byte // that of the same request, sent again
	content  []sentBlock
	contents []sentBlock // of resources/read
}

// sentBlock is a content block, or an item of the contents of a resource.
type sentBlock struct {
	Type, Text, MIMEType, Data, Blob, URI string
	Resource                              *sentBlock
}

// answerInvariants hold for every message that has an answer of a service. A new one needs its line here alone.
var answerInvariants = []struct {
	name string
	of   func(a *sentAnswer) error
}{
	{"a message is strict JSON, in UTF-8 and without half a surrogate pair", (*sentAnswer).isStrict},
	{"the same request has the same result", (*sentAnswer).agrees},
	{"no text is white space alone", (*sentAnswer).hasNoBlank},
	{"an image is of a type that models take, and its bytes are of that type", (*sentAnswer).hasTrueImages},
	{"a text stands before each block that is not text", (*sentAnswer).hasCaptions},
	{"JSON keeps its value", (*sentAnswer).keepsValue},
}

// TestAnswerProperties holds the invariants over generated answers: types x labels x sizes x encodings x surrogates
// (pains rows 149, 150, 151, 153 and 154).
func TestAnswerProperties(t *testing.T) {
	const document = `openapi: 3.1.0
info: {title: Files, version: "1"}
paths:
  /typed: {get: {operationId: typed, responses: {"200": {description: ok, content: {application/json: {schema: {type: object, properties: {a: {type: string}}}}}}}}}
  /any: {get: {operationId: any, responses: {"200": {description: ok}}}}
  /photo: {get: {operationId: photo, responses: {"200": {description: ok, content: {image/png: {}}}}}}
  /list: {get: {operationId: list, responses: {"200": {description: ok, content: {application/jsonl: {}, text/event-stream: {}}}}}}
`
	var current sentAnswer
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		body := current.body
		if current.media != "" {
			w.Header().Set("Content-Type", current.media)
		} else {
			w.Header()["Content-Type"] = nil
		}
		if current.encoding == "gzip" {
			w.Header().Set("Content-Encoding", "gzip")
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = z.Write(body)
			_ = z.Close()
			body = b.Bytes()
		}
		_, _ = w.Write(body)
	}))
	defer service.Close()
	g := gatewaytest.Start(t, document, `apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
rules: [{match: {method: GET}, set: {resource: true}}]
prompts:
  - {name: typed, messages: [{tool: typed}]}
  - {name: any, messages: [{tool: any}, {resource: "drawbridge://shop/any"}]}
`, service.URL)
	tools := []string{"typed", "any", "photo", "list"}
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 1))
	rounds := 400
	if testing.Short() {
		rounds = 100
	}
	for round := range rounds {
		current = sentAnswer{}
		current.media, current.body = generatedAnswer(rnd, round%100 == 99, true)
		if rnd.IntN(8) == 0 {
			current.encoding = "gzip"
		}
		revision := []string{"2026-07-28", "2025-11-25", "2024-11-05"}[rnd.IntN(3)]
		tool := tools[rnd.IntN(len(tools))]
		uri := "drawbridge://shop/" + tool
		for _, request := range []struct{ method, name, params string }{
			{"tools/call", tool, fmt.Sprintf(`"name":%q,"arguments":{}`, tool)},
			{"resources/read", uri, fmt.Sprintf(`"uri":%q`, uri)},
			{"prompts/get", tools[round%2], fmt.Sprintf(`"name":%q`, tools[round%2])},
		} {
			a := current
			a.method = request.method
			_, a.message = gatewaytest.Ask(t, g.Handler(), revision, request.method, request.name, request.params)
			_, a.again = gatewaytest.Ask(t, g.Handler(), revision, request.method, request.name, request.params)
			a.parse(t)
			for _, invariant := range answerInvariants {
				if err := invariant.of(&a); err != nil {
					t.Errorf("seed %d: %s: %v\n%s %s of %q %.200q: %.600s", seed, invariant.name, err, revision, request.method, a.media, a.body, a.message)
				}
			}
		}
		if t.Failed() {
			return
		}
	}
}

// parse reads the blocks of the message.
func (a *sentAnswer) parse(t *testing.T) {
	var message struct {
		Result struct {
			Content, Contents []sentBlock
			Messages          []struct{ Content sentBlock }
		}
	}
	if err := json.Unmarshal(a.message, &message); err != nil {
		t.Fatalf("%v: %.600s", err, a.message)
	}
	a.content, a.contents = message.Result.Content, message.Result.Contents
	for _, m := range message.Result.Messages {
		a.content = append(a.content, m.Content)
	}
}

func (a *sentAnswer) isStrict() error {
	if !json.Valid(a.message) || !utf8.Valid(a.message) {
		return errors.New("invalid JSON or UTF-8")
	}
	units := func(b []byte) (unit rune) {
		_, _ = fmt.Sscanf(string(b[2:6]), "%04x", &unit)
		return unit
	}
	for i := bytes.IndexByte(a.message, '\\'); i >= 0 && i < len(a.message); {
		n := 2
		if a.message[i+1] == 'u' {
			n = 6
			if r := units(a.message[i:]); utf16.IsSurrogate(r) {
				if low := a.message[i+6:]; !bytes.HasPrefix(low, []byte(`\u`)) || utf16.DecodeRune(r, units(low)) == utf8.RuneError {
					return fmt.Errorf("half a surrogate pair at byte %d", i)
				}
				n = 12
			}
		}
		next := bytes.IndexByte(a.message[i+n:], '\\')
		if next < 0 {
			break
		}
		i += n + next
	}
	return nil
}

func (a *sentAnswer) agrees() error {
	without := func(message []byte) any {
		var m map[string]any
		_ = json.Unmarshal(message, &m)
		if e, ok := m["error"].(map[string]any); ok {
			delete(e, "data") // it has the id of the request
		}
		if r, ok := m["result"].(map[string]any); ok {
			delete(r, "_meta")
		}
		return m
	}
	if !reflect.DeepEqual(without(a.message), without(a.again)) {
		return fmt.Errorf("the second is %.600s", a.again)
	}
	return nil
}

func (a *sentAnswer) hasNoBlank() error {
	for _, b := range slices.Concat(a.content, a.contents) {
		if b.Resource != nil {
			b = *b.Resource
		}
		blank := strings.Trim(b.Text, " \r\n\t\x00\u00a0\u200b\ufeff\u2800\u3164\u2028") == ""
		if blank && (b.Type == "text" || b.Type == "" && b.Blob == "") {
			return fmt.Errorf("%+v", b)
		}
	}
	return nil
}

func (a *sentAnswer) hasTrueImages() error {
	for _, b := range slices.Concat(a.content, a.contents) {
		if b.Resource != nil {
			b = *b.Resource
		}
		if b.Type == "resource_link" { // its bytes are read later
			continue
		}
		data, err := base64.StdEncoding.DecodeString(b.Data + b.Blob)
		if err != nil {
			return err
		}
		begins := func(s string) bool { return bytes.HasPrefix(data, []byte(s)) }
		fits := true
		switch b.MIMEType {
		case "image/png":
			fits = begins("\x89PNG\r\n\x1a\n")
		case "image/jpeg":
			fits = begins("\xff\xd8\xff")
		case "image/gif":
			fits = begins("GIF8")
		case "image/webp":
			fits = begins("RIFF") && string(data[8:12]) == "WEBP"
		default:
			fits = b.Type != "image"
		}
		if !fits || b.Type == "image" && len(b.Data) > 5_000_000 || b.Type == "audio" && !strings.HasPrefix(b.MIMEType, "audio/") {
			return fmt.Errorf("%s %s of %d bytes: %.20q", b.Type, b.MIMEType, len(data), data)
		}
	}
	return nil
}

func (a *sentAnswer) hasCaptions() error {
	for i, b := range a.content {
		if b.Type != "text" && b.Resource == nil && (i == 0 || a.content[i-1].Type != "text") ||
			b.Resource != nil && b.Resource.Blob != "" && (i == 0 || a.content[i-1].Type != "text") {
			return fmt.Errorf("block %d is %s", i, b.Type)
		}
	}
	return nil
}

func (a *sentAnswer) keepsValue() error {
	var want, got any
	if a.media != "application/json" || a.method != "tools/call" || json.Unmarshal(a.body, &want) != nil {
		return nil
	}
	if len(a.content) != 1 || json.Unmarshal([]byte(a.content[0].Text), &got) != nil || !reflect.DeepEqual(got, want) {
		return fmt.Errorf("%+v", a.content)
	}
	return nil
}

// generatedAnswer returns a media type and bytes, which need not belong together. large makes an image of megabytes.
func generatedAnswer(rnd *rand.Rand, large, parts bool) (media string, body []byte) {
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	noise := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		return string(b)
	}
	text := func() string {
		return pick("", " ", "\n", "\r\n\t", "\u00a0", "\u200b", "\ufeff", "\u2800", "\u3164", "a", "é", "你好", "😀", "line\nline", `"\`, "BM", "ID3", "caf\xe9", "\x00", "\x1b[31m")
	}
	escape := func() string {
		return pick(`\ud83d`, `\ude00`, `\ud83d\ude00`, `\u4f60`, `\u0041`, `\u0022`, `\\`, `\/`, `\u005c`, `\u0000`, `\u2028`, `\u200b`, `\n`, "你", "x", `\uD83D\u0041`, `\\ud83d`)
	}
	str := func() string {
		s := `"`
		for range rnd.IntN(6) {
			s += escape()
		}
		return s + `"`
	}
	size, kind := rnd.IntN(64), rnd.IntN(14)
	if large {
		size, kind = 4_000_000, rnd.IntN(3) // an image
	}
	switch kind {
	case 0:
		body = []byte("\x89PNG\r\n\x1a\n" + noise(size))
	case 1:
		body = []byte("\xff\xd8\xff\xe0" + noise(size))
	case 2:
		body = []byte("GIF89a" + noise(size))
	case 3:
		body = []byte("RIFF" + noise(4) + pick("WEBPVP8 ", "WAVEfmt ", "AVI ") + noise(size))
	case 4:
		body = []byte(pick("BM", "II*\x00", "MM\x00*", "\x00\x00\x01\x00", "8BPS", "\xff\x0a") + noise(size))
	case 5:
		body = []byte("\x00\x00\x00\x18ftyp" + pick("heic", "avif", "mif1", "mp42", "M4A ", "qt  ") + noise(4) + pick("heic", "avif", "isom") + noise(size))
	case 6:
		body = []byte(pick("<svg/>", "<?xml version='1.0'?><svg/>", "<html><body>gone</body></html>", "<html></html>", "<!DOCTYPE html><p>caf\xe9", "<a/>"))
	case 7, 8:
		body = fmt.Appendf(nil, pick(`{"a":%s,%[2]s:[%[3]s]}`, `{ "a" : %s , %s : %s }`, `[%s,%s,%s]`), str(), `"k`+str()[1:], str())
	case 9:
		body = fmt.Appendf(nil, pick("{\"a\":%s}\n{\"a\":%s}\n", "data: {\"a\":%s}\n\ndata: %s\n\n", "data: %s\n\nid: %s\ndata: x\n\n"), str(), str())
	case 10:
		body = []byte(strings.Repeat(text(), 1+rnd.IntN(3)) + text())
	case 11:
		body = []byte(pick("%PDF-1.7 ", "PK\x03\x04", "\x1f\x8b\x08", "ID3", "\xff\xfb\x90", "OggS", "fLaC") + noise(size))
	case 12:
		body = []byte(noise(size))
	case 13:
		for _, unit := range utf16.Encode([]rune("\ufeff" + pick("", " ", "text", "<html>", `{"a":"\ud83d"}`))) {
			body = append(body, byte(unit), byte(unit>>8))
		}
	}
	media = pick("", "image/png", "image/png", "image/jpg", "image/jpeg", "image/gif", "image/webp", "image/svg+xml", "image/heic", "image/bmp", "image/x-ours", "application/octet-stream",
		"application/json", "application/json", "application/json", "application/problem+json", "text/plain", "text/plain; charset=latin1", "text/csv", "text/html", "application/xml", "application/pdf", "application/zip",
		"audio/mpeg", "audio/wav", "audio/x-ours", "video/mp4", "application/jsonl", "text/event-stream", "application/vnd.ours", "nonsense")
	if !parts || rnd.IntN(6) > 0 {
		return media, body
	}
	var b bytes.Buffer
	for range 1 + rnd.IntN(3) {
		media, body := generatedAnswer(rnd, false, false)
		fmt.Fprintf(&b, "--b\r\n")
		if media != "" {
			fmt.Fprintf(&b, "Content-Type: %s\r\n", media)
		}
		if rnd.IntN(3) == 0 {
			fmt.Fprintf(&b, "Content-Disposition: form-data; name=%q; filename=%q\r\n", pick("f", " ", "\u200b"), pick("", "a.png", "\u202e"))
		}
		if rnd.IntN(3) == 0 {
			fmt.Fprintf(&b, "Content-Transfer-Encoding: base64\r\n\r\n%s\r\n", base64.StdEncoding.EncodeToString(body))
		} else {
			fmt.Fprintf(&b, "\r\n%s\r\n", body)
		}
	}
	return pick("multipart/mixed; boundary=b", "multipart/form-data; boundary=b"), append(b.Bytes(), "--b--\r\n"...)
}
