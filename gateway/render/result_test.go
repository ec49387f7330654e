package render

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"drawbridge/gateway/mcp"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
	"drawbridge/test/race"
)

// written returns members as they are written into a result.
func written(chunks []mcp.Chunk) string {
	var b []byte
	for _, c := range chunks {
		if c.Escape {
			b = jsonscan.AppendEscaped(b, c.Bytes)
		} else {
			b = append(b, c.Bytes...)
		}
	}
	return string(b)
}

// TestResult checks the form of a result for each kind of response, for a client that expects structuredContent (pains
// rows 150 and 151).
func TestResult(t *testing.T) {
	object := answer.Part{Kind: answer.JSON, MediaType: "application/json", Data: []byte(`{"a":"b"}`)}
	with := func(change func(*answer.Part)) answer.Part { p := object; change(&p); return p }
	text := answer.Part{Kind: answer.Text, MediaType: "text/plain", Data: []byte("<b>")}
	image := answer.Part{Kind: answer.Image, MediaType: "image/png", Data: []byte("\x89")}
	audio := answer.Part{Kind: answer.Audio, MediaType: "audio/ogg", Data: []byte("o"), File: "a b.ogg"}
	const quoted = `"content":[{"type":"text","text":"{\"a\":\"b\"}"}]`
	for _, c := range []struct {
		name     string
		renderer Renderer
		parts    []answer.Part
		want     string
		drift    string
	}{
		{"as declared", Renderer{}, []answer.Part{object}, quoted + `,"structuredContent":{"a":"b"}`, ""},
		{"wrapped", Renderer{}, []answer.Part{with(func(p *answer.Part) { p.Wrapped = true })}, quoted + `,"structuredContent":{"result":{"a":"b"}}`, ""},
		{"short", Renderer{ShortText: true}, []answer.Part{object}, `"content":[{"type":"text","text":"The answer is in structuredContent: an object with the member a."}],"structuredContent":{"a":"b"}`, ""},
		{"a duplicate name", Renderer{}, []answer.Part{with(func(p *answer.Part) { p.Drift, p.DuplicateName = "/a: twice", true })}, quoted + `,"structuredContent":{"a":"b"}`, "/a: twice"},
		{"another shape", Renderer{}, []answer.Part{with(func(p *answer.Part) { p.Drift = "/a: bad" })}, quoted + `,"structuredContent":{"unexpected":{"a":"b"}}`, "/a: bad"},
		{"another declared shape", Renderer{}, []answer.Part{with(func(p *answer.Part) { p.Drift, p.Declared = "/a: bad", true })}, quoted + `,"structuredContent":{"unexpected":{"a":"b"}}`, ""},
		{"text", Renderer{Note: "N", Headers: "H"}, []answer.Part{text}, `"content":[{"type":"text","text":"<b>"},{"type":"text","text":"H\nN"}],"structuredContent":{"unexpected":"<b>"}`, "the answer is text/plain, not JSON"},
		{"image", Renderer{Note: "N"}, []answer.Part{image}, `"content":[{"type":"text","text":"The answer (image/png, 1 byte) is in the next block, as an image. If you can't read that block, tell the user that the answer has come and that this client does not pass images on."},{"type":"image","mimeType":"image/png","data":"iQ=="},{"type":"text","text":"N"}],"structuredContent":{"unexpected":"image/png"}`, "the answer is image/png, not JSON"},
		{"audio", Renderer{Revision: "2025-03-26"}, []answer.Part{audio}, `"content":[{"type":"text","text":"a b.ogg (audio/ogg, 1 byte) is in the next block, as audio. If you can't read that block, tell the user that the answer has come and that this client does not pass audio on."},{"type":"audio","mimeType":"audio/ogg","data":"bw=="}],"structuredContent":{"unexpected":"audio/ogg"}`, "the answer is audio/ogg, not JSON"},
		{"audio of old", Renderer{Revision: "2024-11-05"}, []answer.Part{audio}, `"content":[{"type":"text","text":"a b.ogg (audio/ogg, 1 byte) is in the next block, as a resource in base64. If you can't read that block, tell the user that the answer has come and that this client does not pass such files on."},{"type":"resource","resource":{"uri":"drawbridge://shop/get%20it/a%20b.ogg","mimeType":"audio/ogg","blob":"bw=="}}],"structuredContent":{"unexpected":"audio/ogg"}`, "the answer is audio/ogg, not JSON"},
		{"two", Renderer{}, []answer.Part{with(func(p *answer.Part) { p.Field = "f" }), image}, `"content":[{"type":"text","text":"f: {\"a\":\"b\"}"},{"type":"text","text":"Part 2 of the answer (image/png, 1 byte) is in the next block, as an image. If you can't read that block, tell the user that the answer has come and that this client does not pass images on."},{"type":"image","mimeType":"image/png","data":"iQ=="}],"structuredContent":{"unexpected":[{"a":"b"},"image/png"]}`, "the answer has 2 parts, and is not JSON"},
		{"blank", Renderer{}, []answer.Part{{Kind: answer.Text, MediaType: "text/csv", Data: []byte("\r\n")}}, `"content":[{"type":"text","text":"` + blankAnswer + `"}],"structuredContent":{"unexpected":"\r\n"}`, "the answer is text/csv, not JSON"},
		{"blank parts", Renderer{}, []answer.Part{{Kind: answer.Text, Data: []byte(" ")}, {Kind: answer.Text, Field: "f", Data: []byte(" ")}}, `"content":[{"type":"text","text":"` + blankAnswer + `"},{"type":"text","text":"f:  "}],"structuredContent":{"unexpected":[" "," "]}`, "the answer has 2 parts, and is not JSON"},
		{"none", Renderer{Note: "N"}, nil, `"content":[{"type":"text","text":"The service answered 204 No Content, without a body."},{"type":"text","text":"N"}],"structuredContent":{}`, ""},
	} {
		for _, structured := range []bool{true, false} {
			r := c.renderer
			r.API, r.Tool, r.Structured = "shop", "get it", structured
			got := r.Response(c.parts, &http.Response{StatusCode: 204, Header: http.Header{}})
			want, meta := c.want, ""
			if c.drift != "" {
				meta = `"drawbridge/contractDrift":"` + c.drift + `"`
			}
			if !structured {
				if r.ShortText {
					want = quoted
				}
				want, _, _ = strings.Cut(want, `,"structuredContent"`)
				meta = ""
			}
			if text := written(got.Chunks); text != want || string(got.Meta) != meta || got.Drift != (meta != "") {
				t.Errorf("%s, structured %t: %s, _meta %s, drift %t\nwant %s, _meta %s", c.name, structured, text, got.Meta, got.Drift, want, meta)
			}
		}
	}
}

// TestResultCosts checks that rendering a JSON response of one part allocates nothing.
func TestResultCosts(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	part := answer.Part{Kind: answer.JSON, Data: []byte(`{"a":1}`)}
	size := 0
	if n := testing.AllocsPerRun(100, func() {
		r := Renderer{API: "shop", Tool: "get", Structured: true}
		size = len(r.Part(part).Chunks)
	}); n != 0 || size != 5 {
		t.Errorf("%v allocations, %d chunks", n, size)
	}
}

// TestRedirectResult checks the result for a redirect that the document declares.
func TestRedirectResult(t *testing.T) {
	resp := &http.Response{StatusCode: 302, Header: http.Header{"Location": {"/files/7?sig=x"}}}
	link := "https://files.example/7?sig=x"
	for revision, want := range map[string]string{
		"2025-03-26": `"content":[{"type":"text","text":"The service answered 302 Found, which leads to ` + link + `\nThe API's document says of 302: The file.\nThe gateway has not followed this redirect."}],"structuredContent":{}`,
		"2025-06-18": `"content":[{"type":"text","text":"The service answered 302 Found, which leads to ` + link + `\nThe API's document says of 302: The file.\nThe gateway has not followed this redirect."},{"type":"resource_link","uri":"` + link + `","name":"get"}],"structuredContent":{}`,
	} {
		r := Renderer{Tool: "get", Revision: revision, Structured: true}
		if got := written(r.Redirect(resp, link, "", "The file.").Chunks); got != want {
			t.Errorf("%s: %s\nwant %s", revision, got, want)
		}
	}
	var r Renderer
	if got := written(r.Redirect(resp, "", " It is not given.", "").Chunks); !strings.Contains(got, `302 Found (this one points to /files/7). It is not given.\nThe gateway`) || strings.Contains(got, "structuredContent") {
		t.Error(got)
	}
}

// TestEmbeddedURI checks that the location of the service is given below its base URL, and without the service's name
// (E9).
func TestEmbeddedURI(t *testing.T) {
	at := func(text string) *url.URL {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	r := Renderer{API: "shop", Tool: "get", Target: at("https://api.example/v1/files/7"), Base: at("https://api.example/v1")}
	for location, want := range map[string]string{
		"8":                                    "drawbridge://shop/files/8",
		"https://cdn.example/a?key=x":          "drawbridge://shop/a",
		"https://cdn.example/":                 "drawbridge://shop/get/2/a.bin",
		"mailto:a@b":                           "drawbridge://shop/get/2/a.bin",
		"/" + strings.Repeat("a", maxLocation): "drawbridge://shop/get/2/a.bin",
	} {
		if got := r.embeddedURI(answer.Part{Location: location, File: "a.bin"}, 2); got != want {
			t.Errorf("%.40s: %s, want %s", location, got, want)
		}
	}
}
