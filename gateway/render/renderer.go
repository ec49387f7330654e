package render

import (
	"net/url"

	"drawbridge/config"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/redact"
)

// Renderer renders the response of one call as the result of tools/call. A result is valid until the next one is
// rendered.
type Renderer struct {
	API, Tool, Title string // the tool, and the API that it belongs to
	Revision         string // protocol revision of the client
	Structured       bool   // the client knows an output schema, so it expects structuredContent
	ShortText        bool   // the text beside structuredContent only describes it

	Redactor  redact.Redactor
	Target    *url.URL            // URL of the request; nil if none was sent
	Base      *url.URL            // base URL of the API; nil if it has none
	URI       *config.URITemplate // of the resource that is the response; nil if it can't be read by URI
	Arguments []byte              // of the call

	Headers string // headers of the response as text, see [HeaderNotes], or ""
	Note    string // text that is given beside the response, or ""

	buffer [8]mcp.Chunk // backs the chunks of a small result, which thus costs no allocation
}

// Result holds the members of a result of tools/call.
type Result struct {
	Meta   []byte // members of _meta, without braces, or nil
	Chunks []mcp.Chunk
	// Drift reports that the response contradicts the document.
	Drift bool
}

// Text renders a text instead of a response.
func (r *Renderer) Text(text string) Result {
	return Result{Chunks: r.withoutValue(append(r.buffer[:0], mcp.Chunk{Bytes: textOpen}, mcp.Chunk{Bytes: nonBlankText([]byte(text)), Escape: true}, mcp.Chunk{Bytes: textClose}))}
}

// withoutValue adds an empty structuredContent, which fits every output schema, if the client expects one.
func (r *Renderer) withoutValue(chunks []mcp.Chunk) []mcp.Chunk {
	if r.Structured {
		chunks = append(chunks, mcp.Chunk{Bytes: structuredEmpty})
	}
	return chunks
}

// noted adds the supplementary text of the response to the content of a result; next opens the content block for it.
func (r *Renderer) noted(chunks []mcp.Chunk, next []byte) []mcp.Chunk {
	text := r.supplement()
	if text == "" {
		return chunks
	}
	return append(chunks, mcp.Chunk{Bytes: next}, mcp.Chunk{Bytes: []byte(text), Escape: true})
}

// supplement returns the supplementary text of the response: its headers and the note.
func (r *Renderer) supplement() string {
	if r.Note == "" || r.Headers == "" {
		return r.Headers + r.Note
	}
	return r.Headers + "\n" + r.Note
}
