package mediatype

import (
	"strings"
	"unicode/utf8"
)

// signed are the media types whose bytes begin with a signature that [Signature] detects. Bytes without it are of
// another type.
var signed = map[string]bool{
	"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/bmp": true, "image/tiff": true, "image/vnd.microsoft.icon": true,
	"image/heic": true, "image/heif": true, "image/avif": true, "image/jxl": true, "image/jp2": true, "image/jxr": true, "image/vnd.adobe.photoshop": true,
	"audio/mpeg": true, "audio/wav": true, "audio/flac": true, "audio/aac": true, "audio/aiff": true, "audio/amr": true, "audio/midi": true, "audio/basic": true,
	"audio/mp4": true, "audio/ogg": true, "audio/opus": true, "audio/vorbis": true, "audio/webm": true, "audio/x-caf": true,
	"video/mp4": true, "video/quicktime": true, "video/3gpp": true, "video/webm": true, "video/ogg": true, "video/x-msvideo": true,
	"application/pdf": true, "application/zip": true, "application/gzip": true, "application/vnd.rar": true, "application/x-xz": true, "application/x-7z-compressed": true, "application/zstd": true,
}

// containers are the signatures of containers and compression formats, which are common to many media types.
var containers = map[string]bool{
	"application/zip": true, "application/gzip": true, "application/x-bzip2": true, "application/x-xz": true, "application/zstd": true,
	"application/x-7z-compressed": true, "application/vnd.sqlite3": true, "application/postscript": true,
}

// streams are the media types whose files have the signature of another: a container may hold audio, video, or both.
var streams = map[string][]string{
	"video/mp4":       {"audio/mp4", "audio/aac", "video/x-m4v", "video/quicktime", "video/3gpp", "audio/3gpp", "video/3gpp2", "application/mp4"},
	"audio/mp4":       {"audio/aac", "video/mp4"},
	"video/3gpp":      {"audio/3gpp", "video/mp4", "audio/mp4"},
	"video/quicktime": {"video/mp4", "audio/mp4"},
	"application/ogg": {"audio/ogg", "audio/opus", "audio/vorbis", "audio/flac", "audio/speex", "video/ogg"},
	"video/webm":      {"audio/webm", "video/x-matroska", "audio/x-matroska", "application/x-matroska"},
	"image/heif":      {"image/heic", "image/avif"},
	"image/heic":      {"image/heif"},
}

// Content returns the media type of bytes, given their label, and whether they are text. The bytes override a label
// that they contradict: by their signature, or because they are text and should not be. Any other label is kept under
// its registered name.
func Content(label string, data []byte) (media string, text bool) {
	known, signature := Registered(label), Signature(data)
	switch {
	case IsText(label) || IsJSON(label):
		if signature == "" || IsReadable(data) { // texts may also begin with "BM", "GIF89a" and "ID3"
			return label, true
		}
		return signature, false
	case signature != "" && fits(known, signature):
		return known, false
	case !IsGeneric(label) && isText(data) && (IsBinary(label) || TextSignature(data) == "text/html"):
		return textType(known, data), true
	case signature != "":
		return signature, false
	case signed[known] && (strings.HasPrefix(known, "image/") || strings.HasPrefix(known, "audio/")):
		return "application/octet-stream", false
	}
	return known, false
}

// fits reports whether bytes with a signature may be of a media type.
func fits(media, signature string) bool {
	if media == signature {
		return true
	}
	for _, other := range streams[signature] {
		if media == other {
			return true
		}
	}
	switch kind, _, _ := strings.Cut(media, "/"); kind {
	case "image", "audio", "video", "":
		return false
	}
	return containers[signature] && !signed[media] && !IsGeneric(media)
}

// textType returns the media type of a text that is labelled as something else. Formats that may be text, such as
// models and portable pixmaps, keep their label.
func textType(label string, data []byte) string {
	if shown := TextSignature(data); shown != "" {
		return shown
	}
	if signed[label] {
		return "text/plain"
	}
	return label
}

// isText reports whether bytes that are labelled as something else are text: valid printable UTF-8, or markup in an
// older charset.
func isText(data []byte) bool {
	return isPrintable(data) && (utf8.Valid(data) || TextSignature(data) != "")
}

// IsReadable reports whether bytes are displayable text: UTF-8 without controls.
func IsReadable(data []byte) bool { return isPrintable(data) && utf8.Valid(data) }

// isPrintable reports whether bytes contain no controls but tabs and line breaks.
func isPrintable(data []byte) bool {
	for _, c := range data {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' || c == 0x7f {
			return false
		}
	}
	return true
}

// IsImageForModels reports whether the APIs of language models accept images of a media type.
func IsImageForModels(media string) bool {
	switch media {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}
