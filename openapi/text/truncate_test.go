package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"", 0, ""},
		{"", 5, ""},
		{"12345", 5, "12345"},
		{"123456", 5, "12…"},
		{"abcüd", 6, "abcüd"},
		{"abcüde", 6, "abc…"},
		{"abüdef", 6, "ab…"},   // the limit is within the ü
		{"abüdefg", 7, "abü…"}, // and after it
		{"🙂🙂🙂", 11, "🙂🙂…"},
		{"🙂🙂🙂", 10, "🙂…"},
		{"🙂🙂", 4, "…"},
		{"12345", 3, "…"},
		{"12345", 0, "…"},
		{"12345", -1, "…"},
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", 9, "\x80\x80\x80\x80\x80\x80…"}, // not text: cut at the limit
	} {
		if got := Truncate(c.text, c.limit); got != c.want {
			t.Errorf("%d bytes of %q: %q, want %q", c.limit, c.text, got, c.want)
		}
	}
}

func TestPrefix(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"abc", 3, "abc"}, {"abc", 2, "ab"}, {"abü", 3, "ab"}, {"abü", 4, "abü"}, {"ü", 1, ""}, {"abc", 0, ""}, {"abc", -1, ""}, {"\x80\x80", 1, "\x80"},
	} {
		if got := Prefix(c.text, c.limit); got != c.want {
			t.Errorf("%d bytes of %q: %q, want %q", c.limit, c.text, got, c.want)
		}
	}
}

func TestTruncateRunes(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"", 0, ""}, {"üöä", 3, "üöä"}, {"üöäß", 3, "üö…"}, {"abcd", 3, "ab…"}, {"🙂🙂", 1, "…"}, {"ab", 0, "…"}, {"a\x80bc", 3, "a\x80…"},
	} {
		if got := TruncateRunes(c.text, c.limit); got != c.want {
			t.Errorf("%d characters of %q: %q, want %q", c.limit, c.text, got, c.want)
		}
	}
}

func FuzzTruncate(f *testing.F) {
	f.Add("abüdefg", 5)
	f.Add("🙂🙂🙂", 8)
	f.Add("\xff\x80\xf0\x9f", 3)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = max(3, limit%100)
		byBytes, byRunes := Truncate(s, limit), TruncateRunes(s, limit)
		if len(byBytes) > limit || utf8.RuneCountInString(byRunes) > limit {
			t.Fatalf("longer than %d: %q, %q", limit, byBytes, byRunes)
		}
		for _, got := range []string{byBytes, byRunes} {
			if got != s && !strings.HasPrefix(s, strings.TrimSuffix(got, Ellipsis)) || utf8.ValidString(s) && !utf8.ValidString(got) {
				t.Fatalf("%q became %q", s, got)
			}
		}
	})
}

func TestList(t *testing.T) {
	for want, texts := range map[string][]string{"": nil, "a": {"a"}, "a, b": {"a", "b"}, "a, b and 1 more": {"a", "b", "c"}} {
		if got := List(texts, 2); got != want {
			t.Errorf("List(%q) = %q, want %q", texts, got, want)
		}
	}
}
