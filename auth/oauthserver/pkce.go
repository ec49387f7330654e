package oauthserver

import (
	"crypto/sha256"
	"encoding/base64"
	"regexp"
)

var (
	challengeForm = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)       // SHA-256 in base64url, RFC 7636 section 4.2
	verifierForm  = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`) // section 4.1
)

// IsSHA256 reports whether a text has the form of a SHA-256 sum in base64url, as a challenge of PKCE or the thumbprint of a key.
func IsSHA256(text string) bool { return challengeForm.MatchString(text) }

// CheckChallenge returns an error unless an authorization request has a challenge of PKCE with S256. The method plain, also by
// omission, is rejected (RFC 7636 section 4.3).
func CheckChallenge(request Parameters) *Error {
	challenge := request.Get("code_challenge")
	switch {
	case challenge == "":
		return NewError(InvalidRequest, "no code_challenge: PKCE is required")
	case request.Get("code_challenge_method") != "S256":
		return NewError(InvalidRequest, "code_challenge_method is not 'S256'")
	case !IsSHA256(challenge):
		return NewError(InvalidRequest, "code_challenge is not a SHA-256 sum in base64url")
	}
	return nil
}

// CheckVerifier returns an error unless a token request has a verifier of the right form. The caller compares its [Challenge] with
// that of the authorization request.
func CheckVerifier(request Parameters) *Error {
	switch verifier := request.Get("code_verifier"); {
	case verifier == "":
		return NewError(InvalidRequest, "no code_verifier")
	case !verifierForm.MatchString(verifier):
		return NewError(InvalidRequest, "code_verifier is not 43 to 128 unreserved characters")
	}
	return nil
}

// Challenge returns the S256 challenge of a verifier (RFC 7636 section 4.2).
func Challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
