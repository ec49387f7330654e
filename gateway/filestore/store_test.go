package filestore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/test/timebox"
)

var wide = Limits{TTL: time.Hour, MaxSize: 1 << 20, Quota: 4 << 20, Total: 8 << 20}

func open(t testing.TB, dir string, limits Limits, secrets ...string) *Store {
	t.Helper()
	if len(secrets) == 0 {
		secrets = []string{strings.Repeat("k", 32)}
	}
	o := Options{Dir: dir, Limits: limits, Logger: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()}
	for _, secret := range secrets {
		o.Secrets = append(o.Secrets, []byte(secret))
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func store(t testing.TB, s *Store, owner string, content []byte) File {
	t.Helper()
	f, err := put(s, owner, content)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func put(s *Store, owner string, content []byte) (File, error) {
	w, err := s.Create(owner)
	if err != nil {
		return File{}, err
	}
	defer w.Abort()
	if _, err := io.Copy(w, bytes.NewReader(content)); err != nil {
		return File{}, err
	}
	return w.Commit(Metadata{Name: "report.pdf", MediaType: "application/pdf", API: "shop", Tool: "getReport"})
}

func random(n int) []byte {
	content := make([]byte, n)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(content)
	return content
}

// onDisk returns the paths of all files below a directory.
func onDisk(t testing.TB, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestContent holds that a file comes back byte for byte, in any range, with its metadata, and that the disk shows nothing of it.
func TestContent(t *testing.T) {
	for _, size := range []int{0, 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 300_000} {
		dir := t.TempDir()
		s, whole := open(t, dir, wide), random(size)
		f := store(t, s, "ada", whole)
		r, err := s.Open("ada", f.ID)
		if err != nil {
			t.Fatal(size, err)
		}
		if r.Metadata != f.Metadata || r.Size != int64(size) || !r.Expires.Equal(f.Expires) {
			t.Errorf("%d bytes: %+v, want %+v", size, r.File, f)
		}
		got, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size))
		if err != nil || !bytes.Equal(got, whole) {
			t.Errorf("%d bytes come back as %d: %v", size, len(got), err)
		}
		content := r.Content()
		if got, err = io.ReadAll(content); err != nil || !bytes.Equal(got, whole) {
			t.Errorf("%d bytes come back in order as %d: %v", size, len(got), err)
		}
		if _, err := content.Seek(int64(size/2), io.SeekStart); err != nil {
			t.Error(err)
		}
		head := make([]byte, min(10, size-size/2))
		if _, err := io.ReadFull(content, head); err != nil || !bytes.Equal(head, whole[size/2:size/2+len(head)]) {
			t.Errorf("%d bytes: the middle differs: %v", size, err)
		}
		if at, err := content.Seek(0, io.SeekCurrent); err != nil || at != int64(size/2+len(head)) {
			t.Errorf("%d bytes: the position is %d: %v", size, at, err)
		}
		part := make([]byte, min(100, size))
		if _, err := r.ReadAt(part, int64(size-len(part))); err != nil && !errors.Is(err, io.EOF) || !bytes.Equal(part, whole[size-len(part):]) {
			t.Errorf("%d bytes: the end differs: %v", size, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		for _, path := range onDisk(t, dir) {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, shown := range []string{"report", "getReport", "ada", string(whole[:min(len(whole), 16)])} {
				if len(shown) > 2 && strings.Contains(path+string(raw), shown) && shown != "" {
					t.Errorf("%d bytes: the disk shows %q", size, shown)
				}
			}
		}
	}
}

// TestForeign holds that only the principal of a file opens it, whatever its id looks like.
func TestForeign(t *testing.T) {
	s := open(t, t.TempDir(), wide)
	f := store(t, s, "ada", []byte("secret"))
	for _, tt := range [][2]string{
		{"bob", f.ID}, {"", f.ID}, {"ada ", f.ID}, {"ada", f.ID + "x"}, {"ada", strings.ToUpper(f.ID)}, {"ada", "../" + f.ID}, {"ada", ""}, {"ada", newID()}, {"ada", f.ID + suffix}, {"ada", tempPrefix + f.ID},
	} {
		if r, err := s.Open(tt[0], tt[1]); !errors.Is(err, ErrNotFound) || r != nil {
			t.Errorf("%q opens %q: %v", tt[0], tt[1], err)
		}
	}
}

// TestTampered holds that a file with any change on the disk does not open, or fails where it was changed.
func TestTampered(t *testing.T) {
	dir := t.TempDir()
	s, content := open(t, dir, wide), random(200_000)
	f := store(t, s, "ada", content)
	path := onDisk(t, dir)[0]
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	readable := func() bool {
		r, err := s.Open("ada", f.ID)
		if err != nil {
			if !errors.Is(err, ErrNotFound) {
				t.Error(err)
			}
			return false
		}
		defer r.Close()
		_, err = io.Copy(io.Discard, io.NewSectionReader(r, 0, r.Size))
		return err == nil
	}
	write := func(raw []byte) {
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range []int{0, 11, headSize - 1, headSize, headSize + 30, headSize + 120, headSize + 400, headSize + 100_000, len(whole) - 1} {
		changed := bytes.Clone(whole)
		changed[at] ^= 1
		if write(changed); readable() {
			t.Errorf("the byte at %d can be changed", at)
		}
	}
	for _, n := range []int{0, 100, headSize, headSize + 100, headSize + 64<<10, len(whole) - 1, len(whole) - 20_000} {
		if write(whole[:n]); readable() {
			t.Errorf("the first %d bytes are a file", n)
		}
	}
	if write(append(bytes.Clone(whole), 0)); readable() {
		t.Error("a byte can be appended")
	}
	// The content of another file of the same principal, and the whole of one, are foreign here.
	other := store(t, s, "ada", random(200_000))
	raw, err := os.ReadFile(s.path((&(*s.keys.Load())[0]).folderOf("ada"), other.ID+suffix))
	if err != nil {
		t.Fatal(err)
	}
	if write(raw); readable() {
		t.Error("a file opens by the id of another")
	}
	if write(append(bytes.Clone(whole[:headSize]), raw[headSize:]...)); readable() {
		t.Error("the content of another file opens")
	}
	if write(whole); !readable() {
		t.Error("the original does not open")
	}
}

// TestLifetime holds that a file does not open after its lifetime, that nothing is left of it a minute later, and that the folder goes with
// its last file.
func TestLifetime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := open(t, dir, wide)
		go s.Run(t.Context())
		synctest.Wait()
		f := store(t, s, "ada", []byte("x"))
		time.Sleep(wide.TTL - 2*time.Second)
		r, err := s.Open("ada", f.ID)
		if err != nil {
			t.Fatal("it ends too early:", err)
		}
		time.Sleep(2 * time.Second)
		if _, err := s.Open("ada", f.ID); !errors.Is(err, ErrNotFound) {
			t.Error("it opens after its lifetime:", err)
		}
		time.Sleep(sweepInterval + time.Second)
		synctest.Wait()
		if entries, _ := os.ReadDir(dir); len(entries) > 0 {
			t.Errorf("%v is left", entries)
		}
		if n, err := r.ReadAt(make([]byte, 1), 0); n != 1 {
			t.Error("a reader that was open loses its file:", err)
		}
		_ = r.Close()
		if files, total := s.counted(); files != 0 || total != 0 {
			t.Errorf("%d files, %d bytes are counted", files, total)
		}
	})
}

// TestCrash holds that a process that was killed while it wrote leaves a file that cannot be opened, that counts until it is removed, and
// that is removed without its key. Files of others stay.
func TestCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		killed := open(t, dir, wide)
		kept := store(t, killed, "ada", []byte("kept"))
		half, err := killed.Create("ada")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := half.Write(random(200_000)); err != nil {
			t.Fatal(err)
		}
		_ = half.file.Close() // what is left of a killed process
		var foreign []string
		for _, name := range []string{"note.txt", filepath.Join(killed.key0().folderOf("ada"), "note.txt"), filepath.Join("other", "abcdefghijklmnop.file")} {
			path := filepath.Join(dir, name)
			_ = os.MkdirAll(filepath.Dir(path), 0o700)
			if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			_ = os.Chtimes(path, time.Unix(0, 0), time.Unix(0, 0))
			foreign = append(foreign, path)
		}
		// Files on disk have the time of the machine, the bubble its own: both are now.
		for _, path := range onDisk(t, dir) {
			if strings.Contains(path, tempPrefix) {
				_ = os.Chtimes(path, time.Now(), time.Now())
			}
		}
		next := open(t, dir, wide)
		go next.Run(t.Context())
		synctest.Wait()
		if _, err := next.Open("ada", half.id); !errors.Is(err, ErrNotFound) {
			t.Error("a half-written file opens:", err)
		}
		if files, total := next.counted(); files != 1 || total < 190_000 {
			t.Errorf("%d files, %d bytes are counted after the start", files, total)
		}
		time.Sleep(abandonedAfter + sweepInterval + time.Second)
		synctest.Wait()
		if r, err := next.Open("ada", kept.ID); err != nil {
			t.Error("a complete file is lost:", err)
		} else {
			_ = r.Close()
		}
		if _, total := next.counted(); total > 10_000 {
			t.Errorf("%d bytes are counted after the clean-up", total)
		}
		// A process with other keys, which can't open anything, cleans up, too.
		stranger := open(t, dir, wide, strings.Repeat("x", 32))
		stranger.Sweep(time.Now().Add(wide.TTL))
		if left := onDisk(t, dir); len(left) != len(foreign) {
			t.Errorf("left: %q", left)
		}
	})
}

func (s *Store) key0() *key { return &(*s.keys.Load())[0] }

// counted returns what the store counts.
func (s *Store) counted() (files int, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files, s.total
}

// TestWritesSurviveSweeps holds that a sweep leaves files alone that this process writes, however slowly.
func TestWritesSurviveSweeps(t *testing.T) {
	s := open(t, t.TempDir(), wide)
	w, err := s.Create("ada")
	if err != nil {
		t.Fatal(err)
	}
	s.Sweep(time.Now().Add(24 * time.Hour))
	if _, err := w.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	s.Sweep(time.Now().Add(24 * time.Hour))
	if s.total != 1 {
		t.Errorf("%d bytes are counted", s.total)
	}
	if f, err := w.Commit(Metadata{}); err != nil {
		t.Error(err)
	} else if r, err := s.Open("ada", f.ID); err != nil {
		t.Error(err)
	} else {
		_ = r.Close()
	}
}

// TestLimits holds that each limit is an error of its own, that nothing is left of the file, and that others are not affected.
func TestLimits(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Limits{TTL: time.Hour, MaxSize: 50_000, Quota: 60_000, Total: 100_000})
	kind := func(owner string, n int) Kind {
		_, err := put(s, owner, random(n))
		var e *Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("%v is no Error", err)
		}
		if e == nil {
			return ""
		}
		if e.ToolMessage() == "" || strings.Contains(e.ToolMessage(), dir) {
			t.Errorf("%s: %q", e.Kind, e.ToolMessage())
		}
		return e.Kind
	}
	for i, tt := range []struct {
		owner string
		size  int
		want  Kind
	}{{"ada", 50_001, TooLarge}, {"ada", 40_000, ""}, {"ada", 20_000, Quota}, {"bob", 45_000, ""}, {"eve", 20_000, Full}, {"ada", 100, ""}} {
		if got := kind(tt.owner, tt.size); got != tt.want {
			t.Errorf("%d: %d bytes of %s: %q, want %q", i, tt.size, tt.owner, got, tt.want)
		}
	}
	if n := len(onDisk(t, dir)); n != 3 {
		t.Errorf("%d files are on disk", n)
	}
}

// TestQuotaRace holds that files that are written at the same time do not exceed the quota together.
func TestQuotaRace(t *testing.T) {
	s := open(t, t.TempDir(), Limits{TTL: time.Hour, MaxSize: 1 << 20, Quota: 1 << 20, Total: 8 << 20})
	var group sync.WaitGroup
	var mu sync.Mutex
	stored := 0
	for range 32 {
		group.Go(func() {
			if _, err := put(s, "ada", random(100_000)); err == nil {
				mu.Lock()
				stored++
				mu.Unlock()
			}
		})
	}
	timebox.Done(t, group.Wait)
	if stored > 10 {
		t.Errorf("%d files of 100,000 bytes are in a quota of %d", stored, 1<<20)
	}
	counted := s.total
	if s.Sweep(time.Now()); s.total != counted {
		t.Errorf("%d bytes were counted, %d are there", counted, s.total)
	}
}

// TestDisk holds that a disk that fails is an error of the file alone.
func TestDisk(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, wide)
	w, err := s.Create("ada")
	if err != nil {
		t.Fatal(err)
	}
	_ = w.file.Close()
	_, err = w.Write(random(200_000))
	var e *Error
	if !errors.As(err, &e) || e.Kind != Disk {
		t.Errorf("write: %v", err)
	}
	if _, err := w.Commit(Metadata{}); !errors.As(err, &e) {
		t.Errorf("commit: %v", err)
	}
	w.Abort()
	if len(onDisk(t, dir)) > 0 || s.total != 0 {
		t.Errorf("%q, %d bytes are left", onDisk(t, dir), s.total)
	}
	store(t, s, "ada", []byte("x"))
	if full := (&Error{Kind: Disk, Err: fmt.Errorf("write: %w", syscall.ENOSPC)}).Error(); full != "the disk of server.state_dir is full" {
		t.Error(full)
	}
	blocked := open(t, filepath.Join(onDisk(t, dir)[0], "below"), wide)
	if _, err := put(blocked, "ada", nil); !errors.As(err, &e) || e.Kind != Disk {
		t.Errorf("create: %v", err)
	}
}

// TestRotation holds that files stay readable while their secret is listed.
func TestRotation(t *testing.T) {
	dir, first, second := t.TempDir(), strings.Repeat("1", 32), strings.Repeat("2", 32)
	s := open(t, dir, wide, first)
	f := store(t, s, "ada", []byte("x"))
	for secrets, want := range map[string]bool{second + "," + first: true, second: false, first: true} {
		var keys [][]byte
		for secret := range strings.SplitSeq(secrets, ",") {
			keys = append(keys, []byte(secret))
		}
		if err := s.Rekey(keys); err != nil {
			t.Fatal(err)
		}
		r, err := s.Open("ada", f.ID)
		if (err == nil) != want {
			t.Errorf("%q: %v", secrets, err)
		}
		if r != nil {
			_ = r.Close()
		}
	}
}

// BenchmarkStore writes and reads files of 64 MiB.
func BenchmarkStore(b *testing.B) {
	const size = 64 << 20
	s := open(b, b.TempDir(), Limits{TTL: time.Hour, MaxSize: size, Quota: 1 << 40, Total: 1 << 40})
	content := random(1 << 20)
	write := func() File {
		w, err := s.Create("ada")
		if err != nil {
			b.Fatal(err)
		}
		for range size / len(content) {
			if _, err := w.Write(content); err != nil {
				b.Fatal(err)
			}
		}
		f, err := w.Commit(Metadata{})
		if err != nil {
			b.Fatal(err)
		}
		return f
	}
	b.Run("write", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			remove(s.path(s.key0().folderOf("ada"), write().ID+suffix))
		}
	})
	f := write()
	b.Run("read", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			r, err := s.Open("ada", f.ID)
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, r.Content())
			_ = r.Close()
		}
	})
}
