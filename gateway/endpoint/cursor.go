package endpoint

import (
	"encoding/binary"
	"errors"
	"time"

	"drawbridge/gateway/mcp"
)

// cursorLife is the lifetime of a cursor of tools/list (T20).
const cursorLife = 10 * time.Minute

// Cursors seals the position in a paginated list, so that a cursor is valid only for the caller that received it, for its list,
// and for a limited time. Any replica with the same keys can open it.
type Cursors struct{ Sealer *mcp.Sealer }

// errCursor is the error of a cursor that is forged, expired, or for another caller or list.
var errCursor = errors.New("cursor is not valid")

// NewCursors returns cursors that are sealed with the first of keys and opened with any.
func NewCursors(keys [][]byte) (*Cursors, error) {
	s, err := mcp.NewSealer(keys, "drawbridge cursor")
	if err != nil {
		return nil, err
	}
	return &Cursors{s}, nil
}

// seal returns the cursor of a page of a list, given by its digest, for a principal.
func (c *Cursors) seal(page int, principal string, list [32]byte) string {
	text := binary.BigEndian.AppendUint64(nil, uint64(time.Now().Add(cursorLife).Unix()))
	text = binary.BigEndian.AppendUint32(text, uint32(page))
	return c.Sealer.Seal(text, binding(principal, list))
}

// open returns the page of a cursor. The error is errCursor.
func (c *Cursors) open(cursor, principal string, list [32]byte) (page int, err error) {
	text, err := c.Sealer.Open(cursor, binding(principal, list))
	if err != nil || len(text) != 12 || time.Now().Unix() > int64(binary.BigEndian.Uint64(text)) {
		return 0, errCursor
	}
	return int(binary.BigEndian.Uint32(text[8:])), nil
}

// binding returns the data that a cursor is bound to: the principal and the list.
func binding(principal string, list [32]byte) []byte { return append(list[:], principal...) }
