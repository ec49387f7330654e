package tokenguard

import (
	"testing"

	"drawbridge/config"
)

// A preset that the configuration accepts and auth does not know is an error.
func TestUnknownPreset(t *testing.T) {
	if _, err := issuerOf(config.Issuer{Preset: "nobody"}, nil, nil); err == nil {
		t.Error("a preset that does not exist is passed over")
	}
}
