package openapi

import (
	"mime"
	"regexp"
	"testing"

	"math/rand/v2"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/schema"
	"drawbridge/openapi/wire"
)

// TestPublishedMediaTypes checks that a media type of a file that the published schema permits is accepted, and that a
// single media type is sent (pains row 191).
func TestPublishedMediaTypes(t *testing.T) {
	permitted := regexp.MustCompile(schema.PatternMediaType)
	r := rand.New(rand.NewPCG(1, 2))
	const signs = `ab/;= "\+.-_,():<>@[]?'{}~!`
	accepted := 0
	for range 100_000 {
		text := []byte("a/b; a=")
		for range r.IntN(20) {
			text = append(text, signs[r.IntN(len(signs))])
		}
		if !permitted.Match(text) {
			continue
		}
		accepted++
		value := append(jsonscan.AppendString([]byte(`{"text":"x","media_type":`), text), '}')
		_, media, err := wire.AppendFile(nil, value, nil)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if _, _, err := mime.ParseMediaType(media); err != nil {
			t.Fatalf("%q is sent as %q: %v", text, media, err)
		}
	}
	if accepted < 1000 {
		t.Errorf("%d texts were permitted", accepted)
	}
}
