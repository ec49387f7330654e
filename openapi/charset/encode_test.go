package charset

import (
	"bytes"
	"errors"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
)

// TestAppend checks the encoding of a text in a charset, and the character that is named if it has none (pains row
// 165).
func TestAppend(t *testing.T) {
	for _, tt := range []struct{ label, text, want, fault string }{
		{"iso-8859-1", "Zürich", "Z\xfcrich", ""},
		{"latin1", "5 €", "", `must not contain "€" (U+20AC, character 3): it is sent in the charset latin1, which doesn't have it`},
		{"windows-1252", "5 €", "5 \x80", ""},
		{"ISO_8859-15", "€", "\xa4", ""},
		{"us-ascii", "a\u00e9", "", `must not contain "é" (U+00E9, character 2): it is sent in the charset us-ascii, which doesn't have it`},
		{"gbk", "你好", "\xc4\xe3\xba\xc3", ""},
		{"gb2312", "你", "\xc4\xe3", ""},
		{"gb18030", "😀", "\x94\x39\xfc\x36", ""},
		{"shift_jis", "注文", "\x92\x8d\x95\xb6", ""},
		{"shift_jis", "¥", "", `must not contain "¥" (U+00A5, character 1): it is sent in the charset shift_jis, which doesn't have it`},
		{"iso-2022-jp", "注文a", "\x1b$BCmJ8\x1b(Ba", ""},
		{"iso-2022-jp", "文", "\x1b$BJ8\x1b(B", ""},
		{"utf-16", "aé", "\xfe\xff\x00a\x00\xe9", ""},
		{"UTF-16LE", "a", "a\x00", ""},
		{"ibm037", "Az", "\xc1\xa9", ""},
		{"x-ours", "abc", "abc", ""},
		{"x-ours", "é", "", `must not contain "é" (U+00E9, character 1): it is sent in the charset x-ours, which doesn't have it`},
	} {
		got, err := NewEncoder(tt.label).Append([]byte("> "), []byte(tt.text))
		switch {
		case err != nil && err.Error() != tt.fault, err == nil && (tt.fault != "" || string(got) != "> "+tt.want):
			t.Errorf("%s %q: %q, %v", tt.label, tt.text, got, err)
		}
	}
	for _, label := range []string{"", "utf-8", "UTF8", "unicode-1-1-utf-8"} {
		if NewEncoder(label) != nil {
			t.Errorf("%q has an encoder, and is UTF-8", label)
		}
	}
}

// FuzzAppend checks that a text survives a round trip through every known charset, or that a character of it is named.
func FuzzAppend(f *testing.F) {
	for _, label := range []string{"iso-8859-1", "shift_jis", "iso-2022-jp", "gbk", "gb18030", "big5", "euc-kr", "utf-16", "utf-16le", "ibm037", "x-user-defined", "koi8-u", "?"} {
		f.Add(label, "Zürich 你好 注文 ¥ ‾ ～ € \u00a0\ufeff😀")
	}
	f.Fuzz(func(t *testing.T, label, text string) {
		e := NewEncoder(label)
		if e == nil {
			return
		}
		out, err := e.Append(nil, []byte(text))
		var unencodable *CharacterError
		if errors.As(err, &unencodable) {
			if utf8.ValidString(text) && !bytes.ContainsRune([]byte(text), unencodable.Rune) && unencodable.Rune != utf8.RuneError {
				t.Errorf("%q is not in %q", unencodable.Rune, text)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var read encoding.Encoding
		if read, _ = ianaindex.IANA.Encoding(label); read == nil {
			if read, _ = htmlindex.Get(label); read == nil || read == encoding.Replacement {
				return
			}
		}
		if back, err := e.encoding.NewDecoder().Bytes(out); err != nil || string(back) != text {
			t.Errorf("%s: %q comes back as %q: %v", label, text, back, err)
		}
	})
}

// TestWithDeclaration checks how the encoding in an XML declaration is replaced (pains row 165).
func TestWithDeclaration(t *testing.T) {
	for document, want := range map[string]string{
		`<a/>`: `<a/>`,
		`<?xml version="1.0" encoding="UTF-8"?><a/>`:                    `<?xml version="1.0" encoding="GBK"?><a/>`,
		`<?xml version='1.0' encoding = 'utf-8' standalone='yes'?><a/>`: `<?xml version='1.0' encoding = 'GBK' standalone='yes'?><a/>`,
		`<?xml version="1.0" standalone="yes"?><a/>`:                    `<?xml version="1.0" encoding="GBK" standalone="yes"?><a/>`,
		`<?xml version="1.0"?>`:                                         `<?xml version="1.0" encoding="GBK"?>`,
		`<?xml-stylesheet encoding="x"?>`:                               `<?xml-stylesheet encoding="x"?>`,
		`<?xml version="1.0" encoding="UTF-8`:                           `<?xml version="1.0" encoding="UTF-8`,
		`<?xml version="1.0" encoding=UTF-8?>`:                          `<?xml version="1.0" encoding=UTF-8?>`,
		`<?xml?>`:                                                       `<?xml?>`,
	} {
		if got := string(WithDeclaration([]byte(document), "GBK")); got != want {
			t.Errorf("%s\n got %s\nwant %s", document, got, want)
		}
	}
}
