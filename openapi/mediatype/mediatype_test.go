package mediatype

import "testing"

// TestParts checks that the parts of an invalid media type are parsed.
func TestParts(t *testing.T) {
	for in, want := range map[string]struct{ essence, charset string }{
		"":                              {},
		"Application/JSON":              {"application/json", ""},
		"text/plain ;Charset = \"GBK\"": {"text/plain", "gbk"},
		"text/plain; a; charset=utf-8;": {"text/plain", "utf-8"},
		"a b/c;=;charset='latin1'":      {"a b/c", "latin1"},
		"text/plain;\r\n charset=UTF-8": {"text/plain", "utf-8"},
	} {
		if essence, charset := Essence(in), Charset(in); essence != want.essence || charset != want.charset {
			t.Errorf("%q: %q, %q", in, essence, charset)
		}
	}
}

// TestClasses checks the classes of media types.
func TestClasses(t *testing.T) {
	classes := map[string]func(string) bool{
		"json": IsJSON, "xml": IsXML, "html": IsHTML, "text": IsText, "binary": IsBinary, "generic": IsGeneric, "form": IsForm, "range": IsRange,
		"lines": IsJSONLines, "sequence": IsJSONSequence, "sequential": IsSequential, "canbejson": CanBeJSON, "opaquerange": IsOpaqueRange,
	}
	for media, want := range map[string][]string{
		"":                                  {"binary", "generic"},
		"application/problem+json":          {"json", "canbejson"},
		"application/stream+json":           {"json", "text", "lines", "sequential"},
		"application/x-ndjson":              {"text", "lines", "sequential"},
		"application/geo+json-seq":          {"text", "sequence", "sequential"},
		EventStream:                         {"text", "sequential"},
		"image/svg+xml":                     {"binary", "xml", "text"},
		"application/xhtml+xml":             {"html", "xml", "text"},
		"application/*":                     {"canbejson", "range"},
		"image/*":                           {"binary", "opaquerange", "range"},
		"application/octet-stream":          {"binary", "generic"},
		"application/vnd.api+zip":           {"binary"},
		"application/x-www-form-urlencoded": {"form", "text"},
		"application/vnd.example":           nil,
	} {
		belongs := map[string]bool{}
		for _, class := range want {
			belongs[class] = true
		}
		for class, is := range classes {
			if is(media) != belongs[class] {
				t.Errorf("%q %s: %v", media, class, is(media))
			}
		}
	}
}
