package filter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// received is a request as it came off the wire, nothing of it decoded.
type received struct {
	segments map[string]string // path variable → its part of the path
	query    string
	header   func(name string) (string, bool)
	cookies  string
}

// decode is the second decoder. It reads one parameter as the tables of the standard have it (OAS 3.1.1 "Style
// Examples", RFC 6570): it splits first and decodes then. found is false for a parameter that was not sent.
func (p *param) decode(in received) (value any, found bool, err error) {
	switch p.in {
	case "path":
		raw, ok := in.segments[p.name]
		if !ok {
			return nil, false, fmt.Errorf("the path has no part for %q", p.name)
		}
		value, err = p.decodePath(raw)
		return value, true, err
	case "header":
		raw, ok := in.header(p.name)
		if !ok {
			return nil, false, nil
		}
		plain := func(s string) (string, error) { return s, nil }
		if p.content {
			value, err = fromJSON(raw)
		} else {
			value, err = p.laid(raw, ",", "=", plain)
		}
		return value, true, err
	case "cookie":
		return p.decodePairs(pairs(in.cookies, "; ", url.PathUnescape), url.PathUnescape)
	default:
		return p.decodePairs(pairs(in.query, "&", url.QueryUnescape), url.QueryUnescape)
	}
}

type unescape func(string) (string, error)

// pair is a name, decoded, and a value that is not.
type pair struct{ name, raw string }

func pairs(text, separator string, decode unescape) (out []pair) {
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, separator) {
		name, raw, _ := strings.Cut(part, "=")
		if decoded, err := decode(name); err == nil {
			name = decoded
		}
		out = append(out, pair{name, raw})
	}
	return out
}

// decodePairs reads a query or cookie parameter.
func (p *param) decodePairs(all []pair, decode unescape) (any, bool, error) {
	if p.style == "deepObject" {
		return p.decodeDeep(all, decode)
	}
	if p.explode && kind(p.schema) == "object" && !p.content {
		out := map[string]any{}
		properties, _ := p.schema["properties"].(map[string]any)
		for _, pair := range all {
			if s, ok := properties[pair.name].(map[string]any); ok {
				v, err := scalarOf(pair.raw, s, decode)
				if err != nil {
					return nil, false, err
				}
				out[pair.name] = v
			}
		}
		return out, len(out) > 0, nil
	}
	var raw []string
	for _, pair := range all {
		if pair.name == p.name {
			raw = append(raw, pair.raw)
		}
	}
	switch {
	case len(raw) == 0:
		return nil, false, nil
	case p.content:
		text, err := decode(raw[0])
		if err != nil {
			return nil, false, err
		}
		v, err := fromJSON(text)
		return v, true, err
	case p.explode && kind(p.schema) == "array":
		v, err := listOf(raw, p.schema, decode)
		return v, true, err
	case len(raw) > 1:
		return nil, false, fmt.Errorf("%q stands %d times", p.name, len(raw))
	}
	text := raw[0]
	switch p.style { // the delimiter is the escaped character, or the character where a client wrote it so
	case "spaceDelimited":
		text = strings.NewReplacer("%20", " ", "+", " ").Replace(text)
		v, err := p.laid(text, " ", " ", decode)
		return v, true, err
	case "pipeDelimited":
		text = strings.NewReplacer("%7C", "|", "%7c", "|").Replace(text)
		v, err := p.laid(text, "|", "|", decode)
		return v, true, err
	}
	v, err := p.laid(text, ",", "=", decode)
	return v, true, err
}

// laid reads a value that stands in one piece of text.
func (p *param) laid(raw, separator, equals string, decode unescape) (any, error) {
	switch kind(p.schema) {
	case "array":
		return listOf(strings.Split(raw, separator), p.schema, decode)
	case "object":
		out := map[string]any{}
		parts := strings.Split(raw, separator)
		if !p.explode {
			if len(parts)%2 != 0 {
				return nil, fmt.Errorf("%q is not made of names and values", raw)
			}
			for i := 0; i < len(parts); i += 2 {
				if err := member(out, parts[i], parts[i+1], p.schema, decode); err != nil {
					return nil, err
				}
			}
			return out, nil
		}
		for _, part := range parts {
			name, value, ok := strings.Cut(part, equals)
			if !ok {
				return nil, fmt.Errorf("%q has no %q", part, equals)
			}
			if err := member(out, name, value, p.schema, decode); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return scalarOf(raw, p.schema, decode)
}

func (p *param) decodePath(raw string) (any, error) {
	if p.content {
		text, err := url.PathUnescape(raw)
		if err != nil {
			return nil, err
		}
		return fromJSON(text)
	}
	switch p.style {
	case "label":
		rest, ok := strings.CutPrefix(raw, ".")
		if !ok {
			return nil, fmt.Errorf("%q does not begin with a dot", raw)
		}
		separator := ","
		if p.explode {
			separator = "."
		}
		return p.laid(rest, separator, "=", url.PathUnescape)
	case "matrix":
		return p.decodeMatrix(raw)
	}
	return p.laid(raw, ",", "=", url.PathUnescape)
}

// decodeMatrix reads ";name=value" and ";name" for an empty value.
func (p *param) decodeMatrix(raw string) (any, error) {
	rest, ok := strings.CutPrefix(raw, ";")
	if !ok {
		return nil, fmt.Errorf("%q does not begin with a semicolon", raw)
	}
	out := map[string]any{}
	var values []string
	for piece := range strings.SplitSeq(rest, ";") {
		name, value, _ := strings.Cut(piece, "=")
		if p.explode && kind(p.schema) == "object" {
			if err := member(out, name, value, p.schema, url.PathUnescape); err != nil {
				return nil, err
			}
			continue
		}
		if decoded, err := url.PathUnescape(name); err != nil || decoded != p.name {
			return nil, fmt.Errorf("%q is not named %q", piece, p.name)
		}
		values = append(values, value)
	}
	switch {
	case p.explode && kind(p.schema) == "object":
		return out, nil
	case p.explode && kind(p.schema) == "array":
		return listOf(values, p.schema, url.PathUnescape)
	case len(values) != 1:
		return nil, fmt.Errorf("%q has %d values", raw, len(values))
	}
	return p.laid(values[0], ",", "=", url.PathUnescape)
}

// decodeDeep reads name[a][b]=value.
func (p *param) decodeDeep(all []pair, decode unescape) (any, bool, error) {
	tree := map[string]any{}
	for _, pair := range all {
		rest, ok := strings.CutPrefix(pair.name, p.name+"[")
		if !ok || !strings.HasSuffix(rest, "]") {
			continue
		}
		value, err := decode(pair.raw)
		if err != nil {
			return nil, false, err
		}
		steps := strings.Split(strings.TrimSuffix(rest, "]"), "][")
		at := tree
		for _, step := range steps[:len(steps)-1] {
			below, ok := at[step].(map[string]any)
			if !ok {
				below = map[string]any{}
				at[step] = below
			}
			at = below
		}
		if _, twice := at[steps[len(steps)-1]]; twice {
			return nil, false, fmt.Errorf("%q stands twice", pair.name)
		}
		at[steps[len(steps)-1]] = value
	}
	v, err := typed(tree, p.schema)
	return v, len(tree) > 0, err
}

// typed gives the texts of a tree the types of a schema.
func typed(v any, schema map[string]any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		if kind(schema) == "array" {
			items, _ := schema["items"].(map[string]any)
			out := make([]any, len(v))
			for i := range out {
				item, ok := v[strconv.Itoa(i)]
				if !ok {
					return nil, fmt.Errorf("the list has no element %d", i)
				}
				var err error
				if out[i], err = typed(item, items); err != nil {
					return nil, err
				}
			}
			return out, nil
		}
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			s, err := memberSchema(schema, name)
			if err != nil {
				return nil, err
			}
			if out[name], err = typed(v[name], s); err != nil {
				return nil, err
			}
		}
		return out, nil
	default:
		return scalarOf(v.(string), schema, func(s string) (string, error) { return s, nil })
	}
}

func memberSchema(schema map[string]any, name string) (map[string]any, error) {
	properties, _ := schema["properties"].(map[string]any)
	if s, ok := properties[name].(map[string]any); ok {
		return s, nil
	}
	if s, ok := schema["additionalProperties"].(map[string]any); ok {
		return s, nil
	}
	return nil, fmt.Errorf("there is no member %q", name)
}

func member(out map[string]any, name, raw string, schema map[string]any, decode unescape) error {
	name, err := decode(name)
	if err != nil {
		return err
	}
	s, err := memberSchema(schema, name)
	if err != nil {
		return err
	}
	out[name], err = scalarOf(raw, s, decode)
	return err
}

func listOf(raw []string, schema map[string]any, decode unescape) ([]any, error) {
	items, _ := schema["items"].(map[string]any)
	out := make([]any, len(raw))
	for i, text := range raw {
		var err error
		if out[i], err = scalarOf(text, items, decode); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func scalarOf(raw string, schema map[string]any, decode unescape) (any, error) {
	text, err := decode(raw)
	if err != nil {
		return nil, err
	}
	switch schema["type"] {
	case "integer", "number":
		return json.Number(text), nil
	case "boolean":
		return strconv.ParseBool(text)
	}
	return text, nil
}

func fromJSON(text string) (any, error) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
