package openapi

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"
	"weak"
)

// released is a document whose operation has a failure with a description, for TestTextIsReleased.
const released = `{"openapi":"3.1.0","info":{"title":"Released","version":"1"},"servers":[{"url":"https://things.example/v1"}],
"paths":{"/things/{id}":{"post":{"operationId":"change","summary":"Change a thing","tags":["things"],
"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string","enum":["a","b"]}}],
"requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"name":{"type":"string","description":"its name"}}}}}},
"responses":{"200":{"description":"the thing","headers":{"X-Next":{"schema":{"type":"string"}}},"content":{"application/json":{"schema":{"type":"object","properties":{"size":{"type":"integer"}}}}}},
"422":{"description":"the name is taken"}}}}}}`

// TestTextIsReleased checks that a compiled API keeps nothing of the document's text alive: strings of the tree are slices of it, and one
// of them would keep all of it in memory.
func TestTextIsReleased(t *testing.T) {
	files := map[string]string{"small": filepath.Join(t.TempDir(), "released.json")}
	if err := os.WriteFile(files["small"], []byte(released), 0o600); err != nil {
		t.Fatal(err)
	}
	if corpus := os.Getenv("OPENAPI_CORPUS"); corpus != "" {
		large, err := filepath.Glob(filepath.Join(corpus, "big", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range large {
			files[filepath.Base(file)] = file
		}
	}
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			api, text := compileFile(t, file)
			runtime.GC()
			if text.Value() != nil {
				t.Error("the text of the document is still in memory")
			}
			runtime.KeepAlive(api)
		})
	}
}

// compileFile compiles a JSON document, and returns a byte of its text.
func compileFile(t *testing.T, file string) (*API, weak.Pointer[byte]) {
	t.Helper()
	doc, err := Load(t.Context(), file, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	title := doc.set.Root().Get("info").Get("title").Text()
	if title == "" || strings.ContainsRune(title, '\\') {
		t.Fatalf("the title %q is no slice of the text", title)
	}
	api, err := doc.Compile(t.Context(), CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return api, weak.Make(unsafe.StringData(title))
}
