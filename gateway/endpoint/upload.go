package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"drawbridge/auth"
	"drawbridge/gateway/builtin"
	"drawbridge/gateway/call"
	"drawbridge/gateway/deliver"
	"drawbridge/gateway/filestore"
	"drawbridge/gateway/filetool"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
)

// fileUploads stores files that programs send, as calls of upload_file.
type fileUploads struct {
	calls *deliver.Tools
	own   *builtin.Tools
	admit func(context.Context, *mcp.Request, http.Header) error
}

// post serves POST /files for a caller with a token.
func (f *fileUploads) post(w http.ResponseWriter, r *http.Request) {
	principal := auth.FromContext(r.Context()).ID()
	owner, ok := From(r.Context()).FileOwner(principal)
	switch {
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "a file is sent by POST", http.StatusMethodNotAllowed)
		return
	case !ok:
		http.Error(w, "files need a token with a subject", http.StatusForbidden)
		return
	}
	label, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // "" if it is none
	m := filestore.Metadata{Name: answer.FileName(r.Header), MediaType: label, Tool: filetool.Upload}
	f.serve(w, r, principal, m, -1, func(files *filestore.Store) (*filestore.Writer, error) { return files.Create(owner) })
}

// putOffered serves the URL of an offer, which needs no token.
func (f *fileUploads) putOffered(w http.ResponseWriter, r *http.Request) {
	offer, ok := From(r.Context()).Files.OpenOffer(chi.URLParam(r, "offer"))
	switch {
	case !ok: // whatever the reason
		http.Error(w, "no such upload: it was used, or has expired", http.StatusNotFound)
		return
	case r.Method != http.MethodPut && r.Method != http.MethodPost:
		w.Header().Set("Allow", "PUT, POST")
		http.Error(w, "a file is sent by PUT", http.StatusMethodNotAllowed)
		return
	}
	f.serve(w, r, offer.Owner, offer.Metadata, offer.Size, func(files *filestore.Store) (*filestore.Writer, error) { return files.CreateOffered(offer) })
}

// uploadMethod is the name of an upload in records.
const uploadMethod = "POST /files"

// refusedUpload is the reason why a file is not stored, for the program that sends it.
type refusedUpload struct {
	status  int
	message string
}

// Error implements error.
func (r *refusedUpload) Error() string { return r.message }

// serve stores the body of a request of a principal in the file that create begins. size is that of the file; -1 for any.
func (f *fileUploads) serve(w http.ResponseWriter, r *http.Request, principal string, m filestore.Metadata, size int64, create func(*filestore.Store) (*filestore.Writer, error)) {
	ctx := r.Context()
	e := From(ctx)
	req := &mcp.Request{HTTP: r, Method: uploadMethod, Name: filetool.Upload, Principal: principal}
	if err := f.admit(ctx, req, w.Header()); err != nil {
		refuse(w, err)
		return
	}
	req.Arguments = append(jsonscan.AppendString([]byte(`{"name":`), m.Name), '}')
	var file filestore.File
	var refused *refusedUpload
	inv := deliver.Invocation(ctx, e.Endpoint, f.own.StoreFile(func() (string, error) {
		stored, err := storeBody(e.Files, r, m, size, create)
		if refused = uploadRefusal(err); refused != nil {
			failure := &call.Failure{Outcome: telemetry.OutcomeArguments, Text: refused.message}
			if refused.status == http.StatusInsufficientStorage {
				failure.Outcome, failure.Cause = telemetry.OutcomeInternal, err
			}
			return "", failure
		}
		file = stored
		return file.URI(), nil
	}), req, nil)
	inv.Name, inv.Origin = filetool.Upload, call.FromResource
	out, err := f.calls.Calls.Invoke(ctx, inv)
	if err == nil {
		defer out.Close()
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout)) // an error is that of a connection without deadlines
	switch {
	case refused != nil:
		http.Error(w, refused.message, refused.status)
	case err != nil:
		refuse(w, err)
	case out.Failure != nil:
		http.Error(w, out.Failure.Text, http.StatusServiceUnavailable)
	default:
		sendStored(w, &file)
	}
}

// sendStored responds with a file that is stored.
func sendStored(w http.ResponseWriter, file *filestore.File) {
	text, err := json.Marshal(struct {
		URI     string    `json:"uri"`
		Name    string    `json:"name,omitempty"`
		Type    string    `json:"type"`
		Size    int64     `json:"size"`
		Expires time.Time `json:"expires"`
	}{file.URI(), file.Name, file.MediaType, file.Size, file.Expires.UTC()})
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(append(text, '\n')) // the client is gone if it fails
}

// uploadBuffer is the size of the pieces in which a file arrives. The first determines its type.
const uploadBuffer = 64 << 10

// storeBody stores the body of a request. size is that of the file; -1 for any. The error is a [*refusedUpload], [filestore.ErrTaken], a
// [*filestore.Error], or that of reading the body.
func storeBody(files *filestore.Store, r *http.Request, m filestore.Metadata, size int64, create func(*filestore.Store) (*filestore.Writer, error)) (filestore.File, error) {
	switch length := r.ContentLength; {
	case r.Header.Get("Content-Encoding") != "":
		return filestore.File{}, &refusedUpload{http.StatusUnsupportedMediaType, "send the file without Content-Encoding"}
	case size >= 0 && length >= 0 && length != size:
		return filestore.File{}, otherSize(size, length)
	case length > files.MaxSize():
		return filestore.File{}, &filestore.Error{Kind: filestore.TooLarge, Limit: files.MaxSize(), TTL: files.TTL()}
	}
	w, err := create(files)
	if err != nil {
		return filestore.File{}, err
	}
	defer w.Abort()
	body := io.Reader(r.Body)
	if size >= 0 {
		body = io.LimitReader(r.Body, size+1)
	}
	buffer := make([]byte, uploadBuffer)
	n, err := io.ReadFull(body, buffer)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrUnexpectedEOF) && r.ContentLength > int64(n) {
		return filestore.File{}, err
	}
	if m.MediaType, _ = call.StoredType(m.MediaType, buffer[:n]); m.MediaType == "" {
		m.MediaType = "application/octet-stream"
	}
	rest := io.MultiReader(bytes.NewReader(bytes.Clone(buffer[:n])), body)
	if _, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{rest}, buffer); err != nil {
		return filestore.File{}, err
	}
	if size >= 0 && w.Size() != size {
		return filestore.File{}, otherSize(size, w.Size())
	}
	return w.Commit(m)
}

func otherSize(announced, got int64) *refusedUpload {
	message := fmt.Sprintf("the file was announced with %d bytes, and has %d", announced, got)
	if got > announced {
		message = fmt.Sprintf("the file was announced with %d bytes, and has more", announced)
	}
	return &refusedUpload{http.StatusBadRequest, message}
}

// uploadRefusal returns the response for an error of storeBody; nil for none.
func uploadRefusal(err error) *refusedUpload {
	var refused *refusedUpload
	var store *filestore.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return refused
	case errors.Is(err, filestore.ErrTaken):
		return &refusedUpload{http.StatusConflict, err.Error()}
	case errors.As(err, &store) && store.Kind == filestore.TooLarge:
		return &refusedUpload{http.StatusRequestEntityTooLarge, store.Error()}
	case errors.As(err, &store) && store.Kind == filestore.Quota:
		return &refusedUpload{http.StatusTooManyRequests, store.Error()}
	case errors.As(err, &store):
		return &refusedUpload{http.StatusInsufficientStorage, "the gateway can't store files now"}
	}
	return &refusedUpload{http.StatusBadRequest, "the file broke off"}
}
