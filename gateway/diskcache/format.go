package diskcache

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"drawbridge/openapi"
	"drawbridge/openapi/fetch"
)

// A file of the store is a line with its version, a line with the SHA-256 of everything that follows, a line of JSON that describes
// the document, and the document's files one after the other.
const (
	formatVersion = "drawbridge document 1\n"
	maxHead       = 16 << 20 // bytes of the description
	maxLines      = 1024     // bytes of the lines before it, with a margin
)

// Document is a document in the store.
type Document struct {
	Head Head
	Copy *fetch.Copy
}

// Head describes a document. [Store] sets the fields that repeat the copy.
type Head struct {
	ID string `json:"id"` // of the API, and the file's name
	// Size is API.Size of the compiled document, in bytes; 0 if it is unknown. It stands near the beginning of the file, where it is found without reading
	// the rest.
	Size         int64     `json:"size,omitempty"`
	Spec         string    `json:"spec"` // where the document comes from, for operators: without secrets
	Location     string    `json:"location"`
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	Page         string    `json:"page,omitempty"`
	Read         time.Time `json:"read"` // from its origin
	Files        []file    `json:"files"`
	Overlays     []file    `json:"overlays,omitempty"` // those that were applied; they follow the files
	// Operations are those that could be tools, as method and path. A newer document has lost those that it lacks.
	Operations []string `json:"operations"`
	// Exposed are those of them that the configuration exposed when the document was read; nil if that is unknown.
	Exposed []string `json:"exposed"`
}

// file is one of the files of a document.
type file struct {
	Location string `json:"location"`
	Size     int    `json:"size"`
}

var errDamaged = errors.New("the file is damaged, or was not written by this version")

// pieceSize is how many bytes are hashed and written at a time: a garbage collection waits for the end of each piece.
const pieceSize = 256 << 10

// encode writes a document as a file of the store.
func (s *Document) encode(w io.Writer, pace *openapi.Pace) error {
	head := s.Head
	head.Location, head.ETag, head.LastModified, head.Page = s.Copy.Location, s.Copy.ETag, s.Copy.LastModified, s.Copy.Page
	head.Files, head.Overlays = nil, nil
	for _, f := range s.Copy.Files {
		head.Files = append(head.Files, file{f.Location, len(f.Data)})
	}
	for _, f := range s.Copy.Overlays {
		head.Overlays = append(head.Overlays, file{f.Location, len(f.Data)})
	}
	description, err := json.Marshal(&head)
	if err != nil {
		return err
	}
	if len(description) > maxHead {
		return fmt.Errorf("its description is larger than %d MiB", maxHead>>20)
	}
	digest := sha256.New()
	body := func(w io.Writer) (err error) {
		err = inPieces(w, append(description, '\n'), pace)
		for _, f := range slices.Concat(s.Copy.Files, s.Copy.Overlays) {
			if err == nil {
				err = inPieces(w, f.Data, pace)
			}
		}
		return err
	}
	_ = body(digest) // never fails
	if _, err := fmt.Fprintf(w, "%s%x\n", formatVersion, digest.Sum(nil)); err != nil {
		return err
	}
	return body(w)
}

func inPieces(w io.Writer, data []byte, pace *openapi.Pace) error {
	for piece := range slices.Chunk(data, pieceSize) {
		pace.Step()
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// decode reads a file that encode wrote for the API of that id. Whatever text holds, decode returns, and takes no more memory
// than a few times its size.
func decode(text []byte, id string) (*Document, error) {
	rest, ok := bytes.CutPrefix(text, []byte(formatVersion))
	if !ok {
		return nil, errDamaged
	}
	line, rest, ok := bytes.Cut(rest, []byte("\n"))
	digest := sha256.New()
	_ = inPieces(digest, rest, nil) // never fails
	if !ok || string(line) != hex.EncodeToString(digest.Sum(nil)) {
		return nil, errDamaged
	}
	description, rest, ok := bytes.Cut(rest, []byte("\n"))
	s := &Document{}
	if !ok || len(description) > maxHead || json.Unmarshal(description, &s.Head) != nil {
		return nil, errDamaged
	}
	if s.Head.ID != id {
		return nil, errors.New("the file is that of another API")
	}
	h := &s.Head
	s.Copy = &fetch.Copy{Location: h.Location, ETag: h.ETag, LastModified: h.LastModified, Page: h.Page}
	for i, f := range slices.Concat(h.Files, h.Overlays) {
		if f.Size < 0 || f.Size > len(rest) {
			return nil, errDamaged
		}
		to := &s.Copy.Files
		if i >= len(h.Files) {
			to = &s.Copy.Overlays
		}
		*to = append(*to, fetch.File{Location: f.Location, Data: slices.Clip(rest[:f.Size])})
		rest = rest[f.Size:]
	}
	if len(rest) > 0 || len(h.Files) == 0 {
		return nil, errDamaged
	}
	return s, nil
}

// sizeWithin is in how many bytes of the description its size stands: the id before it has 64.
const sizeWithin = 256

// decodeSize reads the size alone; 0 if the text begins in another way.
func decodeSize(r io.Reader) int64 {
	head := make([]byte, len(formatVersion)+hex.EncodedLen(sha256.Size)+1+sizeWithin)
	n, _ := io.ReadFull(r, head) // a short one ends sooner
	rest, ok := strings.CutPrefix(string(head[:n]), formatVersion)
	_, rest, found := strings.Cut(rest, "\n")
	if !ok || !found {
		return 0
	}
	d := json.NewDecoder(strings.NewReader(rest))
	d.UseNumber()
	var before json.Token
	for range 5 { // {, "id", its value, "size", its value
		t, err := d.Token()
		if err != nil {
			return 0
		}
		if number, ok := t.(json.Number); ok && before == "size" {
			size, _ := number.Int64()
			return max(size, 0)
		}
		before = t
	}
	return 0
}
