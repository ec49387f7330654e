package render

import (
	"testing"

	"drawbridge/openapi/answer"
)

// TestContents checks the contents of a resource, with their URIs and the notes on missing data (pains rows 149 and
// 151).
func TestContents(t *testing.T) {
	text := answer.Part{Kind: answer.Text, Data: []byte("a\n")}
	blob := answer.Part{Kind: answer.Binary, Data: []byte{1}}
	events := answer.Part{Kind: answer.JSON, MediaType: "application/json", Data: []byte(`[]`), Events: 1}
	for _, c := range []struct {
		name, mimeType string
		parts          []answer.Part
		unended        bool
		want           string
	}{
		{"nothing", "", nil, false, `"contents":[{"uri":"x:","mimeType":"text/plain","text":"` + blankFile + `"}]`},
		{"nothing, of a known type", "text/csv", nil, true, `"contents":[{"uri":"x:","mimeType":"text/plain","text":"` + blankFile + `"},{"uri":"x:#cut","mimeType":"text/plain","text":"` + Unended + `"}]`},
		{"a text", "text/csv", []answer.Part{text}, false, `"contents":[{"uri":"x:","mimeType":"text/csv","text":"a\n"}]`},
		{"bytes", "", []answer.Part{blob}, false, `"contents":[{"uri":"x:","mimeType":"application/octet-stream","blob":"AQ=="}]`},
		{"two", "text/csv", []answer.Part{text, blob}, false, `"contents":[{"uri":"x:#1","mimeType":"text/plain","text":"a\n"},{"uri":"x:#2","mimeType":"application/octet-stream","blob":"AQ=="}]`},
		{"white space", "text/csv", []answer.Part{{Kind: answer.Text, MediaType: "text/csv", Data: []byte("\r\n\u200b")}}, false, `"contents":[{"uri":"x:","mimeType":"text/plain","text":"` + blankFile + `"}]`},
		{"noise that is declared as an image", "image/png", []answer.Part{blob}, false, `"contents":[{"uri":"x:","mimeType":"application/octet-stream","blob":"AQ=="}]`},
		{"a stream", "", []answer.Part{events}, false, `"contents":[{"uri":"x:","mimeType":"application/json","text":"[]"},{"uri":"x:#cut","mimeType":"text/plain","text":"` + CutOff(1) + `"}]`},
	} {
		contents := ContentsOf("x:", c.mimeType, c.parts, c.unended)
		if got := written(Contents(contents)); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
	if c := (Content{URI: "x:/a", MIMEType: "a/b", Blob: []byte("1")}); c.Caption() != "The resource x:/a (a/b, 1 byte) is in the next block, in base64." {
		t.Error(c.Caption())
	}
	c := Content{URI: "x:", MIMEType: "a/b", Text: []byte(`"`)}
	if got := written(c.Block()); got != `{"type":"resource","resource":{"uri":"x:","mimeType":"a/b","text":"\""}}` || c.Caption() != "" {
		t.Error(got, c.Caption())
	}
}

// TestMeta checks how members of _meta are joined.
func TestMeta(t *testing.T) {
	for _, c := range []struct {
		meta, member string
		dropped      []string
		want         string
	}{
		{"", "", nil, ""},
		{`"a":1`, "", nil, `"a":1`},
		{"", `"b":2`, nil, `"b":2`},
		{`"a":1`, `"b":2`, []string{"/x", "/y~1z"}, `"a":1,"b":2,"drawbridge/droppedArguments":["/x","/y~1z"]`},
		{"", "", []string{"/x"}, `"drawbridge/droppedArguments":["/x"]`},
	} {
		member := []byte(c.member)
		if c.member == "" {
			member = nil
		}
		if got := string(AppendDropped(AppendMember([]byte(c.meta), member), c.dropped)); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
