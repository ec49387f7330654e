package console

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
)

// Files of npm's package htmx.org that are copied into static, with their SHA-256.
const (
	htmxVersion = "2.0.11"
	htmxDigest  = "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717" // dist/htmx.min.js
	htmxLicence = "d3d2456f76414f2456104660ebd65aff1c04cd7966b942bdabd63f3cdb316a38" // LICENSE
)

// TestHTMX holds that htmx is the file of its release, with its licence beside it.
func TestHTMX(t *testing.T) {
	for name, want := range map[string]string{"htmx.min.js": htmxDigest, "htmx.LICENSE": htmxLicence} {
		text, err := staticFiles.ReadFile("static/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has the SHA-256 %x, not that of htmx.org %s", name, sum, htmxVersion)
		}
		if name == "htmx.min.js" && !strings.Contains(string(text), `version:"`+htmxVersion+`"`) {
			t.Errorf("%s is not version %s", name, htmxVersion)
		}
	}
}

// TestStaticFiles holds that files without a type, and what is not a file, are not served.
func TestStaticFiles(t *testing.T) {
	b := &browser{t: t, console: newTestConsole(t, nil)}
	for name, want := range map[string]int{"console.css": 200, "htmx.min.js": 200, "icon.svg": 200, "htmx.LICENSE": 404, "..%2Fpage.go": 404, "": 404, ".": 404} {
		if w := b.get("/console/static/" + name); w.Code != want && (w.Code != http.StatusMovedPermanently && w.Code != http.StatusTemporaryRedirect || want == 200) {
			t.Errorf("%q: %d, want %d", name, w.Code, want)
		}
	}
}
