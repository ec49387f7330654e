package text

import "testing"

// TestInEscape checks texts that end in an escape, and texts that don't (pains row 199).
func TestInEscape(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":"\u00`: `\u00`, `{"a":"\u`: `\u`, `{"a":"\`: `\`, `"\x4`: `\x4`, `"\U0001F6`: `\U0001F6`, `a\\\u0`: `\u0`, `\`: `\`,
		`{"a":"\u0041`: "", `{"a":"\\u00`: "", `{"a":"\\`: "", `{"a":"\n`: "", "": "", `{"a":"b"}`: "", "\\u00\n": `\u00`,
	} {
		if got := InEscape([]byte(text)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
