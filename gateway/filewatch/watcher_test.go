package filewatch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"drawbridge/test/timebox"
)

// replace puts a file in place of another at once, as editors and deployments do.
func replace(t *testing.T, path, text string) {
	t.Helper()
	writeFile(t, path+".new", []byte(text))
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// TestWatchClock drives the loop with a clock that stands still but for the test, and with signs made by hand.
func TestWatchClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		a, b, c := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
		writeFile(t, a, []byte("1"))
		writeFile(t, b, []byte("1"))
		reports := make(chan string, 10)
		seen := func(why string, want ...string) {
			t.Helper()
			synctest.Wait()
			var got []string
			for len(reports) > 0 {
				got = append(got, <-reports)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: reported %q, want %q", why, got, want)
			}
		}
		w := New([]string{a, b, c, a}, Options{})
		w.changed = func(path string) { reports <- path }
		events, errs := make(chan fsnotify.Event), make(chan error)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.run(ctx, events, errs)
		}()

		writeFile(t, a, []byte("2"))
		time.Sleep(pollTime - time.Millisecond)
		seen("before the poll")
		time.Sleep(time.Millisecond)
		seen("at the poll", a)

		writeFile(t, b, []byte("2"))
		events <- fsnotify.Event{Name: b}
		time.Sleep(settleTime - time.Millisecond)
		seen("before the file rests")
		events <- fsnotify.Event{Name: b}
		time.Sleep(settleTime - time.Millisecond)
		seen("after another sign")
		time.Sleep(time.Millisecond)
		seen("when the file rests", b)

		writeFile(t, a, []byte("3"))
		for range 20 { // one sign each 50 ms, for a second
			events <- fsnotify.Event{Name: a}
			time.Sleep(50 * time.Millisecond)
		}
		seen("a file that never rests", a)

		writeFile(t, c, []byte("1"))
		events <- fsnotify.Event{Name: filepath.Join(dir, "log")}
		time.Sleep(2 * settleTime)
		seen("a sign of another file")
		errs <- fsnotify.ErrEventOverflow
		time.Sleep(settleTime)
		seen("signs were lost; the file is new", c)

		if err := os.Remove(a); err != nil {
			t.Fatal(err)
		}
		events <- fsnotify.Event{Name: a}
		time.Sleep(settleTime)
		seen("the file is gone")
		writeFile(t, a, []byte("3"))
		time.Sleep(pollTime)
		seen("the file is back as it was")
		writeFile(t, a, []byte("4"))
		close(events)
		close(errs)
		time.Sleep(pollTime)
		seen("polling goes on without signs", a)

		cancel()
		<-done
	})
}

// TestWatch watches real files. The 30 seconds of polling are more than the test waits.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "conf", "drawbridge.yaml")
	writeFile(t, file, []byte("1"))

	// A mounted ConfigMap: key → ..data/key, ..data → ..1.
	volume := filepath.Join(dir, "volume")
	mounted := filepath.Join(volume, "secret")
	writeFile(t, filepath.Join(volume, "..1", "secret"), []byte("1"))
	writeFile(t, filepath.Join(volume, "..2", "secret"), []byte("2"))
	link(t, "..1", filepath.Join(volume, "..data"))
	link(t, filepath.Join("..data", "secret"), mounted)

	// A link to a file elsewhere.
	elsewhere := filepath.Join(dir, "elsewhere", "spec.yaml")
	writeFile(t, elsewhere, []byte("1"))
	linked := filepath.Join(dir, "conf", "spec.yaml")
	link(t, elsewhere, linked)

	changes := make(chan string)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)

	// A directory of documents: its names count, not what the files hold.
	specs := filepath.Join(dir, "specs")
	writeFile(t, filepath.Join(specs, "a.yaml"), []byte("1"))
	w := New([]string{file, mounted, linked, specs}, Options{Counts: isDocument}) // what changes from here on is reported, whenever Run begins
	go func() {
		ended <- w.Run(ctx, func(path string) {
			select {
			case changes <- path:
			case <-ctx.Done():
			}
		})
	}()
	expect := func(why, want string) {
		t.Helper()
		select {
		case got := <-changes:
			if got != want {
				t.Errorf("%s: %q is reported, want %q", why, got, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: nothing is reported", why)
		}
	}

	replace(t, file, "2")
	expect("a file that is replaced", file)
	overwrite(t, file, "3")
	expect("a file that is written", file)
	link(t, "..2", filepath.Join(volume, "..data_tmp"))
	if err := os.Rename(filepath.Join(volume, "..data_tmp"), filepath.Join(volume, "..data")); err != nil {
		t.Fatal(err)
	}
	expect("a ConfigMap that is swapped", mounted)
	replace(t, elsewhere, "2")
	expect("a file behind a link", linked)
	writeFile(t, filepath.Join(specs, "a.yaml"), []byte("2"))
	writeFile(t, filepath.Join(specs, "notes.txt"), []byte("1"))
	replace(t, file, "4")
	expect("a file, when documents of a directory have changed", file)
	writeFile(t, filepath.Join(specs, "b.json"), []byte("1"))
	expect("a document that comes into a directory", specs)
	if err := os.Remove(filepath.Join(specs, "a.yaml")); err != nil {
		t.Fatal(err)
	}
	expect("a document that goes", specs)

	cancel()
	if err := timebox.Receive(t, ended); err != nil {
		t.Errorf("Watch: %v", err)
	}
}

func isDocument(name string) bool {
	return filepath.Ext(name) == ".yaml" || filepath.Ext(name) == ".json"
}

func writeFile(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

// overwrite writes into a file that is there. Its length stays, so nobody ever sees a part of it.
func overwrite(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestWatchTree: everything below a directory is watched: new files in new directories, files that are gone, and contents, but no hidden file.
func TestWatchTree(t *testing.T) {
	dir := t.TempDir()
	tree := filepath.Join(dir, "skills")
	w := New([]string{tree + "/..."}, Options{})
	var reports int
	w.changed = func(string) { reports++ }
	seen := func(why string, want int) {
		t.Helper()
		reports = 0
		w.check(false)
		if reports != want {
			t.Errorf("%s: %d reports, want %d", why, reports, want)
		}
	}
	mkdir := func(path string) {
		t.Helper()
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	seen("no directory", 0)
	mkdir(filepath.Join(tree, "a", "scripts"))
	seen("the first directory", 1)
	writeFile(t, filepath.Join(tree, "a", "scripts", "x.py"), []byte("1"))
	seen("a new file", 1)
	if !w.relevant(filepath.Join(tree, "a", "scripts", "y.py")) || w.relevant(filepath.Join(tree, "a", ".swp")) || w.relevant(filepath.Join(dir, "log")) {
		t.Error("the wrong events are relevant")
	}
	writeFile(t, filepath.Join(tree, "a", "scripts", "x.py"), []byte("2"))
	seen("another content", 1)
	mkdir(filepath.Join(tree, ".git"))
	writeFile(t, filepath.Join(tree, ".git", "x"), nil)
	writeFile(t, filepath.Join(tree, "a", ".hidden"), nil)
	seen("hidden files", 0)
	if err := os.Remove(filepath.Join(tree, "a", "scripts", "x.py")); err != nil {
		t.Fatal(err)
	}
	seen("a file less", 1)
	seen("nothing", 0)
}

// TestManyWatchers: more watchers than a user may have inotify instances share one, and each hears of its own file. The 30 seconds of
// polling are more than the test waits.
func TestManyWatchers(t *testing.T) {
	const many = 300
	var notifier Notifier
	ctx, cancel := context.WithCancel(t.Context())
	changes := make(chan string, many)
	running := make(chan error)
	files := make([]string, many)
	for i := range files {
		files[i] = filepath.Join(t.TempDir(), "openapi.yaml")
		writeFile(t, files[i], []byte("1"))
		w := New(files[i:i+1], Options{Notifier: &notifier})
		go func() { running <- w.Run(ctx, func(path string) { changes <- path }) }()
	}
	for _, i := range []int{0, many / 2, many - 1} {
		replace(t, files[i], "2")
		select {
		case got := <-changes:
			if got != files[i] {
				t.Errorf("%s is reported, want %s", got, files[i])
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%d: nothing is reported", i)
		}
	}
	cancel()
	for range files {
		if err := timebox.Receive(t, running); err != nil {
			t.Error(err)
		}
	}
	if notifier.system != nil || len(notifier.dirs) != 0 {
		t.Errorf("%d directories are still watched", len(notifier.dirs))
	}
}
