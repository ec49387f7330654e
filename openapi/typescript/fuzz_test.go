package typescript

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// FuzzSchema: signatures and declarations are written of every schema, for every query and room.
func FuzzSchema(f *testing.F) {
	for _, file := range []string{"testdata/signature.txtar", "testdata/declaration.txtar", "testdata/hostile.txtar"} {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, section := range txtar.Parse(text).Files {
			if section.Name != "functions" {
				continue
			}
			for raw := range strings.Lines(string(section.Data)) {
				var l line
				if err := json.Unmarshal([]byte(raw), &l); err != nil {
					f.Fatal(err)
				}
				f.Add([]byte(l.Input), l.Query, l.Length)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, query string, length int) {
		if _, err := jsonscan.Scan(text, jsonscan.Options{}); err != nil || len(text) > 4000 {
			return
		}
		s := jsonschema.Parse(text)
		if got := signatureOf("f", s, s, Options{Query: query, Length: length, NullIsAbsent: length%2 == 0}); !strings.HasPrefix(got, "f(") {
			t.Errorf("a signature: %s", got)
		}
		Declare([]Function{{Name: "f", Input: s, Output: s}}, DeclareOptions{Answers: true, Fits: func(text string) bool { return len(text) <= 4000 }})
	})
}
