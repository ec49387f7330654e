package endpoint

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"drawbridge/auth"
	"drawbridge/gateway/builtin"
	"drawbridge/gateway/call"
	"drawbridge/gateway/deliver"
	"drawbridge/gateway/filestore"
	"drawbridge/gateway/filetool"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// fileReads serves stored files as calls of read_file, whichever way they are asked for.
type fileReads struct {
	calls *deliver.Tools
	own   *builtin.Tools
}

// maxResource is the maximum size in bytes of one read of a resource, which is in memory and in base64.
const maxResource = 4 << 20

// fileOpener opens files of a caller. A file whose tool the caller may not call, at this endpoint and with this token, does not exist.
func (e *Endpoint) fileOpener(ctx context.Context, owner string) builtin.OpenFile {
	return func(id string) (*filestore.Reader, error) {
		f, err := e.Files.Open(owner, id)
		if err == nil && !e.AllowsFile(auth.FromContext(ctx), f) {
			_ = f.Close() // nothing was written
			return nil, filestore.ErrNotFound
		}
		return f, err
	}
}

// call calls the tool that passes a file of the caller on. use gets nil if the caller has no such file.
func (f *fileReads) call(ctx context.Context, e *Endpoint, req *mcp.Request, id string, use func(*filestore.Reader) error) error {
	owner, ok := e.FileOwner(req.Principal)
	if !ok {
		id = ""
	}
	req.Arguments = append(jsonscan.AppendString([]byte(`{"uri":`), filestore.Scheme+id), '}')
	inv := deliver.Invocation(ctx, e.Endpoint, f.own.UseFile(e.fileOpener(ctx, owner), id, use), req, nil)
	inv.Name, inv.Origin = filetool.Read, call.FromResource
	out, err := f.calls.Calls.Invoke(ctx, inv)
	if err != nil {
		return err
	}
	defer out.Close()
	if out.Failure != nil && out.Failure.Outcome == telemetry.OutcomeInternal {
		return &mcp.Error{Code: mcp.CodeInternal, Message: out.Failure.Text}
	}
	return nil
}

// readResource answers resources/read for a file: the whole of it, or a range of its bytes.
func (f *fileReads) readResource(ctx context.Context, e *Endpoint, ref filestore.Reference, req *mcp.Request, reply *mcp.Reply) error {
	var content render.Content
	var refused error
	err := f.call(ctx, e, req, ref.ID, func(file *filestore.Reader) error {
		if file == nil {
			refused = fileNotFound(req)
			return nil
		}
		first, last := ref.First, min(ref.Last, file.Size-1)
		if ref.Whole() {
			last = file.Size - 1
		}
		size := last - first + 1
		switch {
		case first > 0 && first >= file.Size:
			refused = mcp.InvalidParams("the file has %d bytes", file.Size)
			return nil
		case size > maxResource:
			next := filestore.Reference{ID: ref.ID, First: first, Last: first + maxResource - 1}
			refused = mcp.InvalidParams("the file has %d bytes, and one read at most %d: read it in parts, such as %s", file.Size, maxResource, next)
			return nil
		}
		data := make([]byte, size)
		if n, err := file.ReadAt(data, first); n < len(data) {
			return err
		}
		content = render.Content{URI: ref.String(), MIMEType: file.MediaType}
		if utf8.Valid(data) && filetool.IsText(file) {
			content.Text = data
		} else {
			content.Blob = data
		}
		if content.MIMEType == "" {
			content.MIMEType = "application/octet-stream"
		}
		return nil
	})
	if err = errors.Join(refused, err); err != nil {
		return err
	}
	return reply.Result(render.Contents([]render.Content{content})...)
}

// fileNotFound is the error for a file that the caller does not have, whatever the reason.
func fileNotFound(req *mcp.Request) *mcp.Error {
	e := mcp.ResourceNotFound(req.Family, text.Truncate(req.URI, 1<<10))
	e.Message = "resource not found: a file is kept for a limited time, and for the caller that got it; call its tool again"
	return e
}

// fileMethod is the name of a download in records.
const fileMethod = "GET /files"

// serveFile serves a download to an admitted caller. The content is never displayed: it comes from services, and a page of it at this origin
// could act for the user.
func (f *fileReads) serveFile(s *Server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		e := From(ctx)
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "a file is read by GET", http.StatusMethodNotAllowed)
			return
		}
		req := &mcp.Request{HTTP: r, Method: fileMethod, Name: filetool.Read, Principal: auth.FromContext(ctx).ID()}
		if err := s.Admission.admitPlain(ctx, req, w.Header()); err != nil {
			refuse(w, err)
			return
		}
		began := false
		err := f.call(ctx, e, req, chi.URLParam(r, "id"), func(file *filestore.Reader) error {
			began = true
			if file == nil {
				http.Error(w, "no such file", http.StatusNotFound)
				return nil
			}
			setFileHeaders(w.Header(), file)
			if strings.Contains(r.Header.Get("Range"), ",") {
				r.Header.Del("Range") // each of thousands of ranges would decrypt a chunk (RFC 9110 section 14.2 lets a server ignore them)
			}
			http.ServeContent(&pacedWriter{ResponseWriter: w, controller: http.NewResponseController(w)}, r, "", time.Time{}, file.Content())
			return nil
		})
		if err != nil && !began {
			refuse(w, err)
		}
	})
}

// setFileHeaders sets the headers of a download.
func setFileHeaders(h http.Header, file *filestore.Reader) {
	name, mediaType := file.Name, file.MediaType
	if name == "" {
		name = file.ID
	}
	if mediaType == "" {
		mediaType = "application/octet-stream"
	}
	h.Set("Content-Type", mediaType)
	disposition := mime.FormatMediaType("attachment", map[string]string{"filename": name})
	if disposition == "" { // a name that can't be written
		disposition = "attachment"
	}
	h.Set("Content-Disposition", disposition)
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("ETag", `"`+file.ID+`"`) // the content of a file never changes
}

// filesRoute serves /files/ID: the checks are those of requests to /mcp, and the file takes the place of the MCP handler.
func (s *Server) filesRoute(f *fileReads) http.HandlerFunc {
	handler := f.serveFile(s)
	return func(w http.ResponseWriter, r *http.Request) {
		if e := s.Current().Main; e != nil && e.Files == nil {
			http.NotFound(w, r)
			return
		}
		s.dispatchTo(w, r, "", streamable, handler, false)
	}
}
