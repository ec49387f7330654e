package render

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"drawbridge/gateway/filestore"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// The beginning of a text that stands beside the link to a file.
const (
	previewLines = 20
	previewBytes = 2 << 10
)

// StoredFile renders a response that was stored as a file: a sentence with the beginning of a text or the size of an image, and a link.
// Revisions before 2025-06-18 have no links. beginning is the response, cut off.
func (r *Renderer) StoredFile(f *filestore.File, beginning answer.Part) Result {
	said := fmt.Sprintf("The answer is the file %s (%s). It is kept until %s.", f.URI(), r.Described(f, beginning), f.Expires.UTC().Format(time.RFC3339))
	if beginning.Kind == answer.Text {
		said += " read_file reads parts of it. It begins:\n" + string(preview(beginning.Data))
	}
	if supplement := r.supplement(); supplement != "" {
		said += "\n" + supplement
	}
	chunks := append(r.buffer[:0], mcp.Chunk{Bytes: textOpen}, mcp.Chunk{Bytes: []byte(said), Escape: true})
	if r.Revision < "2025-06-18" {
		return Result{Chunks: r.withoutValue(append(chunks, mcp.Chunk{Bytes: textClose}))}
	}
	block := jsonscan.AppendString([]byte(`,{"type":"resource_link","uri":`), f.URI())
	block = jsonscan.AppendString(append(block, `,"name":`...), cmp.Or(f.Name, r.Tool))
	if f.MediaType != "" {
		block = jsonscan.AppendString(append(block, `,"mimeType":`...), f.MediaType)
	}
	block = strconv.AppendInt(append(block, `,"size":`...), f.Size, 10)
	block = jsonscan.AppendString(append(block, `,"_meta":{"drawbridge/expires":`...), f.Expires.UTC().Format(time.RFC3339))
	chunks = append(chunks, mcp.Chunk{Bytes: blockClose}, mcp.Chunk{Bytes: append(block, "}}]"...)})
	return Result{Chunks: r.withoutValue(chunks)}
}

// Described returns name, media type, size, and the pixels of an image.
func (r *Renderer) Described(f *filestore.File, beginning answer.Part) string {
	described := facts(f.MediaType, int(f.Size))
	if f.Name != "" {
		described = text.Truncate(strings.ToValidUTF8(f.Name, "\uFFFD"), 100) + ", " + described
	}
	if width, height := pixels(f.MediaType, beginning.Data); width > 0 && height > 0 {
		described += fmt.Sprintf(", %d x %d pixels", width, height)
	}
	return described
}

// preview returns the first lines of a text.
func preview(beginning []byte) []byte {
	shown := beginning[:min(len(beginning), previewBytes)]
	lines := 0
	for i, c := range shown {
		if c == '\n' {
			if lines++; lines == previewLines {
				return shown[:i]
			}
		}
	}
	if len(shown) < len(beginning) {
		if end := bytes.LastIndexByte(shown, '\n'); end > 0 {
			return shown[:end]
		}
	}
	return bytes.ToValidUTF8(shown, nil)
}
