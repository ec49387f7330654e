package discovery

import (
	"os"
	"testing"
	"testing/synctest"
)

// A service whose API name is another one's never replaces the document that the registry keeps of the other.
func TestDocumentOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "", files)
		defer b.end()
		with := func(name, text string) Target {
			one := target(name)
			one.Document, one.Text = "", []byte(text)
			return one
		}
		b.says(with("x.y", "first"))
		b.says(with("x.y", "first"), with("x-y", "hostile"), with("x y", "hostile too"))
		s := b.Snapshot()
		if len(s.APIs) != 1 {
			t.Fatalf("%+v", s)
		}
		if text, err := os.ReadFile(s.APIs[0].Spec.String()); string(text) != "first" {
			t.Errorf("the document is %q, %v", text, err)
		}
	})
}

// A namespace and a name that only together read as those of another service are another service: neither its instances nor its
// approval are taken over.
func TestKeysWithSlashes(t *testing.T) {
	a, b := target("c", "10.0.0.1:80"), target("b/c", "10.6.6.6:80")
	a.Namespace, b.Namespace = "a/b", "a"
	var all Merger
	if !all.Add(&a) || !all.Add(&b) || len(all.Targets()) != 2 {
		t.Errorf("%+v", all.Targets())
	}
	synctest.Test(t, func(t *testing.T) {
		bench := newBench(t, "", "  - {name: shop, http: {url: 'http://127.0.0.1:1/x'}, api_name: '{provider}-{namespace}-{name}'}\n")
		defer bench.end()
		bench.says(a)
		if err := bench.Accept(t.Context(), "shop-a-b-c"); err != nil {
			t.Fatal(err)
		}
		bench.rests()
		expect(t, "a service with the same text", bench.says(b),
			"held shop-a-b-c: b/c: it is new; POST /apis/shop-a-b-c/accept\n")
	})
}
