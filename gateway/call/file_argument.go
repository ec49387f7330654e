package call

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"drawbridge/gateway/filestore"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi"
)

// maxFileArguments is the maximum number of files in the arguments of one call.
const maxFileArguments = 16

// fileArgument is a stored file that an argument refers to by its URI.
type fileArgument struct {
	*filestore.Reader
	// mark stands for the content while the request is built: the encoders of bodies handle it as they handle the bytes of a file that a
	// model writes, so that each form of a body takes files in the same places. It is random, and the length of a request tells nothing
	// of it.
	mark []byte
	// as is how the body has the content at a place that is declared as base64; nil for another place.
	as *openapi.Base64
}

// text returns what stands for the content in the arguments: the mark in base64, in a data URL unless it is sent verbatim.
func (f *fileArgument) text() string {
	encoded := base64.StdEncoding.EncodeToString(f.mark)
	if f.as != nil && f.as.Verbatim {
		return encoded
	}
	name := ""
	if f.Name != "" {
		name = ";name=" + url.PathEscape(f.Name)
	}
	return "data:" + cmp.Or(f.MediaType, "application/octet-stream") + name + ";base64," + encoded
}

// newMark returns a random mark of which base64 has no padding, so that it is the same in each variant.
func newMark() []byte {
	text := rand.Text()
	return []byte(text + strings.Repeat("A", (3-len(text)%3)%3))
}

// fileArguments returns the arguments with what stands for its content in place of each URI of a file, and opens these files. They are closed with the call.
// The error is a [*Failure].
func (c *Call) fileArguments(args json.RawMessage) (json.RawMessage, error) {
	if c.r.Files == nil || !bytes.Contains(args, []byte(filestore.Scheme)) {
		return args, nil
	}
	var failure error
	replaced := c.Plan.Requests.ReplaceTexts(args, func(text string, as *openapi.Base64) (string, bool) {
		ref, ok := filestore.ParseURI(text)
		if !ok || !ref.Whole() || failure != nil {
			return "", false
		}
		f, err := c.openFile(ref.ID)
		if err != nil {
			failure = err
			return "", false
		}
		f.as = as
		return f.text(), true
	})
	if failure != nil {
		return nil, failure
	}
	return replaced, nil
}

// openFile opens a file for a call, if the caller may pass it on to the tool.
func (c *Call) openFile(id string) (*fileArgument, error) {
	refused := func(format string, args ...any) error {
		return &Failure{Outcome: telemetry.OutcomeArguments, Text: fmt.Sprintf(format, args...) + " Nothing was sent."}
	}
	if len(c.files) == maxFileArguments {
		return nil, refused("A call takes at most %d files.", maxFileArguments)
	}
	owner, ok := c.Endpoint.FileOwner(c.Caller.ID)
	if !ok {
		return nil, refused("Files need a token with a subject.")
	}
	r, err := c.r.Files.Open(owner, id)
	if err != nil {
		return nil, refused("There is no file %s%s for you: a file is kept for a limited time, and for the caller that got it. Call its tool again.", filestore.Scheme, id)
	}
	f := &fileArgument{Reader: r, mark: newMark()}
	c.files = append(c.files, f)
	switch to := c.Plan.Tool.API; {
	case !c.Endpoint.AllowsFile(c.Caller.Principal, r):
		return nil, refused("The file %s%s came from a tool that you may not call.", filestore.Scheme, id)
	case r.API != "" && r.API != to && !slices.Contains(c.r.FilePairs, FilePair{r.API, to}):
		return nil, refused("The gateway passes no files of %s on to %s. Tell the user that its operator can allow it (files.pass).", r.API, to)
	}
	return f, nil
}

// attachFiles replaces the marks in the body of a request by the contents of the files, which are read while the request is sent, each time
// that it is. The error is a [*Failure] for a file that is no content of the body: its URI, or what stands for it, is never sent.
func (c *Call) attachFiles(req *http.Request) error {
	if len(c.files) == 0 {
		return nil
	}
	var text []byte
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err == nil {
			text, err = io.ReadAll(body)
		}
		if err != nil {
			return err
		}
	}
	pieces, length := []piece{{text: text}}, int64(len(text))
	for _, f := range c.files {
		encoded, added := base64.StdEncoding.EncodeToString(f.mark), false
		if pieces, added = replaceMark(pieces, f.mark, piece{file: f}); added {
			length += f.Size - int64(len(f.mark))
		} else if f.as != nil {
			if pieces, added = replaceMark(pieces, []byte(f.text()), piece{file: f, as: f.as.Encoding}); added {
				length += encodedLen(f.as.Encoding, f.Size) - int64(len(f.text()))
			}
		}
		if !added || strings.Contains(req.URL.String(), encoded) || slices.ContainsFunc(pieces, func(p piece) bool { return bytes.Contains(p.text, []byte(encoded)) }) {
			return &Failure{Outcome: telemetry.OutcomeArguments, Text: "The arguments are wrong, and nothing was sent. " + f.URI() +
				" stands where the tool takes no file: write it in place of base64."}
		}
	}
	req.ContentLength = length
	req.GetBody = func() (io.ReadCloser, error) {
		readers := make([]io.Reader, len(pieces))
		for i, p := range pieces {
			readers[i] = p.reader()
		}
		return io.NopCloser(io.MultiReader(readers...)), nil
	}
	req.Body, _ = req.GetBody() // it never fails
	return nil
}

// replaceMark returns the pieces with another one in place of a mark. It reports whether the mark was in one of them.
func replaceMark(pieces []piece, mark []byte, by piece) ([]piece, bool) {
	for i, p := range pieces {
		if before, after, ok := bytes.Cut(p.text, mark); ok {
			return slices.Replace(pieces, i, i+1, piece{text: before}, by, piece{text: after}), true
		}
	}
	return pieces, false
}

// piece is a part of a body: bytes, or a file.
type piece struct {
	text []byte
	file *fileArgument
	as   *base64.Encoding // of the file; nil for its bytes
}

// reader returns the content of the piece from its beginning.
func (p piece) reader() io.Reader {
	switch {
	case p.file == nil:
		return bytes.NewReader(p.text)
	case p.as == nil:
		return p.file.Content()
	}
	return &base64Reader{from: p.file.Content(), as: p.as}
}

// closeFiles closes the files of the arguments.
func (c *Call) closeFiles() {
	for _, f := range c.files {
		_ = f.Close() // nothing was written
	}
	c.files = nil
}
