package wire

import "testing"

// TestDetectType checks that a file has the same media type by its content and its name on every machine (pains row
// 135).
func TestDetectType(t *testing.T) {
	const png, zip, ole, unknown = "\x89PNG\r\n\x1a\n", "PK\x03\x04\x14\x00", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "\x00\x01\x02"
	for _, c := range []struct{ content, name, want string }{
		{png, "a.png", "image/png"},
		{png, "a.jpg", "image/png"},
		{png, "a.csv", "image/png"},
		{png, "", "image/png"},
		{"GIF89a", "", "image/gif"},
		{"%PDF-1.7", "a", "application/pdf"},
		{`{"a": 1}`, "a.json", "application/json"},
		{`{"a": 1}`, "", "application/json"},
		{`[1]`, "a", "application/json"},
		{`{"a": 1}`, "a.geojson", "application/geo+json"},
		{`{"a": 1}`, "a.txt", "text/plain; charset=utf-8"},
		{`{"a": 1`, "", "text/plain; charset=utf-8"},
		{"5", "", "text/plain; charset=utf-8"},
		{"<svg/>", "a.svg", "image/svg+xml"},
		{"\ufeff <svg/>", "", "image/svg+xml"},
		{`<?xml version="1.0"?><!-- a --><svg/>`, "", "image/svg+xml"},
		{`<?xml version="1.0"?><a/>`, "a.xml", "application/xml"},
		{`<?xml version="1.0"?><a/>`, "", "text/xml"},
		{"<p>a", "a.md", "text/markdown"},
		{"<html>", "", "text/html"},
		{"a,b", "a.csv", "text/csv"},
		{"a,b", "dir.json/A.CSV", "text/csv"},
		{"a,b", `dir.json\a`, "text/plain; charset=utf-8"},
		{"caf\xe9", "a.csv", "text/csv"},
		{"caf\xe9", "a.txt", "text/plain"},
		{"caf\xe9", "", "text/plain"},
		{"\xff\xfea\x00", "", "text/plain; charset=utf-16le"},
		{"hello", "a.png", "text/plain; charset=utf-8"},
		{"hello", "csv", "text/plain; charset=utf-8"},
		{"", "a.png", "image/png"},
		{"", "", "text/plain; charset=utf-8"},
		{zip, "a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
		{zip, "a.zip", "application/zip"},
		{zip, "a.pdf", "application/zip"},
		{ole, "a.xls", "application/vnd.ms-excel"},
		{"\x1f\x8b\x08", "a.tgz", "application/gzip"},
		{"\x1f\x8b\x08", "", "application/gzip"},
		{"\x00\x00\x00\x18ftypmp42mp42", "a.m4a", "audio/mp4"},
		{unknown, "a.heic", "image/heic"},
		{unknown, "a.nothing", "application/octet-stream"},
		{unknown, "", "application/octet-stream"},
	} {
		if got := detectType([]byte(c.content), c.name); got != c.want {
			t.Errorf("%q named %q: %s, want %s", c.content, c.name, got, c.want)
		}
	}
}
