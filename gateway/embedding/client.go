package embedding

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/upstream"
)

const (
	// connectTimeout limits the connection to the server, and its TLS handshake.
	connectTimeout = 2 * time.Second
	// batchTimeout limits a request with the texts of tools: a model on a CPU takes seconds for them.
	batchTimeout = 60 * time.Second
	// batchSize is the number of texts in a request. Servers limit it; Text Embeddings Inference to 32.
	batchSize = 32
	// maxRatio is the maximum compression ratio of a response.
	maxRatio = 200
)

// client sends texts to one server.
type client struct {
	url        *url.URL
	model      string
	token      config.Secret
	dimensions int // number that is requested; 0 if none is
	http       sender
}

// sender sends requests to the server: an [upstream.Client], or a fake in tests. Do follows no redirects.
type sender interface {
	Do(req *http.Request) (*http.Response, error)
	Close() // closes idle connections
}

func newClient(e *config.Embeddings, o *Options) *client {
	u := e.Endpoint()
	return &client{url: u, model: e.Model, token: e.Token, dimensions: e.Dimensions, http: upstream.NewClient(upstream.Options{
		Name: "embeddings", BaseURL: u, Timeout: batchTimeout, Connect: connectTimeout, TLSHandshake: connectTimeout, FirstByte: batchTimeout,
		MaxBytes: answerSize(batchSize), MaxRatio: maxRatio, MaxIdle: maxQueries, TracerProvider: o.TracerProvider, UserAgent: o.UserAgent,
		OnPanic: o.OnPanic, Proxy: upstream.ConfiguredProxy(e.Proxy),
	})}
}

// Errors of [client.embed], in addition to those of the transport.
var (
	errRejected = errors.New("the server rejects the text")
	errInvalid  = errors.New("the server's answer can't be used")
)

// embed returns the vectors of texts, which have the number of dimensions; 0 for any. The error contains none of the
// texts.
func (c *client) embed(ctx context.Context, texts []string, dimensions int) ([]vector, error) {
	body, err := json.Marshal(struct {
		Model      string   `json:"model"`
		Input      []string `json:"input"`
		Format     string   `json:"encoding_format"`
		Dimensions int      `json:"dimensions,omitempty"`
	}{c.model, texts, "float", c.dimensions})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if !c.token.IsZero() {
		req.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return nil, fmt.Errorf("%w: status %d", errRejected, resp.StatusCode)
	default:
		return nil, fmt.Errorf("the server answers with status %d", resp.StatusCode)
	}
	most := answerSize(len(texts))
	answer, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(answer)) > most {
		return nil, fmt.Errorf("%w: it has more than %d bytes", errInvalid, most)
	}
	vectors, err := parse(answer, len(texts), dimensions)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errInvalid, err)
	}
	return vectors, nil
}
