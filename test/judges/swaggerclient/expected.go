package main

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// What the tables of the standard say of a parameter, written from RFC 6570 and OAS "Style Examples" for the rules: one
// that explains a difference demands that the gateway's side is this.

// encode percent-encodes all but unreserved characters (RFC 6570 section 3.2.1).
func encode(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}

// undefined is what RFC 6570 section 2.3 leaves out.
func undefined(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return e != nil })
	case map[string]any:
		for _, e := range v {
			if e != nil {
				return false
			}
		}
		return true
	}
	return false
}

// written returns the text of a value that is a member of another, or stands alone: JSON if it has members itself.
func written(value any) string {
	switch value.(type) {
	case []any, map[string]any:
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if e.Encode(value) == nil {
			return strings.TrimSuffix(b.String(), "\n")
		}
	}
	return text(value)
}

// layout returns the style of a parameter, with the default filled in, and whether it explodes.
func (p *parameter) layout(two bool) (style string, explode bool) {
	if two {
		switch p.CollectionFormat {
		case "multi":
			return "form", true
		case "ssv":
			return "spaceDelimited", false
		case "tsv":
			return "tabDelimited", false
		case "pipes":
			return "pipeDelimited", false
		}
		if p.In == "path" || p.In == "header" {
			return "simple", false
		}
		return "form", false
	}
	if style = p.Style; style == "" {
		style = map[string]string{"path": "simple", "header": "simple"}[p.In]
		if style == "" {
			style = "form"
		}
	}
	explode = style == "form"
	if p.Explode != nil {
		explode = *p.Explode
	}
	return style, explode
}

// pairs returns the pairs that a query parameter, a cookie or a styled member of a form is written as, by name.
func (p *parameter) pairs(name string, value any, two bool) map[string][]string {
	all := map[string][]string{}
	add := func(name, value string) { all[name] = append(all[name], normalPercent(value)) }
	style, explode := p.layout(two)
	if p.Media != "" && isJSON(p.Media) {
		add(name, encode(written(value)))
		return all
	}
	if undefined(value) {
		if p.AllowEmptyValue {
			add(name, "")
		}
		return all
	}
	if style == "deepObject" {
		deep(name, value, add)
		return all
	}
	separator := map[string]string{"spaceDelimited": "%20", "pipeDelimited": "%7C", "tabDelimited": "%09"}[style]
	if separator == "" {
		separator = ","
	}
	var list []string
	switch v := value.(type) {
	case []any:
		for _, e := range v {
			if e != nil {
				list = append(list, encode(written(e)))
			}
		}
		if explode {
			for _, e := range list {
				add(name, e)
			}
			return all
		}
	case map[string]any:
		for _, k := range sorted(v) {
			switch {
			case v[k] == nil:
			case explode:
				if items, ok := v[k].([]any); ok && !slices.ContainsFunc(items, isNested) {
					for _, e := range items {
						add(k, encode(written(e)))
					}
					break
				}
				add(k, encode(written(v[k])))
			default:
				list = append(list, encode(k), encode(written(v[k])))
			}
		}
		if explode {
			return all
		}
	default:
		list = []string{encode(text(v))}
	}
	add(name, strings.Join(list, separator))
	return all
}

func isNested(value any) bool {
	switch value.(type) {
	case []any, map[string]any, nil:
		return true
	}
	return false
}

// deep writes style deepObject below its first level, of which the standard says nothing, as services that document it
// read it: brackets for each level, lists by index.
func deep(name string, value any, add func(name, value string)) {
	switch v := value.(type) {
	case nil:
	case []any:
		i := 0
		for _, e := range v {
			if !undefined(e) {
				deep(name+"["+strconv.Itoa(i)+"]", e, add)
				i++
			}
		}
	case map[string]any:
		for _, k := range sorted(v) {
			deep(name+"["+k+"]", v[k], add)
		}
	default:
		add(name, encode(text(v)))
	}
}

// segment returns a path parameter as a part of its segment (RFC 6570 appendix A, OAS 3.1.1 "Style Examples").
func (p *parameter) segment(value any, two bool) (string, bool) {
	style, explode := p.layout(two)
	if undefined(value) || !slices.Contains([]string{"simple", "label", "matrix"}, style) {
		return "", false
	}
	separator, first, name := ",", "", ""
	switch {
	case style == "label":
		first = "."
	case style == "matrix":
		first, name = ";", encode(p.Name)+"="
	}
	if explode && first != "" {
		separator = first
	}
	var list []string
	switch v := value.(type) {
	case []any:
		for _, e := range v {
			if e == nil {
				continue
			}
			text := encode(written(e))
			if explode {
				text = name + text
			}
			list = append(list, text)
		}
	case map[string]any:
		for _, k := range sorted(v) {
			switch {
			case v[k] == nil:
			case explode:
				list = append(list, encode(k)+"="+encode(written(v[k])))
			default:
				list = append(list, encode(k), encode(written(v[k])))
			}
		}
	default:
		list, explode = []string{encode(text(v))}, false
	}
	if !explode {
		first += name
		if joined := strings.Join(list, ""); joined == "" {
			first = strings.TrimSuffix(first, "=")
		}
	}
	return normalPercent(first + strings.Join(list, separator)), true
}

// formPairs returns the pairs of a member of a urlencoded body (OAS 3.1 "Encoding Object"; 2.0: collectionFormat).
func (x *exchange) formPairs(name string, value any) map[string][]string {
	e, known := x.theirs.Encoding[name]
	if x.facts.Swagger2 || known && (e.Style != "" || e.Explode != nil || e.AllowReserved) {
		return e.pairs(name, value, x.facts.Swagger2)
	}
	all := map[string][]string{}
	switch v := value.(type) {
	case nil:
	case []any:
		for _, m := range v {
			if m != nil {
				all[name] = append(all[name], encode(written(m)))
			}
		}
		if isJSON(e.ContentType) {
			all[name] = []string{encode(written(v))}
		}
	case map[string]any:
		all[name] = []string{encode(written(v))}
	default:
		all[name] = []string{encode(text(v))}
	}
	return all
}

func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// variables returns the names in braces of a segment of a path.
func variables(segment string) (names []string) {
	for {
		_, rest, ok := strings.Cut(segment, "{")
		name, after, closed := strings.Cut(rest, "}")
		name = strings.TrimPrefix(name, "+") // as in RFC 6570, and in Google's documents
		if !ok || !closed {
			return names
		}
		names, segment = append(names, name), after
	}
}

// fill returns a segment of a path with its variables replaced as the standard has it.
func (x *exchange) fill(segment string) (string, error) {
	for _, name := range variables(segment) {
		value, p := x.argument("path", name)
		if p == nil {
			return "", fmt.Errorf("no parameter %q", name)
		}
		text, ok := p.segment(value, x.facts.Swagger2)
		if !ok {
			return "", fmt.Errorf("parameter %q is of another style", name)
		}
		if p.MultiSegment {
			text = strings.ReplaceAll(text, "%2F", "/")
		}
		segment = strings.Replace(segment, "{"+name+"}", text, 1)
		segment = strings.Replace(segment, "{+"+name+"}", strings.ReplaceAll(text, "%2F", "/"), 1) // Google's: several segments
	}
	return normalPercent(segment), nil
}

// mendedMedia reads a media type that a caller has written wrongly: a quote at one end of a value alone, no quotes where
// they are needed, a parameter without a value or twice. It returns "" for one that has no such fault.
func mendedMedia(s string) string {
	if _, _, err := mime.ParseMediaType(s); err == nil {
		return ""
	}
	list := strings.Split(s, ";")
	parameters := make(map[string]string)
	for _, p := range list[1:] {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if _, known := parameters[name]; known {
			continue
		}
		whole := len(value) > 1 && value[0] == '"' && value[len(value)-1] == '"'
		if whole {
			value = value[1 : len(value)-1]
		} else {
			value = strings.Trim(value, ` "`)
		}
		if value != "" || whole {
			parameters[name] = value
		}
	}
	return normalMedia(mime.FormatMediaType(strings.TrimSpace(list[0]), parameters))
}
