package mediatype

import "strings"

// blanks are the optional white space around the parts of a header (RFC 9110 section 5.6.3), and the line ends that
// occur in documents. Any other space is part of a name.
const blanks = " \t\r\n"

// EventStream is the media type of server-sent events.
const EventStream = "text/event-stream"

// Essence returns a media type without parameters, in lower case.
func Essence(s string) string {
	s, _, _ = strings.Cut(s, ";")
	return strings.ToLower(strings.Trim(s, blanks))
}

// Charset returns the charset parameter in lower case; "" if there is none.
func Charset(s string) string { return strings.ToLower(Parameter(s, "charset")) }

// Parameter returns a parameter of a media type; "" if there is none.
func Parameter(s, wanted string) string {
	_, parameters, _ := strings.Cut(s, ";")
	for parameters != "" {
		var p string
		p, parameters, _ = strings.Cut(parameters, ";")
		name, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.Trim(name, blanks), wanted) {
			return strings.Trim(strings.Trim(value, blanks), `"'`)
		}
	}
	return ""
}

// Without returns a media type without a parameter.
func Without(s, unwanted string) string {
	essence, parameters, _ := strings.Cut(s, ";")
	kept := strings.Trim(essence, blanks)
	for p := range strings.SplitSeq(parameters, ";") {
		name, _, _ := strings.Cut(p, "=")
		if p = strings.Trim(p, blanks); p != "" && !strings.EqualFold(strings.Trim(name, blanks), unwanted) {
			kept += "; " + p
		}
	}
	return kept
}

// IsJSON reports whether a media type is JSON: the registered one, its older spelling, or a structured suffix (RFC 6839).
func IsJSON(media string) bool {
	return media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json")
}

// IsRange reports whether a media type is a range of others (RFC 9110 section 12.5.1).
func IsRange(media string) bool { return strings.Contains(media, "*") }

// IsForm reports whether a media type is that of HTML forms without files.
func IsForm(media string) bool { return media == "application/x-www-form-urlencoded" }

// IsOpaqueRange reports whether a range of media types contains neither text nor JSON.
func IsOpaqueRange(media string) bool {
	switch media {
	case "image/*", "audio/*", "video/*", "font/*", "model/*":
		return true
	}
	return false
}

// IsBinary reports whether a media type is known not to be text.
func IsBinary(media string) bool {
	kind, subtype, _ := strings.Cut(media, "/")
	switch kind {
	case "image", "audio", "video", "font", "model", "":
		return true
	}
	if i := strings.LastIndexByte(subtype, '+'); i >= 0 {
		switch subtype[i+1:] { // RFC 6839 and the registry of structured suffixes
		case "zip", "gzip", "zstd", "cbor", "cbor-seq", "cose", "ber", "der", "wbxml", "fastinfoset", "sqlite3", "protobuf", "proto", "msgpack":
			return true
		}
	}
	for _, prefix := range []string{"vnd.ms-", "vnd.openxmlformats-", "vnd.oasis.", "vnd.apache.", "vnd.google.protobuf", "pkcs", "pkix-", "grpc"} {
		if strings.HasPrefix(subtype, prefix) {
			return true
		}
	}
	switch strings.TrimPrefix(strings.TrimPrefix(subtype, "x-"), "vnd.") {
	case "octet-stream", "pdf", "zip", "zip-compressed", "gzip", "gtar", "tar", "compress", "compressed", "bzip", "bzip2", "xz", "zstd", "lz4", "snappy", "7z-compressed",
		"rar", "rar-compressed", "java-archive", "android.package-archive", "debian.binary-package", "rpm", "msdownload", "dosexec", "executable",
		"msword", "protobuf", "protobuffer", "protocol-buffers", "thrift", "msgpack", "messagepack", "cbor", "bson", "avro", "avro-binary", "parquet", "wasm",
		"sqlite3", "pkcs7-certificates", "pkcs12", "x509-ca-cert", "x509-user-cert", "ocsp-request", "timestamp-query", "bittorrent", "shockwave-flash",
		"iso9660-image", "apple-diskimage", "hdf5", "netcdf", "grib", "dicom", "las", "binary":
		return true
	}
	return false
}

// IsXML reports whether a media type is XML (RFC 7303).
func IsXML(media string) bool {
	return media == "application/xml" || media == "text/xml" || strings.HasSuffix(media, "+xml")
}

// IsHTML reports whether a media type is that of web pages.
func IsHTML(media string) bool { return media == "text/html" || media == "application/xhtml+xml" }

// IsJSONLines reports whether a media type is JSON texts, one per line. It has many names and no registration.
func IsJSONLines(media string) bool {
	switch media {
	case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/jsonlines", "application/x-jsonlines", "application/x-jsonl",
		"application/x-json-stream", "application/stream+json", "application/json-lines", "text/x-ndjson", "text/ndjson", "text/jsonl":
		return true
	}
	return false
}

// IsJSONSequence reports whether a media type is JSON texts with a separator before each (RFC 7464, RFC 8091).
func IsJSONSequence(media string) bool {
	return media == "application/json-seq" || strings.HasSuffix(media, "+json-seq")
}

// IsSequential reports whether a media type is a sequence of independent values (OAS 3.2, sequential media types).
func IsSequential(media string) bool {
	return IsJSONLines(media) || IsJSONSequence(media) || media == EventStream
}

// CanBeJSON reports whether a media type is one JSON text, or a range that includes such types.
func CanBeJSON(media string) bool {
	return IsJSON(media) && !IsJSONLines(media) || media == "*/*" || media == "*" || media == "application/*"
}

// IsGeneric reports whether a media type carries no information about its bytes.
func IsGeneric(media string) bool {
	return media == "" || media == "application/octet-stream" || media == "binary/octet-stream"
}

// IsToken reports whether a media type is a signed or encrypted text in the compact form of JOSE (RFC 7515 section
// 7.1), such as a JSON Web Token. A schema beside it describes the content of the token.
func IsToken(media string) bool {
	for _, name := range []string{"jwt", "sd-jwt", "jose", "jws", "jwe"} {
		if media == "application/"+name || strings.HasSuffix(media, "+"+name) {
			return true
		}
	}
	return false
}

// IsText reports whether a media type is text.
func IsText(media string) bool {
	if strings.HasPrefix(media, "text/") || strings.HasPrefix(media, "message/") || IsToken(media) || IsXML(media) || strings.HasSuffix(media, "+yaml") || IsSequential(media) {
		return true
	}
	switch media {
	case "application/yaml", "application/x-yaml", "application/javascript", "application/ecmascript", "application/graphql",
		"application/http", // the parts of a batch
		"application/x-www-form-urlencoded", "application/sql", "application/toml", "application/rtf", "application/csv",
		"application/x-sh", "application/x-pem-file", "application/sdp":
		return true
	}
	return false
}
