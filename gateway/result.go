package gateway

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"drawbridge/gateway/mcp"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
)

// maxErrorBody is how much of an error answer is passed on, in bytes. Error pages can be large and rarely say
// more in their second page.
const maxErrorBody = 8 << 10

var (
	textOpen         = []byte(`"content":[{"type":"text","text":"`)
	textClose        = []byte(`"}]`)
	structured       = []byte(`,"structuredContent":`)
	structuredResult = []byte(`,"structuredContent":{"result":`)
	structuredOdd    = []byte(`,"structuredContent":{"unexpected":`)
	structuredEmpty  = []byte(`,"structuredContent":{}`)
	closeBrace       = []byte(`}`)
)

// errManyParts is a plan that gives more parts than this version knows to pass on.
var errManyParts = errors.New("the answer has more than one part")

// succeed passes on an answer with a status below 300.
func (c *call) succeed(resp *http.Response) error {
	err := c.plan.Operation.ReadResponse(c.ctx, resp, func(part openapi.Part) error {
		if c.answered {
			return errManyParts
		}
		c.answered = true
		c.done(outcomeOK, nil)
		return c.part(part)
	})
	if err != nil || c.answered {
		return err
	}
	c.answered = true
	c.done(outcomeOK, nil)
	text := "The service answered " + statusText(resp.StatusCode) + ", without a body."
	chunks := []mcp.Chunk{{Bytes: textOpen}, {Bytes: []byte(text), Escape: true}, {Bytes: textClose}}
	if c.structured() {
		chunks = append(chunks, mcp.Chunk{Bytes: structuredEmpty})
	}
	return c.reply.Result(chunks...)
}

// structured tells whether the client was told an output schema, so that it expects structuredContent (D8).
func (c *call) structured() bool {
	return c.plan.Operation.Output != nil && features(c.req.Revision).OutputSchema
}

// part writes the result for the only part of an answer. The part's bytes go out as they are: escaped once into
// the text, and as they came in as structuredContent.
func (c *call) part(p openapi.Part) error {
	switch p.Kind {
	case openapi.JSON, openapi.Text:
		return c.textPart(p)
	case openapi.Image:
		return c.binaryPart(p, `"content":[{"type":"image","mimeType":`, `,"data":"`, `"}]`)
	case openapi.Audio:
		if c.req.Revision >= "2025-03-26" { // the first revision that has audio
			return c.binaryPart(p, `"content":[{"type":"audio","mimeType":`, `,"data":"`, `"}]`)
		}
	case openapi.Binary:
	}
	uri := jsonscan.AppendString(nil, "drawbridge://"+c.plan.Tool.API+"/"+url.PathEscape(c.plan.Tool.Name))
	return c.binaryPart(p, `"content":[{"type":"resource","resource":{"uri":`+string(uri)+`,"mimeType":`, `,"blob":"`, `"}}]`)
}

func (c *call) textPart(p openapi.Part) error {
	chunks := append(make([]mcp.Chunk, 0, 8), mcp.Chunk{Bytes: textOpen}, mcp.Chunk{Bytes: p.Data, Escape: true}, mcp.Chunk{Bytes: textClose})
	if !c.structured() {
		return c.reply.Result(chunks...)
	}
	switch {
	case p.Kind == openapi.Text:
		return c.unexpected(chunks, mcp.Chunk{Bytes: jsonscan.AppendString(nil, p.Data)}, "the answer is "+orUnknown(p.MediaType)+", not JSON")
	case p.Drift != "":
		return c.unexpected(chunks, mcp.Chunk{Bytes: p.Data}, p.Drift)
	case p.Wrapped:
		chunks = append(chunks, mcp.Chunk{Bytes: structuredResult}, mcp.Chunk{Bytes: p.Data}, mcp.Chunk{Bytes: closeBrace})
	default:
		chunks = append(chunks, mcp.Chunk{Bytes: structured}, mcp.Chunk{Bytes: p.Data})
	}
	return c.reply.Result(chunks...)
}

// unexpected delivers an answer that breaks the published output schema: whole, under a key that no schema
// declares, with the mismatch named in _meta (D8).
func (c *call) unexpected(chunks []mcp.Chunk, value mcp.Chunk, why string) error {
	c.g.metrics.drift.WithLabelValues(c.plan.metrics.api, c.plan.metrics.tool).Inc()
	meta := jsonscan.AppendString([]byte(`"drawbridge/contractDrift":`), why)
	chunks = append(chunks, mcp.Chunk{Bytes: structuredOdd}, value, mcp.Chunk{Bytes: closeBrace})
	return c.reply.ResultMeta(meta, chunks...)
}

func (c *call) binaryPart(p openapi.Part, open, data, end string) error {
	b := make([]byte, 0, len(open)+len(p.MediaType)+len(data)+base64.StdEncoding.EncodedLen(len(p.Data))+len(end)+16)
	b = append(b, open...)
	b = jsonscan.AppendString(b, orUnknown(p.MediaType))
	b = append(b, data...)
	b = base64.StdEncoding.AppendEncode(b, p.Data)
	b = append(b, end...)
	chunks := []mcp.Chunk{{Bytes: b}}
	if c.structured() {
		return c.unexpected(chunks, mcp.Chunk{Bytes: jsonscan.AppendString(nil, orUnknown(p.MediaType))}, "the answer is "+orUnknown(p.MediaType)+", not JSON")
	}
	return c.reply.Result(chunks...)
}

func orUnknown(mediaType string) string {
	if mediaType == "" {
		return "application/octet-stream"
	}
	return mediaType
}

// refused passes on an answer with a status of 300 or more as isError: what the service said, and what to try next.
func (c *call) refused(resp *http.Response) error {
	var body []byte
	short := false
	err := c.plan.Operation.ReadResponse(c.ctx, resp, func(part openapi.Part) error {
		if part.Kind != openapi.JSON && part.Kind != openapi.Text {
			return nil
		}
		body = append(body, part.Data...)
		if len(body) > maxErrorBody {
			body, short = bytes.ToValidUTF8(body[:maxErrorBody], nil), true
		}
		return nil
	})
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s answered %s", c.plan.Tool.API, statusText(resp.StatusCode))
	if len(bytes.TrimSpace(body)) > 0 {
		b.WriteString(":\n")
		b.WriteString(c.plan.withoutSecrets(string(body)))
		if short {
			fmt.Fprintf(&b, "… (only the first %d bytes are shown)", maxErrorBody)
		}
	} else {
		b.WriteString(", without a body.")
	}
	if hint := hint(resp); hint != "" {
		b.WriteString("\n")
		b.WriteString(hint)
	}
	o := outcomeServerError
	switch {
	case resp.StatusCode < 400:
		o = outcomeRedirect
	case resp.StatusCode < 500:
		o = outcomeClientError
	}
	return c.fail(o, nil, b.String())
}

// hint says what to try next. It speaks to the model, which can change arguments, wait, or tell its user.
func hint(resp *http.Response) string {
	switch code := resp.StatusCode; {
	case code < 400:
		return "The gateway does not follow redirects" + redirectPath(resp) + "; the operator can correct base_url."
	case code == http.StatusBadRequest, code == http.StatusUnprocessableEntity:
		return "Correct the arguments by what the service says, then call again."
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusProxyAuthRequired:
		return "The service does not let the gateway do this; other arguments may be allowed, else the operator must help."
	case code == http.StatusNotFound, code == http.StatusGone:
		return "Check the identifiers in the arguments; a list or search tool may tell which exist."
	case code == http.StatusConflict, code == http.StatusPreconditionFailed:
		return "The resource is in another state than this call needs; read it, then decide."
	case code == http.StatusRequestEntityTooLarge:
		return "Send less in one call."
	case code == http.StatusTooManyRequests, code == http.StatusServiceUnavailable:
		if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s >= 0 {
			return fmt.Sprintf("Wait %d seconds before the next call.", s)
		}
		return "Wait a while before the next call."
	case code >= 500:
		return "The service failed; the same call may work later."
	}
	return ""
}

// redirectPath names where a redirect points by its path alone (E9).
func redirectPath(resp *http.Response) string {
	u, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || u.Path == "" {
		return ""
	}
	return " (this one points to " + cut(u.EscapedPath(), 200) + ")"
}

func statusText(code int) string {
	if text := http.StatusText(code); text != "" {
		return strconv.Itoa(code) + " " + text
	}
	return strconv.Itoa(code)
}
