package wire

import (
	"bytes"
	"mime"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"drawbridge/openapi/jsonscan"
)

// The members of the object by which a caller gives a file. Text and data exclude each other; the others are optional.
const (
	FileText      = "text"       // the content as plain text
	FileData      = "data"       // the content as base64 or as a data URL, "data:image/png;name=a.png;base64,…"
	FileName      = "filename"   // default: that of the data URL, else the name of the part
	FileMediaType = "media_type" // default: that of the data URL, else that of the document, else by the content and the extension of the name
)

// FileFault describes the fault of an object that represents a file, such as that it has two contents or none. It is ""
// for one that can be sent, and for every other value.
func FileFault(v []byte) string {
	if !isFile(v, true) {
		return ""
	}
	_, err := readFile(v, nil)
	if err == nil {
		return ""
	}
	return reason(err)
}

// A file is a file to send.
type file struct {
	name, mediaType string
	content         []byte
	text            bool // the caller gave the content as text, in UTF-8
}

// isFile reports whether a value is an object with the members of a file. An empty object is a file only if only is
// set.
func isFile(v []byte, only bool) bool {
	if jsonscan.KindOf(v) != jsonscan.Object {
		return false
	}
	members := 0
	for name := range jsonscan.Members(v) {
		switch string(name) {
		case FileText, FileData, FileName, FileMediaType:
			members++
		default:
			return false
		}
	}
	return only || members > 0
}

// maxAmbiguous is the longest base64 that may be a text as well, in bytes: a word, a name, a hash.
const maxAmbiguous = 128

// readText reads a file from a plain string, which is its content in base64, or a data URL, or its object as JSON text.
// Text is refused, and so is base64 that may be text by coincidence, since the intention can't be guessed.
func readText(v []byte, types []string) (f file, err error) {
	text := bytes.TrimSpace(jsonscan.Unquote(v))
	switch {
	case bytes.HasPrefix(text, []byte("data:")):
		if f, err = readFile(v, types); err != nil {
			err = refuse("%s", reason(err)) // the pointer would refer to an object
		}
		return f, err
	case bytes.HasPrefix(text, []byte("{")):
		if _, err := jsonscan.Scan(text, jsonscan.Options{Unique: true}); err == nil && isFile(text, true) {
			return readFile(text, types)
		}
	}
	if f, err = readBase64(text); err != nil {
		return f, err
	}
	f.mediaType, err = fileType("", types, &f)
	return f, err
}

// readBase64 reads the content of a file from base64.
func readBase64(text []byte) (f file, err error) {
	const forms = `text is given as {"text": "…"}`
	if len(text) == 0 || bytes.ContainsAny(text, " \t") {
		return f, refuse("must be base64 or a data URL; " + forms)
	}
	if f.content, err = AppendBytes(nil, string(text)); err != nil {
		return f, refuse("must be base64 or a data URL; " + forms)
	}
	plain := !bytes.ContainsAny(text, "+/=")
	if plain && (len(text) <= maxAmbiguous || bytes.ContainsAny(text, "\r\n")) && (!utf8.Valid(f.content) || detectType(f.content, "") == unknownType) {
		return f, refuse(`may be text or base64; bytes are given as {"data": "…"}, ` + forms)
	}
	return f, nil
}

// AppendFile appends the content of a file that is a string, base64 or a data URL, and returns the media type that it
// has among types, which may include ranges. The error is a [*ValueError].
func AppendFile(dst, v []byte, types []string) (out []byte, mediaType string, err error) {
	f, err := readFile(v, types)
	if err != nil {
		return dst, "", &ValueError{Reason: reason(err)} // the pointer would refer to an object
	}
	return append(dst, f.content...), f.mediaType, nil
}

func reason(err error) string {
	if v, ok := err.(*ValueError); ok { //nolint:errorlint // made here and never wrapped
		return v.Reason
	}
	return err.Error()
}

// readFile reads a file from its object, or from a string that is a data URL. types are the permitted media types; if
// there are none, any is permitted.
func readFile(v []byte, types []string) (f file, err error) {
	var source []byte // FileText or FileData
	text, given := false, false
	mediaType := ""
	if jsonscan.KindOf(v) == jsonscan.String {
		source, given = v, true
	}
	for name, value := range jsonscan.Members(v) {
		switch kind := jsonscan.KindOf(value); {
		case kind == jsonscan.Null:
		case kind != jsonscan.String:
			return f, within(string(name), refuse("must be a string"))
		case string(name) == FileName:
			f.name = string(jsonscan.Unquote(value))
		case string(name) == FileMediaType:
			mediaType = string(jsonscan.Unquote(value))
		case given:
			return f, refuse("must have %q or %q, not both", FileText, FileData)
		default:
			source, given, text = value, true, string(name) == FileText
		}
	}
	if !given {
		return f, refuse("must have the content of the file in %q, or in %q as base64", FileText, FileData)
	}
	if text {
		f.content, f.text = jsonscan.Unquote(source), true
	} else {
		var u dataURL
		if u, err = readDataURL(string(jsonscan.Unquote(source))); err != nil {
			return f, within(FileData, err)
		}
		f.content = u.content
		if f.name == "" {
			f.name = u.name
		}
		if mediaType == "" {
			mediaType = u.mediaType
		}
	}
	if f.mediaType, err = fileType(mediaType, types, &f); err != nil {
		return f, within(FileMediaType, err)
	}
	return f, nil
}

// Limits of the metadata of a file: it becomes a header, and servers accept headers of a few kilobytes.
const (
	maxFileHead  = 4 << 10 // of a data URL, with the name of the file
	maxMediaType = 512     // RFC 6838 section 4.2 allows 255 without parameters
)

type dataURL struct {
	name, mediaType string
	content         []byte
}

// readDataURL reads a data URL, or base64 alone.
func readDataURL(text string) (u dataURL, err error) {
	rest, found := strings.CutPrefix(text, "data:")
	if !found {
		u.content, err = AppendBytes(nil, text)
		return u, err
	}
	head, data, found := strings.Cut(rest, ",")
	if !found {
		return u, refuse("must be a data URL with a comma before the content, or base64 alone")
	}
	if len(head) > maxFileHead {
		return u, refuse("must be a data URL with at most %d characters before the comma, or base64 alone", maxFileHead)
	}
	head, encoded := strings.CutSuffix(head, ";base64")
	head, parameters, _ := strings.Cut(head, ";")
	u.mediaType = head
	for p := range strings.SplitSeq(parameters, ";") {
		key, value, _ := strings.Cut(p, "=")
		switch {
		case strings.EqualFold(key, "name") || strings.EqualFold(key, "filename"):
			if u.name, err = url.PathUnescape(value); err != nil {
				u.name = value
			}
		case p != "" && u.mediaType != "":
			u.mediaType += ";" + p
		case len(key) == len("charset") && strings.EqualFold(key, "charset"):
			u.mediaType = plainText + ";" + p // RFC 2397 section 2: text/plain may be omitted
		}
	}
	if encoded {
		u.content, err = AppendBytes(nil, data)
		return u, err
	}
	plain, err := url.PathUnescape(data)
	if err != nil {
		return u, refuse("must be percent-encoded behind the comma, or base64 behind \";base64,\"")
	}
	u.content = []byte(plain)
	return u, nil
}

// fileType determines the Content-Type of a file: the given one, or the only one of the document, or else by the
// content and the name.
func fileType(given string, types []string, f *file) (string, error) {
	if len(given) > maxMediaType {
		return "", refuse("must be a media type of at most %d characters", maxMediaType)
	}
	if given != "" {
		base, parameters, err := parseMediaType(given)
		if err != nil || !strings.Contains(base, "/") {
			return "", refuse("must be a media type such as image/png, got %q", given)
		}
		if len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return covers(t, base) || bare(t) == unknownType }) {
			return "", refuse("must be one of %s, got %q", strings.Join(types, ", "), given)
		}
		if formatted := mime.FormatMediaType(base, parameters); formatted != "" {
			return formatted, nil
		}
		return base, nil
	}
	concrete := slices.IndexFunc(types, func(t string) bool { return !strings.Contains(t, "*") })
	if len(types) == 1 && concrete == 0 {
		return types[0], nil
	}
	for _, name := range [...]string{f.name, ""} { // by the content alone if the document doesn't have the type of the name
		detected := detectType(f.content, name)
		if len(types) == 0 {
			return detected, nil
		}
		if bare(detected) == unknownType {
			continue
		}
		for _, t := range types {
			if bare(t) == bare(detected) {
				return t, nil // with the parameters of the document
			}
			if covers(t, bare(detected)) {
				return detected, nil
			}
		}
	}
	for _, t := range types {
		if _, subtype, _ := strings.Cut(bare(t), "/"); subtype == extension(f.name) {
			return t, nil
		}
	}
	if concrete >= 0 {
		return types[concrete], nil
	}
	return unknownType, nil
}

// parseMediaType parses a media type that a caller has given. Callers forget the quotes around the value of a
// parameter, or one of them; such a value is read without quotes, and left out if nothing remains: nothing is no token
// (RFC 9110 section 5.6.6), while "" in quotes is a value. If a parameter occurs several times, the first counts.
func parseMediaType(text string) (base string, parameters map[string]string, err error) {
	if base, parameters, err = mime.ParseMediaType(text); err == nil {
		return base, parameters, nil
	}
	essence, rest, _ := strings.Cut(text, ";")
	if base, _, err = mime.ParseMediaType(essence); err != nil {
		return base, nil, err
	}
	parameters = make(map[string]string)
	for p := range strings.SplitSeq(rest, ";") {
		name, value, found := strings.Cut(p, "=")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.Trim(value, ` "`)
		if !found || !isToken(name) || strings.ContainsAny(value, "\"\r\n") {
			return base, nil, mime.ErrInvalidMediaParameter
		}
		if _, known := parameters[name]; known {
			continue
		}
		_, right, err := mime.ParseMediaType(essence + ";" + p)
		if one, ok := right[name]; ok && err == nil {
			parameters[name] = one
		} else if value != "" {
			parameters[name] = value
		}
	}
	return base, parameters, nil
}

// covers reports whether a media type, or range, of a document includes another one.
func covers(t, base string) bool {
	t = bare(t)
	if t == base || t == "*/*" || t == "*" {
		return true
	}
	prefix, found := strings.CutSuffix(t, "/*")
	return found && strings.HasPrefix(base, prefix+"/")
}

// bare returns a media type without parameters, in lower case.
func bare(t string) string {
	t, _, _ = strings.Cut(t, ";")
	return strings.ToLower(strings.Trim(t, " \t\r\n"))
}
