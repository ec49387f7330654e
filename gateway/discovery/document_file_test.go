package discovery

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"drawbridge/config"
)

// A document that the registry keeps itself is a file, which changes with it, is out of the reach of others, and is removed at the
// end.
func TestDocumentOfTheRegistry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "", files)
		with := func(name, text string) Target {
			one := target(name)
			one.Document, one.Text = "", []byte(text)
			return one
		}
		b.says(with("a", "one"), with("b", "other"))
		s := b.Snapshot()
		if len(s.APIs) != 2 || s.Services[0].By != byRegistry {
			t.Fatalf("%+v", s)
		}
		at := s.APIs[0].Spec.String()
		content := func() string {
			t.Helper()
			text, err := os.ReadFile(at)
			if err != nil {
				t.Error(err)
			}
			return string(text)
		}
		if got := content(); got != "one" {
			t.Errorf("at first %q", got)
		}
		if filepath.Dir(at) == filepath.Dir(s.APIs[1].Spec.String()) {
			t.Error("two services share a directory")
		}
		b.says(with("a", "two"), with("b", "other"))
		if got := content(); got != "two" || b.Snapshot().APIs[0].Spec.String() != at {
			t.Errorf("changed: %q", got)
		}
		b.end()
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after the end: %v", err)
		}
	})
}

// Files in a state directory stay, so that the next start has documents before its registry answers.
func TestDocumentsStay(t *testing.T) {
	dir := t.TempDir()
	f := documentFiles{dir: dir}
	at, err := f.keep("shop", "shop-a", key{"", "a"}, []byte("one"))
	if err != nil || !strings.HasPrefix(at, dir) {
		t.Fatal(at, err)
	}
	f.close()
	if _, err := os.Stat(at); err != nil {
		t.Error(err)
	}
}

// once reports one answer and waits for the end.
type once []Target

// Run implements [Provider].
func (o once) Run(ctx context.Context, update func([]Target, error)) {
	update(o, nil)
	<-ctx.Done()
}

// A command that asks the providers once can read the documents until it releases them.
func TestSettledDocuments(t *testing.T) {
	one := target("a")
	one.Document, one.Text = "", []byte("one")
	m := New(Options{
		Logger:      slog.New(slog.DiscardHandler),
		NewProvider: func(*config.Discovery) (Provider, error) { return once{one}, nil },
		Keep:        func(_ context.Context, _ string, f func()) { f() },
		Step:        survive,
	})
	if err := m.Settle(t.Context(), configuration(t, files)); err != nil {
		t.Fatal(err)
	}
	at := m.Snapshot().APIs[0].Spec.String()
	if text, err := os.ReadFile(at); string(text) != "one" {
		t.Error(string(text), err)
	}
	m.Release()
	if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Release: %v", err)
	}
}
