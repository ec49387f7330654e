package config

import (
	"fmt"
	"log/slog"
)

// redacted is what a [Secret] prints, whatever it holds.
const redacted = "[redacted]"

// Secret is a value that must not be shown. It prints as [redacted] with every verb of package fmt, in JSON, YAML, XML
// and log records, also inside other values. The zero Secret is absent.
type Secret struct {
	// A pointer, because fmt prints the fields of unexported struct members without asking their methods, and a
	// pointer then prints as an address.
	text *string
}

// NewSecret returns a Secret that holds text.
func NewSecret(text string) Secret { return Secret{text: &text} }

// Reveal returns the secret text, "" for an absent Secret. Every call is a place where a secret can leak.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero reports whether the secret is absent.
func (s Secret) IsZero() bool { return s.text == nil }

// String returns "[redacted]".
func (s Secret) String() string { return redacted }

// Format implements [fmt.Formatter] so that no verb prints the secret.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// MarshalText implements [encoding.TextMarshaler], which covers JSON, YAML and XML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue implements [slog.LogValuer].
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

func (s *Secret) parse(text string) error { //nolint:unparam // it is a parser like the others
	*s = NewSecret(text)
	return nil
}
