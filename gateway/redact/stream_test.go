package redact

import (
	"bytes"
	"strings"
	"testing"

	"drawbridge/config"
)

// TestStream holds that a credential is removed wherever the pieces of a text divide it, and that nothing else changes.
func TestStream(t *testing.T) {
	const secret = "s3cr3t-token-of-the-gateway-0123456789"
	r := Redactor{Configured: (*Configured)(nil).With(config.NewSecret(secret))}
	text := strings.Repeat("row,1,2\n", 400) + "a " + secret + " b " + secret + secret + "\n" + strings.Repeat("row,3,4\n", 400) + secret[:20]
	want := strings.ReplaceAll(text, secret, Placeholder)
	for _, size := range []int{1, 7, 100, 1000, 4096, len(text)} {
		var got bytes.Buffer
		s := NewStream(&got, r)
		for rest := []byte(text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
			if _, err := s.Write(rest[:min(size, len(rest))]); err != nil {
				t.Fatal(err)
			}
		}
		if found, err := s.End(); err != nil || !found {
			t.Errorf("pieces of %d: found %t, %v", size, found, err)
		}
		if got.String() != want {
			t.Errorf("pieces of %d: the text differs", size)
		}
	}
}
