package unseen

import (
	"strings"
	"testing"
)

// TestBlank checks which texts have no visible characters (pains row 151).
func TestBlank(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, " ": true, "\r\n\t\f\v\x00\x7f": true, "\u00a0": true, "\u1680\u2003\u202f\u205f\u3000": true, "\u0085\u2028\u2029": true,
		"\u200b\u200d\u2060\ufeff": true, "\u00ad": true, "\u2800": true, "\u3164\u115f\u1160\uffa0": true, "\u180e\u034f\u17b4": true, "\U000e0041\ufe0f\U000e0100": true,
		"\u202e\u2066": true, "\U0001d159\U0001d173": true, strings.Repeat(" ", 9000): true,
		"a": false, " .": false, "\u00a0\u00e9": false, "\u200b你": false, "\xff": false, "\ufffd": false, "\u2801": false, strings.Repeat(" ", 9000) + "0": false, "\U0001f600": false,
	} {
		if got := Blank([]byte(text)); got != want {
			t.Errorf("%.20q: %t", text, got)
		}
	}
}
