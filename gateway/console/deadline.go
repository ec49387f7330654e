package console

import (
	"net/http"
	"time"
)

// responseTime is the write timeout of a page that takes long (H7).
const responseTime = 10 * time.Second

// extendDeadline extends the write deadline of a response: that of the server has passed if documents were slow. A writer
// without deadlines, as in a test, needs none.
func extendDeadline(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(responseTime))
}
