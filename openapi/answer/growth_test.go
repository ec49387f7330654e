package answer

import (
	"testing"
	"time"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/mediatype"
	"drawbridge/test/growth"
)

// TestGrowth checks that the time for a hostile response is proportional to its length.
func TestGrowth(t *testing.T) {
	for name, parse := range map[string]func(string){
		"html":        func(s string) { htmlText([]byte(s)) },
		"file name":   func(s string) { fileName(s) },
		"field name":  func(s string) { fieldName(s) },
		"may be JSON": func(s string) { mayBeJSON("text/plain", []byte(s)); isTruncatedJSON([]byte(s)); holdsJSON([]byte(s)) },
		"readable":    func(s string) { mediatype.IsReadable([]byte(s)); CleanData([]byte(s)) },
		"events": func(s string) {
			for ev := range events([]byte(s), true) {
				appendEvent(nil, ev, jsonscan.Info{Spaced: true, Escapes: true}, true, true)
			}
		},
		"lines": func(s string) {
			for range lines([]byte(s)) {
			}
			for range records([]byte(s)) {
			}
		},
		"multipart": func(s string) {
			m := &multipartReader{}
			pieces, err := m.split([]byte(s), "b")
			for _, piece := range pieces {
				if err == nil {
					_, _ = m.entity(piece)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{"", "--b\r\n"} {
				growth.Hostile(t, 60_000, 500*time.Millisecond, before, "", parse)
			}
		})
	}
}
