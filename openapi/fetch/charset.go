package fetch

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"drawbridge/openapi/charset"
	"drawbridge/openapi/mediatype"

	"golang.org/x/text/encoding/htmlindex"
)

// decode returns a document as UTF-8 by the charset in its Content-Type, and a problem with that charset; "" if there
// is none. Valid UTF-8 stays unchanged for any label: many servers name one charset for all files. UTF-16 is left to
// the parser, which recognizes it.
func decode(data []byte, contentType string) (text []byte, problem string) {
	label := mediatype.Charset(contentType)
	if label == "" {
		return data, ""
	}
	e := charset.Encoding(label)
	if e == nil {
		return data, fmt.Sprintf("the server names the charset %q, which is unknown; the text is read by what its bytes look like", label)
	}
	name, err := htmlindex.Name(e)
	marked := bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff"))
	if err != nil || name == "utf-8" || name == "utf-16le" || name == "utf-16be" || marked || utf8.Valid(data) && bytes.IndexByte(data, 0x1b) < 0 {
		return data, ""
	}
	if text, err = e.NewDecoder().Bytes(data); err != nil {
		return data, fmt.Sprintf("the text can't be read in the charset %q, which the server names; it is read by what its bytes look like", label)
	}
	problem = fmt.Sprintf("the text is read in the charset %q, which the server names; JSON and YAML documents should be UTF-8", label)
	if bytes.Contains(text, []byte("\uFFFD")) {
		problem += "; bad bytes are read as U+FFFD"
	}
	return text, problem
}
