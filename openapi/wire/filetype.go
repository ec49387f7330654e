package wire

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"drawbridge/openapi/mediatype"
)

const (
	unknownType = "application/octet-stream"
	plainText   = "text/plain"
)

// A fileKind is the media type of an extension, and the result of content detection for it: "" for its own signature or
// none, "text" for any text, or the media type of its container format (see [mediatype.Signature]). The table is our
// own, because that of package mime depends on the files of the machine, and every machine must send the same.
type fileKind struct{ mediaType, content string }

// fileKinds are by extension. The media types are those of the IANA registry, or else those that browsers send.
var fileKinds = map[string]fileKind{
	// Text, which content detection can't distinguish.
	"txt": {plainText, "text"}, "text": {plainText, "text"}, "log": {plainText, "text"},
	"csv": {"text/csv", "text"}, "tsv": {"text/tab-separated-values", "text"}, "md": {"text/markdown", "text"}, "markdown": {"text/markdown", "text"},
	"htm": {"text/html", "text"}, "html": {"text/html", "text"}, "css": {"text/css", "text"}, "js": {"text/javascript", "text"}, "mjs": {"text/javascript", "text"},
	"ics": {"text/calendar", "text"}, "vcf": {"text/vcard", "text"}, "vtt": {"text/vtt", "text"}, "srt": {"application/x-subrip", "text"},
	"json": {"application/json", "text"}, "geojson": {"application/geo+json", "text"}, "jsonld": {"application/ld+json", "text"},
	"jsonl": {"application/jsonl", "text"}, "ndjson": {"application/x-ndjson", "text"},
	"xml": {"application/xml", "text"}, "xsd": {"application/xml", "text"}, "xsl": {"application/xml", "text"}, "xhtml": {"application/xhtml+xml", "text"},
	"svg": {"image/svg+xml", "text"}, "rss": {"application/rss+xml", "text"}, "atom": {"application/atom+xml", "text"},
	"gpx": {"application/gpx+xml", "text"}, "kml": {"application/vnd.google-earth.kml+xml", "text"}, "bpmn": {"application/xml", "text"},
	"yaml": {"application/yaml", "text"}, "yml": {"application/yaml", "text"}, "toml": {"application/toml", "text"}, "sql": {"application/sql", "text"},
	"rtf": {"application/rtf", "text"}, "eml": {"message/rfc822", "text"}, "pem": {"application/x-pem-file", "text"}, "sh": {"application/x-sh", "text"},
	// Containers.
	"docx": {"application/vnd.openxmlformats-officedocument.wordprocessingml.document", "application/zip"},
	"xlsx": {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/zip"},
	"pptx": {"application/vnd.openxmlformats-officedocument.presentationml.presentation", "application/zip"},
	"odt":  {"application/vnd.oasis.opendocument.text", "application/zip"}, "ods": {"application/vnd.oasis.opendocument.spreadsheet", "application/zip"},
	"odp": {"application/vnd.oasis.opendocument.presentation", "application/zip"}, "epub": {"application/epub+zip", "application/zip"},
	"jar": {"application/java-archive", "application/zip"}, "war": {"application/java-archive", "application/zip"}, "apk": {"application/vnd.android.package-archive", "application/zip"},
	"kmz": {"application/vnd.google-earth.kmz", "application/zip"}, "gz": {"application/gzip", "application/gzip"}, "tgz": {"application/gzip", "application/gzip"},
	"m4a": {"audio/mp4", "video/mp4"}, "m4v": {"video/x-m4v", "video/mp4"}, "weba": {"audio/webm", "video/webm"}, "mkv": {"video/x-matroska", "video/webm"},
	"ogg": {"audio/ogg", "application/ogg"}, "oga": {"audio/ogg", "application/ogg"}, "opus": {"audio/ogg", "application/ogg"}, "ogv": {"video/ogg", "application/ogg"},
	"wav": {"audio/wav", ""}, "avi": {"video/x-msvideo", ""},
	// Files that are detected by their first bytes, or not at all.
	"png": {"image/png", ""}, "jpg": {"image/jpeg", ""}, "jpeg": {"image/jpeg", ""}, "gif": {"image/gif", ""}, "webp": {"image/webp", ""}, "bmp": {"image/bmp", ""},
	"ico": {"image/vnd.microsoft.icon", ""}, "tif": {"image/tiff", ""}, "tiff": {"image/tiff", ""}, "heic": {"image/heic", ""}, "heif": {"image/heif", ""}, "avif": {"image/avif", ""},
	"mp3": {"audio/mpeg", ""}, "aac": {"audio/aac", ""}, "flac": {"audio/flac", ""}, "mid": {"audio/midi", ""}, "aiff": {"audio/aiff", ""}, "amr": {"audio/amr", ""},
	"mp4": {"video/mp4", ""}, "webm": {"video/webm", ""}, "mov": {"video/quicktime", "video/mp4"}, "mpg": {"video/mpeg", ""}, "mpeg": {"video/mpeg", ""}, "wmv": {"video/x-ms-wmv", ""}, "flv": {"video/x-flv", ""}, "3gp": {"video/3gpp", "video/mp4"},
	"pdf": {"application/pdf", ""}, "doc": {"application/msword", ""}, "xls": {"application/vnd.ms-excel", ""}, "ppt": {"application/vnd.ms-powerpoint", ""}, "msg": {"application/vnd.ms-outlook", ""},
	"zip": {"application/zip", ""}, "tar": {"application/x-tar", ""}, "bz2": {"application/x-bzip2", ""}, "xz": {"application/x-xz", ""}, "zst": {"application/zstd", ""}, "7z": {"application/x-7z-compressed", ""}, "rar": {"application/vnd.rar", ""},
	"woff": {"font/woff", ""}, "woff2": {"font/woff2", ""}, "ttf": {"font/ttf", ""}, "otf": {"font/otf", ""}, "wasm": {"application/wasm", ""},
	"parquet": {"application/vnd.apache.parquet", ""}, "sqlite": {"application/vnd.sqlite3", ""}, "p12": {"application/x-pkcs12", ""}, "pfx": {"application/x-pkcs12", ""},
	"der": {"application/pkix-cert", ""}, "cer": {"application/pkix-cert", ""}, "crt": {"application/x-x509-ca-cert", ""}, "torrent": {"application/x-bittorrent", ""}, "glb": {"model/gltf-binary", ""}, "stl": {"model/stl", ""},
}

// detectType returns the media type of a file by its content, and for text, a container or unknown content by the
// extension of its name.
func detectType(content []byte, name string) string {
	signature, sniffed := mediatype.Signature(content), ""
	if signature == "" {
		sniffed = http.DetectContentType(content)
	}
	known, ok := fileKinds[extension(name)]
	isText := strings.HasPrefix(sniffed, "text/") || sniffed == "image/bmp" // "BM" alone does not make a bitmap
	switch {
	case ok && (len(content) == 0 || sniffed == unknownType || signature != "" && signature == known.content || isText && known.content == "text"):
		return withCharset(known.mediaType, content)
	case signature != "":
		return signature
	case !isText:
		return sniffed
	}
	if shown := mediatype.TextSignature(content); shown != "" {
		return shown
	}
	if strings.HasSuffix(sniffed, "charset=utf-8") { // the result for everything that is not UTF-16
		return withCharset(plainText, content)
	}
	return sniffed
}

// withCharset adds the charset to plain text, whose default is US-ASCII (RFC 2046 section 4.1.2).
func withCharset(mediaType string, content []byte) string {
	if mediaType == plainText && utf8.Valid(content) {
		return plainText + "; charset=utf-8"
	}
	return mediaType
}

// extension returns the text after the last dot of a name, in lower case; "" if it has none.
func extension(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return ""
	}
	return strings.ToLower(name[i+1:])
}
