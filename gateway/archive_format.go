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
	"time"

	"drawbridge/openapi"
)

// A file in the archive is a line with its version, a line with the SHA-256 of all that follows, a line of JSON that describes
// the document, and the document's files one after the other.
const (
	archiveVersion = "drawbridge document 1\n"
	maxArchiveHead = 16 << 20 // bytes of the description
)

// archived is a document as it stands in the archive.
type archived struct {
	head archiveHead
	copy *openapi.Copy
}

// archiveHead describes it.
type archiveHead struct {
	ID           string        `json:"id"`   // of the API, and the file's name
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
func (s *archived) encode(w io.Writer) error {
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
		err = inPieces(w, append(description, '\n'))
		for _, f := range s.copy.Files {
			if err == nil {
				err = inPieces(w, f.Data)
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

func inPieces(w io.Writer, data []byte) error {
	for piece := range slices.Chunk(data, archivePiece) {
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
	_ = inPieces(digest, rest) // never fails
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
	s.copy = &openapi.Copy{Location: h.Location, ETag: h.ETag, LastModified: h.LastModified, Page: h.Page}
	for _, f := range h.Files {
		if f.Size < 0 || f.Size > len(rest) {
			return nil, errArchived
		}
		s.copy.Files = append(s.copy.Files, openapi.File{Location: f.Location, Data: slices.Clip(rest[:f.Size])})
		rest = rest[f.Size:]
	}
	if len(rest) > 0 || len(h.Files) == 0 {
		return nil, errArchived
	}
	return s, nil
}
