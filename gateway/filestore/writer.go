package filestore

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"filippo.io/age"
)

const (
	suffix     = ".file"
	tempPrefix = ".writing-"
)

// Metadata describes a file. The texts are untrusted.
type Metadata struct {
	Name string // without a path; may be empty
	// MediaType is that of the bytes, without parameters; "" if it is unknown.
	MediaType string
	API, Tool string // that the file came from; API is empty for a file that the principal has sent
}

// File is a stored file.
type File struct {
	Metadata
	ID      string
	Size    int64 // bytes
	Expires time.Time
}

// URI returns the URI of the file.
func (f *File) URI() string { return Reference{ID: f.ID, Last: -1}.String() }

// Writer writes a file. [Writer.Commit] or [Writer.Abort] ends it; until then nobody can open the file. Only one goroutine uses it.
type Writer struct {
	store    *Store
	key      *key
	folder   string
	id, temp string
	file     *os.File
	sealed   io.WriteCloser
	size     int64  // changed only while store.mu is held, because sweeps read it
	err      *Error // why it failed; nothing can be written any more then
	ended    bool
}

// Create begins a file of a principal. The error is an [*Error].
func (s *Store) Create(owner string) (*Writer, error) { return s.begin(owner, newID()) }

// begin begins a file with an id.
func (s *Store) begin(owner, id string) (*Writer, error) {
	k := &(*s.keys.Load())[0]
	w := &Writer{store: s, key: k, folder: k.folderOf(owner), id: id}
	w.temp = tempPrefix + w.id
	if err := w.open(); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		failed := s.disk(err)
		s.stored.WithLabelValues(string(Disk)).Inc()
		return nil, failed
	}
	return w, nil
}

// open makes the temporary file. The content is not synchronized with the disk: a file that a crash of the machine has left without its last
// bytes does not open, and its lifetime is short.
func (w *Writer) open() error {
	s := w.store
	// A sweep must not take the file for one of a process that has died, so it is known before it exists.
	s.mu.Lock()
	taken := s.writes[w.temp] != nil
	if !taken {
		s.writes[w.temp] = w
	}
	s.mu.Unlock()
	if taken {
		return fs.ErrExist
	}
	f, err := w.create()
	if errors.Is(err, fs.ErrNotExist) { // a sweep has removed the empty folder in between
		f, err = w.create()
	}
	if err == nil {
		w.file = f
		if _, err = f.Seek(headSize, io.SeekStart); err == nil {
			w.sealed, err = age.Encrypt(f, envelope{w.key, w.place()})
		}
	}
	if err != nil {
		w.discard()
	}
	return err
}

func (w *Writer) create() (*os.File, error) {
	if err := os.MkdirAll(w.store.path(w.folder, ""), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(w.store.path(w.folder, w.temp), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// place is what the seals of the file are bound to.
func (w *Writer) place() string { return w.folder + "/" + w.id }

// Size returns how many bytes were written.
func (w *Writer) Size() int64 { return w.size }

// Write implements [io.Writer]. The error is an [*Error], and the file is gone then.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	s := w.store
	if w.size+int64(len(p)) > s.limits.MaxSize {
		return 0, w.fail(s.limit(TooLarge, s.limits.MaxSize))
	}
	if err := s.reserve(w, int64(len(p))); err != nil {
		return 0, w.fail(err)
	}
	n, err := w.sealed.Write(p)
	if err != nil {
		return n, w.fail(s.disk(err))
	}
	return n, nil
}

// fail ends the file with an error.
func (w *Writer) fail(err *Error) *Error {
	w.err = err
	w.end(string(err.Kind))
	return err
}

// Commit completes the file. The error is an [*Error].
func (w *Writer) Commit(m Metadata) (File, error) {
	if w.err != nil {
		return File{}, w.err
	}
	s := w.store
	// Whole seconds, so that the time in the head and that of the file on disk are the same.
	expires := time.Now().Add(s.limits.TTL).Truncate(time.Second)
	disk, err := w.complete(head{Name: m.Name, Type: m.MediaType, API: m.API, Tool: m.Tool, Size: w.size, Expires: expires.Unix()}, expires)
	if err != nil {
		return File{}, w.fail(s.disk(err))
	}
	s.mu.Lock()
	err = os.Rename(s.path(w.folder, w.temp), s.path(w.folder, w.id+suffix))
	if err == nil {
		w.ended = true
		delete(s.writes, w.temp)
		s.files++
		s.count(w.folder, disk-w.size)
	}
	s.mu.Unlock()
	if err != nil {
		return File{}, w.fail(s.disk(err))
	}
	s.stored.WithLabelValues("ok").Inc()
	return File{Metadata: m, ID: w.id, Size: w.size, Expires: expires}, nil
}

// complete writes the rest of the temporary file and its head, and closes it. It returns the size on disk. The time of the file is that of its
// expiry, so that a sweep needs no key.
func (w *Writer) complete(h head, expires time.Time) (size int64, err error) {
	if err := w.sealed.Close(); err != nil {
		return 0, err
	}
	sealed, err := w.key.sealHead(h, w.place())
	if err != nil {
		return 0, err
	}
	if _, err := w.file.WriteAt(sealed, 0); err != nil {
		return 0, err
	}
	info, err := w.file.Stat()
	if err != nil {
		return 0, err
	}
	if err := w.file.Close(); err != nil {
		return 0, err
	}
	return info.Size(), os.Chtimes(w.store.path(w.folder, w.temp), expires, expires)
}

// Abort removes what was written. It does nothing after the end of the file.
func (w *Writer) Abort() { w.end("aborted") }

func (w *Writer) end(outcome string) {
	if w.ended {
		return
	}
	w.store.stored.WithLabelValues(outcome).Inc()
	w.discard()
}

// discard removes the temporary file.
func (w *Writer) discard() {
	w.ended = true
	if w.file != nil {
		if err := w.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			w.store.log.Debug("a file that is removed can't be closed", "error", err)
		}
		remove(w.store.path(w.folder, w.temp))
	}
	s := w.store
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.writes, w.temp)
	if w.size > 0 {
		s.count(w.folder, -w.size)
	}
}
