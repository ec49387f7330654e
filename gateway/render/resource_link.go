package render

import (
	"fmt"
	"strconv"

	"drawbridge/gateway/mcp"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
)

// Link renders a link instead of the parts of a response, with a sentence that describes them. lasts is a phrase for
// the lifetime of the link; "" if it does not expire.
func (r *Renderer) Link(uri, lasts string, parts []answer.Part) Result {
	size := 0
	for _, p := range parts {
		size += len(p.Data)
	}
	first := parts[0]
	description := strconv.Itoa(size) + " bytes"
	switch {
	case len(parts) > 1:
		description += " in " + strconv.Itoa(len(parts)) + " parts"
	case first.Kind == answer.JSON:
		description += " of JSON, " + Summary(first.Data)
	case first.MediaType != "":
		description += " of " + first.MediaType
	}
	text := fmt.Sprintf("The answer, %s, is behind this link. Read the resource%s, which repeats the request.", description, lasts)
	if supplement := r.supplement(); supplement != "" {
		text += "\n" + supplement
	}
	block := jsonscan.AppendString([]byte(`,{"type":"resource_link","uri":`), uri)
	name := r.Tool
	if first.File != "" {
		name = first.File
	}
	block = jsonscan.AppendString(append(block, `,"name":`...), name)
	block = jsonscan.AppendString(append(block, `,"title":`...), r.Title)
	if len(parts) == 1 {
		if first.MediaType != "" {
			block = jsonscan.AppendString(append(block, `,"mimeType":`...), first.MediaType)
		}
		block = strconv.AppendInt(append(block, `,"size":`...), int64(size), 10)
	}
	chunks := append(r.buffer[:0], mcp.Chunk{Bytes: textOpen}, mcp.Chunk{Bytes: []byte(text), Escape: true}, mcp.Chunk{Bytes: blockClose}, mcp.Chunk{Bytes: append(block, "}]"...)})
	return Result{Chunks: r.withoutValue(chunks)}
}
