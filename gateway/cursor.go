package gateway

import (
	"encoding/binary"
	"errors"
	"time"

	"drawbridge/gateway/mcp"
)

// cursorLife is how long a cursor of tools/list may be used (T20).
const cursorLife = 10 * time.Minute

// cursors seals the position in a list of several pages, so that it can be used only by the caller whom it was
// given to, on the list that it belongs to, and for a limited time. Any replica with the same keys can open it.
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

// binding is what must be the same when a cursor comes back.
func binding(principal string, list [32]byte) []byte { return append(list[:], principal...) }
