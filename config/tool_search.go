package config

import "net/url"

// Search is the way in which search_tools finds tools.
type Search struct {
	// A server of embeddings, which finds tools that say the same in other words.
	Embeddings *Embeddings `yaml:"embeddings" required:"true" access:"section"`
}

// Embeddings is a server of the OpenAI-compatible POST /v1/embeddings, such as Ollama, vLLM and Text Embeddings Inference.
type Embeddings struct {
	// The server's URL; the default path is /v1/embeddings. It receives the texts of tools and the queries.
	URL URL `yaml:"url" required:"true" access:"joint: destination"`
	// The name of the model, at most 200 bytes.
	Model string `yaml:"model" required:"true" access:"none: how tools are ranked, not which ones a caller may find" length:"200" is:"text"`
	// A bearer token for the server, which is sent to that URL alone.
	Token Secret `yaml:"token,omitempty" absent:"no token" access:"none: secrets and keys are rotated" is:"token" sends:"url: token"`
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
