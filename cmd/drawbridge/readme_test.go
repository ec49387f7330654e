package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"drawbridge/cmd/drawbridge/demo"
)

// TestReadme runs the commands of README.md as they are printed, but for those that serve, and makes the order of its call at the sample
// service.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	calls := 0
	word := regexp.MustCompile(`'[^']*'|\S+`)
	commands := regexp.MustCompile(`(?m)^bin/drawbridge ((?:check|tools|tokens|call) .*?)(?: +#.*)?$`).FindAllStringSubmatch(string(text), -1)
	for _, m := range commands {
		args := word.FindAllString(m[1], -1)
		for i := range args {
			args[i] = strings.Trim(args[i], "'")
		}
		var stdout, stderr bytes.Buffer
		if code := run(context.Background(), args, func(string) string { return "" }, &stdout, &stderr, nil); code != 0 || stdout.Len() == 0 {
			t.Errorf("%s: exit code %d\n%s%s", m[1], code, stdout.String(), stderr.String())
		}
		if path, ok := strings.CutPrefix(strings.SplitN(stdout.String(), "\n", 2)[0], "GET http://base-url.invalid"); ok {
			calls++
			r := httptest.NewRequest(http.MethodGet, "http://shop/api/v1"+path, nil)
			r.Header.Set("X-Shop-Key", demo.Key)
			w := httptest.NewRecorder()
			demo.NewService(nil).ServeHTTP(w, r)
			if w.Code != http.StatusOK {
				t.Errorf("%s: the sample service says %d: %s", m[1], w.Code, w.Body)
			}
		}
	}
	if len(commands) < 3 || calls == 0 {
		t.Errorf("README.md has %d commands, %d of them calls", len(commands), calls)
	}
}
