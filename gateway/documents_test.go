package gateway

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocumentsTogether: where memory is limited an API gets none of that of others, nor of calls: a document of which too much would be made is
// refused in words, the one before goes on to be served, small ones are taken, and when others have left it comes into use.
func TestDocumentsTogether(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, operations int) {
		t.Helper()
		names := make([]string, operations)
		for i := range names {
			names[i] = fmt.Sprintf("op%d", i)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(document(name, names...)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := func(names ...string) string {
		text := "apis:\n"
		for _, name := range names {
			text += fmt.Sprintf("  - {name: %s, spec: %s, base_url: 'http://127.0.0.1:1', max_loss: 100}\n", name, filepath.Join(dir, name))
		}
		return text
	}
	write("large", 60) // 0.19 MiB
	write("other", 50)
	write("small", 1)
	p := starting(t, config("large"), func(g *Gateway) {
		g.room.documents.most, g.room.documents.one, g.room.documents.least = 300<<10, 205<<10, 103<<10
	})
	tools := func(what string, want int) {
		t.Helper()
		p.eventually(what, func() bool { return p.Status().Tools == want })
	}
	reload := func(what string, want int) {
		t.Helper()
		if err := p.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		tools(what, want)
	}
	tools("the large one is served", 60)
	p.write(map[string]string{"drawbridge.yaml": config("large", "other", "small")})
	reload("a small one beside it", 61)
	refused := func(n int, want string) {
		t.Helper()
		if got := p.Status().APIs[n].Error; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	const words = "the operations of the document take more memory than there is for them: more than the "
	refused(1, words+"0.1 MiB that are left of the 0.3 for all APIs, a third of GOMEMLIMIT; split it, have another gateway serve it, or give this one more memory")

	write("large", 59)
	reload("the large one is replaced, and does not stand in its own way", 60)
	p.write(map[string]string{"drawbridge.yaml": strings.Replace(config("large", "other", "small"), "name: large", "name: renamed", 1)})
	reload("nor when its name is another", 60)
	refused(0, "")
	p.write(map[string]string{"drawbridge.yaml": config("large", "other", "small")})
	write("large", 70)
	reload("it grows too large", 60)
	refused(0, words+"0.2 MiB that one document may take, a quarter of GOMEMLIMIT; split it, have another gateway serve it, or give this one more memory")

	write("large", 2)
	reload("it is small, and there is room for the other", 53)
	refused(1, "")
	p.write(map[string]string{"drawbridge.yaml": config("large")})
	reload("the others are gone", 2)
	p.eventually("nothing is counted for them", func() bool {
		d := &p.room.documents
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.of) == 1
	})
}
