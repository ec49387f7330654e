package filetool

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/filestore"
	"drawbridge/gateway/toolsearch"
	"drawbridge/openapi/jsonscan"
)

// The names of the tools.
const (
	Read   = "read_file"
	Upload = "upload_file"
)

// Definitions returns those of the tools.
func Definitions() []*catalog.Tool { return []*catalog.Tool{ReadDefinition, UploadDefinition} }

// ReadDefinition is that of read_file.
var ReadDefinition = catalog.NewTool(catalog.Definition{
	Name: Read, Title: "Read a file",
	Description: "Reads a part of a file that a tool has answered with: lines of a text or rows of a CSV, lines that contain a text, or bytes. " +
		"To pass a file on to a tool that takes one, write its URI in place of the base64.",
	Input: []byte(`{"type":"object","properties":{` +
		`"uri":{"type":"string","description":"drawbridge-file:…"},` +
		`"lines":{"type":"string","description":"Such as 1-50 or 200-; from the first by default"},` +
		`"contains":{"type":"string","description":"Only lines with this text, in any case"},` +
		`"bytes":{"type":"string","description":"Such as 0-999, instead of lines"}},"required":["uri"]}`),
	Annotations: catalog.Annotations{ReadOnly: true, Idempotent: true},
})

// Request is what a call of the tool asks for.
type Request struct {
	ID       string
	Lines    Range // from 1
	Contains string
	Bytes    *Range // nil for lines
}

// Range is a range of lines or bytes. Both ends are included.
type Range struct{ First, Last int64 }

// ParseRequest reads the arguments of a call. The error is a [*toolsearch.ArgumentError].
func ParseRequest(args []byte) (r Request, err error) {
	var faults []string
	given := func(name string) string {
		v := jsonscan.Lookup(args, name)
		switch jsonscan.KindOf(v) {
		case jsonscan.String:
			return strings.TrimSpace(string(jsonscan.Unquote(v)))
		case jsonscan.Number: // a model may write one line so
			return string(v)
		case 0, jsonscan.Null:
			return ""
		default:
			faults = append(faults, name+" must be a string")
			return ""
		}
	}
	uri, lines, bytes := given("uri"), given("lines"), given("bytes")
	reference, ok := filestore.ParseURI(uri)
	if !ok {
		faults = append(faults, "uri must be that of a file, such as drawbridge-file:abcdefghijklmnop, as a tool has answered")
	}
	r = Request{ID: reference.ID, Contains: given("contains")}
	if r.Lines, ok = parseRange(cmp.Or(lines, "1-")); !ok || r.Lines.First < 1 {
		faults = append(faults, "lines must be a range such as 1-50 or 200-")
	}
	if bytes == "" && ok && !reference.Whole() {
		bytes = fmt.Sprintf("%d-%d", reference.First, reference.Last)
	}
	if bytes != "" {
		within, ok := parseRange(bytes)
		if !ok {
			faults = append(faults, "bytes must be a range such as 0-999 or 5000-")
		}
		if lines != "" || r.Contains != "" {
			faults = append(faults, "bytes excludes lines and contains")
		}
		r.Bytes = &within
	}
	if faults != nil {
		return Request{}, &toolsearch.ArgumentError{Faults: faults}
	}
	return r, nil
}

// parseRange parses FIRST-LAST, FIRST-, or FIRST for one.
func parseRange(text string) (r Range, ok bool) {
	first, last, ranged := strings.Cut(text, "-")
	from, err := strconv.ParseInt(strings.TrimSpace(first), 10, 64)
	if err != nil || from < 0 {
		return Range{}, false
	}
	switch last = strings.TrimSpace(last); {
	case !ranged:
		return Range{from, from}, true
	case last == "":
		return Range{from, math.MaxInt64}, true
	}
	to, err := strconv.ParseInt(last, 10, 64)
	return Range{from, to}, err == nil && to >= from
}
