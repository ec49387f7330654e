package filestore

import (
	"bufio"
	"io"
	"os"
	"time"

	"filippo.io/age"

	"drawbridge/gateway/localfile"
)

// Reader reads a file. Its methods are safe for concurrent use. It must be closed.
type Reader struct {
	io.ReaderAt
	File

	disk *os.File
}

// Open opens a file of a principal by its id. The error is [ErrNotFound], whatever the reason.
func (s *Store) Open(owner, id string) (*Reader, error) {
	if !IsID(id) {
		return nil, ErrNotFound
	}
	for i := range *s.keys.Load() {
		k := &(*s.keys.Load())[i]
		if r := s.openWith(k, k.folderOf(owner), id); r != nil {
			return r, nil
		}
	}
	return nil, ErrNotFound
}

// openWith opens a file that was sealed with a key; nil if there is none.
func (s *Store) openWith(k *key, folder, id string) *Reader {
	f, err := localfile.Open(s.path(folder, id+suffix))
	if err != nil {
		return nil
	}
	r, err := k.read(f, folder+"/"+id)
	if err != nil || !time.Now().Before(r.Expires) {
		_ = f.Close() // nothing was written
		return nil
	}
	r.ID, r.disk = id, f
	return r
}

// read opens the head and the content of a file at a place.
func (k *key) read(f *os.File, place string) (*Reader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	sealed := make([]byte, headSize)
	if _, err := f.ReadAt(sealed, 0); err != nil {
		return nil, err
	}
	h, err := k.openHead(sealed, place)
	if err != nil {
		return nil, err
	}
	// The last chunk proves that the content is complete.
	content, size, err := age.DecryptReaderAt(io.NewSectionReader(f, headSize, info.Size()-headSize), info.Size()-headSize, envelope{k, place})
	if err != nil {
		return nil, err
	}
	if size != h.Size {
		return nil, errSealed
	}
	return &Reader{ReaderAt: content, File: File{
		Metadata: Metadata{Name: h.Name, MediaType: h.Type, API: h.API, Tool: h.Tool}, Size: h.Size, Expires: time.Unix(h.Expires, 0),
	}}, nil
}

// sectionBuffer is the size of the pieces in which content is read in order: each costs a buffer of a chunk besides.
const sectionBuffer = 128 << 10

// Content reads a file in order, in large pieces. Only one goroutine uses it.
type Content struct {
	*bufio.Reader
	at *io.SectionReader
}

// Content returns the content of the file from its beginning.
func (r *Reader) Content() *Content {
	at := io.NewSectionReader(r, 0, r.Size)
	return &Content{bufio.NewReaderSize(at, sectionBuffer), at}
}

// Seek implements [io.Seeker].
func (c *Content) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekCurrent {
		offset -= int64(c.Buffered())
	}
	at, err := c.at.Seek(offset, whence)
	c.Reset(c.at)
	return at, err
}

// Close implements [io.Closer].
func (r *Reader) Close() error { return r.disk.Close() }
