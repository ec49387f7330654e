// Package admin is the operators' HTTP surface: liveness, readiness, metrics, the state of each API, and the
// order to reload.
//
// It hides routes, formats and the check of the reload token. It knows nothing of the gateway: it is given
// functions that tell the state, and asks them anew for each request.
//
// The one rule: nothing here changes anything but POST /reload and POST /apis/{name}/accept, which need the token
// (O12). It belongs on a listener of its own, never beside /mcp (Z9).
package admin
