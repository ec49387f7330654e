package render

import (
	"net/http"
	"strconv"
	"strings"

	"drawbridge/gateway/mcp"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
)

// Response renders a response with a status below 300, whose parts were read before.
func (r *Renderer) Response(parts []answer.Part, resp *http.Response) Result {
	switch len(parts) {
	case 0:
		return r.Empty(resp)
	case 1:
		return r.Part(parts[0])
	}
	return r.Parts(parts)
}

// Empty renders a response without a body.
func (r *Renderer) Empty(resp *http.Response) Result {
	chunks := append(r.buffer[:0], mcp.Chunk{Bytes: textOpen}, mcp.Chunk{Bytes: []byte(r.EmptyText(resp)), Escape: true})
	return Result{Chunks: r.withoutValue(append(r.noted(chunks, textNext), mcp.Chunk{Bytes: textClose}))}
}

// Part renders the only part of a response. The part's bytes are not converted: they are escaped once into the text,
// and copied unchanged as structuredContent.
func (r *Renderer) Part(p answer.Part) Result {
	if p.Kind != answer.JSON && p.Kind != answer.Text {
		chunks := r.captioned(append(r.buffer[:0], mcp.Chunk{Bytes: contentOpen}), p, 0)
		if r.supplement() != "" {
			chunks = append(r.noted(append(chunks, mcp.Chunk{Bytes: comma}), blockOpen), mcp.Chunk{Bytes: blockClose})
		}
		chunks = append(chunks, mcp.Chunk{Bytes: listClose})
		if r.Structured {
			return unexpected(chunks, p, notJSON(p), valueOf(p))
		}
		return Result{Chunks: chunks}
	}
	chunks := append(r.buffer[:0], mcp.Chunk{Bytes: textOpen})
	if r.Structured && r.ShortText && p.Kind == answer.JSON {
		chunks = append(chunks, mcp.Chunk{Bytes: []byte(shortText(p)), Escape: true})
	} else {
		chunks = append(chunks, mcp.Chunk{Bytes: nonBlank(p.Data), Escape: true})
	}
	if p.Events > 0 {
		chunks = append(chunks, mcp.Chunk{Bytes: textNext}, mcp.Chunk{Bytes: []byte(CutOff(p.Events)), Escape: true})
	}
	chunks = append(r.noted(chunks, textNext), mcp.Chunk{Bytes: textClose})
	switch {
	case !r.Structured:
		return Result{Chunks: chunks}
	case p.Kind == answer.Text && p.Wrapped: // the value is as declared, its media type is not
		chunks = append(chunks, mcp.Chunk{Bytes: structuredResult}, valueOf(p), mcp.Chunk{Bytes: closeBrace})
		if p.Declared {
			return Result{Chunks: chunks}
		}
		return drift(chunks, notJSON(p))
	case p.Kind == answer.Text:
		return unexpected(chunks, p, notJSON(p), valueOf(p))
	case p.Drift != "" && !p.DuplicateName:
		return unexpected(chunks, p, p.Drift, valueOf(p))
	case p.Wrapped:
		chunks = append(chunks, mcp.Chunk{Bytes: structuredResult}, mcp.Chunk{Bytes: p.Data}, mcp.Chunk{Bytes: closeBrace})
	default:
		chunks = append(chunks, mcp.Chunk{Bytes: structured}, mcp.Chunk{Bytes: p.Data})
	}
	if p.DuplicateName { // it fits the schema, but parsers disagree on duplicate names (P4)
		return drift(chunks, p.Drift)
	}
	return Result{Chunks: chunks}
}

// Parts renders a response of several parts in order: one block for each, with a caption before one that is not text.
func (r *Renderer) Parts(parts []answer.Part) Result {
	chunks := make([]mcp.Chunk, 0, 4+5*len(parts))
	chunks = append(chunks, mcp.Chunk{Bytes: contentOpen})
	for i, p := range parts {
		if i > 0 {
			chunks = append(chunks, mcp.Chunk{Bytes: comma})
		}
		if p.Kind != answer.JSON && p.Kind != answer.Text {
			chunks = r.captioned(chunks, p, i+1)
			continue
		}
		text := nonBlank(p.Data)
		chunks = append(chunks, mcp.Chunk{Bytes: blockOpen})
		if p.Field != "" { // a form field is described by its name alone
			chunks, text = append(chunks, mcp.Chunk{Bytes: []byte(p.Field + ": "), Escape: true}), p.Data
		}
		chunks = append(chunks, mcp.Chunk{Bytes: text, Escape: true}, mcp.Chunk{Bytes: blockClose})
	}
	if r.supplement() != "" {
		chunks = append(r.noted(append(chunks, mcp.Chunk{Bytes: comma}), blockOpen), mcp.Chunk{Bytes: blockClose})
	}
	chunks = append(chunks, mcp.Chunk{Bytes: listClose})
	if !r.Structured {
		return Result{Chunks: chunks}
	}
	values := []mcp.Chunk{{Bytes: listOpen}}
	for i, p := range parts {
		if i > 0 {
			values = append(values, mcp.Chunk{Bytes: comma})
		}
		values = append(values, valueOf(p))
	}
	values = append(values, mcp.Chunk{Bytes: listClose})
	return unexpected(chunks, parts[0], "the answer has "+strconv.Itoa(len(parts))+" parts, and is not JSON", values...)
}

// unexpected renders a response that violates the published output schema: whole, under a key that no schema declares,
// with the mismatch named in _meta. It is not an error, because the service has done what was asked. A response that the document declares besides the one with the schema is not a
// mismatch.
func unexpected(chunks []mcp.Chunk, p answer.Part, why string, value ...mcp.Chunk) Result {
	chunks = append(append(append(chunks, mcp.Chunk{Bytes: structuredUnexpected}), value...), mcp.Chunk{Bytes: closeBrace})
	if p.Declared {
		return Result{Chunks: chunks}
	}
	return drift(chunks, why)
}

// drift returns the result for a response that contradicts the document, with the reason in _meta.
func drift(chunks []mcp.Chunk, why string) Result {
	return Result{Meta: jsonscan.AppendString([]byte(`"drawbridge/contractDrift":`), why), Chunks: chunks, Drift: true}
}

// notJSON describes the mismatch of a response that should be JSON.
func notJSON(p answer.Part) string {
	if strings.Contains(p.MediaType, "json") {
		return "the answer is labelled " + p.MediaType + ", and is not JSON"
	}
	return "the answer is " + orUnknown(p.MediaType) + ", not JSON"
}

// valueOf returns a part as a JSON value, or its media type if it is not text.
func valueOf(p answer.Part) mcp.Chunk {
	switch p.Kind {
	case answer.JSON:
		return mcp.Chunk{Bytes: p.Data}
	case answer.Text:
		return mcp.Chunk{Bytes: jsonscan.AppendString(nil, p.Data)}
	case answer.Image, answer.Audio, answer.Binary:
	}
	return mcp.Chunk{Bytes: jsonscan.AppendString(nil, orUnknown(p.MediaType))}
}
