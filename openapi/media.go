package openapi

import "strings"

// mediaType returns a media type without parameters, in lower case. It accepts what mime.ParseMediaType refuses:
// documents and services have a few of those.
func mediaType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	return strings.ToLower(strings.TrimSpace(s))
}

// charset returns the parameter of that name, lower case, "" when there is none.
func charset(s string) string {
	_, parameters, _ := strings.Cut(s, ";")
	for parameters != "" {
		var p string
		p, parameters, _ = strings.Cut(parameters, ";")
		name, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.TrimSpace(name), "charset") {
			return strings.ToLower(strings.Trim(strings.TrimSpace(value), `"'`))
		}
	}
	return ""
}

// isJSON tells whether a media type is JSON: the registered one, its older spelling, or a structured suffix (RFC 6839).
func isJSON(media string) bool {
	return media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json")
}

// isWildcard tells whether a media type stands for others.
func isWildcard(media string) bool { return strings.Contains(media, "*") }

func isXML(media string) bool {
	return media == "application/xml" || media == "text/xml" || strings.HasSuffix(media, "+xml")
}

// isText tells whether the bytes of a media type are meant to be read as text.
func isText(media string) bool {
	if strings.HasPrefix(media, "text/") || isXML(media) || strings.HasSuffix(media, "+yaml") || strings.HasSuffix(media, "+json-seq") {
		return true
	}
	switch media {
	case "application/yaml", "application/x-yaml", "application/javascript", "application/ecmascript", "application/graphql",
		"application/x-ndjson", "application/ndjson", "application/jsonl", "application/jsonlines", "application/json-seq",
		"application/x-www-form-urlencoded", "application/sql", "application/toml", "application/rtf", "application/csv",
		"application/x-sh", "application/x-pem-file", "application/jwt", "application/jose", "application/sdp":
		return true
	}
	return false
}
