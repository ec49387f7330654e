package render

import "drawbridge/gateway/mcp"

// The JSON fragments of results. They must not be modified.
var (
	textOpen             = []byte(`"content":[{"type":"text","text":"`)
	textNext             = []byte(`"},{"type":"text","text":"`)
	textClose            = []byte(`"}]`)
	errorClose           = []byte(`"}],"isError":true`)
	structured           = []byte(`,"structuredContent":`)
	structuredResult     = []byte(`,"structuredContent":{"result":`)
	structuredUnexpected = []byte(`,"structuredContent":{"unexpected":`)
	structuredEmpty      = []byte(`,"structuredContent":{}`)
	contentOpen          = []byte(`"content":[`)
	contentsOpen         = []byte(`"contents":[`)
	resourceOpen         = []byte(`{"type":"resource","resource":`)
	blockOpen            = []byte(`{"type":"text","text":"`)
	blockClose           = []byte(`"}`)
	blockNext            = []byte(`"},`)
	closeBrace           = []byte(`}`)
	listOpen             = []byte(`[`)
	listClose            = []byte(`]`)
	comma                = []byte(`,`)
)

// TextBlock returns a text as a content block.
func TextBlock(text []byte) []mcp.Chunk {
	return []mcp.Chunk{{Bytes: blockOpen}, {Bytes: nonBlankText(text), Escape: true}, {Bytes: blockClose}}
}

// Error returns the members of a result that is an error, with a text for the model.
func Error(text string) []mcp.Chunk {
	return []mcp.Chunk{{Bytes: textOpen}, {Bytes: nonBlankText([]byte(text)), Escape: true}, {Bytes: errorClose}}
}

// Texts returns the members of a result with a content block for each text.
func Texts(texts [][]byte, isError bool) []mcp.Chunk {
	chunks := make([]mcp.Chunk, 0, 2*len(texts)+1)
	for i, text := range texts {
		between := textNext
		if i == 0 {
			between = textOpen
		}
		chunks = append(chunks, mcp.Chunk{Bytes: between}, mcp.Chunk{Bytes: nonBlankText(text), Escape: true})
	}
	end := textClose
	if isError {
		end = errorClose
	}
	return append(chunks, mcp.Chunk{Bytes: end})
}
