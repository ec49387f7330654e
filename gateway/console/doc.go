// Package console serves the console: pages on which operators see what the gateway serves, why, and to whom, and try it.
//
// It hides routes, templates and styles, and what a browser is allowed to do. Pages are rendered on the server and work
// without JavaScript; htmx, which is embedded, refreshes parts of them. The content of pages comes through small interfaces in
// [Options], each of which is asked with every request: the package keeps no state but sessions.
//
// The rule that must not be broken: nothing but a POST has side effects, and each POST comes from a page of the console
// itself (same origin and the session's CSRF token) and from a session with the role that its route names (O12). Texts of
// documents, services and callers reach a page only through html/template.
package console
