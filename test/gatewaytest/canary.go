package gatewaytest

import (
	"bytes"
	"encoding/base64"
	"strings"
	"sync"
)

// Canaries are values that must not come out anywhere, by what they are.
type Canaries map[string]string

// Found returns what of the canaries stands in a text, as it is or in base64, whole or in part.
func (c Canaries) Found(text string) (names []string) {
	for name, value := range c {
		for _, form := range []string{value, base64.StdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value))} {
			// A part of twelve bytes is enough to know the rest from another leak (T1).
			for i := 0; i+12 <= len(form); i += 3 {
				if strings.Contains(text, form[i:i+12]) {
					names = append(names, name)
					break
				}
			}
		}
	}
	return names
}

// Sink keeps all that is written.
type Sink struct {
	Mu   sync.Mutex
	Text bytes.Buffer
}

func (s *Sink) Write(b []byte) (int, error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Text.Write(b)
}

func (s *Sink) String() string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Text.String()
}

// CanaryDocument is a document whose operations return what they are sent.
const CanaryDocument = `openapi: 3.1.0
info: {title: Canary, version: '1'}
paths:
  /ok/{id}: &p
    post:
      operationId: ok
      parameters: [{name: id, in: path, required: true, schema: {type: string}}, {name: q, in: query, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {type: object, properties: {note: {type: string}}}}}}
      responses: {'200': {description: ok, content: {application/json: {schema: {type: object}}}}}
  /empty500/{id}: {post: {operationId: empty500, <<: &rest {parameters: [{name: id, in: path, required: true, schema: {type: string}}, {name: q, in: query, schema: {type: string}}]}}}
  /refuse/{id}: {post: {operationId: refuse, <<: *rest}}
  /redirect/{id}: {post: {operationId: redirect, <<: *rest}}
  /slow/{id}: {post: {operationId: slow, <<: *rest}}
  /cut/{id}: {post: {operationId: cut, <<: *rest}}
  /large/{id}: {post: {operationId: large, <<: *rest}}
  /garbage/{id}: {post: {operationId: garbage, <<: *rest}}
  /drift/{id}: {post: {operationId: drift, <<: *rest, responses: {'200': {description: ok, content: {application/json: {schema: {type: object}}}}}}}
  /panic/{id}: {post: {operationId: panics, <<: *rest}}
`
