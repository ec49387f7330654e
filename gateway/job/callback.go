package job

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"strings"

	"drawbridge/config"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
)

// Callback describes how a service reports the end of a job by itself: it calls a URL that the gateway sends in an argument. It is
// immutable.
type Callback struct {
	// Argument is the name of the argument that carries the URL.
	Argument string
	// Given is the operation as callers see it, without that argument.
	Given *openapi.Operation
	// MaxBody is the maximum size in bytes of the body that the service sends.
	MaxBody int64

	signature *signature // nil if bodies are not signed
}

// signature is how the body of a callback is signed: an HMAC in a header.
type signature struct {
	header, prefix string
	secret         []byte
	hash           func() hash.Hash
	decode         func(string) ([]byte, error)
}

func newCallback(c *config.JobCallback, op *openapi.Operation) (*Callback, error) {
	cb := &Callback{Argument: c.Argument, MaxBody: int64(c.MaxBody)}
	if cb.Argument == "" {
		var err error
		if cb.Argument, err = callbackArgument(op); err != nil {
			return nil, err
		}
	}
	if !op.AcceptsArgument(cb.Argument) {
		return nil, fmt.Errorf("argument: the operation has no argument %q", cb.Argument)
	}
	cb.Given = op.Variant(nil, []string{cb.Argument}, "")
	if s := c.Signature; s != nil {
		cb.signature = &signature{header: s.Header, prefix: s.Prefix, secret: []byte(s.Secret.Reveal()), hash: sha256.New, decode: hex.DecodeString}
		if s.Hash == config.CallbackSHA512 {
			cb.signature.hash = sha512.New
		}
		if s.Encoding == config.CallbackBase64 {
			cb.signature.decode = base64.StdEncoding.DecodeString
		}
	}
	return cb, nil
}

// callbackArgument returns the argument in which the document's callback finds its URL.
func callbackArgument(op *openapi.Operation) (argument string, err error) {
	for _, c := range op.Callbacks {
		in, name, ok := c.URL.Request()
		if !ok {
			continue
		}
		found, rest, ok := op.ArgumentFor(in, name, name)
		switch {
		case !ok || found == "" || rest != "":
			continue
		case argument != "" && argument != found:
			return "", errors.New("argument: the document has several callbacks; name the argument that is the URL")
		}
		argument = found
	}
	if argument == "" {
		return "", errors.New("argument: the document has no callback whose URL is an argument; name the argument that is the URL")
	}
	return argument, nil
}

// Arguments returns the arguments of a call with the URL that the service is to call.
func (cb *Callback) Arguments(args json.RawMessage, url string) json.RawMessage {
	return jsonscan.WithString(args, cb.Argument, url)
}

// Verify reports whether a body has the configured signature. Without one, every body passes.
func (cb *Callback) Verify(h http.Header, body []byte) bool {
	s := cb.signature
	if s == nil {
		return true
	}
	values := h.Values(s.header)
	if len(values) != 1 {
		return false
	}
	text, ok := strings.CutPrefix(strings.Trim(values[0], " \t"), s.prefix)
	given, err := s.decode(text)
	if !ok || err != nil {
		return false
	}
	mac := hmac.New(s.hash, s.secret)
	mac.Write(body)
	return hmac.Equal(given, mac.Sum(nil))
}
