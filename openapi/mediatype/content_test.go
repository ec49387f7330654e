package mediatype

import (
	"strings"
	"testing"
)

// TestContent checks the media type of bytes under a label (pains row 149). The cases of responses are in
// openapi/testdata/answers/types-by-bytes.txtar.
func TestContent(t *testing.T) {
	const png, zip, ogg, noise = "\x89PNG\r\n\x1a\n", "PK\x03\x04", "OggS\x00", "\x00\x01\x02"
	for _, c := range []struct {
		label, data, media string
		text               bool
	}{
		{"image/png", png, "image/png", false},
		{"image/x-png", png, "image/png", false},
		{"", png, "image/png", false},
		{"application/x-ours", png, "image/png", false},
		{"image/png", "", "text/plain", true},
		{"image/png", "\ufeff<html>", "text/html", true},
		{"image/png", zip + noise, "application/zip", false},
		{"application/x-ours", zip + noise, "application/x-ours", false},
		{"application/gzip", zip + noise, "application/zip", false},
		{"application/epub+zip", zip + noise, "application/epub+zip", false},
		{"application/zip", "gone", "text/plain", true},
		{"application/zip", noise, "application/zip", false},
		{"audio/opus", ogg, "audio/opus", false},
		{"video/ogg", ogg, "video/ogg", false},
		{"image/png", ogg, "application/ogg", false},
		{"application/octet-stream", ogg, "application/ogg", false},
		{"audio/webm", "\x1a\x45\xdf\xa3", "audio/webm", false},
		{"audio/mpeg", "\xff\xf1\x50\x80", "audio/aac", false},
		{"audio/mpeg", "\xff\xfe\x00", "application/octet-stream", false},
		{"image/avif", "\x00\x00\x00\x18ftypavif\x00\x00\x00\x00", "image/avif", false},
		{"image/avif", "\x00\x00\x00\x18ftypheic\x00\x00\x00\x00", "image/heic", false},
		{"image/heif", "\x00\x00\x00\x18ftypmif1\x00\x00\x00\x00", "image/heif", false},
		{"image/heic", "\xff\xff\xff\xffftyp", "application/octet-stream", false},
		{"image/bmp", "BMW", "text/plain", true},
		{"model/obj", "v 0 0 0", "model/obj", true},
		{"model/obj", noise, "model/obj", false},
		{"text/csv", "a,\xfc", "text/csv", true},
		{"text/html", "GIF89a", "text/html", true},
		{"text/html", "GIF89a\x00", "image/gif", false},
		{"application/x-ours", "text", "application/x-ours", false},
		{"application/x-ours", noise, "application/x-ours", false},
		{"font/woff2", "wOF2", "font/woff2", false},
	} {
		if media, text := Content(c.label, []byte(c.data)); media != c.media || text != c.text {
			t.Errorf("%q labelled %q: %q, text %t, want %q, text %t", c.data, c.label, media, text, c.media, c.text)
		}
	}
}

// TestSigned checks that each type with a signature is kept for bytes that have it, under any label.
func TestSigned(t *testing.T) {
	for _, s := range signatures {
		data := []byte(s.begin + strings.Repeat("\x00", 20))
		if got := Signature(data); got != s.media {
			t.Errorf("%q: %s, want %s", s.begin, got, s.media)
		}
		for _, label := range []string{"", "application/octet-stream", "image/png", "image/jpeg", "audio/mpeg", "text/plain", "application/json"} {
			if got, text := Content(label, data); got != s.media || text {
				t.Errorf("%q labelled %q: %s, text %t, want %s", s.begin, label, got, text, s.media)
			}
		}
	}
}

// FuzzContent checks that no label makes bytes without its signature an image of a type that models accept.
func FuzzContent(f *testing.F) {
	for _, label := range []string{"", "image/png", "image/jpg", "text/plain", "application/pdf", "audio/mpeg"} {
		for _, data := range []string{"", "\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "GIF87a", "RIFF\x00\x00\x00\x00WEBPVP8X", "<html>", "{}", "\x00\x00\x00\x18ftypavif", "BM"} {
			f.Add(label, []byte(data))
		}
	}
	f.Fuzz(func(t *testing.T, label string, data []byte) {
		media, text := Content(Essence(label), data)
		begins := func(s string) bool { return strings.HasPrefix(string(data), s) }
		fits := map[string]bool{
			"image/png": begins("\x89PNG\r\n\x1a\n"), "image/jpeg": begins("\xff\xd8\xff"), "image/gif": begins("GIF87a") || begins("GIF89a"),
			"image/webp": begins("RIFF") && len(data) > 12 && string(data[8:12]) == "WEBP",
		}
		if IsImageForModels(media) && (text || !fits[media]) {
			t.Errorf("%q labelled %q: %s, text %t", data, label, media, text)
		}
	})
}
