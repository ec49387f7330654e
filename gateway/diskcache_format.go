package gateway

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

// A file in the archive is a line with its version, a line with the SHA-256 of all that follows, a line of JSON that describes
// the document, and the document's files one after the other.
const (
	archiveVersion  = "drawbridge document 1\n"
	maxArchiveHead  = 16 << 20 // bytes of the description
	maxArchiveLines = 1024     // bytes of the lines before it, and some
)

// archived is a document as it stands in the archive.
type archived struct {
	head archiveHead
	copy *fetch.Copy
}

// archiveHead describes it.
type archiveHead struct {
	ID string `json:"id"` // of the API, and the file's name
	// Size is API.Size of what was made of it, in bytes; 0: that is not known. It stands near the begin of the file, where it is found without reading all.
	Size         int64         `json:"size,omitempty"`
	Spec         string        `json:"spec"` // where the document comes from, for people: without what may be secret
	Location     string        `json:"location"`
	ETag         string        `json:"etag,omitempty"`
	LastModified string        `json:"last_modified,omitempty"`
	Page         string        `json:"page,omitempty"`
	Read         time.Time     `json:"read"` // from its origin
	Files        []archiveFile `json:"files"`
	// Operations are those that could be tools, as method and path. What a newer document lacks of them is its loss.
	Operations []string `json:"operations"`
	// Exposed are those of them that the configuration exposed when the document was read; nil: that is not known.
	Exposed []string `json:"exposed"`
}

type archiveFile struct {
	Location string `json:"location"`
	Size     int    `json:"size"`
}

var errArchived = errors.New("the file is damaged, or was not written by this version")

// archivePiece is how much is hashed and written at a time: a collection waits for the end of each.
const archivePiece = 256 << 10

// encode writes a document as it stands in the archive.
func (s *archived) encode(w io.Writer, pace *openapi.Pace) error {
	head := s.head
	head.Location, head.ETag, head.LastModified, head.Page = s.copy.Location, s.copy.ETag, s.copy.LastModified, s.copy.Page
	head.Files = nil
	for _, f := range s.copy.Files {
		head.Files = append(head.Files, archiveFile{f.Location, len(f.Data)})
	}
	description, err := json.Marshal(&head)
	if err != nil {
		return err
	}
	if len(description) > maxArchiveHead {
		return fmt.Errorf("its description is larger than %d MiB", maxArchiveHead>>20)
	}
	digest := sha256.New()
	body := func(w io.Writer) (err error) {
		err = inPieces(w, append(description, '\n'), pace)
		for _, f := range s.copy.Files {
			if err == nil {
				err = inPieces(w, f.Data, pace)
			}
		}
		return err
	}
	_ = body(digest) // never fails
	if _, err := fmt.Fprintf(w, "%s%x\n", archiveVersion, digest.Sum(nil)); err != nil {
		return err
	}
	return body(w)
}

func inPieces(w io.Writer, data []byte, pace *openapi.Pace) error {
	for piece := range slices.Chunk(data, archivePiece) {
		pace.Step()
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// decodeArchived reads what encode has written for the API of that id. Whatever text holds, it returns, and takes no more memory
// than a few times its size.
func decodeArchived(text []byte, id string) (*archived, error) {
	rest, ok := bytes.CutPrefix(text, []byte(archiveVersion))
	if !ok {
		return nil, errArchived
	}
	line, rest, ok := bytes.Cut(rest, []byte("\n"))
	digest := sha256.New()
	_ = inPieces(digest, rest, nil) // never fails
	if !ok || string(line) != hex.EncodeToString(digest.Sum(nil)) {
		return nil, errArchived
	}
	description, rest, ok := bytes.Cut(rest, []byte("\n"))
	s := &archived{}
	if !ok || len(description) > maxArchiveHead || json.Unmarshal(description, &s.head) != nil {
		return nil, errArchived
	}
	if s.head.ID != id {
		return nil, errors.New("the file is that of another API")
	}
	h := &s.head
	s.copy = &fetch.Copy{Location: h.Location, ETag: h.ETag, LastModified: h.LastModified, Page: h.Page}
	for _, f := range h.Files {
		if f.Size < 0 || f.Size > len(rest) {
			return nil, errArchived
		}
		s.copy.Files = append(s.copy.Files, fetch.File{Location: f.Location, Data: slices.Clip(rest[:f.Size])})
		rest = rest[f.Size:]
	}
	if len(rest) > 0 || len(h.Files) == 0 {
		return nil, errArchived
	}
	return s, nil
}

// sizeWithin is in how many bytes of the description its size stands: the name before it has 64.
const sizeWithin = 256

// decodeSize reads the size alone. What begins in another way has none.
func decodeSize(r io.Reader) int64 {
	head := make([]byte, len(archiveVersion)+hex.EncodedLen(sha256.Size)+1+sizeWithin)
	n, _ := io.ReadFull(r, head) // a short one ends sooner
	rest, ok := strings.CutPrefix(string(head[:n]), archiveVersion)
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
