package openapi

import "strings"

// blanks are the optional white space around the parts of a header (RFC 9110 section 5.6.3), and the line ends that documents
// have there. No other space is one: in a name it is a part of the name.
const blanks = " \t\r\n"

// mediaType returns a media type without parameters, in lower case. It accepts what mime.ParseMediaType refuses:
// documents and services have a few of those.
func mediaType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	return strings.ToLower(strings.Trim(s, blanks))
}

// charset returns the parameter of that name, lower case, "" when there is none.
func charset(s string) string { return strings.ToLower(mediaParameter(s, "charset")) }

// mediaParameter returns a parameter of a media type, "" when there is none.
func mediaParameter(s, wanted string) string {
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

// isJSON tells whether a media type is JSON: the registered one, its older spelling, or a structured suffix (RFC 6839).
func isJSON(media string) bool {
	return media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json")
}

// isWildcard tells whether a media type stands for others.
func isWildcard(media string) bool { return strings.Contains(media, "*") }

func isForm(media string) bool { return media == "application/x-www-form-urlencoded" }

// isOpaqueRange tells whether a range of media types holds none that is text or JSON.
func isOpaqueRange(media string) bool {
	switch media {
	case "image/*", "audio/*", "video/*", "font/*", "model/*":
		return true
	}
	return false
}

// isBytes tells whether a media type is known to be no text.
func isBytes(media string) bool {
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

func isXML(media string) bool {
	return media == "application/xml" || media == "text/xml" || strings.HasSuffix(media, "+xml")
}

// isHTML tells whether a media type is a page for people.
func isHTML(media string) bool { return media == "text/html" || media == "application/xhtml+xml" }

// isLines tells whether a media type is JSON texts, one on a line. It has many names and no registration.
func isLines(media string) bool {
	switch media {
	case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/jsonlines", "application/x-jsonlines", "application/x-jsonl",
		"application/x-json-stream", "application/stream+json", "application/json-lines", "text/x-ndjson", "text/ndjson", "text/jsonl":
		return true
	}
	return false
}

// isSequence tells whether a media type is JSON texts with a separator before each (RFC 7464, RFC 8091).
func isSequence(media string) bool {
	return media == "application/json-seq" || strings.HasSuffix(media, "+json-seq")
}

// eventStream is the media type of server-sent events.
const eventStream = "text/event-stream"

// isSequential tells whether a media type is a row of values of which each stands for itself (OAS 3.2, sequential
// media types).
func isSequential(media string) bool {
	return isLines(media) || isSequence(media) || media == eventStream
}

// canBeJSON tells whether an answer of a documented media type, which may be a range, can be JSON.
func canBeJSON(media string) bool {
	return isJSON(media) && !isLines(media) || media == "*/*" || media == "*" || media == "application/*"
}

// isGeneric tells whether a media type says no more than that there are bytes.
func isGeneric(media string) bool {
	return media == "" || media == "application/octet-stream" || media == "binary/octet-stream"
}

// isText tells whether the bytes of a media type are meant to be read as text.
func isText(media string) bool {
	if strings.HasPrefix(media, "text/") || strings.HasPrefix(media, "message/") || isXML(media) || strings.HasSuffix(media, "+yaml") || isSequential(media) {
		return true
	}
	switch media {
	case "application/yaml", "application/x-yaml", "application/javascript", "application/ecmascript", "application/graphql",
		"application/http", // the parts of a batch
		"application/x-www-form-urlencoded", "application/sql", "application/toml", "application/rtf", "application/csv",
		"application/x-sh", "application/x-pem-file", "application/jwt", "application/jose", "application/sdp":
		return true
	}
	return false
}
