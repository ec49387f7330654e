package wire

import (
	"fmt"
	"strings"
	"testing"
)

// TestFiles checks the content, name and media type that are sent for a file that is a string or an object.
func TestFiles(t *testing.T) {
	for _, c := range []struct {
		value string
		types []string
		want  string
	}{
		{`"data:image/png;base64,aGk="`, nil, `"hi" "" image/png`},
		{`"aGk="`, nil, `"hi" "" text/plain; charset=utf-8`},
		{`"AAE="`, nil, `"\x00\x01" "" application/octet-stream`},
		{`"data:text/plain;charset=latin1;name=a%20b.txt,h%20i"`, nil, `"h i" "a b.txt" text/plain; charset=latin1`},
		{`"data:;charset=latin1,hi"`, nil, `"hi" "" text/plain; charset=latin1`},
		{`"data:text/plain;base64,!!"`, nil, `✗ /data: expected bytes encoded as base64`},
		{`"data:text/plain,%zz"`, nil, `✗ /data: must be percent-encoded behind the comma, or base64 behind ";base64,"`},
		{`"data:text/plain"`, nil, `✗ /data: must be a data URL with a comma before the content, or base64 alone`},
		{`"data:` + strings.Repeat("a", maxFileHead-2) + `/b,hi"`, nil, `✗ /media_type: must be a media type of at most 512 characters`},
		{`"data:` + strings.Repeat("a", maxFileHead-1) + `/b,hi"`, nil, `✗ /data: must be a data URL with at most 4096 characters before the comma, or base64 alone`},
		{`{"text":"hi","media_type":"a/` + strings.Repeat("b", maxMediaType-2) + `"}`, nil, `"hi" "" a/` + strings.Repeat("b", maxMediaType-2)},
		{`{"text":"hi","media_type":"a/` + strings.Repeat("b", maxMediaType-1) + `"}`, nil, `✗ /media_type: must be a media type of at most 512 characters`},
		{`{"text":"hi","media_type":"image"}`, nil, `✗ /media_type: must be a media type such as image/png, got "image"`},
		{`{"text":"hi","media_type":"a/b; c=\""}`, nil, `"hi" "" a/b`},
		{`{"text":"hi","media_type":"a/b; c=; d=1"}`, nil, `"hi" "" a/b; d=1`},
		{`{"text":"hi","media_type":"a/b; c=\"\"; c=1; d=\""}`, nil, `"hi" "" a/b; c=""`},
		{`{"text":"hi","media_type":"a/b; c=\" x \"; d=y z\""}`, nil, `"hi" "" a/b; c=" x "; d="y z"`},
		{`{"text":"hi","media_type":"a/b; c"}`, nil, `✗ /media_type: must be a media type such as image/png, got "a/b; c"`},
		{`{"text":"hi","media_type":"image/png"}`, []string{"Image/PNG; q=1"}, `"hi" "" image/png`},
		{`{"text":"hi","media_type":"image/png"}`, []string{"image/*"}, `"hi" "" image/png`},
		{`{"text":"hi","media_type":"text/css"}`, []string{"image/*", "text/csv"}, `✗ /media_type: must be one of image/*, text/csv, got "text/css"`},
		{`{"text":5}`, nil, `✗ /text: must be a string`},
		{`"data:text/plain;name=%zz,x"`, nil, `"x" "%zz" text/plain`},
		{`{"text":"hello"}`, []string{"image/*", "application/pdf"}, `"hello" "" application/pdf`},
		{`{"text":"hello"}`, []string{"image/*", "Text/*"}, `"hello" "" text/plain; charset=utf-8`},
		{`{"data":"AAE=","filename":"a.CSV"}`, []string{"image/png", "Text/CSV; header=present"}, `"\x00\x01" "a.CSV" Text/CSV; header=present`},
		{`{"data":"AAE=","filename":"a"}`, []string{"image/png", "text/csv"}, `"\x00\x01" "a" image/png`},
		{`{"data":"AAE="}`, []string{"application/octet-stream", "text/csv"}, `"\x00\x01" "" application/octet-stream`},
	} {
		f, err := readFile([]byte(c.value), c.types)
		got := fmt.Sprintf("%q %q %s", f.content, f.name, f.mediaType)
		if err != nil {
			got = "✗ " + err.Error()
		}
		if got != c.want {
			t.Errorf("%.80s of %q: %s, want %s", c.value, c.types, got, c.want)
		}
	}
	out, err := AppendBytes(nil, "data:image/png;base64,aGk=")
	if err != nil || string(out) != "hi" {
		t.Errorf("%q, %v", out, err)
	}
}

// TestParts checks the parts of a value byte for byte.
func TestParts(t *testing.T) {
	plain := func(name, content string) string {
		return "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + content + "\r\n"
	}
	typed := func(name, media, content string) string {
		return "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\nContent-Type: " + media + "\r\n\r\n" + content + "\r\n"
	}
	file := func(name, media, content string) string {
		return "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"; filename=\"" + name + "\"\r\nContent-Type: " + media + "\r\n\r\n" + content + "\r\n"
	}
	for _, c := range []struct {
		part        Part
		value, want string
	}{
		{Part{}, `null`, plain("", "")},
		{Part{}, `[]`, plain("", "")},
		{Part{}, `"x"`, plain("a", "x")},
		{Part{Types: []string{"application/json"}}, `null`, plain("", "")},
		{Part{Types: []string{"application/json"}}, `[]`, typed("a", "application/json", "[]")},
		{Part{Types: []string{"application/json"}}, `"x"`, typed("a", "application/json", `"x"`)},
		{Part{Types: []string{"application/json"}}, `"5"`, typed("a", "application/json", `"5"`)},
		{Part{Types: []string{"application/json"}}, `"[5]"`, typed("a", "application/json", `[5]`)},
		{Part{Types: []string{"application/json"}}, `5.0`, typed("a", "application/json", `5.0`)},
		{Part{File: true}, `{"data":"!"}`, "✗ /a/data: expected bytes encoded as base64"},
		{Part{XML: &XMLNode{Name: "x"}, Types: []string{"text/xml"}}, `{"-":1}`, `✗ /a/-: can't be sent: "-" can't be the name of an XML element`},
		{Part{Types: []string{"text/csv"}}, `"x"`, typed("a", "text/csv", "x")},
		{Part{File: true}, `"data:text/csv,x"`, "--B\r\nContent-Disposition: form-data; name=\"a\"; filename=\"a\"\r\nContent-Type: text/csv\r\n\r\nx\r\n"},
		{Part{File: true}, `"x"`, plain("a", "x")},
		{Part{File: true}, `5`, plain("a", "5")},
		{Part{File: true}, `{}`, typed("a", "application/json", "{}")},
		{Part{File: true, Base64: true}, `"x"`, "✗ /a: must be base64 or a data URL; text is given as {\"text\": \"…\"}"},
		{Part{File: true, Base64: true}, `"` + strings.Repeat("word", 32) + `"`, "✗ /a: may be text or base64; bytes are given as {\"data\": \"…\"}, text is given as {\"text\": \"…\"}"},
		{Part{File: true, Base64: true}, `"` + strings.Repeat("word", 33) + `"`, file("a", "text/plain", strings.Repeat("\xc2\x8a\xdd", 33))},
		{Part{File: true, Base64: true}, `"` + strings.Repeat("word", 32) + `\nword"`, "✗ /a: may be text or base64; bytes are given as {\"data\": \"…\"}, text is given as {\"text\": \"…\"}"},
		{Part{File: true, Base64: true}, `"AAEC/w=="`, file("a", "application/octet-stream", "\x00\x01\x02\xff")},
		{Part{Styled: true, Style: Form, Explode: true}, `{"k":1,"l":null,"m":2}`, plain("k", "1") + plain("m", "2")},
		{Part{Styled: true, Style: Form, Explode: true}, `{"b":1}`, "✗ /a/b: is the name of another part"},
		{Part{Styled: true, Style: Form, Explode: true}, `{"a":1}`, plain("a", "1")},
		{Part{Styled: true, Style: Form, Explode: true}, `["x",null,"y"]`, plain("a", "x") + plain("a", "y")},
		{Part{Styled: true, Style: Form, Explode: true}, `"x"`, plain("a", "x")},
		{Part{Styled: true, Style: Form}, `{"k":1,"l":null,"m":2}`, plain("a", "k,1,m,2")},
		{Part{Styled: true, Style: PipeDelimited}, `["x","y"]`, plain("a", "x|y")},
		{Part{Styled: true, Style: Form}, `["x,y","z"]`, "✗ /a: must not have a member that contains ',': members are sent with it between them, and it can't be escaped"},
		{Part{Styled: true, Style: Form}, `["","z"]`, plain("a", ",z")},
		{Part{Styled: true, Style: DeepObject}, `{"k":["x",null,"y"],"l":{"m":1}}`, plain("a[k][0]", "x") + plain("a[k][1]", "y") + plain("a[l][m]", "1")},
		{Part{Styled: true, Style: DeepObject}, `{"k":[null,{"[":1}]}`, "✗ /a/k/1/[: must not have brackets in its name: they would make it another one"},
		{Part{Styled: true, Style: DeepObject}, `{"k]":1}`, "✗ /a/k]: must not have brackets in its name: they would make it another one"},
	} {
		e, err := NewMultipartEncoder(Multipart{Named: true, Parts: map[string]Part{"a": c.part, "b": {}}, Order: []string{"a", "b"}})
		if err != nil {
			t.Fatal(err)
		}
		out, err := e.Append(nil, "B", jsonMembers([]byte(`{"a":`+c.value+`}`)))
		got := strings.TrimSuffix(string(out), "--B--\r\n")
		if err != nil {
			got = "✗ " + err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %s: %q, want %q", c.part, c.value, got, c.want)
		}
	}
	e, err := NewMultipartEncoder(Multipart{Named: true, Parts: map[string]Part{"a": {Styled: true, Style: DeepObject}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Append(nil, "B", jsonMembers([]byte(`{"a[k]":1}`))); err == nil || err.Error() != `must not have a member "a[k]": it would be a part of "a"` {
		t.Error(err)
	}
	if _, err := e.Append(nil, "B", jsonMembers([]byte(`{"":1}`))); err == nil || err.Error() != "must not have a member without a name" {
		t.Error(err)
	}
	files, err := NewMultipartEncoder(Multipart{Fallback: Part{File: true, Base64: true}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := files.AppendList(nil, "B", []byte(`[{"text":"x"},{}]`)); err == nil || !strings.HasPrefix(err.Error(), "/1: must have the content of the file") {
		t.Error(err)
	}
	if _, err := e.Append(nil, "B", jsonMembers([]byte(`{"b[k]":1}`))); err != nil {
		t.Error(err)
	}
	if _, err := NewMultipartEncoder(Multipart{Fallback: Part{Headers: []PartHeader{{"X Y", "z"}}}}); err == nil {
		t.Error("a header of the fallback is not looked at")
	}
}
