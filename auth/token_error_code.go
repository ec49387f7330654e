package auth

// TokenErrorCode returns a standard error code of a token endpoint (RFC 6749 section 5.2 and its extensions), and "" for any other text: a
// server may repeat there what it was sent, such as a code or a client secret, so any other text must not be logged.
func TokenErrorCode(code string) string {
	switch code {
	case "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope", // RFC 6749
		"invalid_token",                        // RFC 6750, used for the subject token
		"invalid_target",                       // RFC 8693, RFC 8707
		"invalid_dpop_proof", "use_dpop_nonce", // RFC 9449
		"access_denied", "interaction_required", // in use, from RFC 6749 section 4.1.2.1 and OpenID Connect
		"server_error", "temporarily_unavailable", // RFC 6749 section 4.1.2.1
		"login_required", "consent_required", "slow_down": // OpenID Connect, RFC 8628
		return code
	}
	return ""
}
