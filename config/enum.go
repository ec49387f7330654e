package config

import (
	"log/slog"
	"reflect"
)

// enum is a string type with a closed set of values.
type enum interface{ values() []string }

// Disconnect is what a closed connection means for a running call of a client of the legacy era.
type Disconnect string

// The values of [Disconnect].
const (
	DisconnectCancel Disconnect = "cancel" // stop upstream calls of safe methods
	DisconnectFinish Disconnect = "finish" // let every call end
)

func (Disconnect) values() []string { return []string{"cancel", "finish"} }

// Sessionless is what becomes of a request of the legacy era that names no session.
type Sessionless string

// The values of [Sessionless].
const (
	SessionlessAllow  Sessionless = "allow"  // tools/list, tools/call and ping are answered
	SessionlessRefuse Sessionless = "refuse" // it is refused, as the revisions have it
)

func (Sessionless) values() []string { return []string{"allow", "refuse"} }

// FollowRedirects selects the redirects of a service that are followed.
type FollowRedirects string

// The values of [FollowRedirects].
const (
	FollowOff        FollowRedirects = "off"         // none
	FollowSameOrigin FollowRedirects = "same_origin" // those to the same origin, below the base URL, that lead to the same request
)

func (FollowRedirects) values() []string { return []string{"off", "same_origin"} }

// Validation says how the types of members of a JSON body are checked.
type Validation string

// The values of [Validation].
const (
	ValidationStrict  Validation = "strict"  // members have the declared types
	ValidationLenient Validation = "lenient" // declared members may have other types
)

func (Validation) values() []string { return []string{"strict", "lenient"} }

// Algorithm is a JWS signature algorithm (RFC 7518, RFC 8037); all of them are asymmetric.
type Algorithm string

func (Algorithm) values() []string {
	return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
}

// Preset names a provider of access tokens.
type Preset string

func (Preset) values() []string {
	return []string{"keycloak", "entra", "auth0", "okta", "cognito", "google", "dex", "hydra"}
}

// TokenKind is the kind of an issuer's access tokens.
type TokenKind string

// The values of [TokenKind].
const (
	TokensJWT    TokenKind = "jwt"
	TokensOpaque TokenKind = "opaque"
)

func (TokenKind) values() []string { return []string{"jwt", "opaque"} }

// IDTokenClaim is a claim by which an ID token is known.
type IDTokenClaim string

func (IDTokenClaim) values() []string { return []string{"nonce", "at_hash", "c_hash", "s_hash"} }

// DPoP is the use of proofs of possession with an issuer's tokens (RFC 9449).
type DPoP string

// The values of [DPoP].
const (
	DPoPOff     DPoP = "off"
	DPoPAccept  DPoP = "accept"
	DPoPRequire DPoP = "require"
)

func (DPoP) values() []string { return []string{"off", "accept", "require"} }

// IntrospectionAuth is how the gateway proves to an introspection endpoint who it is.
type IntrospectionAuth string

// The values of [IntrospectionAuth].
const (
	IntrospectionBasic IntrospectionAuth = "client_secret_basic" // in the Authorization header
	IntrospectionPost  IntrospectionAuth = "client_secret_post"  // in the form
)

func (IntrospectionAuth) values() []string {
	return []string{"client_secret_basic", "client_secret_post"}
}

// CredentialType is a way to authenticate to an upstream service.
type CredentialType string

// The values of [CredentialType].
const (
	CredentialBearer CredentialType = "bearer"  // Authorization: Bearer TOKEN
	CredentialBasic  CredentialType = "basic"   // Authorization: Basic BASE64
	CredentialAPIKey CredentialType = "api_key" // a header, query parameter or cookie

	CredentialClientCredentials CredentialType = "client_credentials" // a token for the gateway itself
	CredentialTokenExchange     CredentialType = "token_exchange"     // a token for that of the caller
	CredentialOnBehalfOf        CredentialType = "on_behalf_of"       // a token for that of the caller, at Entra ID
	CredentialJWTAssertion      CredentialType = "jwt_assertion"      // a token for a signed assertion
	CredentialAuthorizationCode CredentialType = "authorization_code" // a token for the account of each caller

	CredentialLogin    CredentialType = "login"     // a token or cookie of the service itself, for user name and password
	CredentialDigest   CredentialType = "digest"    // a digest of each request with the password
	CredentialAWSSigV4 CredentialType = "aws_sigv4" // a signature of each request
)

func (CredentialType) values() []string {
	return []string{"bearer", "basic", "api_key", "client_credentials", "token_exchange", "on_behalf_of", "jwt_assertion", "authorization_code", "login", "digest", "aws_sigv4"}
}

// LoginMethod is the method of a login request.
type LoginMethod string

func (LoginMethod) values() []string { return []string{"POST", "PUT"} }

// ClientAuth is how the gateway proves to an authorization server who it is.
type ClientAuth string

// The values of [ClientAuth].
const (
	ClientSecretBasic ClientAuth = "client_secret_basic" // a secret in the header Authorization
	ClientSecretPost  ClientAuth = "client_secret_post"  // a secret in the body
	PrivateKeyJWT     ClientAuth = "private_key_jwt"     // a signed assertion
	ClientTLS         ClientAuth = "tls_client_auth"     // a certificate
	ClientAuthNone    ClientAuth = "none"                // nothing
)

func (ClientAuth) values() []string {
	return []string{"client_secret_basic", "client_secret_post", "private_key_jwt", "tls_client_auth", "none"}
}

// KeyLocation is where an API key goes.
type KeyLocation string

// The values of [KeyLocation].
const (
	KeyInHeader KeyLocation = "header"
	KeyInQuery  KeyLocation = "query"
	KeyInCookie KeyLocation = "cookie"
)

func (KeyLocation) values() []string { return []string{"header", "query", "cookie"} }

// OutputSchemas is the kind of output schemas that tools get.
type OutputSchemas string

// The values of [OutputSchemas].
const (
	OutputLoose OutputSchemas = "loose" // schemas that every answer of the documented shape fits
	OutputOff   OutputSchemas = "off"   // no output schemas
)

func (OutputSchemas) values() []string { return []string{"loose", "off"} }

// SchemaProfile is the set of keywords that published schemas may use.
type SchemaProfile string

// The values of [SchemaProfile].
const (
	ProfileFull       SchemaProfile = "full"       // all of JSON Schema 2020-12
	ProfileCompatible SchemaProfile = "compatible" // what the converters and APIs of the common model vendors take
	ProfilePortable   SchemaProfile = "portable"   // what every known model and client takes
)

func (SchemaProfile) values() []string { return []string{"compatible", "full", "portable"} }

// Answers is the form in which a JSON response is passed on.
type Answers string

// The values of [Answers].
const (
	AnswersBoth       Answers = "both"       // text and structuredContent
	AnswersText       Answers = "text"       // text alone
	AnswersStructured Answers = "structured" // structuredContent, and a short text for clients that don't read it
)

func (Answers) values() []string { return []string{"both", "text", "structured"} }

// HTML is the form in which an HTML response is passed on.
type HTML string

// The values of [HTML].
const (
	HTMLRaw  HTML = "raw"  // as it came
	HTMLText HTML = "text" // reduced to its text
)

func (HTML) values() []string { return []string{"raw", "text"} }

// TLSVersion is a version of TLS.
type TLSVersion string

// The values of [TLSVersion].
const (
	TLS12 TLSVersion = "1.2"
	TLS13 TLSVersion = "1.3"
)

func (TLSVersion) values() []string { return []string{"1.2", "1.3"} }

// SlashForm is the form in which a slash in the value of a path parameter is sent.
type SlashForm string

// The values of [SlashForm].
const (
	SlashRaw      SlashForm = "raw"      // as it is
	SlashEncoded  SlashForm = "encoded"  // as %2F
	SlashRejected SlashForm = "rejected" // not at all, whatever the document says
)

func (SlashForm) values() []string { return []string{"raw", "encoded", "rejected"} }

// Prefix decides whether tool names begin with the name of their API.
type Prefix string

// The values of [Prefix].
const (
	PrefixAuto   Prefix = "auto" // if more than one API is configured
	PrefixAlways Prefix = "always"
	PrefixNever  Prefix = "never"
)

func (Prefix) values() []string { return []string{"auto", "always", "never"} }

// Names says what the names of tools are made of.
type Names string

// The values of [Names].
const (
	NamesByID  Names = "operation_id" // of the operationId as it is
	NamesShort Names = "short"        // of the words that say what the operation does
)

func (Names) values() []string { return []string{"short", "operation_id"} }

// Presentation selects the tools of an endpoint that clients see.
type Presentation string

// The values of [Presentation].
const (
	PresentationAuto   Presentation = "auto"   // all, as long as the list costs no more than its budget
	PresentationAll    Presentation = "all"    // the list has every tool
	PresentationSearch Presentation = "search" // the list has the tools that find and call the others, and those that are pinned
)

func (Presentation) values() []string { return []string{"auto", "all", "search"} }

// Confirm selects the calls that wait for the user's consent.
type Confirm string

// The values of [Confirm].
const (
	ConfirmNone        Confirm = "none"
	ConfirmDestructive Confirm = "destructive" // those of tools that are marked so
)

func (Confirm) values() []string { return []string{"none", "destructive"} }

// Unconfirmed is the handling of a call that needs the user's consent when nobody can be asked.
type Unconfirmed string

// The values of [Unconfirmed].
const (
	UnconfirmedRefuse Unconfirmed = "refuse"
	UnconfirmedAllow  Unconfirmed = "allow"
)

func (Unconfirmed) values() []string { return []string{"refuse", "allow"} }

// LogLevel is the least severe level that is logged.
type LogLevel string

func (LogLevel) values() []string { return []string{"debug", "info", "warn", "error"} }

// Level returns the level for package slog.
func (l LogLevel) Level() slog.Level {
	switch l {
	case "debug":
		return slog.LevelDebug
	case "warn":
		return slog.LevelWarn
	case "error":
		return slog.LevelError
	}
	return slog.LevelInfo
}

// LogFormat is the form of log records.
type LogFormat string

// The values of [LogFormat].
const (
	LogAuto LogFormat = "auto" // text on a terminal, JSON elsewhere
	LogJSON LogFormat = "json"
	LogText LogFormat = "text"
)

func (LogFormat) values() []string { return []string{"auto", "json", "text"} }

// ParseLogLevel returns the level that text names. The error lists all levels.
func ParseLogLevel(text string) (l LogLevel, err error) {
	err = parseInto(reflect.ValueOf(&l).Elem(), text)
	return l, err
}

// ParseLogFormat returns the format that text names. The error lists all formats.
func ParseLogFormat(text string) (f LogFormat, err error) {
	err = parseInto(reflect.ValueOf(&f).Elem(), text)
	return f, err
}
