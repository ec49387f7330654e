package config

import (
	"slices"
	"strings"

	"drawbridge/openapi/text"
)

func (l *loader) selectors(list string, selectors Selectors) {
	for i := range selectors {
		sel, key := &selectors[i], selectorKey(l, list, i)
		if sel.empty() && l.ok(key) && !l.faulty(key) {
			l.errorf(key, "needs at least one of api, tag, method, path, operation, deprecated, extension")
		}
		for j, p := range sel.Method {
			sel.Method[j] = p.upper()
			if k := patternKey(l, key+".method", j); p.text != "" && !methods.MatchString(sel.Method[j].text) {
				l.errorf(k, "%s is not an HTTP method", quote(p.text))
			} else if near := text.Nearest(sel.Method[j].text, knownMethods()); near != "" && near != sel.Method[j].text &&
				!strings.Contains(p.text, "*") {
				l.errorf(k, "%s is not an HTTP method%s", quote(p.text), text.DidYouMean(near))
			}
		}
		for j, p := range sel.Extension {
			if k := patternKey(l, key+".extension", j); p.text != "" && !strings.HasPrefix(p.text, "x-") && p.text[0] != '*' {
				l.errorf(k, "%s is not the name of an extension, which begins with x-", quote(p.text))
			}
		}
		for j, p := range sel.Path {
			if k := patternKey(l, key+".path", j); p.text != "" && p.text[0] != '/' && p.text[0] != '*' {
				l.errorf(k, "must begin with / or *%s", text.DidYouMean("/"+p.text))
			}
		}
	}
}

// knownMethods returns the methods that OpenAPI has fields for.
func knownMethods() []string {
	return []string{"GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE", "QUERY"}
}

// unknownAPIs warns of API names in selectors that match no name of the configuration. Where an API has none it is called by the
// title of its document, so that whoever writes the document decides whether the selector matches.
func (l *loader) unknownAPIs(cfg *Config, list string, selectors Selectors) {
	var names []string
	titled := false
	for _, api := range cfg.APIs {
		if titled = titled || api.Name == ""; api.Name != "" {
			names = append(names, api.Name)
		}
	}
	for i, sel := range selectors {
		for j, p := range sel.API {
			if p.text == "" { // it could not be read, which was said
				continue
			}
			switch {
			case slices.ContainsFunc(names, func(n string) bool { return Patterns{p}.allow(n) }), strings.Trim(p.text, "*") == "":
			case titled:
				l.warnf(patternKey(l, selectorKey(l, list, i)+".api", j), "no API has the name %s: if one without name is meant, the title of its document "+
					"decides whether this matches; give it a name", quote(p.text))
			default:
				l.warnf(patternKey(l, selectorKey(l, list, i)+".api", j), "no API is named %s%s", quote(p.text),
					text.DidYouMean(text.Nearest(p.text, names)))
			}
		}
	}
}
