package discovery

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"
	"unicode/utf8"

	"drawbridge/config"
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
		if len(s.APIs) != 3 {
			t.Fatalf("%+v", s)
		}
		want := map[string]string{"x.y": "first", "x-y": "hostile", "x y": "hostile too"}
		for i := range s.APIs {
			if text, err := os.ReadFile(s.APIs[i].Spec.String()); string(text) != want[s.APIs[i].Service().Name] {
				t.Errorf("the document of %+v is %q, %v", s.APIs[i].Service(), text, err)
			}
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

// An operator accepts the service that a page has shown: not another one that has the same API name, whichever came first.
func TestAcceptIsOfOneService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "", "  - {name: shop, http: {url: 'http://127.0.0.1:1/x'}}\n")
		defer b.end()
		hostile := target("x-y", "10.6.6.6:80")
		b.says(target("x.y"), hostile)
		refused := func(what string) {
			t.Helper()
			err := b.Accept(t.Context(), "shop-x-y")
			if err == nil || !strings.Contains(err.Error(), "service x-y") || !strings.Contains(err.Error(), "service x.y") {
				t.Errorf("%s: %v", what, err)
			}
		}
		refused("two are held")
		b.says(target("x.y"))
		if err := b.Accept(t.Context(), "shop-x-y"); err != nil {
			t.Error(err)
		}
		b.says(target("x.y"), hostile)
		refused("one is served")
		expect(t, "the first is gone", b.says(hostile), "held shop-x-y: x-y: it is new; POST /apis/shop-x-y/accept\n")
	})
}

// Whatever a registration says, what is shown of it stands on one line, in letters that can be seen, and is short.
func TestHostileTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "", files)
		defer b.end()
		var all []Target
		for i, text := range []string{"x\nwarning: y", "x\r\x1b[2K", "x\u202ey", "x\u2066y", "x\u200by", "x\u2028y", "x\U000E0041", "x\xff", strings.Repeat("long", 1000)} {
			change := func(what string, f func(*Target)) {
				one := target(what + strconv.Itoa(i))
				f(&one)
				all = append(all, one)
			}
			change("name", func(t *Target) { t.Name += text })
			change("namespace", func(t *Target) { t.Namespace = text })
			change("alias", func(t *Target) { t.Alias = text })
			change("scheme", func(t *Target) { t.Scheme = text })
			change("path", func(t *Target) { t.BasePath = "/" + text + "?" })
			change("instance", func(t *Target) { t.Instances = []string{text + ":80"} })
			change("document", func(t *Target) { t.Document = text })
			change("host", func(t *Target) { t.Document = "https://" + text + "/o.json" })
			change("problem", func(t *Target) { t.Problem = fmt.Sprintf("the port %.100q", text) })
			change("label", func(t *Target) { t.Labels = map[string]string{text: "a"} })
		}
		b.says(all...)
		s := b.Snapshot()
		if len(s.Services) != len(all) {
			t.Errorf("%d of %d services", len(s.Services), len(all))
		}
		for _, one := range s.Services {
			shown := slices.Concat([]string{one.Namespace, one.Name, one.API, one.Reason, one.Next, one.Document}, one.Instances)
			for _, text := range shown {
				if len(text) > 400 || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
					t.Errorf("%s: %.500q", one.Name, text)
				}
			}
		}
	})
}

// Answers that are small enough one by one are refused once they are too large together.
func TestBudget(t *testing.T) {
	b := NewBudget(10)
	for i, want := range []string{"<nil>", "<nil>", "the answers of the registry have more than 10 bytes together", "the answers of the registry have more than 10 bytes together"} {
		var value []int
		if err := b.ReadJSON(strings.NewReader("[1,2]"), 5, &value); fmt.Sprint(err) != want || err == nil && len(value) != 2 {
			t.Errorf("%d: %v, %v", i, value, err)
		}
	}
	var value []int
	if err := NewBudget(10).ReadJSON(strings.NewReader("[1,2,3]"), 5, &value); fmt.Sprint(err) != "the answer has more than 5 bytes" {
		t.Error(err)
	}
}

// Services whose names change with each answer leave nothing behind: neither their addresses nor their documents.
func TestNamesWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "", "  - {name: shop, file: {paths: [x.json]}, max_loss: 100}\n")
		defer b.end()
		var dir string
		for round := range 20 {
			var all []Target
			for i := range 10 {
				one := target(fmt.Sprintf("s%d-%d", round, i))
				one.Document, one.Text = "", []byte("openapi: 3.1.0")
				all = append(all, one)
			}
			b.says(all...)
			dir = filepath.Dir(filepath.Dir(b.Snapshot().APIs[0].Spec.String()))
		}
		kept, err := os.ReadDir(dir)
		if len(kept) != 10 || err != nil {
			t.Errorf("%d documents are kept of 10 services, %v", len(kept), err)
		}
		live := b.Instances(config.ServiceID{Provider: "shop", Name: "s19-0"})
		runtime.GC()
		b.says(target("other"))
		if n := len(b.instances.all); n > 30 {
			t.Errorf("the addresses of %d services are kept", n)
		}
		if b.Instances(config.ServiceID{Provider: "shop", Name: "s19-0"}) != live {
			t.Error("the addresses of a service that is still called are others")
		}
	})
}
