package charset

import "testing"

// TestToUTF8 checks the precedence of mark, label and bytes.
func TestToUTF8(t *testing.T) {
	for _, tt := range []struct{ data, label, want string }{
		{"é", "", "é"},
		{"\xe9", "", "é"},
		{"\xe9", "utf-8", "\uFFFD"},
		{"\x80", "latin1", "€"},
		{"\xef\xbb\xbfé", "latin1", "é"},
		{"\xff\xfee\x00", "utf-8", "e"},
		{"\xfe\xff\xd8\x3d\xde\x00", "", "😀"},
		{"\x00e\xd8\x00", "utf-16", "e\uFFFD"},
		{"\xb6\xa9", "gbk", "订"},
		{"\x92\x8d", "shift_jis", "注"},
		{"é", "x-ours", "é"},
		{"\xe9", "hz-gb-2312", "é"},
	} {
		if got := string(ToUTF8([]byte(tt.data), tt.label)); got != tt.want {
			t.Errorf("%q as %q: %q, want %q", tt.data, tt.label, got, tt.want)
		}
	}
}

// TestDeclared checks the declarations of XML and HTML, and that valid UTF-8 is UTF-8.
func TestDeclared(t *testing.T) {
	for _, tt := range []struct{ media, data, want string }{
		{"text/xml", "<?xml version='1.0' encoding = \"GBK\"?>\xb6", "gbk"},
		{"application/atom+xml", "<?xml encoding='utf-16'?>\xb6", "utf-8"},
		{"text/html", "<meta name=a><META http-equiv=x content='text/html; charset=Big5'>\xb6", "big5"},
		{"text/html", "<meta charset=shift_jis>é", ""},
		{"text/html", "<meta charset=iso-2022-jp>\x1b$B", "iso-2022-jp"},
		{"text/plain", "<meta charset=gbk>\xb6", ""},
		{"text/xml", "<a encoding='gbk'/>\xb6", ""},
	} {
		if got := Declared(tt.media, []byte(tt.data)); got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.media, tt.data, got, tt.want)
		}
	}
}
