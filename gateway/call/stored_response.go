package call

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"unicode/utf8"

	"drawbridge/gateway/filestore"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/mediatype"
)

// storeBuffer is the size of the buffer through which a response goes to the store.
const storeBuffer = 64 << 10

// previewSize is the part of a stored response that stays in memory: what a result shows of a text, and the header of an image.
const previewSize = 16 << 10

// storeResponse stores a response with a status below 300 as a file of the caller if it is too large for a model, while it arrives. If it
// reports false, the response can be read as if nothing had happened. The content type and the first bytes decide, so that an answer is
// stored whatever its method, and never read in part.
func (c *Call) storeResponse(ctx context.Context, resp *http.Response) (stored bool, err error) {
	if !c.mayStore(resp) {
		return false, nil
	}
	// A response that is stored is not bound by the limit of those that are kept in memory. One from the cache is.
	body, direct := c.body.(interface {
		SetLimit(bytes int64) (before int64)
	})
	direct = direct && c.Plan.Cache == nil
	var limit int64
	if direct {
		limit = body.SetLimit(max(c.r.Files.MaxSize(), c.Plan.MaxResponse))
	}
	var head bytes.Buffer
	_, err = io.CopyN(&head, resp.Body, int64(c.r.Inline)+1)
	media, text := StoredType(mediatype.Essence(resp.Header.Get("Content-Type")), head.Bytes())
	if err != nil || text && !c.storesText(resp, media, head.Bytes()) {
		if direct {
			body.SetLimit(limit)
		}
		resp.Body = &replayed{io.MultiReader(&head, resp.Body), resp.Body} // after an error the rest is the same error
		return false, nil
	}
	part := answer.Part{Kind: answer.Binary, MediaType: media, File: c.Redactor().Text(answer.FileName(resp.Header)), MaybeTruncated: !answer.Delimited(resp)}
	switch {
	case text:
		part.Kind = answer.Text
	case mediatype.IsImageForModels(media):
		part.Kind = answer.Image
	}
	part.Data = bytes.Clone(head.Bytes()[:min(head.Len(), previewSize)])
	rest := io.Reader(resp.Body)
	if direct {
		rest = c.body // the memory that large responses reserve is not needed
	}
	file, err := c.storeFile(ctx, io.MultiReader(&head, rest), part)
	_ = resp.Body.Close()
	if err != nil {
		return true, err
	}
	c.redactPart(ctx, &part)
	parts := []answer.Part{part}
	c.compareResponse(resp.StatusCode, parts)
	c.out.Parts, c.out.Shown, c.out.File = parts, parts, &file
	c.Done(ctx, telemetry.OutcomeOK, nil)
	return true, nil
}

// mayStore reports whether a response may have to be stored, by its headers. Fields can't be hidden in what is stored unread.
func (c *Call) mayStore(resp *http.Response) bool {
	if c.r.Files == nil || c.Origin.ByOperator() || c.Plan.Sensitive != nil || len(c.jobSensitive) > 0 {
		return false
	}
	if _, ok := c.Endpoint.FileOwner(c.Caller.ID); !ok {
		return false
	}
	if resp.ContentLength >= 0 && resp.ContentLength <= int64(c.r.Inline) {
		return false
	}
	label := mediatype.Essence(resp.Header.Get("Content-Type"))
	return !mediatype.IsJSON(label) && !mediatype.IsSequential(label) && !mediatype.IsHTML(label) && !strings.HasPrefix(label, "multipart/")
}

// maxMediaType is the maximum length in bytes of a media type (RFC 6838 section 4.2: 127 of each of its two names).
const maxMediaType = 255

// StoredType returns the media type of a file by its label and its first bytes, and whether it is text.
func StoredType(label string, head []byte) (media string, text bool) {
	if len(label) > maxMediaType {
		label = ""
	}
	head = wholeRunes(head)
	if media, text = mediatype.Content(label, head); text || !mediatype.IsGeneric(label) || !mediatype.IsReadable(head) {
		return media, text
	}
	switch first := bytes.TrimLeft(head, " \t\r\n"); {
	case len(first) > 0 && (first[0] == '{' || first[0] == '['): // its end, which would prove it, has not come
		return "application/json", true
	case mediatype.TextSignature(head) != "":
		return mediatype.TextSignature(head), true
	}
	return "text/plain", true
}

// wholeRunes returns the beginning of a text without the character that its end cuts.
func wholeRunes(text []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if start := text[len(text)-n]; utf8.RuneStart(start) {
			if !utf8.FullRune(text[len(text)-n:]) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}

// storesText reports whether a text is stored: not if the result would not have it as the service sent it. JSON is reduced instead, and a
// page may be a login page.
func (c *Call) storesText(resp *http.Response, media string, head []byte) bool {
	if mediatype.IsJSON(media) || mediatype.IsHTML(media) || c.Plan.Clean || c.Plan.Projection != nil || c.Plan.Failure != nil || c.Fields != nil {
		return false
	}
	charset := mediatype.Charset(resp.Header.Get("Content-Type"))
	return (charset == "" || charset == "utf-8" || charset == "us-ascii") && utf8.Valid(wholeRunes(head))
}

// storeFile stores a response that the part describes. The error is a [*Failure], or that of reading the response.
func (c *Call) storeFile(ctx context.Context, from io.Reader, part answer.Part) (filestore.File, error) {
	w, err := c.r.Files.Create(c.Caller.ID)
	if err != nil {
		return filestore.File{}, c.notStored(err)
	}
	defer w.Abort()
	to := io.Writer(w)
	var redacted *redact.Stream
	if part.Kind == answer.Text {
		redacted = redact.NewStream(w, c.Redactor())
		to = redacted
	}
	// Neither side may choose another size of buffer.
	if _, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, storeBuffer)); err != nil {
		return filestore.File{}, c.notStored(err)
	}
	if redacted != nil {
		found, err := redacted.End()
		if err != nil {
			return filestore.File{}, c.notStored(err)
		}
		if found {
			c.r.Log.LogAttrs(ctx, slog.LevelWarn, "the response of the service contained its credential, which was redacted",
				slog.String("api", c.Plan.Tool.API), slog.String("tool", c.Plan.Tool.Name))
		}
	}
	file, err := w.Commit(filestore.Metadata{Name: part.File, MediaType: part.MediaType, API: c.Plan.Tool.API, Tool: c.Plan.Tool.Name})
	if err != nil {
		return filestore.File{}, c.notStored(err)
	}
	return file, nil
}

// notStored returns the failure of a call whose response can't be stored; an error of reading the response is returned as it is.
func (c *Call) notStored(err error) error {
	var store *filestore.Error
	if !errors.As(err, &store) {
		return fmt.Errorf("read answer: %w", err)
	}
	effect := "The call took effect: do not repeat it for the answer."
	if c.Plan.ChangesNothing() {
		effect = "The call changed nothing."
	}
	f := &Failure{
		Outcome: telemetry.Outcome(upstream.TooLarge.String()),
		Text:    fmt.Sprintf("The service answered %s with a file that the gateway could not keep. %s %s", render.StatusText(c.status), store.ToolMessage(), effect),
	}
	if store.Kind == filestore.Disk || store.Kind == filestore.Full {
		f.Outcome, f.Cause = telemetry.OutcomeInternal, err
	}
	return f
}

// replayed is a body whose beginning was read before.
type replayed struct {
	io.Reader
	io.Closer
}
