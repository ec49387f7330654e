package unseen

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"drawbridge/openapi/jsonscan"
)

// TestTable compares the table with Unicode's: it contains every format character except visible ones, and only format
// characters, controls, fillers and selectors.
func TestTable(t *testing.T) {
	seen := func(r rune) bool { // number signs, which enclose digits
		return r >= 0x600 && r <= 0x605 || r == 0x6dd || r == 0x70f || r == 0x8e2
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := unicode.Is(unicode.Cf, r) && !seen(r) || unicode.Is(unicode.Cc, r) && r != '\n' && r != '\t' ||
			r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Variation_Selector, r) || r >= 0xe0000 && r <= 0xe0fff ||
			unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
		if got := Is(r); got != want {
			t.Errorf("Is(%U) = %v", r, got)
		}
	}
}

// TestSuspect checks that characters to remove are found anywhere, also after a backslash that escapes nothing.
func TestSuspect(t *testing.T) {
	for _, firstSuspect := range []string{"\x1b", "\x00", "\x7f", "\u200b", "\u00ad", "\U000e0041", "\xff", "\\u200b", "\\u001b", "\\b", "\r"} {
		for _, before := range []string{"", "\\", "\\u12", "\\ud83d", "é", strings.Repeat("a", 15), strings.Repeat("plain text ", 9), strings.Repeat("\\n", 20)} {
			if text := before + firstSuspect + " and more text, long enough for a block of sixteen"; !Suspect([]byte(text)) && !strings.HasSuffix(before, "\\") {
				t.Errorf("%q is above suspicion", text)
			} else if !Suspect([]byte(text)) && string(Bytes([]byte(text))) != text {
				t.Errorf("%q is above suspicion, and not clean", text)
			}
		}
	}
	for _, text := range []string{"", "plain", "a \\ b \\n", "naïve 日本語\tx\n", strings.Repeat("plain text ", 9) + "\r\n"} {
		if Suspect([]byte(text)) {
			t.Errorf("%q is under suspicion", text)
		}
	}
}

// TestClean checks which characters are removed, and which invisible ones stay.
func TestClean(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "naïve 日本語\tx\n", "naïve 日本語\tx\n"},
		{"directions", "a\u202eb\u2066c\u2069\u200f\u061cd", "abcd"},
		{"zero width", "pass\u200bword\u2060\ufeff\u00ad", "password"},
		{"tags", "x\U000e0049\U000e0067\U000e006e", "x"},
		{"colours", "\x1b[31;1mred\x1b[0m \u009b32mgreen", "red green"},
		{"title", "\x1b]0;hidden\x07a\x1b]8;;http://x\x1b\\b", "ab"},
		{"string without end", "\x1b]0;shown", "]0;shown"},
		{"controls", "a\x00b\x08c\x7fd\u0085e\u0080f", "abcd\nef"},
		{"line ends", "a\rb\u2028c", "a\nb\nc"},
		{"a family", "👩\u200d👩\u200d👧\u200d👦", "👩\u200d👩\u200d👧\u200d👦"},
		{"a heart and a flag", "❤\ufe0f 🏳\ufe0f\u200d🌈 1\ufe0f⃣", "❤\ufe0f 🏳\ufe0f\u200d🌈 1\ufe0f⃣"},
		{"skin", "👩🏽\u200d🚀", "👩🏽\u200d🚀"},
		{"Persian", "می\u200cخواهم", "می\u200cخواهم"},
		{"Sinhala", "ශ්\u200dරී", "ශ්\u200dරී"},
		{"joiners between Latin letters", "a\u200cb\u200dc", "abc"},
		{"more joiners than one", "می\u200c\u200c\u200dخ", "می\u200cخ"},
		{"bytes in selectors", "a\ufe0f\ufe0f\ufe01\U000e0101b", "a\ufe0fb"},
		{"joiner at the end", "👩\u200d", "👩"},
		{"selector at the beginning", "\ufe0fa \ufe0f", "a "},
		{"a flag of tags", "🏴\U000e0067\U000e0062\U000e007f", "🏴"},
	} {
		if got := Clean(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if got := string(Bytes([]byte(c.text))); got != c.want {
			t.Errorf("%s: bytes: %q, want %q", c.name, got, c.want)
		}
		for name, in := range map[string]string{"escaped": escapedJSON(c.text), "as it is": string(jsonscan.AppendString(nil, c.text))} {
			var got string
			if err := json.Unmarshal(JSON([]byte(in)), &got); err != nil || got != c.want {
				t.Errorf("%s, %s: %q, want %q (%v)", c.name, name, got, c.want, err)
			}
		}
	}
	if got := Clean("a\r\nb"); got != "a\nb" {
		t.Errorf("a document's line end became %q", got)
	}
	if got := string(Bytes([]byte("a,b\r\n\u200bc\r\n"))); got != "a,b\r\nc\r\n" {
		t.Errorf("a table's line ends became %q", got)
	}
}

// escapedJSON writes every character as an escape.
func escapedJSON(text string) string {
	b, _ := json.Marshal(text)
	var s string
	_ = json.Unmarshal(b, &s)
	out := strings.Builder{}
	out.WriteByte('"')
	const digits = "0123456789ABCdef"
	for _, r := range s {
		units := []rune{r}
		if r > 0xffff {
			units = []rune{0xd800 + (r-0x10000)>>10, 0xdc00 + (r-0x10000)&0x3ff}
		}
		for _, u := range units {
			out.WriteString(`\u`)
			for shift := 12; shift >= 0; shift -= 4 {
				out.WriteByte(digits[u>>shift&15])
			}
		}
	}
	return out.String() + `"`
}

// TestJSON checks that names and values are cleaned, and everything else stays byte for byte.
func TestJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"x\u200by","b":[1e5,"caf\u00e9 \/ \"q\""],"n\u202eame":null}`: `{"a":"xy","b":[1e5,"caf\u00e9 \/ \"q\""],"name":null}`,
		`["\u001b[31mred\u001b[0m","\b\f\r\n\t","\\u200b","\ud83d\udc69"]`:  `["red","\r\n\t","\\u200b","\ud83d\udc69"]`,
		`["\r","\udb40\udc41","\ud800x\u200b"]`:                             `["\n","","` + "\uFFFD" + `x"]`,
		`"` + "\u200b" + `"`:                                                `""`,
	} {
		if got := string(JSON([]byte(in))); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
	for _, same := range []string{`{}`, `{"a":"caf\u00e9 ❤️\n\r\n","b":"\\u200b\""}`, `"👩‍🚀"`} {
		data := []byte(same)
		if got := JSON(data); &got[0] != &data[0] {
			t.Errorf("%s was copied", same)
		}
	}
}

// FuzzClean checks that clean text stays, that invisible characters remain only where they are legitimate, and that
// JSON stays JSON.
func FuzzClean(f *testing.F) {
	for _, text := range []string{"a\u200bb", "\x1b]0;t\x07\x1b[1m", "👩\u200d👧\ufe0f", "می\u200cخ\u200d", "\r\n\r", "\u009b1m\x1b", "\"\\\u0000"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := Clean(text)
		if again := Clean(once); again != once || !utf8.ValidString(once) {
			t.Errorf("%q → %q → %q", text, once, again)
		}
		if len(once) > len(text) {
			t.Errorf("%q grew to %q", text, once)
		}
		before := rune(0)
		for i, r := range once {
			after, _ := utf8.DecodeRuneInString(once[i+utf8.RuneLen(r):])
			if Is(r) && !belongs(r, before, after) {
				t.Errorf("%q → %q, with %U", text, once, r)
			}
			before = r
		}
		if !utf8.ValidString(text) {
			return
		}
		if clean := Bytes([]byte(text)); !Suspect([]byte(text)) && string(clean) != text {
			t.Errorf("%q is above suspicion, and is cleaned to %q", text, clean)
		}
		whole := jsonscan.AppendString(nil, text)
		var got, want string
		if err := json.Unmarshal(JSON(whole), &got); err != nil {
			t.Fatalf("%q → %s: %v", text, JSON(whole), err)
		}
		if want = string(Bytes([]byte(text))); got != want {
			t.Errorf("%q as JSON → %q, as text %q", text, got, want)
		}
		if _, err := jsonscan.Scan([]byte(text), jsonscan.Options{}); err == nil {
			clean := JSON([]byte(text))
			if _, err := jsonscan.Scan(clean, jsonscan.Options{}); err != nil {
				t.Errorf("%q → %q: %v", text, clean, err)
			}
			if again := JSON(clean); string(again) != string(clean) {
				t.Errorf("%q → %q → %q", text, clean, again)
			}
		}
	})
}

// BenchmarkJSON measures the check that a response of 256 KiB is clean.
func BenchmarkJSON(b *testing.B) {
	for name, row := range map[string]string{
		"plain": `{"id":17,"name":"order number 17","note":"left at the back door"},`, "quotes": `{"note":"left at the \"back\" door\n"},`,
		"words": `{"名前":"日本語の注文","café":"naïve"},`,
	} {
		data := []byte("[" + strings.Repeat(row, (256<<10)/len(row)) + "0]")
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				JSON(data)
			}
		})
	}
	text := strings.Repeat("\x1b]", 1<<19)
	b.Run("strings without end", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			Clean(text)
		}
	})
}
