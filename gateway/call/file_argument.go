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
	"drawbridge/openapi/jsonscan"
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
}

// fileArguments returns the arguments with a data URL in place of each URI of a file, and opens these files. They are closed with the call.
// The error is a [*Failure].
func (c *Call) fileArguments(args json.RawMessage) (json.RawMessage, error) {
	if c.r.Files == nil || !bytes.Contains(args, []byte(filestore.Scheme)) {
		return args, nil
	}
	var failure error
	replaced := replaceTexts(args, func(text string) (string, bool) {
		ref, ok := filestore.ParseURI(text)
		if !ok || !ref.Whole() || failure != nil {
			return "", false
		}
		f, err := c.openFile(ref.ID)
		if err != nil {
			failure = err
			return "", false
		}
		return dataURL(f), true
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
	f := &fileArgument{r, []byte(rand.Text())}
	c.files = append(c.files, f)
	switch to := c.Plan.Tool.API; {
	case !c.Endpoint.AllowsFile(c.Caller.Principal, r):
		return nil, refused("The file %s%s came from a tool that you may not call.", filestore.Scheme, id)
	case r.API != to && !slices.Contains(c.r.FilePairs, FilePair{r.API, to}):
		return nil, refused("The gateway passes no files of %s on to %s. Tell the user that its operator can allow it (files.pass).", r.API, to)
	}
	return f, nil
}

// dataURL returns a data URL with the mark of a file as its content.
func dataURL(f *fileArgument) string {
	name := ""
	if f.Name != "" {
		name = ";name=" + url.PathEscape(f.Name)
	}
	return "data:" + cmp.Or(f.MediaType, "application/octet-stream") + name + ";base64," + base64.StdEncoding.EncodeToString(f.mark)
}

// replaceTexts returns a JSON text with other strings, as replace has them.
func replaceTexts(v []byte, replace func(text string) (string, bool)) []byte {
	switch jsonscan.KindOf(v) {
	case jsonscan.String:
		if text, ok := replace(string(jsonscan.Unquote(v))); ok {
			return jsonscan.AppendString(nil, text)
		}
	case jsonscan.Object:
		out := []byte{'{'}
		for name, member := range jsonscan.Members(v) {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(jsonscan.AppendString(out, name), ':')
			out = append(out, replaceTexts(member, replace)...)
		}
		return append(out, '}')
	case jsonscan.Array:
		out := []byte{'['}
		for item := range jsonscan.Elements(v) {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, replaceTexts(item, replace)...)
		}
		return append(out, ']')
	default:
	}
	return v
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
		found := 0
		for i := 0; i < len(pieces); i++ {
			before, after, ok := bytes.Cut(pieces[i].text, f.mark)
			if !ok {
				continue
			}
			pieces = slices.Replace(pieces, i, i+1, piece{text: before}, piece{file: f}, piece{text: after})
			length += f.Size - int64(len(f.mark))
			found++
			i++
		}
		encoded := base64.StdEncoding.EncodeToString(f.mark)
		if found == 0 || strings.Contains(req.URL.String(), encoded) || slices.ContainsFunc(pieces, func(p piece) bool { return bytes.Contains(p.text, []byte(encoded)) }) {
			return &Failure{Outcome: telemetry.OutcomeArguments, Text: "The arguments are wrong, and nothing was sent. " + f.URI() +
				" stands where the tool takes no file: write it in place of the base64 of a file or of a binary body."}
		}
	}
	req.ContentLength = length
	req.GetBody = func() (io.ReadCloser, error) {
		readers := make([]io.Reader, len(pieces))
		for i, p := range pieces {
			if readers[i] = bytes.NewReader(p.text); p.file != nil {
				readers[i] = p.file.Content()
			}
		}
		return io.NopCloser(io.MultiReader(readers...)), nil
	}
	req.Body, _ = req.GetBody() // it never fails
	return nil
}

// piece is a part of a body: bytes, or a file.
type piece struct {
	text []byte
	file *fileArgument
}

// closeFiles closes the files of the arguments.
func (c *Call) closeFiles() {
	for _, f := range c.files {
		_ = f.Close() // nothing was written
	}
	c.files = nil
}
