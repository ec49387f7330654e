package mediatype

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// signatures are the beginnings of files that [http.DetectContentType] does not detect.
var signatures = []struct{ begin, media string }{
	{"II*\x00", "image/tiff"}, {"MM\x00*", "image/tiff"}, {"II+\x00", "image/tiff"}, {"MM\x00+", "image/tiff"},
	{"\x00\x00\x00\x0cJXL \r\n\x87\n", "image/jxl"}, {"\xff\x0a", "image/jxl"}, {"\x00\x00\x00\x0cjP  \r\n\x87\n", "image/jp2"},
	{"II\xbc", "image/jxr"}, {"8BPS\x00", "image/vnd.adobe.photoshop"},
	{"fLaC", "audio/flac"}, {"#!AMR", "audio/amr"}, {".snd\x00", "audio/basic"}, {"caff\x00", "audio/x-caf"},
	{"%PDF", "application/pdf"}, {"PK\x05\x06", "application/zip"}, {"BZh", "application/x-bzip2"}, {"\xfd7zXZ\x00", "application/x-xz"}, {"\x28\xb5\x2f\xfd", "application/zstd"},
	{"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"}, {"SQLite format 3\x00", "application/vnd.sqlite3"}, {"PAR1", "application/vnd.apache.parquet"},
	{"glTF", "model/gltf-binary"},
}

// brands are those of files of the ISO base media format (ISO/IEC 14496-12), by their prefix.
var brands = []struct{ begin, media string }{
	{"avi", "image/avif"}, {"hei", "image/heic"}, {"hev", "image/heic"}, {"mif1", "image/heif"}, {"msf1", "image/heif"}, {"crx", "image/x-canon-cr3"},
	{"M4A", "audio/mp4"}, {"M4B", "audio/mp4"}, {"qt  ", "video/quicktime"}, {"3gp", "video/3gpp"}, {"3g2", "video/3gpp2"},
}

// registered maps the names that [http.DetectContentType] and services use to the registered names.
var registered = map[string]string{
	"image/x-icon": "image/vnd.microsoft.icon", "image/ico": "image/vnd.microsoft.icon", "image/icon": "image/vnd.microsoft.icon",
	"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/jfif": "image/jpeg", "image/x-png": "image/png", "image/apng": "image/png", "image/tif": "image/tiff", "image/x-tiff": "image/tiff",
	"image/x-ms-bmp": "image/bmp", "image/x-bmp": "image/bmp", "image/x-windows-bmp": "image/bmp", "image/x-webp": "image/webp",
	"audio/wave": "audio/wav", "audio/x-wav": "audio/wav", "audio/vnd.wave": "audio/wav", "audio/x-pn-wav": "audio/wav",
	"audio/mp3": "audio/mpeg", "audio/x-mp3": "audio/mpeg", "audio/mpeg3": "audio/mpeg", "audio/x-mpeg": "audio/mpeg", "audio/mpg": "audio/mpeg",
	"audio/x-flac": "audio/flac", "audio/x-aiff": "audio/aiff", "audio/x-aac": "audio/aac", "audio/aacp": "audio/aac", "audio/x-m4a": "audio/mp4", "audio/m4a": "audio/mp4", "audio/x-midi": "audio/midi", "audio/mid": "audio/midi",
	"application/x-gzip": "application/gzip", "application/x-zip-compressed": "application/zip", "application/x-zip": "application/zip", "application/x-pdf": "application/pdf",
	"application/x-rar-compressed": "application/vnd.rar", "video/avi": "video/x-msvideo", "video/msvideo": "video/x-msvideo",
}

// Registered returns the registered name of a media type that has several.
func Registered(media string) string {
	if name, ok := registered[media]; ok {
		return name
	}
	return media
}

// Signature returns the media type of bytes by the signature at their beginning; "" if there is no known one. Text has
// none.
func Signature(data []byte) string {
	for _, s := range signatures {
		if len(data) >= len(s.begin) && string(data[:len(s.begin)]) == s.begin {
			return s.media
		}
	}
	if len(data) >= 12 && string(data[4:8]) == "ftyp" {
		return brandOf(data)
	}
	if frame := frameType(data); frame != "" {
		return frame
	}
	switch sniffed := http.DetectContentType(data); {
	case sniffed == "image/bmp":
		if isBitmap(data) {
			return sniffed
		}
	case sniffed != "application/octet-stream" && !strings.HasPrefix(sniffed, "text/"):
		return Registered(sniffed)
	}
	return ""
}

// brandOf returns the media type of a file of the ISO base media format. The first known brand decides, among the
// compatible ones if the major brand is that of a family, such as mif1.
func brandOf(data []byte) string {
	size := min(int(min(binary.BigEndian.Uint32(data), 1<<10)), len(data))
	found := ""
	for at := 8; at+4 <= max(size, 12); at += 4 {
		if at == 12 { // the minor version
			continue
		}
		for _, b := range brands {
			if !bytes.HasPrefix(data[at:], []byte(b.begin)) {
				continue
			}
			if b.media != "image/heif" {
				if at == 8 || found == "image/heif" {
					return b.media
				}
				continue
			}
			if at == 8 {
				found = b.media
			}
		}
	}
	if found != "" {
		return found
	}
	return "video/mp4"
}

// isBitmap reports whether bytes that begin with "BM", as texts may, are a bitmap: its reserved bytes are zero.
func isBitmap(data []byte) bool {
	return len(data) >= 14 && binary.LittleEndian.Uint32(data[6:]) == 0
}

// frameType returns the media type of audio that is a sequence of frames without a header of its own: MPEG layer III, and AAC in ADTS.
func frameType(data []byte) string {
	if len(data) < 3 || data[0] != 0xff {
		return ""
	}
	switch data[1] {
	case 0xfb, 0xfa, 0xf3, 0xf2, 0xe3, 0xe2:
		if bitrate, sampling := data[2]>>4, data[2]>>2&3; bitrate != 0 && bitrate != 15 && sampling != 3 {
			return "audio/mpeg"
		}
	case 0xf1, 0xf0, 0xf9, 0xf8:
		if data[2]>>2&15 < 13 { // the index of the sampling rate
			return "audio/aac"
		}
	}
	return ""
}

// TextSignature returns the media type of a text by its content: an HTML page, an SVG image, a JSON object or array, or
// XML. It is "" for any other text.
func TextSignature(text []byte) string {
	switch {
	case isSVG(text):
		return "image/svg+xml"
	case IsJSONDocument(text):
		return "application/json"
	}
	switch sniffed := Essence(http.DetectContentType(bytes.TrimPrefix(text, []byte("\ufeff")))); sniffed {
	case "text/html", "text/xml":
		return sniffed
	}
	return ""
}

// isSVG reports whether the beginning of an XML document is that of an SVG image.
func isSVG(content []byte) bool {
	content = bytes.TrimLeft(bytes.TrimPrefix(content, []byte("\ufeff")), " \t\r\n")
	head := content[:min(len(content), 1024)]
	return bytes.HasPrefix(head, []byte("<svg")) || bytes.HasPrefix(head, []byte("<?xml")) && bytes.Contains(head, []byte("<svg"))
}

// IsJSONDocument reports whether text is a JSON object or array. A lone number or word usually is plain text.
func IsJSONDocument(content []byte) bool {
	first := bytes.TrimLeft(content, " \t\r\n")
	if len(first) == 0 || first[0] != '{' && first[0] != '[' {
		return false
	}
	_, err := jsonscan.Scan(content, jsonscan.Options{})
	return err == nil
}
