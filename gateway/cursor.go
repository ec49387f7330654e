package gateway

import (
	"encoding/binary"
	"errors"
	"time"

	"drawbridge/gateway/mcp"
)

// cursorLife is the lifetime of a cursor of tools/list (T20).
const cursorLife = 10 * time.Minute

// cursors seals the position in a paginated list, so that a cursor is valid only for the caller that received it, for its list,
// and for a limited time. Any replica with the same keys can open it.
type cursors struct{ sealer *mcp.Sealer }

var errCursor = errors.New("cursor is not valid")

func newCursors(keys [][]byte) (*cursors, error) {
	s, err := mcp.NewSealer(keys, "drawbridge cursor")
	if err != nil {
		return nil, err
	}
	return &cursors{s}, nil
}

func (c *cursors) seal(page int, principal string, list [32]byte) string {
	text := binary.BigEndian.AppendUint64(nil, uint64(time.Now().Add(cursorLife).Unix()))
	text = binary.BigEndian.AppendUint32(text, uint32(page))
	return c.sealer.Seal(text, binding(principal, list))
}

func (c *cursors) open(cursor, principal string, list [32]byte) (page int, err error) {
	text, err := c.sealer.Open(cursor, binding(principal, list))
	if err != nil || len(text) != 12 || time.Now().Unix() > int64(binary.BigEndian.Uint64(text)) {
		return 0, errCursor
	}
	return int(binary.BigEndian.Uint32(text[8:])), nil
}

// binding returns the data that a cursor is bound to: the principal and the list.
func binding(principal string, list [32]byte) []byte { return append(list[:], principal...) }
