package elicit

import "testing"

// TestEscapeInvisible checks that a question shows all of the arguments, also characters that a person would not see.
func TestEscapeInvisible(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":"Grüße 東京 🙂"}`:          `{"a":"Grüße 東京 🙂"}`,
		"{\"a\":\"x\u202ey\u200bz\"}": `{"a":"x\u202ey\u200bz"}`,
		"{\"\ufeffa\":\"\u00ad\"}":    `{"\ufeffa":"\u00ad"}`,
		"{\"a\":\"\U000e0041\"}":      `{"a":"\udb40\udc41"}`,
		"{\"a\":\"\u3164\ufe0f\"}":    `{"a":"\u3164\ufe0f"}`,
	} {
		if got := string(escapeInvisible([]byte(text))); got != want {
			t.Errorf("%+q: %s, want %s", text, got, want)
		}
	}
}
