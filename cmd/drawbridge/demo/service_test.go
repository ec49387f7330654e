package demo

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/test/cases"
)

var update = flag.Bool("update", false, "write what the service answers into the cases")

// Each case is a conversation with a fresh service: sections named "request" are sent in order, and each is
// followed by the "answer" that is expected: status, content type and body.
func TestService(t *testing.T) {
	cases.Run(t, "testdata/*.txtar", func(t *testing.T, file string, archive *txtar.Archive) {
		service := NewService(nil)
		var out txtar.Archive
		out.Comment = archive.Comment
		for i, section := range archive.Files {
			if section.Name != "request" {
				continue
			}
			got := converse(t, service, section.Data)
			out.Files = append(out.Files, section, txtar.File{Name: "answer", Data: got})
			if *update {
				continue
			}
			if i+1 == len(archive.Files) || archive.Files[i+1].Name != "answer" {
				t.Fatalf("section %d has no answer", i)
			}
			if diff := cmp.Diff(string(archive.Files[i+1].Data), string(got)); diff != "" {
				t.Errorf("answer to section %d (-want +got):\n%s\nrequest:\n%s", i, diff, section.Data)
			}
		}
		if *update {
			if err := os.WriteFile(file, txtar.Format(&out), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// converse sends one written request: a request line, headers, an empty line, a body.
func converse(t *testing.T, service http.Handler, text []byte) []byte {
	t.Helper()
	head, body, _ := strings.Cut(string(text), "\n\n")
	body = strings.TrimSuffix(body, "\n")
	raw := strings.ReplaceAll(strings.TrimSuffix(head, "\n"), "\n", "\r\n") +
		fmt.Sprintf("\r\nHost: shop\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
	if err != nil {
		t.Fatalf("read request %q: %v", raw, err)
	}
	if r.Header.Get("X-Shop-Key") == "" {
		r.Header.Set("X-Shop-Key", Key)
	}
	w := httptest.NewRecorder()
	service.ServeHTTP(w, r)
	return fmt.Appendf(nil, "%d %s\n%s\n", w.Code, w.Header().Get("Content-Type"), strings.TrimSuffix(w.Body.String(), "\n"))
}

func TestLabelIsAPicture(t *testing.T) {
	r := httptest.NewRequest("GET", "/api/v1/orders/SO%201001/label", nil)
	r.Header.Set("X-Shop-Key", Key)
	w := httptest.NewRecorder()
	NewService(nil).ServeHTTP(w, r)
	first := bytes.Clone(w.Body.Bytes())
	img, err := png.Decode(w.Body)
	if err != nil {
		t.Fatalf("decode the label: %v", err)
	}
	if got, want := img.Bounds().Dx(), len("SO 1001")*16; got != want {
		t.Errorf("label is %d pixels wide, want %d", got, want)
	}
	w = httptest.NewRecorder()
	NewService(nil).ServeHTTP(w, r)
	if !bytes.Equal(first, w.Body.Bytes()) {
		t.Error("two services print different labels for one order")
	}
}

func TestDocumentNeedsNoKeyAndIsNotObserved(t *testing.T) {
	var seen []string
	service := NewService(func(r *http.Request) { seen = append(seen, r.Method+" "+r.URL.Path) })
	w := httptest.NewRecorder()
	service.ServeHTTP(w, httptest.NewRequest("GET", DocumentPath, nil))
	if w.Code != http.StatusOK || !bytes.Equal(w.Body.Bytes(), Document()) {
		t.Errorf("GET %s: status %d, %d bytes; want 200 and the %d bytes of Document", DocumentPath, w.Code, w.Body.Len(), len(Document()))
	}
	w = httptest.NewRecorder()
	service.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/orders", nil))
	io.Copy(io.Discard, w.Body)
	if diff := cmp.Diff([]string{"GET /api/v1/orders"}, seen); diff != "" {
		t.Errorf("observed requests (-want +got):\n%s", diff)
	}
}

func TestDocumentIsACopy(t *testing.T) {
	Document()[0] = 'X'
	if Document()[0] == 'X' {
		t.Error("a caller can change the document of the service")
	}
}
