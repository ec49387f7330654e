package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A piece is a part of a request that is compared by itself.
type piece struct {
	// kind is "method", "host", "path", "query", "header", "cookie", "content-type", "form", "part", "part-type",
	// "part-file" or "body".
	kind string
	name string // of the query parameter, header, cookie, form member or part, decoded; for a path the segment's number
}

// A request is one in normal form: what stands for the same on the wire is written in one way. Each piece has a list,
// since names may come several times; the order within a list counts, that between names does not.
type request map[piece][]string

func (r request) add(kind, name, value string) {
	r[piece{kind, name}] = append(r[piece{kind, name}], value)
}

// ofGateway brings a request of openapi.NewRequest into normal form.
func ofGateway(r *http.Request) (request, error) {
	n := request{}
	n.add("method", "", r.Method)
	n.target(r.URL.Scheme, r.URL.Host, r.URL.EscapedPath(), r.URL.RawQuery)
	for name, values := range r.Header {
		n.header(name, strings.Join(values, ", "))
	}
	if r.Body == nil || r.Body == http.NoBody {
		return n, nil
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	return n, n.body(r.Header.Get("Content-Type"), text)
}

// ofClient brings a request of swagger-client into normal form.
func ofClient(b *built, media string) (request, error) {
	n := request{}
	n.add("method", "", b.Method)
	// As fetch reads an address: what stands after "#" is not sent.
	address, _, _ := strings.Cut(b.URL, "#")
	address, query, _ := strings.Cut(address, "?")
	scheme, rest, _ := strings.Cut(address, "://")
	host, path, _ := strings.Cut(rest, "/")
	n.target(scheme, host, "/"+path, query)
	for name, value := range b.Headers {
		n.header(name, value)
	}
	switch {
	case b.Body == nil:
		return n, nil
	case b.Body.Parts != nil:
		for _, p := range b.Body.Parts {
			content := p.Bytes
			if p.Text != nil {
				content = []byte(*p.Text)
			}
			n.part(p.Name, p.Type, p.Filename, content)
		}
		return n, nil
	case b.Body.Text != nil:
		return n, n.body(media, []byte(*b.Body.Text))
	default:
		return n, n.body(media, b.Body.Bytes)
	}
}

// target splits an address. Segments of the path are pieces, so that a difference in one hides none in another.
func (r request) target(scheme, host, path, query string) {
	r.add("host", "", scheme+"://"+host)
	for i, segment := range strings.Split(path, "/") {
		r.add("path", strconv.Itoa(i), normalPercent(segment))
	}
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		r.add("query", decoded(name), normalPercent(value))
	}
}

func (r request) header(name, value string) {
	switch name = strings.ToLower(name); name {
	case "accept", "authorization":
		// What answers are wanted is each client's own choice, and no parameter makes these.
	case "content-type":
		if value = normalMedia(value); !slices.Contains(r[piece{"content-type", ""}], value) { // it may come from two sides
			r.add("content-type", "", value)
		}
	case "cookie":
		for pair := range strings.SplitSeq(value, "; ") {
			name, value, _ := strings.Cut(pair, "=")
			r.add("cookie", name, normalPercent(value))
		}
	default:
		r.add("header", name, value)
	}
}

// body splits a body by its media type as far as it has parts.
func (r request) body(media string, text []byte) error {
	kind, parameters, _ := mime.ParseMediaType(media)
	switch {
	case kind == "application/x-www-form-urlencoded":
		for pair := range strings.SplitSeq(string(text), "&") {
			if pair == "" {
				continue
			}
			name, value, _ := strings.Cut(pair, "=")
			r.add("form", formDecoded(name), normalForm(value))
		}
	case kind == "multipart/form-data" && parameters["boundary"] != "":
		reader := multipart.NewReader(bytes.NewReader(text), parameters["boundary"])
		for {
			p, err := reader.NextRawPart()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("read multipart body: %w", err)
			}
			content, err := io.ReadAll(p)
			if err != nil {
				return fmt.Errorf("read multipart body: %w", err)
			}
			r.part(p.FormName(), p.Header.Get("Content-Type"), p.FileName(), content)
		}
	case isJSON(kind):
		value, err := normalJSON(text)
		if err != nil {
			value = "not JSON: " + string(text)
		}
		r.add("body", "", value)
	default:
		r.add("body", "", string(text))
	}
	return nil
}

// part adds a part of a multipart body. JSON is compared by value.
func (r request) part(name, media, file string, content []byte) {
	kind, _, _ := mime.ParseMediaType(media)
	text := string(content)
	if isJSON(kind) || len(text) > 0 && strings.IndexByte("{[", text[0]) >= 0 {
		if value, err := normalJSON(content); err == nil {
			text = value
		}
	}
	r.add("part", name, text)
	r.add("part-type", name, normalMedia(media))
	r.add("part-file", name, file)
}

func isJSON(media string) bool {
	return media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json")
}

const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"

// reserved are the delimiters of RFC 3986 section 2.2; encoded or not they are not the same.
const reserved = ":/?#[]@!$&'()*+,;="

// normalPercent writes triples with capitals, those of unreserved characters as the character, and characters that no URI
// may hold as triples (RFC 3986 sections 2.1, 2.3 and 6.2.2).
func normalPercent(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' && i+2 < len(s) {
			if v, ok := triple(s[i+1], s[i+2]); ok {
				i += 2
				if strings.IndexByte(unreserved, v) >= 0 {
					b.WriteByte(v)
				} else {
					fmt.Fprintf(&b, "%%%02X", v)
				}
				continue
			}
		}
		if strings.IndexByte(unreserved, c) >= 0 || strings.IndexByte(reserved, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// normalForm does the same for a urlencoded body, where every triple stands for its character and "+" for a space. What
// may separate the members of a list stays as it is.
func normalForm(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c, escaped := s[i], false
		if c == '%' && i+2 < len(s) {
			if v, ok := triple(s[i+1], s[i+2]); ok {
				c, escaped = v, true
				i += 2
			}
		}
		switch {
		case c == '+' && !escaped:
			b.WriteString("%20")
		case strings.IndexByte(unreserved, c) >= 0, c == ',' && !escaped:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func triple(hi, lo byte) (byte, bool) {
	b, err := hex.DecodeString(string([]byte{hi, lo}))
	if err != nil {
		return 0, false
	}
	return b[0], true
}

func decoded(s string) string {
	if d, err := url.PathUnescape(s); err == nil {
		return d
	}
	return s
}

func formDecoded(s string) string {
	if d, err := url.QueryUnescape(s); err == nil {
		return d
	}
	return s
}

// normalMedia drops charset=utf-8, which is what every type here has without it, and the boundary.
func normalMedia(s string) string {
	kind, parameters, err := mime.ParseMediaType(s)
	if err != nil {
		return s
	}
	if strings.EqualFold(parameters["charset"], "utf-8") {
		delete(parameters, "charset")
	}
	delete(parameters, "boundary")
	return mime.FormatMediaType(kind, parameters)
}

// normalJSON writes a JSON text with sorted members and each number by its value, without rounding.
func normalJSON(text []byte) (string, error) {
	value, err := decodeJSON(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	appendJSON(&b, value)
	return b.String(), nil
}

func decodeJSON(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one JSON value")
	}
	return value, nil
}

func appendJSON(b *strings.Builder, value any) {
	switch v := value.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		b.WriteByte('{')
		for i, name := range names {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(b, "%q:", name)
			appendJSON(b, v[name])
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			appendJSON(b, e)
		}
		b.WriteByte(']')
	case json.Number:
		b.WriteString(exact(string(v)))
	case string:
		fmt.Fprintf(b, "%q", v)
	default:
		fmt.Fprint(b, v)
	}
}

// exact writes a number in one way for each value.
func exact(literal string) string {
	if mantissa, exponent, ok := strings.Cut(strings.ToLower(literal), "e"); ok && (len(exponent) > 4 || len(mantissa) > 400) {
		return literal // too large to be written out
	}
	r, ok := new(big.Rat).SetString(literal)
	if !ok {
		return literal
	}
	return r.RatString()
}
