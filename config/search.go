package config

import "net/url"

// Search says how search_tools finds tools.
type Search struct {
	// A server of embeddings, which finds tools that say the same in other words.
	Embeddings *Embeddings `yaml:"embeddings" need:"true" access:"section"`
}

// Embeddings is a server of the OpenAI-compatible POST /v1/embeddings, such as Ollama, vLLM and Text Embeddings Inference.
type Embeddings struct {
	// The server's URL; the default path is /v1/embeddings. It receives the texts of tools and the queries.
	URL URL `yaml:"url" need:"true" access:"joint: destination"`
	// The name of the model, at most 200 bytes.
	Model string `yaml:"model" need:"true" access:"none: how tools are ranked, not which ones a caller may find"`
	// A bearer token for the server, which is sent to that URL alone.
	Token Secret `yaml:"token,omitempty" absent:"no token" access:"none: secrets and keys are rotated"`
	// The number of dimensions to request. Vectors of another length are rejected.
	Dimensions int `yaml:"dimensions,omitempty" min:"1" max:"4096" absent:"as the model has them" access:"none: how tools are ranked, not which ones a caller may find"`
	// The proxy for the server.
	Proxy *Proxy `yaml:"proxy,omitempty" absent:"the root's proxy" access:"joint: destination"`
}

// Endpoint returns the URL that requests are sent to.
func (e *Embeddings) Endpoint() *url.URL {
	u := e.URL.URL()
	if u.Path == "" || u.Path == "/" {
		u.Path, u.RawPath = "/v1/embeddings", ""
	}
	return u
}

// Embeddings returns the server of embeddings; nil if tools are found by words alone.
func (c *Config) Embeddings() *Embeddings {
	if c.Search == nil {
		return nil
	}
	return c.Search.Embeddings
}

// maxModelName is the most bytes of the name of a model.
const maxModelName = 200

// search checks how tools are found.
func (l *loader) search(cfg *Config) {
	e := cfg.Embeddings()
	if e == nil {
		return
	}
	const key = "search.embeddings"
	switch {
	case !l.ok(key + ".model"):
	case len(e.Model) > maxModelName:
		l.errorf(key+".model", "has %d bytes, more than %d", len(e.Model), maxModelName)
	case checkText(e.Model) != nil:
		l.errorf(key+".model", "%s", checkText(e.Model))
	}
	if e.Token.IsZero() || !l.ok(key+".token") {
		return
	}
	if err := checkToken(e.Token.Reveal()); err != nil {
		l.errorf(key+".token", "%s", err)
	}
	if u := e.URL; l.ok(key+".url") && u.parsed != nil && u.parsed.Scheme == "http" && !u.Loopback() {
		l.warnf(key+".url", "the token travels in clear; https protects it")
	}
}
