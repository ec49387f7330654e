package render

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// StatusText returns a status code with its reason phrase, if it has one.
func StatusText(code int) string {
	if text := http.StatusText(code); text != "" {
		return strconv.Itoa(code) + " " + text
	}
	return strconv.Itoa(code)
}

// answeredStatus returns the name of a response's status. The gateway's client treats a status that HTTP does not
// define as 500.
func answeredStatus(resp *http.Response) string {
	text := StatusText(resp.StatusCode)
	digits, _, _ := strings.Cut(resp.Status, " ")
	if code, err := strconv.Atoi(digits); err == nil && len(digits) == 3 && (code < 100 || code > 599) {
		text = fmt.Sprintf("with the status %s, which HTTP does not have; it counts as %s", digits, text)
	}
	return text
}
