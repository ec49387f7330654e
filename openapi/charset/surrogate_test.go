package charset

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

// TestJoinSurrogates checks the treatment of surrogates that are encoded as three bytes each (pains row 153).
func TestJoinSurrogates(t *testing.T) {
	const high, low = "\xed\xa0\xbd", "\xed\xb8\x80" // of 😀
	for text, want := range map[string]string{
		"": "", "a": "", "é한": "", "\xff": "", "\xed": "", "\xed\xa0": "", "\xed\xa0\xbd\xff": "",
		high + low: "😀", high: "\uFFFD", low: "\uFFFD", low + high: "\uFFFD\uFFFD", high + high + low + low: "\uFFFD😀\uFFFD",
		"한" + high + "한": "한\uFFFD한", "한 " + high + low + " 한\xed\x95\x9c": "한 😀 한한", "订" + high + "a" + low: "订\uFFFDa\uFFFD",
	} {
		got, ok := JoinSurrogates([]byte(text))
		if ok != (want != "") || ok && string(got) != want {
			t.Errorf("%q: %q, %t", text, got, ok)
		}
	}
	for _, label := range []string{"", "utf-8"} {
		if got := string(ToUTF8([]byte("订单"+high), label)); got != "订单\uFFFD" {
			t.Errorf("%q: %q", label, got)
		}
	}
}

// FuzzJoinSurrogates checks that joined text is UTF-8 and not longer.
func FuzzJoinSurrogates(f *testing.F) {
	f.Add([]byte("a\xed\xa0\xbd\xed\xb8\x80한\xed\xa0"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if joined, ok := JoinSurrogates(text); ok && (!utf8.Valid(joined) || len(joined) > len(text) || utf8.Valid(text) || bytes.Equal(joined, text)) {
			t.Errorf("%q: %q", text, joined)
		}
	})
}
