package endpoint

import (
	"errors"
	"maps"
	"net/http"
	"time"

	"drawbridge/gateway/mcp"
)

// refuse answers a request that is no message of MCP with an error of package mcp.
func refuse(w http.ResponseWriter, err error) {
	var fault *mcp.Error
	if !errors.As(err, &fault) || fault.HTTPStatus == 0 {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	maps.Copy(w.Header(), fault.Header)
	http.Error(w, fault.Message, fault.HTTPStatus)
}

// writeTimeout is the time in which the client must take a piece of a file.
const writeTimeout = 30 * time.Second

// pacedWriter ends a response whose client stops reading.
type pacedWriter struct {
	http.ResponseWriter
	controller *http.ResponseController
}

// Write implements [io.Writer].
func (w *pacedWriter) Write(p []byte) (int, error) {
	_ = w.controller.SetWriteDeadline(time.Now().Add(writeTimeout)) // an error is that of a connection without deadlines
	return w.ResponseWriter.Write(p)
}
