package gateway

import (
	"drawbridge/auth"
	"drawbridge/gateway/mcp"
)

// authorize tells whether the caller may call the tool of a generation with a guard, before anything of the call is executed (Z3). The error is
// an HTTP 403 with the challenge of RFC 6750 section 3.1.
func (gen *generation) authorize(caller *auth.Principal, p *Plan) *mcp.Error {
	if gen.guard.Allows(caller, p.Scopes) {
		return nil
	}
	header, _ := gen.guard.Forbidden(caller, p.Scopes)
	return &mcp.Error{
		Code: mcp.CodeInvalidRequest, Message: "insufficient scope for this tool", HTTPStatus: 403, Header: header,
	}
}
