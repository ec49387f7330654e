package process

import (
	"os"
	"strings"
	"testing"
)

// TestForNginx holds that deploy/nginx becomes what nginx before 1.25.1 reads, and stays as it is for later ones.
func TestForNginx(t *testing.T) {
	example, err := os.ReadFile("../../deploy/nginx/drawbridge.conf")
	if err != nil {
		t.Fatal(err)
	}
	for printed, want := range map[string]string{
		"nginx version: nginx/1.22.1\n":  "    listen 443 ssl http2;\n    server_name",
		"nginx version: nginx/1.25.0\n":  "    listen 443 ssl http2;\n    server_name",
		"nginx version: nginx/1.25.1\n":  "    listen 443 ssl;\n    http2 on;\n    server_name",
		"nginx version: nginx/1.30.10\n": "    listen 443 ssl;\n    http2 on;\n    server_name",
	} {
		text, err := forNginx(printed, string(example))
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %v, and no %q in\n%s", printed, err, want, text)
		}
	}
	for _, c := range [][2]string{{"haproxy 2.6", string(example)}, {"nginx version: nginx/1.22.1", "listen 443 ssl;"}} {
		if text, err := forNginx(c[0], c[1]); err == nil {
			t.Errorf("%s: %s", c[0], text)
		}
	}
}
