package gateway

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/truncate"
)

var (
	textOpen         = []byte(`"content":[{"type":"text","text":"`)
	textNext         = []byte(`"},{"type":"text","text":"`)
	textClose        = []byte(`"}]`)
	structured       = []byte(`,"structuredContent":`)
	structuredResult = []byte(`,"structuredContent":{"result":`)
	structuredOdd    = []byte(`,"structuredContent":{"unexpected":`)
	structuredEmpty  = []byte(`,"structuredContent":{}`)
	closeBrace       = []byte(`}`)
	contentOpen      = []byte(`"content":[`)
	blockOpen        = []byte(`{"type":"text","text":"`)
	blockClose       = []byte(`"}`)
	listOpen         = []byte(`[`)
	listClose        = []byte(`]`)
	comma            = []byte(`,`)
)

// succeed passes on an answer with a status below 300.
func (c *call) succeed(resp *http.Response) error {
	c.watch(resp)
	err := c.readResponse(resp, func(part answer.Part) error {
		if part.MaybeTruncated {
			c.noteUnended()
		}
		c.result(&part)
		c.cleaned(&part)
		if part.More || c.parts != nil {
			c.parts = append(c.parts, part)
			if part.More {
				return nil
			}
		}
		c.answered = true
		c.done(telemetry.OutcomeOK, nil)
		if c.plan.links != nil {
			parts := c.parts
			if parts == nil {
				parts = []answer.Part{part}
			}
			if done, err := c.linked(parts...); done {
				return err
			}
		}
		if c.parts != nil {
			return c.manyParts()
		}
		return c.part(part)
	})
	if err != nil || c.answered {
		return err
	}
	if !answer.Delimited(resp) {
		c.noteUnended()
	}
	c.answered = true
	c.done(telemetry.OutcomeOK, nil)
	return c.empty(resp)
}

// unended is the note on an answer whose end can't be told from an interruption (P2, P5).
const unended = "The service gave this answer no length and ended it with its connection: if it was cut off, that can't be told."

// noteUnended adds the text unended to the call's note.
func (c *call) noteUnended() {
	if c.note != "" {
		c.note += " "
	}
	c.note += unended
}

// empty writes the result for an answer without a body.
func (c *call) empty(resp *http.Response) error {
	chunks := []mcp.Chunk{{Bytes: textOpen}, {Bytes: []byte(c.emptyText(resp)), Escape: true}}
	chunks = append(c.noted(chunks, textNext), mcp.Chunk{Bytes: textClose})
	if c.structured() {
		chunks = append(chunks, mcp.Chunk{Bytes: structuredEmpty})
	}
	return c.give(nil, chunks...)
}

// emptyText describes an answer without a body: its status, the location of the created resource, and, for an answer to
// HEAD, which has nothing but headers, the headers. Other headers are up to [call.readHeaders] (E9), and those that it
// has included are not repeated. Secrets are removed from those that are shown.
func (c *call) emptyText(resp *http.Response) string {
	text := "The service answered " + statusText(resp.StatusCode) + ", without a body."
	header := func(name string) {
		if value := resp.Header.Get(name); value != "" && !strings.Contains(c.headText, " "+name+": ") {
			text += " " + name + ": " + truncate.Bytes(strings.ToValidUTF8(c.redactor().Text(value), "\uFFFD"), 200) + "."
		}
	}
	if u, err := url.Parse(resp.Header.Get("Location")); err == nil && u.Path != "" && !strings.Contains(c.headText, " Location: ") {
		text += " Location: " + truncate.Bytes(u.EscapedPath(), 200) + "."
	}
	if resp.Request != nil && resp.Request.Method == http.MethodHead {
		header("Content-Type")
		header("Content-Length")
		header("Last-Modified")
	}
	return text
}

// structured reports whether the client was told an output schema, so that it expects structuredContent (D8).
func (c *call) structured() bool {
	return c.plan.Operation.Output != nil && !c.plan.Tool.Shapeless && features(c.req.Revision).OutputSchema
}

// part writes the result for the only part of an answer. The part's bytes are not converted: they are escaped once into
// the text, and copied unchanged as structuredContent.
func (c *call) part(p answer.Part) error {
	if p.Kind != answer.JSON && p.Kind != answer.Text {
		chunks := []mcp.Chunk{{Bytes: contentOpen}, {Bytes: c.binaryBlock(p, 0)}}
		if c.beside() != "" {
			chunks = append(c.noted(append(chunks, mcp.Chunk{Bytes: comma}), blockOpen), mcp.Chunk{Bytes: blockClose})
		}
		chunks = append(chunks, mcp.Chunk{Bytes: listClose})
		if c.structured() {
			return c.unexpected(chunks, p, notJSON(p), valueOf(p))
		}
		return c.give(nil, chunks...)
	}
	chunks := append(make([]mcp.Chunk, 0, 8), mcp.Chunk{Bytes: textOpen})
	with := c.structured()
	if with && c.plan.short && p.Kind == answer.JSON {
		chunks = append(chunks, mcp.Chunk{Bytes: []byte(shortText(p)), Escape: true})
	} else {
		chunks = append(chunks, mcp.Chunk{Bytes: p.Data, Escape: true})
	}
	if p.Events > 0 {
		chunks = append(chunks, mcp.Chunk{Bytes: textNext}, mcp.Chunk{Bytes: []byte(cutOff(p.Events)), Escape: true})
	}
	chunks = append(c.noted(chunks, textNext), mcp.Chunk{Bytes: textClose})
	switch {
	case !with:
	case p.Kind == answer.Text:
		return c.unexpected(chunks, p, notJSON(p), valueOf(p))
	case p.Drift != "" && !p.DuplicateName:
		return c.unexpected(chunks, p, p.Drift, valueOf(p))
	case p.Wrapped:
		chunks = append(chunks, mcp.Chunk{Bytes: structuredResult}, mcp.Chunk{Bytes: p.Data}, mcp.Chunk{Bytes: closeBrace})
	default:
		chunks = append(chunks, mcp.Chunk{Bytes: structured}, mcp.Chunk{Bytes: p.Data})
	}
	if with && p.DuplicateName { // it fits the schema, but parsers disagree on duplicate names (P4)
		return c.give(c.drift(p.Drift), chunks...)
	}
	return c.give(nil, chunks...)
}

// shortText returns the text for an answer whose bytes are given as structuredContent alone.
func shortText(p answer.Part) string {
	where := "structuredContent"
	switch {
	case p.Drift != "" && !p.DuplicateName:
		where += ".unexpected"
	case p.Wrapped:
		where += ".result"
	}
	return "The answer is in " + where + ": " + summary(p.Data) + "."
}

// cutOff returns the note on a stream that had not ended, so that nobody takes its events for all there are (P5).
func cutOff(events int) string {
	if events == 1 {
		return "The stream of events had not ended when the time for this call was up: this is the first event, more may follow."
	}
	return fmt.Sprintf("The stream of events had not ended when the time for this call was up: these are the first %d events, more may follow.", events)
}

// manyParts writes the result for an answer of several parts: one block for each, in order.
func (c *call) manyParts() error {
	chunks := make([]mcp.Chunk, 0, 4+5*len(c.parts))
	chunks = append(chunks, mcp.Chunk{Bytes: contentOpen})
	for i, p := range c.parts {
		if i > 0 {
			chunks = append(chunks, mcp.Chunk{Bytes: comma})
		}
		if p.Kind != answer.JSON && p.Kind != answer.Text {
			chunks = append(chunks, mcp.Chunk{Bytes: c.binaryBlock(p, i+1)})
			continue
		}
		chunks = append(chunks, mcp.Chunk{Bytes: blockOpen})
		if p.Field != "" { // a form field is described by its name alone
			chunks = append(chunks, mcp.Chunk{Bytes: []byte(p.Field + ": "), Escape: true})
		}
		chunks = append(chunks, mcp.Chunk{Bytes: p.Data, Escape: true}, mcp.Chunk{Bytes: blockClose})
	}
	if c.beside() != "" {
		chunks = append(c.noted(append(chunks, mcp.Chunk{Bytes: comma}), blockOpen), mcp.Chunk{Bytes: blockClose})
	}
	chunks = append(chunks, mcp.Chunk{Bytes: listClose})
	if !c.structured() {
		return c.give(nil, chunks...)
	}
	values := []mcp.Chunk{{Bytes: listOpen}}
	for i, p := range c.parts {
		if i > 0 {
			values = append(values, mcp.Chunk{Bytes: comma})
		}
		values = append(values, valueOf(p))
	}
	values = append(values, mcp.Chunk{Bytes: listClose})
	return c.unexpected(chunks, c.parts[0], "the answer has "+strconv.Itoa(len(c.parts))+" parts, and is not JSON", values...)
}

// unexpected delivers an answer that violates the published output schema: whole, under a key that no schema declares,
// with the mismatch named in _meta (D8). An answer that the document declares besides the one with the schema is not a
// mismatch.
func (c *call) unexpected(chunks []mcp.Chunk, p answer.Part, why string, value ...mcp.Chunk) error {
	chunks = append(append(append(chunks, mcp.Chunk{Bytes: structuredOdd}), value...), mcp.Chunk{Bytes: closeBrace})
	if p.Declared {
		return c.give(nil, chunks...)
	}
	return c.give(c.drift(why), chunks...)
}

// drift counts an answer that contradicts the document, and returns the member of _meta that gives the reason.
func (c *call) drift(why string) []byte {
	c.plan.metrics.Drift()
	return jsonscan.AppendString([]byte(`"drawbridge/contractDrift":`), why)
}

// notJSON describes the mismatch of an answer that should be JSON.
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

// binaryBlock returns the content block of binary data. n is the number of the part among several, or 0 if it is the
// only one.
func (c *call) binaryBlock(p answer.Part, n int) []byte {
	open, data, end := `{"type":"resource","resource":{"uri":`, `,"blob":"`, `"}}`
	switch {
	case p.Kind == answer.Image:
		open, data, end = `{"type":"image"`, `,"data":"`, `"}`
	case p.Kind == answer.Audio && c.req.Revision >= "2025-03-26": // the first revision with audio content
		open, data, end = `{"type":"audio"`, `,"data":"`, `"}`
	}
	b := make([]byte, 0, len(open)+len(p.MediaType)+len(data)+base64.StdEncoding.EncodedLen(len(p.Data))+len(end)+128)
	b = append(b, open...)
	if strings.HasSuffix(open, ":") {
		b = jsonscan.AppendString(b, c.embeddedURI(p, n))
	}
	b = append(b, `,"mimeType":`...)
	b = jsonscan.AppendString(b, orUnknown(p.MediaType))
	b = append(b, data...)
	b = base64.StdEncoding.AppendEncode(b, p.Data)
	return append(b, end...)
}

func orUnknown(mediaType string) string {
	if mediaType == "" {
		return "application/octet-stream"
	}
	return mediaType
}

// answeredStatus returns the name of a response's status. The gateway's client reads a status that HTTP does not have
// as 500.
func answeredStatus(resp *http.Response) string {
	text := statusText(resp.StatusCode)
	said, _, _ := strings.Cut(resp.Status, " ")
	if code, err := strconv.Atoi(said); err == nil && len(said) == 3 && (code < 100 || code > 599) {
		text = fmt.Sprintf("with the status %s, which HTTP does not have; it counts as %s", said, text)
	}
	return text
}

func statusText(code int) string {
	if text := http.StatusText(code); text != "" {
		return strconv.Itoa(code) + " " + text
	}
	return strconv.Itoa(code)
}
